/* SPDX-License-Identifier: GPL-2.0 */
/* Annotations and helpers that every kernel file takes for granted. */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <linux/types.h>
#include <shim.h>

#define __user
#define __rcu

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

/* One pairs with the other. */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

#define unlikely(cond)		__builtin_expect(!!(cond), 0)

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof(*(p)->member) * (n))

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })

#define max_t(type, a, b) \
	({ type _a = (a); type _b = (b); _a > _b ? _a : _b; })

/* Kernel errnos that user space never sees. */
#define ERESTARTNOINTR	513
#define ENOIOCTLCMD	515

void shim_bug(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* A warning is a fault of the code under test: it ends the test. */
#define WARN_ON_ONCE(cond) ({						\
	bool _warn = (cond);						\
									\
	if (_warn)							\
		shim_bug("%s:%d: WARN_ON_ONCE(%s)", __FILE__, __LINE__, #cond); \
	_warn;								\
})

#endif
