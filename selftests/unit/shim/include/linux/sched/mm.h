/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup that pays for the memory which a task asks for. */
#ifndef _SHIM_LINUX_SCHED_MM_H
#define _SHIM_LINUX_SCHED_MM_H

#include <linux/sched.h>

static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *old = current->active_memcg;

	current->active_memcg = memcg;
	return old;
}

#endif
