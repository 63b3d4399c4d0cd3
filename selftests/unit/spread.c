// SPDX-License-Identifier: GPL-2.0
/* Groups of CPUs, on machines of every shape. */
#include "unit.h"
#include <linux/topology.h>
#include "cpu_spread.h"

#define MAX_GROUPS	40

struct machine machine;
static struct cpumask group[MAX_GROUPS];

/*
 * Nodes one after another, or taking turns, of cores with @threads CPUs each; as usual the second
 * threads come behind all first ones. The last @absent CPUs may be added later.
 */
static void make_machine(unsigned int nodes, unsigned int cores, unsigned int threads,
			 bool turns, unsigned int absent)
{
	unsigned int firsts = nodes * cores, cpu, present;

	memset(&machine, 0, sizeof(machine));
	machine.cpus = firsts * threads;
	present = machine.cpus - absent;
	for (cpu = 0; cpu < machine.cpus; cpu++) {
		unsigned int core = cpu % firsts, other;

		machine.node[cpu] = turns ? core % nodes : core / cores;
		if (cpu < present)
			cpumask_set_cpu(cpu, &machine.present);
		for (other = core; other < present && cpu < present; other += firsts)
			cpumask_set_cpu(other, &machine.siblings[cpu]);
	}
}

static unsigned int weight(const struct cpumask *mask)
{
	return __builtin_popcountl(mask->bits);
}

static void spread(unsigned int n)
{
	memset(group, 0, sizeof(group));
	CHECK_EQ(cpu_spread(group, n), 0);
}

/* What must be true of any machine and any number of groups. */
static void check(unsigned int n)
{
	unsigned long all = 0, present = machine.present.bits;
	unsigned int low = ~0U, high = 0, g;

	for (g = 0; g < n; g++) {
		unsigned int w = __builtin_popcountl(group[g].bits & present);

		CHECK(w > 0);
		low = min(low, w);
		high = max(high, w);
		if (n <= machine.cpus && !(machine.cpus - weight(&machine.present)))
			CHECK(!(all & group[g].bits));
		all |= group[g].bits;
	}
	CHECK_EQ(all, (1UL << machine.cpus) - 1);
	CHECK(high - low <= 1);
}

static unsigned int nodes_of(const struct cpumask *mask)
{
	unsigned long nodes = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (cpumask_test_cpu(cpu, mask))
			nodes |= 1UL << machine.node[cpu];
	return __builtin_popcountl(nodes);
}

TEST(every_cpu_has_a_group_and_groups_are_even)
{
	for (unsigned int nodes = 1; nodes <= 4; nodes *= 2)
		for (unsigned int threads = 1; threads <= 2; threads++)
			for (unsigned int absent = 0; absent <= 1; absent++) {
				make_machine(nodes, 4, threads, nodes == 2, absent * nodes);
				/* Nodes of one size share evenly what they can divide. */
				for (unsigned int n = nodes; n <= MAX_GROUPS; n += nodes) {
					spread(n);
					if (!absent)
						check(n);
				}
			}
}

TEST(as_many_groups_as_cpus_have_one_each)
{
	make_machine(1, 4, 1, false, 0);
	spread(4);
	for (unsigned int g = 0; g < 4; g++)
		CHECK_EQ(group[g].bits, 1UL << g);
	make_machine(2, 4, 2, true, 0);
	spread(16);
	check(16);
}

TEST(no_group_spans_nodes_while_there_are_enough)
{
	make_machine(4, 4, 2, true, 0);
	for (unsigned int n = 4; n <= MAX_GROUPS; n++) {
		spread(n);
		for (unsigned int g = 0; g < n; g++)
			CHECK_EQ(nodes_of(&group[g]), 1);
	}
	spread(2);
	for (unsigned int g = 0; g < 2; g++)
		CHECK_EQ(nodes_of(&group[g]), 2);
}

TEST(threads_of_a_core_stay_together)
{
	make_machine(2, 4, 2, false, 0);
	spread(8);
	for (unsigned int g = 0; g < 8; g++) {
		unsigned int cpu = __builtin_ctzl(group[g].bits);

		CHECK_EQ(group[g].bits, machine.siblings[cpu].bits);
	}
}

TEST(large_nodes_get_more_groups)
{
	make_machine(2, 8, 1, false, 0);
	for (unsigned int cpu = 4; cpu < 16; cpu++)
		machine.node[cpu] = 1;
	spread(4);
	check(4);
	CHECK_EQ(group[0].bits, 0xfUL);
}

TEST(cpus_that_may_come_have_a_group_and_each_group_has_one_that_is_there)
{
	make_machine(1, 8, 1, false, 4);
	spread(4);
	for (unsigned int g = 0; g < 4; g++)
		CHECK_EQ(group[g].bits, 1UL << g | 1UL << (g + 4));
	spread(6);
	check(6);
}
