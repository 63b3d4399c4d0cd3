// SPDX-License-Identifier: GPL-2.0
/*
 * Divide the CPUs into groups of nearly one size, for the queues of a device
 * whose interrupts say nothing of CPUs.
 *
 * A group stays within a node if there are enough groups for it, and then a
 * node has as many as are due to its CPUs, whose sizes differ by one at most;
 * fewer groups have whole nodes. CPUs of a core are neighbours, so that they are
 * in one group or in adjacent ones. CPUs that are not online are divided by
 * themselves: they neither take a group from those that run, nor make groups
 * uneven when they come.
 *
 * All that decides is in divide_places(), which knows no kernel.
 */
#include <linux/cpu.h>
#include <linux/cpu_groups.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

/* Where a CPU is. */
struct place {
	unsigned int cpu;
	unsigned int core;	/* the same for CPUs that share a core, and for no others */
	int node;
	bool online;		/* it runs now; others may come later */
};

/* A run of neighbours in the sorted array that is still to be divided. */
struct run {
	const struct place *places;
	unsigned int nr;
	unsigned int nodes;
	unsigned int groups;		/* for this run: nodes <= groups <= nr */
	unsigned int first;		/* of these groups */
};

static int cmp_places(const void *left, const void *right)
{
	const struct place *l = left, *r = right;

	if (l->online != r->online)
		return l->online ? -1 : 1;
	if (l->node != r->node)
		return l->node < r->node ? -1 : 1;
	if (l->core != r->core)
		return l->core < r->core ? -1 : 1;
	return l->cpu < r->cpu ? -1 : l->cpu > r->cpu;
}

/* The number of CPUs at the start that are on the node of the first. */
static unsigned int node_size(const struct place *places, unsigned int nr)
{
	unsigned int i = 1;

	while (i < nr && places[i].node == places[0].node)
		i++;

	return i;
}

static unsigned int count_nodes(const struct place *places, unsigned int nr)
{
	unsigned int nodes = 0, i;

	for (i = 0; i < nr; i += node_size(places + i, nr - i))
		nodes++;

	return nodes;
}

/*
 * How many of the run's groups are due to its first node, which has size CPUs:
 * its share, rounded, but at least one, and so that each other node gets one. As
 * there are no more groups than CPUs, each group has a CPU then.
 */
static unsigned int node_share(const struct run *run, unsigned int size)
{
	unsigned int share = (2 * size * run->groups + run->nr) / (2 * run->nr);

	return clamp(share, 1U, run->groups - (run->nodes - 1));
}

/* Divide a run whose groups are enough for its nodes, node by node. */
static void divide(struct run run, unsigned int nr_groups, unsigned int *map)
{
	while (run.nr) {
		unsigned int size = node_size(run.places, run.nr);
		unsigned int share = node_share(&run, size);
		unsigned int i;

		for (i = 0; i < size; i++)
			map[run.places[i].cpu] =
				(run.first + i * share / size) % nr_groups;

		run.places += size;
		run.nr -= size;
		run.nodes--;
		run.groups -= share;
		run.first += share;
	}
}

/* Give each of few groups whole nodes. */
static void join_nodes(const struct run *run, unsigned int nr_groups,
		       unsigned int *map)
{
	unsigned int node = 0, i;

	for (i = 0; i < run->nr; i++) {
		if (i && run->places[i].node != run->places[i - 1].node)
			node++;
		map[run->places[i].cpu] =
			(run->first + node * nr_groups / run->nodes) % nr_groups;
	}
}

static void spread(const struct place *places, unsigned int nr,
		   unsigned int first, unsigned int nr_groups,
		   unsigned int *map)
{
	struct run run = {
		.places = places,
		.nr = nr,
		.nodes = count_nodes(places, nr),
		.groups = min(nr, nr_groups),
		.first = first,
	};

	if (run.groups < run.nodes)
		join_nodes(&run, nr_groups, map);
	else
		divide(run, nr_groups, map);
}

/*
 * Fill in the group of each of these CPUs, whose order is changed. Those
 * that are not online begin with the group where the others ended, so that none
 * is left empty while there are CPUs.
 */
static void divide_places(struct place *places, unsigned int nr,
			  unsigned int nr_groups, unsigned int *map)
{
	unsigned int online = 0;

	sort(places, nr, sizeof(*places), cmp_places, NULL);
	while (online < nr && places[online].online)
		online++;

	spread(places, online, 0, nr_groups, map);
	spread(places + online, nr - online, online, nr_groups, map);
}

/* Say of each possible CPU where it is, and return how many there are. */
static unsigned int find_places(struct place *places)
{
	unsigned int cpu, nr = 0;

	cpus_read_lock();
	/* Those that are not online have no siblings, and go by their numbers. */
	for_each_possible_cpu(cpu)
		places[nr++] = (struct place){
			.cpu = cpu,
			.core = cpumask_first(topology_sibling_cpumask(cpu)),
			.node = cpu_to_node(cpu),
			.online = cpu_online(cpu),
		};
	cpus_read_unlock();

	return nr;
}

/**
 * cpu_groups_map - divide all CPUs that there may ever be
 * @map: filled in: the group of each possible CPU, from 0 to @nr_groups - 1
 * @nr_groups: number of groups, at least one
 *
 * With more groups than CPUs, the last ones have none.
 *
 * Context: may sleep; takes cpus_read_lock().
 * Return: 0, or -ENOMEM, and then @map is as it was.
 */
int cpu_groups_map(unsigned int *map, unsigned int nr_groups)
{
	struct place *places;

	places = kcalloc(num_possible_cpus(), sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;

	divide_places(places, find_places(places), nr_groups, map);
	kfree(places);

	return 0;
}
EXPORT_SYMBOL_GPL(cpu_groups_map);

/**
 * cpu_groups_masks - divide all CPUs that there may ever be, none without a CPU
 * @masks: the groups, all empty; filled in
 * @nr_groups: how many, at least one
 *
 * The groups are those of cpu_groups_map(). With more groups than CPUs, the last
 * ones share the CPUs of the first ones.
 *
 * Context: may sleep; takes cpus_read_lock().
 * Return: 0, or -ENOMEM, and then @masks are as they were.
 */
int cpu_groups_masks(struct cpumask *masks, unsigned int nr_groups)
{
	unsigned int cpu, group, *map;
	int err;

	map = kcalloc(nr_cpu_ids, sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	err = cpu_groups_map(map, nr_groups);
	if (err)
		goto free;

	for_each_possible_cpu(cpu)
		cpumask_set_cpu(cpu, &masks[map[cpu]]);
	for (group = num_possible_cpus(); group < nr_groups; group++)
		cpumask_copy(&masks[group], &masks[group - num_possible_cpus()]);
free:
	kfree(map);

	return err;
}
EXPORT_SYMBOL_GPL(cpu_groups_masks);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Divide the CPUs into even groups");
