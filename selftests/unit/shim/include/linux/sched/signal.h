/* SPDX-License-Identifier: GPL-2.0 */
/* Signals: a set of pending ones per task. Only SIGKILL is fatal. */
#ifndef _SHIM_LINUX_SCHED_SIGNAL_H
#define _SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

bool signal_pending(struct task_struct *task);
bool fatal_signal_pending(struct task_struct *task);
void flush_signals(struct task_struct *task);
int send_sig(int sig, struct task_struct *task, int priv);
void allow_kernel_signal(int sig);

/* The set is atomic, so that its lock has nothing to do. */
#define spin_lock_irq(lock)	((void)sizeof(*(lock)))
#define spin_unlock_irq(lock)	((void)sizeof(*(lock)))
#define sigaddset(set, sig) \
	((void)__atomic_fetch_or(set, 1U << (sig), __ATOMIC_SEQ_CST))
#define recalc_sigpending()	do { } while (0)

#endif
