// SPDX-License-Identifier: GPL-2.0
/* The small lock inside each object of the shim, and waiting for a change. */
#include <errno.h>
#include <sched.h>
#include <linux/compiler.h>
#include <linux/sched/signal.h>

struct shim_waiter {
	struct task_struct *task;
	struct shim_waiter *next;
};

void shim_spin_lock(struct shim_spin *spin)
{
	while (__atomic_exchange_n(&spin->locked, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

void shim_spin_unlock(struct shim_spin *spin)
{
	__atomic_store_n(&spin->locked, 0, __ATOMIC_RELEASE);
}

void shim_wait_init(struct shim_wait *w)
{
	w->lock.locked = 0;
	w->first = NULL;
}

static void remove_waiter(struct shim_wait *w, struct shim_waiter *me)
{
	struct shim_waiter **p;

	for (p = &w->first; *p; p = &(*p)->next) {
		if (*p == me) {
			*p = me->next;
			return;
		}
	}
}

int shim_wait_for(struct shim_wait *w, bool (*take)(void *), void *obj,
		  unsigned int state, long timeout, const char *what)
{
	struct shim_waiter me = { .task = current };
	bool queued = false;
	int err = 0;

	shim_spin_lock(&w->lock);
	while (!take(obj)) {
		if (shim_signal_ends_sleep(state))
			err = -EINTR;
		else if (!timeout)
			err = -ETIME;
		if (err)
			break;

		if (!queued) {
			me.next = w->first;
			w->first = &me;
			queued = true;
		}
		set_current_state(state);
		WRITE_ONCE(current->waits_for, what);
		shim_spin_unlock(&w->lock);
		timeout = schedule_timeout(timeout);
		WRITE_ONCE(current->waits_for, NULL);
		shim_spin_lock(&w->lock);
	}
	if (queued)
		remove_waiter(w, &me);
	shim_spin_unlock(&w->lock);
	return err;
}

/* The caller holds w->lock. */
void shim_wake_all(struct shim_wait *w)
{
	struct shim_waiter *waiter;

	for (waiter = w->first; waiter; waiter = waiter->next)
		wake_up_process(waiter->task);
}
