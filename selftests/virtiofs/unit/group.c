// SPDX-License-Identifier: GPL-2.0
/*
 * kernel/virtiofs/virtio_fs_group.c in user space: machines that one does not
 * have at hand, and many random ones. Prints TAP.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"
#include "virtio_fs_group.h"

#define NONE UINT_MAX		/* in the map: no group yet */
#define MAX_GROUPS 80

struct shim_cpu shim_cpus[SHIM_CPUS];
bool shim_no_memory;
int shim_read_locks;

static unsigned int map[SHIM_CPUS];
static int nr_tests, nr_failed;
static bool failed;

#define CHECK(condition) \
	do { \
		if (!(condition) && !failed) { \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failed = true; \
		} \
	} while (0)

static void clear(void)
{
	memset(shim_cpus, 0, sizeof(shim_cpus));
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++)
		map[cpu] = NONE;
}

static void add(unsigned int cpu, int node, unsigned int sibling, bool online)
{
	shim_cpus[cpu] = (struct shim_cpu){ true, online, node, { sibling } };
}

/* Group, and compare with a string: a character for each CPU, '-' for one that cannot be. */
static bool groups_are(unsigned int nr_groups, const char *wanted)
{
	char got[SHIM_CPUS + 1] = "";
	int err = virtio_fs_group_cpus(map, nr_groups);

	for (size_t cpu = 0; cpu < strlen(wanted); cpu++)
		got[cpu] = map[cpu] == NONE ? '-' : '0' + map[cpu];
	if (err || strcmp(got, wanted))
		printf("# %u groups: %s, not %s\n", nr_groups, got, wanted);
	return !err && !strcmp(got, wanted);
}

static void test_cpus_are_divided_evenly(void)
{
	for (int cpu = 0; cpu < 4; cpu++)
		add(cpu, 0, cpu, true);
	CHECK(groups_are(1, "0000"));
	CHECK(groups_are(2, "0011"));
	CHECK(groups_are(3, "0012"));
	CHECK(groups_are(4, "0123"));
}

static void test_more_groups_than_cpus_leave_groups_empty(void)
{
	for (int cpu = 0; cpu < 3; cpu++)
		add(cpu, 0, cpu, true);
	CHECK(groups_are(8, "012"));
}

/* Second threads of the cores come last, as they often do. */
static void test_threads_of_a_core_share_a_group(void)
{
	for (int cpu = 0; cpu < 8; cpu++)
		add(cpu, 0, cpu % 4, true);
	CHECK(groups_are(2, "00110011"));
	CHECK(groups_are(4, "01230123"));
}

static void test_groups_stay_within_nodes(void)
{
	for (int cpu = 0; cpu < 8; cpu++)
		add(cpu, cpu % 2, cpu, true);
	CHECK(groups_are(2, "01010101"));
	CHECK(groups_are(4, "02021313"));
}

static void test_uneven_nodes_get_their_share(void)
{
	for (int cpu = 0; cpu < 8; cpu++)
		add(cpu, cpu >= 6, cpu, true);
	CHECK(groups_are(2, "00000011"));
	CHECK(groups_are(4, "00112233"));
	CHECK(groups_are(3, "00011122"));
}

static void test_fewer_groups_than_nodes_have_whole_nodes(void)
{
	for (int cpu = 0; cpu < 8; cpu++)
		add(cpu, cpu / 2, cpu, true);
	CHECK(groups_are(2, "00001111"));
	CHECK(groups_are(3, "00001122"));
	CHECK(groups_are(1, "00000000"));
}

static void test_offline_cpus_take_no_group_from_those_that_run(void)
{
	for (int cpu = 0; cpu < 4; cpu++)
		add(cpu, 0, cpu, cpu < 2);
	CHECK(groups_are(2, "0101"));
	CHECK(groups_are(1, "0000"));
	CHECK(groups_are(4, "0123"));
	CHECK(groups_are(3, "0120"));
}

static void test_all_offline_but_one(void)
{
	for (int cpu = 0; cpu < 5; cpu++)
		add(cpu, 0, cpu, cpu == 3);
	CHECK(groups_are(2, "11000"));
}

static void test_numbers_may_have_gaps(void)
{
	add(1, 0, 1, true);
	add(5, 0, 5, true);
	CHECK(groups_are(2, "-0---1"));
}

static void test_node_unknown(void)
{
	add(0, -1, 0, true);
	add(1, -1, 1, true);
	CHECK(groups_are(2, "01"));
}

static void test_no_memory_leaves_the_map(void)
{
	add(0, 0, 0, true);
	shim_no_memory = true;
	CHECK(virtio_fs_group_cpus(map, 2));
	CHECK(map[0] == NONE);
	shim_no_memory = false;
}

/* --- what is true of any machine */

static unsigned int size_of(unsigned int group, int node, bool online)
{
	unsigned int cpu, nr = 0;

	for_each_possible_cpu(cpu)
		nr += map[cpu] == group && (node < 0 || shim_cpus[cpu].node == node) &&
		      shim_cpus[cpu].online == online;
	return nr;
}

static unsigned int nr_in(int node, bool online)
{
	unsigned int cpu, nr = 0;

	for_each_possible_cpu(cpu)
		nr += shim_cpus[cpu].online == online && (node < 0 || shim_cpus[cpu].node == node);
	return nr;
}

static void random_machine(int nr_nodes)
{
	int nr = 1 + rand() % SHIM_CPUS;

	clear();
	for (int cpu = 0; cpu < nr; cpu++)
		if (rand() % 8 || !cpu)
			add(cpu, rand() % nr_nodes, cpu & ~1, !cpu || rand() % 4);
}

/* Groups of a node differ by one CPU at most. */
static void check_node(int node, unsigned int nr_groups)
{
	unsigned int least = UINT_MAX, most = 0;

	for (unsigned int group = 0; group < nr_groups; group++) {
		unsigned int size = size_of(group, node, true);

		if (!size)
			continue;
		least = size < least ? size : least;
		most = size > most ? size : most;
	}
	CHECK(!most || most - least <= 1);
}

static void check_group(unsigned int group, unsigned int nodes, unsigned int nr_groups)
{
	unsigned int online = nr_in(-1, true), spanned = 0;

	for (int node = 0; node < 4; node++)
		spanned += !!size_of(group, node, true);
	if (nr_groups <= online)
		CHECK(spanned >= 1);
	if (nr_groups >= nodes)
		CHECK(spanned <= 1);
}

static void test_any_machine(void)
{
	srand(1);
	for (int round = 0; round < 20000 && !failed; round++) {
		unsigned int nr_groups = 1 + rand() % MAX_GROUPS, cpu, nodes = 0;

		random_machine(1 + rand() % 4);
		CHECK(!virtio_fs_group_cpus(map, nr_groups));
		for_each_possible_cpu(cpu)
			CHECK(map[cpu] < nr_groups);
		for (int node = 0; node < 4; node++)
			nodes += !!nr_in(node, true);
		for (int node = 0; node < 4; node++)
			if (nr_groups >= nodes)
				check_node(node, nr_groups);
		for (unsigned int group = 0; group < nr_groups; group++)
			check_group(group, nodes, nr_groups);
		CHECK(!shim_read_locks);
	}
}

static void run(const char *name, void (*test)(void))
{
	clear();
	failed = false;
	test();
	nr_tests++;
	nr_failed += failed;
	printf("%sok %d - virtiofs.group.%s\n", failed ? "not " : "", nr_tests, name);
}

#define RUN(test) run(#test, test_##test)

int main(void)
{
	RUN(cpus_are_divided_evenly);
	RUN(more_groups_than_cpus_leave_groups_empty);
	RUN(threads_of_a_core_share_a_group);
	RUN(groups_stay_within_nodes);
	RUN(uneven_nodes_get_their_share);
	RUN(fewer_groups_than_nodes_have_whole_nodes);
	RUN(offline_cpus_take_no_group_from_those_that_run);
	RUN(all_offline_but_one);
	RUN(numbers_may_have_gaps);
	RUN(node_unknown);
	RUN(no_memory_leaves_the_map);
	RUN(any_machine);
	printf("1..%d\n", nr_tests);
	return nr_failed > 0;
}
