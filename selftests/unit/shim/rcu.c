// SPDX-License-Identifier: GPL-2.0
/*
 * RCU: counting and checking, above the flavour that does the work.
 *
 * Grace periods have numbers. One whose number is taken after
 * get_state_synchronize_rcu() was called covers it.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>

static unsigned long gp_started;
static unsigned long gp_done;
static unsigned int gp_waiters;

void rcu_read_lock(void)
{
	if (!current->rcu_nesting++)
		shim_rcu_lock(current);
}

void rcu_read_unlock(void)
{
	if (current->rcu_nesting <= 0)
		shim_bug("rcu_read_unlock() without a lock");
	if (!--current->rcu_nesting)
		shim_rcu_unlock(current);
}

bool shim_in_rcu_reader(void)
{
	return current->rcu_nesting;
}

void synchronize_rcu(void)
{
	struct task_struct *unhashed;
	unsigned long number, done;

	shim_might_sleep("synchronize_rcu()");
	shim_acquire(SHIM_CLASS_GRACE_PERIOD);
	shim_point(SHIM_GRACE_PERIOD);

	unhashed = shim_take_unhashed();
	number = __atomic_add_fetch(&gp_started, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&gp_waiters, 1, __ATOMIC_RELAXED);
	WRITE_ONCE(current->waits_for, "grace period");
	shim_rcu_synchronize();
	shim_put_unhashed(unhashed);
	WRITE_ONCE(current->waits_for, NULL);
	__atomic_fetch_sub(&gp_waiters, 1, __ATOMIC_RELAXED);

	done = __atomic_load_n(&gp_done, __ATOMIC_RELAXED);
	while (done < number &&
	       !__atomic_compare_exchange_n(&gp_done, &done, number, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

unsigned long get_state_synchronize_rcu(void)
{
	return __atomic_add_fetch(&gp_started, 0, __ATOMIC_SEQ_CST) + 1;
}

void cond_synchronize_rcu(unsigned long state)
{
	if (__atomic_load_n(&gp_done, __ATOMIC_ACQUIRE) < state)
		synchronize_rcu();
}

unsigned long shim_grace_periods(void)
{
	return READ_ONCE(gp_started);
}

unsigned int shim_grace_waiters(void)
{
	return READ_ONCE(gp_waiters);
}
