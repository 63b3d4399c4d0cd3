/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPUs share a queue when nothing else says so. */
#ifndef _LINUX_CPU_GROUPS_H
#define _LINUX_CPU_GROUPS_H

#include <linux/cpumask.h>

int cpu_groups_map(unsigned int *map, unsigned int nr_groups);
int cpu_groups_masks(struct cpumask *masks, unsigned int nr_groups);

#endif
