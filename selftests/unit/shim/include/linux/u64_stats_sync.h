/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that are read as a whole. A lock instead of a sequence count, since
 * ThreadSanitizer would call every reader of the latter a race; it orders
 * reader and writer as the count does.
 */
#ifndef _SHIM_LINUX_U64_STATS_SYNC_H
#define _SHIM_LINUX_U64_STATS_SYNC_H

#include <shim.h>

struct u64_stats_sync {
	struct shim_spin lock;
};

#define u64_stats_init(s)		((void)((s)->lock.locked = 0))
#define u64_stats_update_begin(s)	shim_spin_lock(&(s)->lock)
#define u64_stats_update_end(s)		shim_spin_unlock(&(s)->lock)
#define u64_stats_fetch_begin(s)	(shim_spin_lock(&(s)->lock), 0U)
#define u64_stats_fetch_retry(s, start) \
	((void)(start), shim_spin_unlock(&(s)->lock), false)

#endif
