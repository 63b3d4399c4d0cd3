/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel threads. */
#ifndef _SHIM_LINUX_KTHREAD_H
#define _SHIM_LINUX_KTHREAD_H

#include <linux/sched.h>

struct task_struct *kthread_create(int (*fn)(void *), void *data,
				   const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int kthread_stop(struct task_struct *task);
bool kthread_should_stop(void);
void kthread_use_mm(struct mm_struct *mm);
void kthread_unuse_mm(struct mm_struct *mm);

#endif
