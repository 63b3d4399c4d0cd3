/* SPDX-License-Identifier: GPL-2.0 */
/* Time in jiffies, each a millisecond: see HZ in sched.h. */
#ifndef _SHIM_LINUX_JIFFIES_H
#define _SHIM_LINUX_JIFFIES_H

#include <linux/sched/clock.h>

#define jiffies		((unsigned long)(local_clock() / 1000000))

#endif
