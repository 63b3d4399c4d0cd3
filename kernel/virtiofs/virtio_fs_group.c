// SPDX-License-Identifier: GPL-2.0
/*
 * Divide the CPUs into groups of nearly one size.
 *
 * A group stays within a node if there are enough groups for it, and then a
 * node has as many as are due to its CPUs. CPUs of a core are neighbours, so
 * that they are in one group or in adjacent ones. CPUs that are not online are
 * divided by themselves: they neither take a group from those that run, nor
 * make groups uneven when they come.
 *
 * All that decides is in virtio_fs_group_places(), which knows no kernel and is
 * tested in user space.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

#include "virtio_fs_group.h"

/* A run of neighbours in the sorted array that is still to be divided. */
struct virtio_fs_run {
	const struct virtio_fs_place *places;
	unsigned int nr;
	unsigned int nodes;
	unsigned int groups;		/* for this run: nodes <= groups <= nr */
	unsigned int first;		/* of these groups */
};

static int virtio_fs_cmp_places(const void *left, const void *right)
{
	const struct virtio_fs_place *l = left, *r = right;

	if (l->online != r->online)
		return l->online ? -1 : 1;
	if (l->node != r->node)
		return l->node < r->node ? -1 : 1;
	if (l->core != r->core)
		return l->core < r->core ? -1 : 1;
	return l->cpu < r->cpu ? -1 : l->cpu > r->cpu;
}

/* The number of CPUs at the start that are on the node of the first. */
static unsigned int virtio_fs_node_size(const struct virtio_fs_place *places,
					unsigned int nr)
{
	unsigned int i = 1;

	while (i < nr && places[i].node == places[0].node)
		i++;

	return i;
}

static unsigned int virtio_fs_count_nodes(const struct virtio_fs_place *places,
					  unsigned int nr)
{
	unsigned int nodes = 0, i;

	for (i = 0; i < nr; i += virtio_fs_node_size(places + i, nr - i))
		nodes++;

	return nodes;
}

/*
 * How many of the run's groups are due to its first node, which has size CPUs:
 * its share, rounded, but at least one, and so that no group is left without a
 * CPU and no node without a group.
 */
static unsigned int virtio_fs_node_share(const struct virtio_fs_run *run,
					 unsigned int size)
{
	unsigned int rest = run->nr - size;
	unsigned int least = run->groups > rest ? run->groups - rest : 1;
	unsigned int most = min(size, run->groups - (run->nodes - 1));
	unsigned int share = (2 * size * run->groups + run->nr) / (2 * run->nr);

	return clamp(share, least, most);
}

/* Divide a run whose groups are enough for its nodes, node by node. */
static void virtio_fs_divide(struct virtio_fs_run run, unsigned int nr_groups,
			     unsigned int *map)
{
	while (run.nr) {
		unsigned int size = virtio_fs_node_size(run.places, run.nr);
		unsigned int share = virtio_fs_node_share(&run, size);
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
static void virtio_fs_join_nodes(const struct virtio_fs_run *run,
				 unsigned int nr_groups, unsigned int *map)
{
	unsigned int node = 0, i;

	for (i = 0; i < run->nr; i++) {
		if (i && run->places[i].node != run->places[i - 1].node)
			node++;
		map[run->places[i].cpu] =
			(run->first + node * nr_groups / run->nodes) % nr_groups;
	}
}

static void virtio_fs_spread(const struct virtio_fs_place *places,
			     unsigned int nr, unsigned int first,
			     unsigned int nr_groups, unsigned int *map)
{
	struct virtio_fs_run run = {
		.places = places,
		.nr = nr,
		.nodes = virtio_fs_count_nodes(places, nr),
		.groups = min(nr, nr_groups),
		.first = first,
	};

	if (run.groups < run.nodes)
		virtio_fs_join_nodes(&run, nr_groups, map);
	else
		virtio_fs_divide(run, nr_groups, map);
}

/**
 * virtio_fs_group_places - divide CPUs whose places are known
 * @places: the CPUs, each once; their order is changed
 * @nr: how many
 * @nr_groups: number of groups, at least one
 * @map: filled in: the group of each of these CPUs, from 0 to @nr_groups - 1
 *
 * If fewer CPUs than groups are online, the others begin where these ended.
 *
 * Context: any.
 */
void virtio_fs_group_places(struct virtio_fs_place *places, unsigned int nr,
			    unsigned int nr_groups, unsigned int *map)
{
	unsigned int online = 0;

	sort(places, nr, sizeof(*places), virtio_fs_cmp_places, NULL);
	while (online < nr && places[online].online)
		online++;

	virtio_fs_spread(places, online, 0, nr_groups, map);
	virtio_fs_spread(places + online, nr - online,
			 online < nr_groups ? online : 0, nr_groups, map);
}

/**
 * virtio_fs_group_cpus - divide all CPUs that there may ever be
 * @map: filled in: the group of each possible CPU, from 0 to @nr_groups - 1
 * @nr_groups: number of groups, at least one
 *
 * Context: may sleep; takes cpus_read_lock().
 * Return: 0, or -ENOMEM, and then @map is as it was.
 */
int virtio_fs_group_cpus(unsigned int *map, unsigned int nr_groups)
{
	struct virtio_fs_place *places;
	unsigned int cpu, nr = 0;

	places = kcalloc(num_possible_cpus(), sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		/* A CPU that never ran has no siblings yet. */
		unsigned int core = cpumask_first(topology_sibling_cpumask(cpu));

		places[nr++] = (struct virtio_fs_place){
			.cpu = cpu,
			.core = min(core, cpu),
			.node = cpu_to_node(cpu),
			.online = cpu_online(cpu),
		};
	}
	cpus_read_unlock();

	virtio_fs_group_places(places, nr, nr_groups, map);
	kfree(places);

	return 0;
}
