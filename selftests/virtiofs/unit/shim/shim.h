/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as virtio_fs_group.c needs, over a machine that the
 * test describes.
 */
#ifndef SHIM_H
#define SHIM_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define SHIM_CPUS 64

struct cpumask {
	unsigned int first;
};

/* The machine: CPU numbers may have gaps. */
struct shim_cpu {
	bool possible, online;
	int node;
	struct cpumask siblings;
};

extern struct shim_cpu shim_cpus[SHIM_CPUS];
extern bool shim_no_memory;
extern int shim_read_locks;

#define min(a, b)		((a) < (b) ? (a) : (b))
#define clamp(v, lo, hi)	((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

#define GFP_KERNEL 0
#define kcalloc(n, size, flags)	(shim_no_memory ? NULL : calloc(n, size))
#define kfree free
#define sort(base, n, size, cmp, swap) qsort(base, n, size, cmp)

#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++) \
		if (shim_cpus[cpu].possible)

static inline unsigned int num_possible_cpus(void)
{
	unsigned int cpu, nr = 0;

	for_each_possible_cpu(cpu)
		nr++;
	return nr;
}

/* What is asked of a CPU that can go must be asked under the lock. */
#define cpus_read_lock()	(shim_read_locks++)
#define cpus_read_unlock()	(shim_read_locks--)
#define cpu_online(cpu)		(assert(shim_read_locks), shim_cpus[cpu].online)
#define cpu_to_node(cpu)	(shim_cpus[cpu].node)
#define topology_sibling_cpumask(cpu) (assert(shim_read_locks), &shim_cpus[cpu].siblings)
#define cpumask_first(mask)	((mask)->first)

#endif
