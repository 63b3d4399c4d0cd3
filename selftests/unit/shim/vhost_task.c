// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of the owner, with the same life as the kernel's vhost_task: one that
 * is told to stop leaves at once, whatever is on its list, and a SIGKILL runs
 * the handler under a mutex which stopping it takes as well.
 */
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/vhost_task.h>
#include <linux/slab.h>
#include <shim.h>

enum {
	STOPPED,
	KILLED,
};

struct vhost_task {
	bool (*fn)(void *data);
	void (*handle_sigkill)(void *data);
	void *data;
	struct task_struct *task;
	struct mutex exit_mutex;
	struct completion exited;
	unsigned long flags;
};

static void run_until_told(struct vhost_task *vtsk)
{
	for (;;) {
		if (fatal_signal_pending(current))
			return;
		if (signal_pending(current))
			flush_signals(current);
		set_current_state(TASK_INTERRUPTIBLE);
		if (test_bit(STOPPED, &vtsk->flags)) {
			__set_current_state(TASK_RUNNING);
			return;
		}
		if (!vtsk->fn(vtsk->data))
			schedule();
	}
}

static int vhost_task_fn(void *data)
{
	struct vhost_task *vtsk = data;

	run_until_told(vtsk);

	mutex_lock(&vtsk->exit_mutex);
	if (!test_bit(STOPPED, &vtsk->flags)) {
		set_bit(KILLED, &vtsk->flags);
		/* get_signal() has taken it; the task does not exit yet. */
		flush_signals(current);
		vtsk->handle_sigkill(vtsk->data);
	}
	mutex_unlock(&vtsk->exit_mutex);
	complete(&vtsk->exited);
	return 0;
}

struct vhost_task *vhost_task_create(bool (*fn)(void *),
				     void (*handle_sigkill)(void *), void *arg,
				     const char *name)
{
	struct vhost_task *vtsk;
	int err;

	shim_might_sleep("vhost_task_create()");
	vtsk = kzalloc(sizeof(*vtsk), GFP_KERNEL);
	if (!vtsk)
		return ERR_PTR(-ENOMEM);

	shim_point(SHIM_THREAD_CREATE);
	err = signal_pending(current) ? -ERESTARTNOINTR : shim_thread_error(-EAGAIN);
	if (!err) {
		shim_point(SHIM_THREAD_LATE);
		err = fatal_signal_pending(current) ? -EINTR : 0;
	}
	if (err) {
		kfree(vtsk);
		return ERR_PTR(err);
	}

	vtsk->fn = fn;
	vtsk->handle_sigkill = handle_sigkill;
	vtsk->data = arg;
	mutex_init(&vtsk->exit_mutex);
	init_completion(&vtsk->exited);
	vtsk->task = shim_task_create(vhost_task_fn, vtsk, name, current->mm);
	return vtsk;
}

void vhost_task_start(struct vhost_task *vtsk)
{
	wake_up_process(vtsk->task);
}

void vhost_task_wake(struct vhost_task *vtsk)
{
	wake_up_process(vtsk->task);
}

void vhost_task_stop(struct vhost_task *vtsk)
{
	mutex_lock(&vtsk->exit_mutex);
	if (!test_bit(KILLED, &vtsk->flags)) {
		set_bit(STOPPED, &vtsk->flags);
		vhost_task_wake(vtsk);
	}
	mutex_unlock(&vtsk->exit_mutex);

	wait_for_completion(&vtsk->exited);
	put_task_struct(vtsk->task);
	kfree(vtsk);
}

struct task_struct *shim_vhost_task(struct vhost_task *vtsk);
struct task_struct *shim_vhost_task(struct vhost_task *vtsk)
{
	return vtsk->task;
}
