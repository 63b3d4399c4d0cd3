// SPDX-License-Identifier: GPL-2.0
/* Groups of CPUs, on machines of every shape and on many random ones. */
#include "unit.h"
#include <linux/topology.h>
#include <linux/cpu_groups.h>

#define NONE		UINT_MAX	/* in the map: no group yet */
#define MAX_GROUPS	80
#define MAX_NODES	4
#define ROUNDS		5000

struct machine machine;
static unsigned int map[MACHINE_CPUS];
static struct cpumask group[MAX_GROUPS];

/* --- machines */

static void clear(void)
{
	memset(&machine, 0, sizeof(machine));
	for (unsigned int cpu = 0; cpu < MACHINE_CPUS; cpu++)
		map[cpu] = NONE;
}

/* A CPU of a core that is named by the number of its first thread. */
static void add(unsigned int number, int node, unsigned int core, bool online)
{
	cpumask_set_cpu(number, &machine.possible);
	machine.node[number] = node;
	if (!online)
		return;
	cpumask_set_cpu(number, &machine.online);
	cpumask_set_cpu(number, &machine.siblings[core]);
	machine.siblings[number] = machine.siblings[core];
}

/* One node, a thread for each core. */
static void add_simple(unsigned int cpus, unsigned int online)
{
	clear();
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		add(cpu, 0, cpu, cpu < online);
}

/*
 * Nodes one after another, or taking turns, of cores with @threads CPUs each; as usual the second
 * threads come behind all first ones.
 */
static void add_nodes(unsigned int nodes, unsigned int cores, unsigned int threads, bool turns)
{
	unsigned int firsts = nodes * cores;

	clear();
	for (unsigned int cpu = 0; cpu < firsts * threads; cpu++) {
		unsigned int core = cpu % firsts;

		add(cpu, turns ? core % nodes : core / cores, core, true);
	}
}

static void add_random(unsigned int nodes)
{
	unsigned int cpus = 1 + rand() % MACHINE_CPUS;

	clear();
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (rand() % 8 || !cpu)
			add(cpu, rand() % nodes, cpu & ~1U, !cpu || rand() % 4);
}

/* --- what came out */

/* Group, and compare with a string: a character for each CPU, '-' for one that cannot be. */
static void check_groups(unsigned int nr_groups, const char *wanted)
{
	char got[MACHINE_CPUS + 1] = "";

	CHECK_EQ(cpu_groups_map(map, nr_groups), 0);
	for (size_t i = 0; i < strlen(wanted); i++)
		got[i] = map[i] == NONE ? '-' : '0' + map[i];
	if (strcmp(got, wanted))
		unit_fail(__FILE__, __LINE__, "%u groups: %s, not %s", nr_groups, got, wanted);
}

static unsigned int weigh(struct cpumask mask, unsigned long of)
{
	mask.bits &= of;
	return cpumask_weight(&mask);
}

static unsigned long node_bits(int node)
{
	struct cpumask mask = { 0 };
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (machine.node[cpu] == node)
			cpumask_set_cpu(cpu, &mask);
	return mask.bits;
}

static unsigned int count_online_nodes(void)
{
	unsigned int nodes = 0;

	for (int node = 0; node < MAX_NODES; node++)
		nodes += !!(node_bits(node) & machine.online.bits);
	return nodes;
}

static unsigned int count_nodes_of(const struct cpumask *mask)
{
	unsigned int nodes = 0;

	for (int node = 0; node < MAX_NODES; node++)
		nodes += !!weigh(*mask, node_bits(node) & machine.online.bits);
	return nodes;
}

/* Groups that have some of these CPUs differ by one of them at most. */
static void check_even(unsigned long cpus, unsigned int nr_groups)
{
	unsigned int least = UINT_MAX, most = 0;

	for (unsigned int g = 0; g < nr_groups; g++) {
		unsigned int size = weigh(group[g], cpus);

		if (size)
			least = min(least, size);
		most = max(most, size);
	}
	CHECK(!most || most - least <= 1);
}

/* The masks are the map, and those that are left without a CPU there share. */
static void check_masks_are_the_map(unsigned int nr_groups)
{
	unsigned int possible = num_possible_cpus(), cpu;

	for (unsigned int g = 0; g < nr_groups; g++) {
		unsigned long bits = 0;

		for_each_possible_cpu(cpu)
			if (map[cpu] == g % possible)
				bits |= 1UL << cpu;
		CHECK(bits != 0);
		CHECK_EQ(group[g].bits, bits);
	}
}

/* What must be true of any machine and any number of groups. */
static void check_machine(unsigned int nr_groups)
{
	unsigned int nodes = count_online_nodes(), cpu;

	memset(group, 0, sizeof(group));
	CHECK_EQ(cpu_groups_map(map, nr_groups), 0);
	CHECK_EQ(cpu_groups_masks(group, nr_groups), 0);
	CHECK_EQ(machine.locked, 0);
	for_each_possible_cpu(cpu)
		CHECK(map[cpu] < nr_groups);
	check_masks_are_the_map(nr_groups);
	for (int node = 0; node < MAX_NODES && nr_groups >= nodes; node++)
		check_even(node_bits(node) & machine.online.bits, nr_groups);
	for (unsigned int g = 0; g < nr_groups; g++) {
		if (nr_groups <= cpumask_weight(&machine.online))
			CHECK(count_nodes_of(&group[g]) >= 1);
		if (nr_groups >= nodes)
			CHECK(count_nodes_of(&group[g]) <= 1);
	}
}

/* --- tests */

TEST(cpus_are_divided_evenly)
{
	add_simple(4, 4);
	check_groups(1, "0000");
	check_groups(2, "0011");
	check_groups(3, "0012");
	check_groups(4, "0123");
}

TEST(more_groups_than_cpus_leave_groups_empty_in_the_map)
{
	add_simple(3, 3);
	check_groups(8, "012");
}

TEST(more_groups_than_cpus_share_them_in_the_masks)
{
	add_simple(3, 3);
	CHECK_EQ(cpu_groups_masks(group, 8), 0);
	for (unsigned int g = 0; g < 8; g++)
		CHECK_EQ(group[g].bits, 1UL << (g % 3));
}

/* Second threads of the cores come last, as they often do. */
TEST(threads_of_a_core_share_a_group)
{
	add_nodes(1, 4, 2, false);
	check_groups(2, "00110011");
	check_groups(4, "01230123");
	add_nodes(2, 4, 2, false);
	check_groups(8, "0123456701234567");
}

TEST(groups_stay_within_nodes)
{
	add_nodes(2, 4, 1, true);
	check_groups(2, "01010101");
	check_groups(4, "02021313");
}

TEST(no_group_spans_nodes_while_there_are_enough)
{
	add_nodes(4, 4, 2, true);
	for (unsigned int n = 4; n <= MAX_GROUPS; n++)
		check_machine(n);
}

TEST(groups_are_even_on_nodes_of_one_size)
{
	for (unsigned int nodes = 1; nodes <= MAX_NODES; nodes *= 2)
		for (unsigned int threads = 1; threads <= 2; threads++) {
			add_nodes(nodes, 4, threads, nodes == 2);
			for (unsigned int n = nodes; n <= MAX_GROUPS; n += nodes) {
				check_machine(n);
				check_even(machine.online.bits, n);
			}
		}
}

TEST(uneven_nodes_get_their_share)
{
	clear();
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		add(cpu, cpu >= 6, cpu, true);
	check_groups(2, "00000011");
	check_groups(4, "00112233");
	check_groups(3, "00011122");
	clear();
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		add(cpu, cpu >= 5, cpu, true);
	check_groups(3, "00011222");
}

TEST(fewer_groups_than_nodes_have_whole_nodes)
{
	add_nodes(4, 2, 1, false);
	check_groups(2, "00001111");
	check_groups(3, "00001122");
	check_groups(1, "00000000");
}

TEST(offline_cpus_take_no_group_from_those_that_run)
{
	add_simple(4, 2);
	check_groups(2, "0101");
	check_groups(1, "0000");
	check_groups(4, "0123");
	check_groups(3, "0120");
	add_simple(8, 4);
	check_groups(4, "01230123");
	check_machine(6);
}

TEST(all_offline_but_one)
{
	clear();
	for (unsigned int cpu = 0; cpu < 5; cpu++)
		add(cpu, 0, cpu, cpu == 3);
	check_groups(2, "11000");
}

TEST(offline_nodes_begin_where_the_online_cpus_ended)
{
	clear();
	add(0, 0, 0, true);
	for (unsigned int cpu = 1; cpu <= 4; cpu++)
		add(cpu, cpu - 1, cpu, false);
	check_groups(2, "01100");
}

TEST(numbers_may_have_gaps)
{
	clear();
	add(1, 0, 1, true);
	add(5, 0, 5, true);
	check_groups(2, "-0---1");
	check_machine(5);
}

TEST(node_unknown)
{
	clear();
	add(0, -1, 0, true);
	add(1, -1, 1, true);
	check_groups(2, "01");
}

TEST(no_memory_changes_nothing)
{
	add_simple(1, 1);
	shim_fail_nth(1);
	CHECK_EQ(cpu_groups_map(map, 2), -ENOMEM);
	CHECK_EQ(map[0], NONE);
	for (int nth = 1; nth <= 2; nth++) {
		shim_fail_nth(nth);
		CHECK_EQ(cpu_groups_masks(group, 2), -ENOMEM);
		CHECK(shim_fail_fired());
		CHECK_EQ(group[0].bits, 0);
	}
	shim_fail_nth(0);
}

TEST(any_machine)
{
	srand(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		add_random(1 + rand() % MAX_NODES);
		check_machine(1 + rand() % MAX_GROUPS);
		unit_progress();
	}
}
