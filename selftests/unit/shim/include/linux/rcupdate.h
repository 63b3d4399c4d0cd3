/* SPDX-License-Identifier: GPL-2.0 */
/* RCU: rules are checked here, the work is done by one of rcu-*.c. */
#ifndef _SHIM_LINUX_RCUPDATE_H
#define _SHIM_LINUX_RCUPDATE_H

#include <linux/compiler.h>
#include <shim.h>

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
unsigned long get_state_synchronize_rcu(void);
void cond_synchronize_rcu(unsigned long state);

#define rcu_assign_pointer(p, v)	__atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#define RCU_INIT_POINTER(p, v)		WRITE_ONCE(p, v)

/* Acquire stands for the address dependency, which C cannot express. */
#define rcu_dereference(p) ({						\
	typeof(p) _p = __atomic_load_n(&(p), __ATOMIC_ACQUIRE);		\
									\
	if (!shim_in_rcu_reader())					\
		shim_bug("rcu_dereference() outside a reader");		\
	shim_point(SHIM_DEREFERENCE);					\
	_p;								\
})

#define rcu_dereference_protected(p, cond) ({				\
	if (!(cond))							\
		shim_bug("%s:%d: not protected: %s", __FILE__, __LINE__, #cond); \
	READ_ONCE(p);							\
})

#endif
