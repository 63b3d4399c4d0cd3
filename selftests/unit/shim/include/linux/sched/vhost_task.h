/* SPDX-License-Identifier: GPL-2.0 */
/* Threads of a process for the use of vhost. */
#ifndef _SHIM_LINUX_SCHED_VHOST_TASK_H
#define _SHIM_LINUX_SCHED_VHOST_TASK_H

#include <linux/types.h>

struct vhost_task;

struct vhost_task *vhost_task_create(bool (*fn)(void *),
				     void (*handle_sigkill)(void *), void *arg,
				     const char *name);
void vhost_task_start(struct vhost_task *vtsk);
void vhost_task_stop(struct vhost_task *vtsk);
void vhost_task_wake(struct vhost_task *vtsk);

#endif
