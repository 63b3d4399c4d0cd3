/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Divide the CPUs into groups that are as even as the machine allows.
 */
#ifndef _CPU_SPREAD_H
#define _CPU_SPREAD_H

#include <linux/cpumask.h>

int cpu_spread(struct cpumask *groups, unsigned int nr_groups);

#endif
