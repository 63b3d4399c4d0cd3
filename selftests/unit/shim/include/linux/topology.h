/* SPDX-License-Identifier: GPL-2.0 */
/* A machine that a test makes up: which CPUs there are, their nodes and cores. */
#ifndef _SHIM_LINUX_TOPOLOGY_H
#define _SHIM_LINUX_TOPOLOGY_H

#include <assert.h>
#include <linux/cpumask.h>

#define MACHINE_CPUS	64

/* CPU numbers may have gaps. */
struct machine {
	struct cpumask possible, online;
	int node[MACHINE_CPUS];
	struct cpumask siblings[MACHINE_CPUS];	/* empty for a CPU that never ran */
	unsigned int locked;			/* no CPU goes or comes */
};

extern struct machine machine;

static inline bool cpumask_test_cpu(unsigned int cpu, const struct cpumask *mask)
{
	return mask->bits >> cpu & 1;
}

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits |= 1UL << cpu;
}

static inline unsigned int cpumask_first(const struct cpumask *mask)
{
	return mask->bits ? __builtin_ctzl(mask->bits) : MACHINE_CPUS;
}

static inline unsigned int cpumask_weight(const struct cpumask *mask)
{
	return __builtin_popcountl(mask->bits);
}

#define nr_cpu_ids			MACHINE_CPUS
#define num_possible_cpus()		cpumask_weight(&machine.possible)
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++) \
		if (cpumask_test_cpu(cpu, &machine.possible))
#define cpu_to_node(cpu)		(machine.node[cpu])

/* What is asked of a CPU that can go must be asked under the lock. */
#define cpus_read_lock()		(machine.locked++)
#define cpus_read_unlock()		(machine.locked--)
#define cpu_online(cpu)			(assert(machine.locked), cpumask_test_cpu(cpu, &machine.online))
#define topology_sibling_cpumask(cpu)	(assert(machine.locked), &machine.siblings[cpu])

#endif
