// SPDX-License-Identifier: GPL-2.0
/*
 * Divide the CPUs into groups that are as even as the machine allows: the
 * kernel's own function for this is not exported before 6.3.
 *
 * The CPUs are put in a row, those of a NUMA node side by side, and within a
 * node the threads of a core. Each node gets its share of the groups, and cuts
 * its part of the row into as many pieces: no group spans two nodes while
 * there are enough groups, and threads of a core stay together while there
 * are no more groups than cores. This is done twice, first for the CPUs that
 * are present, then for those that may be added later, so that each group has
 * CPUs that can be used now and each CPU has a group when it comes.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

#include "cpu_spread.h"

/* Where a CPU stands in the row. */
struct place {
	int		node;
	unsigned int	core;	/* its first thread */
	unsigned int	cpu;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return x->cpu < y->cpu ? -1 : 1;
}

/* Put the CPUs in a row that are, or are not, @present: how many these are. */
static unsigned int line_up(struct place *row, const struct cpumask *present,
			    bool in)
{
	unsigned int cpu, n = 0;

	for_each_possible_cpu(cpu) {
		unsigned int core;

		if (cpumask_test_cpu(cpu, present) != in)
			continue;
		core = cpumask_first(topology_sibling_cpumask(cpu));
		row[n++] = (struct place){
			.node	= cpu_to_node(cpu),
			.core	= core < nr_cpu_ids ? core : cpu,
			.cpu	= cpu,
		};
	}
	sort(row, n, sizeof(*row), compare, NULL);
	return n;
}

/* Cut @n CPUs into @nr_groups pieces; with more groups than CPUs, share them. */
static void cut(const struct place *row, unsigned int n, struct cpumask *groups,
		unsigned int nr_groups)
{
	unsigned int g, i;

	for (g = 0; g < nr_groups; g++) {
		unsigned int first = g * n / nr_groups;
		unsigned int end = (g + 1) * n / nr_groups;

		for (i = first; i < max(end, first + 1); i++)
			cpumask_set_cpu(row[i].cpu, &groups[g]);
	}
}

static unsigned int same_node(const struct place *row, unsigned int n)
{
	unsigned int i = 1;

	while (i < n && row[i].node == row[0].node)
		i++;
	return i;
}

static unsigned int count_nodes(const struct place *row, unsigned int n)
{
	unsigned int nodes = 0;

	for (unsigned int i = 0; i < n; i += same_node(row + i, n - i))
		nodes++;
	return nodes;
}

/* Give each node its share of the groups, one at least. */
static void share_out(const struct place *row, unsigned int n,
		      struct cpumask *groups, unsigned int nr_groups)
{
	unsigned int nodes = count_nodes(row, n);

	if (nr_groups < nodes) {
		cut(row, n, groups, nr_groups);
		return;
	}
	while (nodes--) {
		unsigned int cpus = same_node(row, n);
		unsigned int share = DIV_ROUND_CLOSEST(nr_groups * cpus, n);

		share = clamp(share, 1U, nr_groups - nodes);
		cut(row, cpus, groups, share);
		row += cpus;
		n -= cpus;
		groups += share;
		nr_groups -= share;
	}
}

/**
 * cpu_spread - divide all possible CPUs into groups
 * @groups: the groups, all empty
 * @nr_groups: how many, at least one
 *
 * Each CPU is in a group; with more groups than CPUs, some CPUs are in several.
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int cpu_spread(struct cpumask *groups, unsigned int nr_groups)
{
	struct place *row;
	cpumask_var_t present;
	unsigned int n;

	/* A CPU that comes meanwhile is in one of the two rows all the same. */
	if (!alloc_cpumask_var(&present, GFP_KERNEL))
		return -ENOMEM;
	row = kcalloc(num_possible_cpus(), sizeof(*row), GFP_KERNEL);
	if (!row) {
		free_cpumask_var(present);
		return -ENOMEM;
	}
	cpumask_copy(present, cpu_present_mask);
	n = line_up(row, present, true);
	share_out(row, n, groups, nr_groups);
	n = line_up(row, present, false);
	if (n)
		share_out(row, n, groups, nr_groups);
	kfree(row);
	free_cpumask_var(present);
	return 0;
}
