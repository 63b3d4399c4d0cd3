/* SPDX-License-Identifier: GPL-2.0 */
/* A machine that a test makes up: which CPUs there are, their nodes and cores. */
#ifndef _SHIM_LINUX_TOPOLOGY_H
#define _SHIM_LINUX_TOPOLOGY_H

#include <linux/cpumask.h>

#define MACHINE_CPUS	32

struct machine {
	unsigned int cpus;			/* possible ones */
	struct cpumask present;
	int node[MACHINE_CPUS];
	struct cpumask siblings[MACHINE_CPUS];	/* empty for CPUs that are not present */
};

extern struct machine machine;

#define nr_cpu_ids			(machine.cpus)
#define cpu_present_mask		(&machine.present)
#define num_possible_cpus()		(machine.cpus)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < machine.cpus; (cpu)++)
#define cpu_to_node(cpu)		(machine.node[cpu])
#define topology_sibling_cpumask(cpu)	(&machine.siblings[cpu])

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
	return mask->bits ? __builtin_ctzl(mask->bits) : nr_cpu_ids;
}

#endif
