/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mutexes that know their owner. All that were initialised by the same
 * expression are of one class; the order of classes is checked.
 */
#ifndef _SHIM_LINUX_MUTEX_H
#define _SHIM_LINUX_MUTEX_H

#include <linux/compiler.h>
#include <shim.h>

struct mutex {
	struct shim_wait wait;
	struct task_struct *owner;
	int class;
};

void shim_mutex_init(struct mutex *m, const char *name);
void mutex_lock(struct mutex *m);
int mutex_lock_killable(struct mutex *m);
#define mutex_lock_killable_nested(m, subclass) ((void)(subclass), mutex_lock_killable(m))
#define mutex_lock_nested(m, subclass) ((void)(subclass), mutex_lock(m))
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#define DEFINE_MUTEX(m)							\
	struct mutex m;							\
	__attribute__((constructor)) static void shim_init_##m(void)	\
	{								\
		shim_mutex_init(&m, #m);				\
	}								\
	extern struct mutex m

#define mutex_init(m)		shim_mutex_init(m, #m)
#define lockdep_is_held(m)	(READ_ONCE((m)->owner) == shim_current)
#define lockdep_assert_held(m) do {					\
	if (!lockdep_is_held(m))					\
		shim_bug("%s: %s is not held", __func__, #m);		\
} while (0)

#endif
