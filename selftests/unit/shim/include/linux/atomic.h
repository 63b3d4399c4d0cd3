/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Atomic counters: what returns a value is fully ordered, the rest is not
 * ordered at all.
 */
#ifndef _SHIM_LINUX_ATOMIC_H
#define _SHIM_LINUX_ATOMIC_H

#include <linux/compiler.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(value)	{ value }

#define atomic_read(a)		READ_ONCE((a)->counter)
#define atomic64_read(a)	READ_ONCE((a)->counter)
#define atomic_set(a, value)	WRITE_ONCE((a)->counter, value)
#define atomic64_set(a, value)	WRITE_ONCE((a)->counter, value)

static inline void atomic_inc(atomic_t *a)
{
	__atomic_fetch_add(&a->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic64_inc(atomic64_t *a)
{
	__atomic_fetch_add(&a->counter, 1, __ATOMIC_RELAXED);
}

static inline int atomic_inc_return(atomic_t *a)
{
	return __atomic_add_fetch(&a->counter, 1, __ATOMIC_SEQ_CST);
}

static inline bool atomic_dec_and_test(atomic_t *a)
{
	return __atomic_sub_fetch(&a->counter, 1, __ATOMIC_SEQ_CST) == 0;
}

/* Returns what was there. One that fails orders nothing. */
static inline int atomic_cmpxchg(atomic_t *a, int old, int new)
{
	shim_point(SHIM_CMPXCHG);
	__atomic_compare_exchange_n(&a->counter, &old, new, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	return old;
}

#endif
