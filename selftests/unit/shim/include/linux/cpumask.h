/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs, in one word; a task remembers its own and takes no notice. */
#ifndef _SHIM_LINUX_CPUMASK_H
#define _SHIM_LINUX_CPUMASK_H

#include <linux/slab.h>

typedef struct cpumask cpumask_var_t[1];

/* A variable, as in a kernel for few CPUs: cannot fail. */
#define alloc_cpumask_var(mask, gfp)	((void)(gfp), (*(mask))[0].bits = 0, true)
#define free_cpumask_var(mask)		((void)(mask))

static inline void cpumask_copy(struct cpumask *to, const struct cpumask *from)
{
	to->bits = READ_ONCE(from->bits);
}

static inline int set_cpus_allowed_ptr(struct task_struct *task,
				       const struct cpumask *mask)
{
	WRITE_ONCE(task->cpus_mask.bits, mask->bits);
	return 0;
}

/* How many CPUs the host has: what a test says. */
extern unsigned int shim_cpus;
#define num_online_cpus()	READ_ONCE(shim_cpus)

#endif
