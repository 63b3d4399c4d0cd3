/* SPDX-License-Identifier: GPL-2.0 */
/* Joining the cgroups of another task: may fail; the task remembers whose they are. */
#ifndef _SHIM_LINUX_CGROUP_H
#define _SHIM_LINUX_CGROUP_H

struct task_struct;

int cgroup_attach_task_all(struct task_struct *from, struct task_struct *task);

#endif
