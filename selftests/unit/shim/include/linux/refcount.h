/* SPDX-License-Identifier: GPL-2.0 */
/* References: an increment is not ordered, a decrement to zero is. */
#ifndef _SHIM_LINUX_REFCOUNT_H
#define _SHIM_LINUX_REFCOUNT_H

#include <linux/atomic.h>

typedef struct {
	int counter;
} refcount_t;

static inline void refcount_set(refcount_t *r, int value)
{
	WRITE_ONCE(r->counter, value);
}

static inline void refcount_inc(refcount_t *r)
{
	if (__atomic_fetch_add(&r->counter, 1, __ATOMIC_RELAXED) <= 0)
		shim_bug("refcount_inc() of a dead object");
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	int left = __atomic_sub_fetch(&r->counter, 1, __ATOMIC_ACQ_REL);

	if (left < 0)
		shim_bug("refcount fell below zero");
	return !left;
}

#endif
