// SPDX-License-Identifier: GPL-2.0
/* The RCU of liburcu, flavour memb: readers without barriers, like the kernel's. */
#include <urcu/urcu-memb.h>
#include <shim.h>

void shim_rcu_register(struct task_struct *task)
{
	(void)task;
	urcu_memb_register_thread();
}

void shim_rcu_unregister(struct task_struct *task)
{
	(void)task;
	urcu_memb_unregister_thread();
}

void shim_rcu_lock(struct task_struct *task)
{
	(void)task;
	urcu_memb_read_lock();
}

void shim_rcu_unlock(struct task_struct *task)
{
	(void)task;
	urcu_memb_read_unlock();
}

void shim_rcu_synchronize(void)
{
	urcu_memb_synchronize_rcu();
}
