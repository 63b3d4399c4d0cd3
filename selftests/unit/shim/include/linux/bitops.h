/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Atomic bit operations, ordered as the kernel's and no more than that, so
 * that a barrier missing in the code under test is missing here too.
 *
 * ThreadSanitizer does not know fences. For it smp_mb__before_atomic() makes
 * the next clear_bit() a release, and smp_mb__after_atomic() is an acquiring
 * read-modify-write of the word that was changed last. The latter also
 * acquires from whoever changed the word in between, which is a little more
 * than the fence promises.
 */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <shim.h>

extern _Thread_local unsigned long *shim_last_word;
extern _Thread_local bool shim_mb_before;

static inline bool test_and_set_bit(long nr, unsigned long *addr)
{
	unsigned long old;

	shim_point(SHIM_TEST_AND_SET);
	old = __atomic_fetch_or(addr, 1UL << nr, __ATOMIC_SEQ_CST);
	return old & (1UL << nr);
}

static inline void set_bit(long nr, unsigned long *addr)
{
	__atomic_fetch_or(addr, 1UL << nr, __ATOMIC_RELAXED);
}

static inline bool test_bit(long nr, const unsigned long *addr)
{
	return __atomic_load_n(addr, __ATOMIC_RELAXED) & (1UL << nr);
}

static inline void clear_bit(long nr, unsigned long *addr)
{
	unsigned long mask = ~(1UL << nr);

	shim_point(SHIM_CLEAR_BIT);
	if (shim_mb_before)
		__atomic_fetch_and(addr, mask, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(addr, mask, __ATOMIC_RELAXED);
	shim_mb_before = false;
	shim_last_word = addr;
}

#ifdef __SANITIZE_THREAD__
#define smp_mb__before_atomic()	((void)(shim_mb_before = true))
#define smp_mb__after_atomic() \
	((void)__atomic_fetch_or(shim_last_word, 0, __ATOMIC_ACQUIRE))
#else
#define smp_mb__before_atomic()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__after_atomic()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

#endif
