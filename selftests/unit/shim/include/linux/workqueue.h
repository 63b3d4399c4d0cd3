/* SPDX-License-Identifier: GPL-2.0 */
/* Work of a work queue: a kernel thread for each piece. */
#ifndef _SHIM_LINUX_WORKQUEUE_H
#define _SHIM_LINUX_WORKQUEUE_H

#include <linux/compiler.h>

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	work_func_t func;
};

struct workqueue_struct;
#define WQ_UNBOUND	0
/* Nothing is waited for at the end: tests end with their threads. */
#define alloc_workqueue(name, flags, max)	((struct workqueue_struct *)1)
#define destroy_workqueue(wq)	((void)(wq))

#define INIT_WORK(work, fn)	((void)((work)->func = (fn)))

void queue_work(struct workqueue_struct *wq, struct work_struct *work);

#endif
