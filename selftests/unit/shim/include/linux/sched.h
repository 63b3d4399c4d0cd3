/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks. A task sleeps in schedule() only while its state says so, and only a
 * wake-up changes that from outside: one that comes before the state is set is
 * lost, as in the kernel.
 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#include <signal.h>
#include <shim.h>

#define TASK_RUNNING		0x000
#define TASK_INTERRUPTIBLE	0x001
#define TASK_UNINTERRUPTIBLE	0x002
#define TASK_WAKEKILL		0x100
#define TASK_NOLOAD		0x400
#define TASK_NORMAL		(TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)

#define TASK_COMM_LEN		16

#define PF_EXITING		0x00000004
#define PF_KTHREAD		0x00200000

/* A jiffy is a millisecond, ten times faster than it should be. */
#define HZ			100
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

#define current			shim_current

/* The threads of a process that can be found; an RCU reader may look at them. */
#define for_each_thread(p, t) \
	for (t = shim_next_thread(p, NULL); t; t = shim_next_thread(p, t))

/*
 * Fully ordered against what follows. A store to the state that a waker saw
 * happens before the waker's look at it, which is a read-modify-write too.
 */
#define set_current_state(s) \
	((void)__atomic_exchange_n(&current->state, (s), __ATOMIC_SEQ_CST))
#define __set_current_state(s)	WRITE_ONCE(current->state, (s))

void schedule(void);
long schedule_timeout(long timeout);
long schedule_timeout_uninterruptible(long timeout);
bool wake_up_process(struct task_struct *task);

#define cond_resched()		shim_point(SHIM_RESCHED)

#endif
