/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPUs share a queue when nothing else says so. */
#ifndef _VIRTIO_FS_GROUP_H
#define _VIRTIO_FS_GROUP_H

#include <linux/types.h>

/**
 * struct virtio_fs_place - where a CPU is
 * @cpu: its number
 * @core: what is the same for CPUs that share a core, and for no others
 * @node: its NUMA node
 * @online: it runs now; others may come later
 */
struct virtio_fs_place {
	unsigned int cpu;
	unsigned int core;
	int node;
	bool online;
};

void virtio_fs_group_places(struct virtio_fs_place *places, unsigned int nr,
			    unsigned int nr_groups, unsigned int *map);
int virtio_fs_group_cpus(unsigned int *map, unsigned int nr_groups);

#endif
