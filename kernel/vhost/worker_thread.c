// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of a vhost worker: how it runs work, and the two kinds of it.
 *
 * A worker waits in vhost_worker_run()'s caller with its task state set
 * before it looks at the list, so that a wake-up between the look and
 * schedule() is not lost. Whoever makes the list non-empty wakes the thread;
 * whoever finds it non-empty does not have to, since the first one will.
 *
 * kthread: a kernel thread that uses the owner's mm and joined its cgroups.
 * The owner's signals do not reach it. It sleeps in TASK_IDLE, where a pending
 * signal does not matter, and allows SIGKILL from the kernel only: that is how
 * vhost_worker_ops.interrupt() ends a page fault which waits for somebody who
 * never answers (userfaultfd, FUSE). The signal is dropped before the list is
 * looked at again, so that it breaks off what was under way and nothing else.
 *
 * task: a thread of the owner, made by vhost_task. It dies with the owner;
 * see vhost_worker_killed(). What it still runs then must not wait for guest
 * memory, which is why vhost_task_worker_killed() makes SIGKILL pending again:
 * vhost_task has taken it.
 *
 * A thread that has run its last work ends without being stopped, so that nobody
 * has to wait for one before he tells the next. One of the owner does so by a
 * SIGKILL that is pending for itself only.
 */
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kcov.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#ifdef CONFIG_VHOST_TASK
#include <linux/sched/vhost_task.h>
#endif

#include "vhost.h"
#include "trace.h"

static void vhost_worker_account(struct vhost_worker *worker,
				 unsigned int works, s64 ns)
{
	struct vhost_worker_counts *counts = &worker->counts;
	/* The clocks of two CPUs may differ by a little. */
	u64 took = max_t(s64, ns, 0);

	u64_stats_update_begin(&worker->syncp);
	counts->works += works;
	counts->runs++;
	counts->wakeups += worker->idle;
	counts->busy_ns += took;
	if (took > counts->longest_run_ns)
		counts->longest_run_ns = took;
	u64_stats_update_end(&worker->syncp);
	worker->idle = false;
}

/* Let the thread be seen. */
static void vhost_worker_running(struct vhost_worker *worker, struct task_struct *task)
{
	/* Pairs with smp_load_acquire() in vhost_worker_thread() */
	smp_store_release(&worker->thread, get_task_struct(task));
	complete_all(&worker->running);
}

/**
 * vhost_worker_thread - the thread of a worker
 * @worker: the worker; cannot go away
 *
 * Context: any.
 * Return: the thread; NULL for a thread of the owner that has not run yet.
 */
struct task_struct *vhost_worker_thread(struct vhost_worker *worker)
{
	/* Pairs with smp_store_release() in vhost_worker_running() */
	return smp_load_acquire(&worker->thread);
}

/**
 * vhost_worker_run - run all the work that is on a worker's list
 * @worker: the worker
 *
 * Context: the worker's own thread. Sets the task state to running if there
 * is work, and leaves it alone otherwise.
 * Return: true if there was work.
 */
bool vhost_worker_run(struct vhost_worker *worker)
{
	struct llist_node *list = llist_del_all(&worker->work_list);
	struct vhost_work *work, *next;
	unsigned int works = 0;
	u64 start;

	if (!list) {
		worker->idle = true;
		return false;
	}
	start = local_clock();

	__set_current_state(TASK_RUNNING);
	list = llist_reverse_order(list);
	llist_for_each_entry_safe(work, next, list, node) {
		/*
		 * From here on the work may be queued again, here or on
		 * another worker. Before the flag falls we must have read
		 * node.next, which the next llist_add() writes; after it
		 * fn() must see all that was written by someone who found
		 * the flag still set. Pairs with test_and_set_bit() in
		 * vhost_worker_queue().
		 */
		smp_mb__before_atomic(); /* node.next read, then the flag */
		clear_bit(VHOST_WORK_QUEUED, &work->flags);
		smp_mb__after_atomic(); /* the flag, then what fn() reads */

		kcov_remote_start_common(worker->kcov_handle);
		work->fn(work);
		kcov_remote_stop();
		works++;
		cond_resched();
	}
	vhost_worker_account(worker, works, local_clock() - start);
	trace_vhost_worker_run(worker, works);
	return true;
}

/* What the maker of a kernel thread tells it, and hears back from it. */
struct vhost_kthread_start {
	struct vhost_worker	*worker;
	struct task_struct	*owner;
	struct completion	ready;
	int			err;
};

static void vhost_kthread_loop(struct vhost_worker *worker)
{
	bool stop;

	for (;;) {
		if (signal_pending(current))
			flush_signals(current);

		/* Pairs with the wake-up after llist_add(), and kthread_stop() */
		set_current_state(TASK_IDLE);

		/* Look first: what was queued before the stop must run. */
		stop = worker->finished || kthread_should_stop();
		if (vhost_worker_run(worker))
			continue;
		if (stop)
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static int vhost_kthread_fn(void *data)
{
	struct vhost_kthread_start *start = data;
	struct vhost_worker *worker = start->worker;
	struct mm_struct *mm = worker->dev->mm;

	kthread_use_mm(mm);
	allow_kernel_signal(SIGKILL);
	start->err = cgroup_attach_task_all(start->owner, current);
	complete(&start->ready);
	/* @start is gone from here on. */
	vhost_kthread_loop(worker);
	kthread_unuse_mm(mm);
	return 0;
}

static int vhost_kthread_create(struct vhost_worker *worker, const char *name,
				struct task_struct *owner, long timeout)
{
	struct vhost_kthread_start start = {
		.worker = worker,
		.owner = owner,
	};
	struct task_struct *task;

	init_completion(&start.ready);
	task = kthread_create(vhost_kthread_fn, &start, "%s", name);
	if (IS_ERR(task))
		return PTR_ERR(task);

	worker->task = task;
	wake_up_process(task);
	wait_for_completion(&start.ready);
	if (start.err) {
		kthread_stop(task);
		return start.err;
	}
	vhost_worker_running(worker, task);
	return 0;
}

/* It may be gone already; worker->thread has kept its task. */
static void vhost_kthread_stop(struct vhost_worker *worker)
{
	kthread_stop(worker->task);
}

static void vhost_kthread_wakeup(struct vhost_worker *worker)
{
	wake_up_process(worker->task);
}

static void vhost_kthread_interrupt(struct vhost_worker *worker)
{
	send_sig(SIGKILL, worker->task, 1);
}

static const struct vhost_worker_ops vhost_kthread_ops = {
	.kind		= VHOST_THREAD_KIND_KTHREAD,
	.create		= vhost_kthread_create,
	.stop		= vhost_kthread_stop,
	.wakeup		= vhost_kthread_wakeup,
	.interrupt	= vhost_kthread_interrupt,
};

#ifdef CONFIG_VHOST_TASK
static void vhost_task_show(struct vhost_worker *worker)
{
	if (unlikely(!worker->thread))
		vhost_worker_running(worker, current);
}

static bool vhost_task_run(void *data)
{
	vhost_task_show(data);
	return vhost_worker_run(data);
}

/* Let SIGKILL be pending for this thread, and for no other of the process. */
static void vhost_task_raise_kill(void)
{
	/* Our own: it stays until we exit. */
	struct sighand_struct *sighand =
		rcu_dereference_protected(current->sighand, true);

	spin_lock_irq(&sighand->siglock);
	sigaddset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(&sighand->siglock);
}

static void vhost_task_worker_leave(struct vhost_worker *worker)
{
	vhost_task_raise_kill();
}

static void vhost_task_worker_killed(void *data)
{
	struct vhost_worker *worker = data;

	if (worker->finished)
		return;
	vhost_task_raise_kill();

	/* It may have been killed before it ran at all. */
	vhost_task_show(data);
	vhost_worker_killed(data);
}

/* Make a thread that is a sibling of this one. */
static int vhost_task_clone(struct vhost_worker *worker, const char *name)
{
	struct vhost_task *vtsk;

	vtsk = vhost_task_create(vhost_task_run, vhost_task_worker_killed,
				 worker, name);
	if (IS_ERR(vtsk))
		return PTR_ERR(vtsk);

	worker->vtsk = vtsk;
	vhost_task_start(vtsk);
	return 0;
}

/*
 * A thread of the owner for somebody else: a worker that is one makes another.
 * It may not come to it soon, or ever, if it waits for guest memory or if the
 * owner was stopped. So all are asked, and whoever changes @state first decides:
 * one of them, or who waits and has had enough.
 */
enum vhost_spawn_state {
	VHOST_SPAWN_WANTED,
	VHOST_SPAWN_BEGUN,
	VHOST_SPAWN_GIVEN_UP,
};

struct vhost_spawn_ask {
	struct vhost_work	work;
	struct vhost_spawn	*spawn;
};

struct vhost_spawn {
	struct vhost_worker	*worker;
	const char		*name;
	atomic_t		state;
	refcount_t		refs;	/* each ask and who waits */
	int			err;
	struct completion	done;
	struct vhost_spawn_ask	asks[];
};

static void vhost_spawn_put(struct vhost_spawn *s)
{
	if (refcount_dec_and_test(&s->refs))
		kfree(s);
}

static bool vhost_spawn_claim(struct vhost_spawn *s, enum vhost_spawn_state as)
{
	return atomic_cmpxchg(&s->state, VHOST_SPAWN_WANTED, as) == VHOST_SPAWN_WANTED;
}

static void vhost_spawn_work(struct vhost_work *work)
{
	struct vhost_spawn *s = container_of(work, struct vhost_spawn_ask, work)->spawn;

	if (vhost_spawn_claim(s, VHOST_SPAWN_BEGUN)) {
		s->err = vhost_task_clone(s->worker, s->name);
		/* This thread is being killed, and not who asks: others may live. */
		if (s->err == -EINTR)
			s->err = -ERESTARTNOINTR;
		complete_all(&s->done);
	}
	vhost_spawn_put(s);
}

/* Ask the workers that are alive, @max at most. */
static int vhost_spawn_queue(struct vhost_spawn *s, struct vhost_dev *dev, unsigned int max)
{
	struct vhost_spawn_ask *ask = s->asks;
	struct vhost_worker *parent;
	unsigned long id;

	mutex_lock(&dev->workers.lock);
	xa_for_each(&dev->workers.xa, id, parent) {
		if (parent->killed)
			continue;
		if (ask == s->asks + max)
			break;
		ask->spawn = s;
		vhost_work_init(&ask->work, vhost_spawn_work);
		refcount_inc(&s->refs);
		vhost_worker_queue(parent, &ask->work);
		ask++;
	}
	mutex_unlock(&dev->workers.lock);
	return ask == s->asks ? -EOWNERDEAD : 0;
}

static int vhost_spawn_wait(struct vhost_spawn *s, long timeout)
{
	long left = wait_for_completion_killable_timeout(&s->done, timeout);

	if (left <= 0 && vhost_spawn_claim(s, VHOST_SPAWN_GIVEN_UP))
		return left ? -EINTR : -ETIMEDOUT;
	/* It began, and then it is soon over. */
	wait_for_completion(&s->done);
	return s->err;
}

static int vhost_spawn_try(struct vhost_worker *worker, const char *name, long timeout)
{
	struct vhost_dev *dev = worker->dev;
	/* Changes under D only */
	unsigned int max = dev->workers.count;
	struct vhost_spawn *s;
	int err;

	s = kzalloc(struct_size(s, asks, max), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	init_completion(&s->done);
	atomic_set(&s->state, VHOST_SPAWN_WANTED);
	refcount_set(&s->refs, 1);
	s->worker = worker;
	s->name = name;

	err = vhost_spawn_queue(s, dev, max) ?: vhost_spawn_wait(s, timeout);
	vhost_spawn_put(s);
	return err;
}

/*
 * What a thread takes is charged to the owner's cgroup, and where that is full
 * the kernel kills somebody in there, most likely the owner, before it lets a
 * thread fail to be made. Who asks from outside must not bring that about. So look
 * first whether there is room: for far more than a thread, since each CPU may
 * keep up to 64 pages of what is given back.
 */
#define VHOST_SPAWN_ROOM_PAGES	128

static bool vhost_spawn_has_room(struct vhost_dev *dev)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(dev->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	void **page = NULL, **first = NULL;
	unsigned int n;

	for (n = 0; n < VHOST_SPAWN_ROOM_PAGES; n++) {
		page = kmalloc(PAGE_SIZE, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
		if (!page)
			break;
		*page = first;
		first = page;
	}
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	while (first) {
		void **next = *first;

		kfree(first);
		first = next;
	}
	return page;
}

/*
 * A sibling has the CPUs of the worker that made it, which may be pinned. One
 * that does not run in time, because the owner was stopped, keeps them.
 */
static void vhost_spawn_adopt(struct vhost_worker *worker, struct task_struct *owner,
			      long timeout)
{
	cpumask_var_t mask;

	if (wait_for_completion_killable_timeout(&worker->running, timeout) <= 0)
		return;
	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	/* Not cpus_ptr, which is one CPU while the owner may not migrate. */
	cpumask_copy(mask, &owner->cpus_mask);
	set_cpus_allowed_ptr(worker->thread, mask);
	free_cpumask_var(mask);
}

static int vhost_task_spawn(struct vhost_worker *worker, const char *name,
			    struct task_struct *owner, long timeout)
{
	unsigned long end = jiffies + timeout;
	long left = timeout;
	int err;

	if (!vhost_spawn_has_room(worker->dev))
		return -ENOMEM;
	do {
		err = vhost_spawn_try(worker, name, left);
		/* A parent takes its signal first: it stops, freezes, or dies. */
		left = end - jiffies;
	} while (err == -ERESTARTNOINTR && left > 0);
	if (err)
		return err == -ERESTARTNOINTR ? -ETIMEDOUT : err;

	vhost_spawn_adopt(worker, owner, timeout);
	return 0;
}

static int vhost_task_worker_create(struct vhost_worker *worker, const char *name,
				    struct task_struct *owner, long timeout)
{
	if (owner == current)
		return vhost_task_clone(worker, name);
	return vhost_task_spawn(worker, name, owner, timeout);
}

static void vhost_task_worker_stop(struct vhost_worker *worker)
{
	vhost_task_stop(worker->vtsk);
}

static void vhost_task_worker_wakeup(struct vhost_worker *worker)
{
	vhost_task_wake(worker->vtsk);
}

static const struct vhost_worker_ops vhost_task_ops = {
	.kind		= VHOST_THREAD_KIND_TASK,
	.create		= vhost_task_worker_create,
	.leave		= vhost_task_worker_leave,
	.stop		= vhost_task_worker_stop,
	.wakeup		= vhost_task_worker_wakeup,
};
#endif

/**
 * vhost_worker_kind - tell the kind of thread that a device's workers get
 * @dev: the device
 *
 * Context: D, so that the answer stays true.
 * Return: the operations of that kind.
 */
const struct vhost_worker_ops *vhost_worker_kind(struct vhost_dev *dev)
{
#ifdef CONFIG_VHOST_TASK
	if (dev->fork_owner)
		return &vhost_task_ops;
#endif
	return &vhost_kthread_ops;
}
