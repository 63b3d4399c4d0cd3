/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cpuset.h - which CPUs the control group of a thread leaves it
 */
#ifndef VHOST_CTL_CPUSET_H
#define VHOST_CTL_CPUSET_H

#include "cpus.h"

/*
 * The CPUs of the cpuset of thread @tid, and the group's directory, which the caller frees. False
 * if there is no cpuset, or it cannot be seen from here.
 */
bool cpuset_of(uint32_t tid, struct cpus *cpus, char **group);

#endif /* VHOST_CTL_CPUSET_H */
