/* SPDX-License-Identifier: GPL-2.0 */
/* Pids, of whole processes only. */
#ifndef _SHIM_LINUX_PID_H
#define _SHIM_LINUX_PID_H

#include <shim.h>

enum pid_type {
	PIDTYPE_TGID,
};

struct pid;

struct pid *get_task_pid(struct task_struct *task, enum pid_type type);
void put_pid(struct pid *pid);
int pid_nr(struct pid *pid);
/* A thread of the process, for an RCU reader; NULL if none is left. */
struct task_struct *pid_task(struct pid *pid, enum pid_type type);

#endif
