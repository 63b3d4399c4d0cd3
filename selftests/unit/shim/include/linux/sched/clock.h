/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of this CPU, in nanoseconds. */
#ifndef _SHIM_LINUX_SCHED_CLOCK_H
#define _SHIM_LINUX_SCHED_CLOCK_H

#include <time.h>
#include <linux/types.h>

static inline u64 local_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif
