// SPDX-License-Identifier: GPL-2.0
/*
 * The workers of a vhost device: the set, and queueing. The map from
 * virtqueues to them is in worker_map.c, how others wait in worker_flush.c.
 *
 * Queueing. vq->worker is an RCU pointer. vhost_vq_work_queue() reads it and
 * adds to the worker's list inside one RCU read-side section, without a lock.
 * Whoever takes a pointer away from a virtqueue and then waits for a grace
 * period knows: everything that was queued through the old pointer is on the
 * old worker's list, and nothing more will follow.
 *
 * End of a worker. Nobody is attached, so no pointer leads to it; the grace
 * period since the last one went (gp_state) is over; a flush has run, and so
 * all that virtqueues queued. Then it leaves the set, the flushes which found
 * it there until now are run, the thread ends by itself and the memory goes. The
 * workers of a device that closes do that all at once.
 *
 * Killed owner. A kernel thread does not notice. A thread of the owner calls
 * vhost_worker_killed() and takes itself out of the map, then runs what is on
 * its list, flushes of others included, so that nobody waits for it in vain.
 * It needs nothing that anybody holds while waiting for a worker or for guest
 * memory.
 */
#include <linux/completion.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kcov.h>
#include <linux/memcontrol.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "vhost.h"
#include "netlink.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Ends the threads that nobody waits for. */
static struct workqueue_struct *vhost_reaper;

static unsigned int max_workers;
module_param(max_workers, uint, 0644);
MODULE_PARM_DESC(max_workers,
		 "Most workers of a device; 0: one per virtqueue (default: 0)");

/* Queueing ---------------------------------------------------------------- */

/**
 * vhost_work_init - prepare a piece of work
 * @work: the work, not queued
 * @fn: what to call in a worker's thread
 */
void vhost_work_init(struct vhost_work *work, vhost_work_fn_t fn)
{
	clear_bit(VHOST_WORK_QUEUED, &work->flags);
	work->fn = fn;
}
EXPORT_SYMBOL_GPL(vhost_work_init);

/**
 * vhost_worker_queue - queue work on a worker
 * @worker: the worker; it cannot go away
 * @work: the work; may be queued already
 *
 * Context: an RCU reader, or L held.
 */
bool vhost_worker_queue(struct vhost_worker *worker, struct vhost_work *work)
{
	/*
	 * Fully ordered, set or not: if the flag was set, the run that is
	 * to come sees what we wrote before. See vhost_worker_run().
	 */
	if (test_and_set_bit(VHOST_WORK_QUEUED, &work->flags))
		return false;

	/*
	 * llist_add() is fully ordered: either the thread sees the work when
	 * it looks at its list with its state set, or we see it asleep. Only
	 * the one who made the list non-empty has to wake it.
	 */
	if (llist_add(&work->node, &worker->work_list))
		worker->ops->wakeup(worker);
	return true;
}

/**
 * vhost_vq_work_queue - queue work on the worker of a virtqueue
 * @vq: the virtqueue
 * @work: the work; may be queued already
 *
 * Context: any; takes no lock.
 * Return: false if the virtqueue has no worker: before SET_OWNER, after the
 * worker was killed, and while the device closes. The caller then drops what
 * it wanted done.
 */
bool vhost_vq_work_queue(struct vhost_virtqueue *vq, struct vhost_work *work)
{
	struct vhost_worker *worker;

	rcu_read_lock();
	worker = rcu_dereference(vq->worker);
	if (worker && vhost_worker_queue(worker, work))
		atomic64_inc(&vq->counts.works);
	rcu_read_unlock();

	return worker;
}
EXPORT_SYMBOL_GPL(vhost_vq_work_queue);

/**
 * vhost_poll_kicked - something came on a file that the device polls
 * @poll: the poll; if it is that of a virtqueue's kick eventfd, this is a kick
 *
 * Context: any; the wait queue of the file is locked.
 */
void vhost_poll_kicked(struct vhost_poll *poll)
{
	if (poll == &poll->vq->poll)
		atomic64_inc(&poll->vq->counts.kicks);
	vhost_poll_queue(poll);
}

/**
 * vhost_vq_has_work - tell whether the worker of a virtqueue has work to do
 * @vq: the virtqueue
 *
 * A hint for loops that poll, so that they give way to other work.
 *
 * Context: any; takes no lock.
 * Return: true if there is work on its list.
 */
bool vhost_vq_has_work(struct vhost_virtqueue *vq)
{
	struct vhost_worker *worker;
	bool has_work;

	rcu_read_lock();
	worker = rcu_dereference(vq->worker);
	has_work = worker && !llist_empty(&worker->work_list);
	rcu_read_unlock();

	return has_work;
}
EXPORT_SYMBOL_GPL(vhost_vq_has_work);

/* The set ----------------------------------------------------------------- */

/* A worker that may be attached to or freed, or an error. */
struct vhost_worker *vhost_worker_find(struct vhost_dev *dev, u32 id)
{
	struct vhost_worker *worker;

	lockdep_assert_held(&dev->workers.lock);

	worker = xa_load(&dev->workers.xa, id);
	if (!worker)
		return ERR_PTR(-ENODEV);
	return worker;
}

static void vhost_worker_uncount(struct vhost_dev *dev)
{
	mutex_lock(&dev->workers.lock);
	dev->workers.count--;
	mutex_unlock(&dev->workers.lock);
}

/**
 * vhost_workers_max - the most workers that a device may have
 * @dev: the device
 *
 * Context: any.
 * Return: the cap, 1 at least: no device works without.
 */
unsigned int vhost_workers_max(struct vhost_dev *dev)
{
	unsigned int cap = READ_ONCE(max_workers);

	if (!dev->workers.many)
		return 1;
	if (!cap)
		cap = dev->nvqs;
	return max(cap, 1U);
}

static int vhost_worker_reserve(struct vhost_dev *dev, u32 *id)
{
	struct vhost_workers *workers = &dev->workers;
	bool room;
	int ret;

	mutex_lock(&workers->lock);
	room = workers->count < vhost_workers_max(dev);
	workers->count += room;
	mutex_unlock(&workers->lock);
	if (!room)
		return -ENOSPC;

	/* Allocates, and so not under L. The xarray has a lock of its own. */
	ret = xa_alloc_cyclic(&workers->xa, id, NULL, xa_limit_31b,
			      &workers->next_id, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		vhost_worker_uncount(dev);

	return min(ret, 0);
}

static void vhost_worker_unreserve(struct vhost_dev *dev, u32 id)
{
	xa_erase(&dev->workers.xa, id);
	vhost_worker_uncount(dev);
}

/*
 * Who looks for the threads of a process knows vhost-<pid>; device and worker
 * come behind it. A thread of the owner shows its process anyway, so that the
 * pid may go where a name has no room.
 */
static void vhost_worker_name(struct vhost_worker *worker, char *name, size_t size)
{
	struct vhost_workers *workers = &worker->dev->workers;
	int len;

	len = snprintf(name, size, "vhost-%d-%u.%u", pid_nr(workers->owner),
		       workers->dev_id, worker->id);
	if (len >= TASK_COMM_LEN && worker->ops->kind == VHOST_THREAD_KIND_TASK)
		snprintf(name, size, "vhost-%u.%u", workers->dev_id, worker->id);
}

/*
 * Whoever asks for it, a worker's memory is the owner's. That there is none left
 * is an error, and no reason to kill somebody in the owner's cgroup.
 */
static struct vhost_worker *vhost_worker_alloc(struct vhost_dev *dev)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(dev->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct vhost_worker *worker;

	worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return worker;
}

static void vhost_worker_reap(struct work_struct *work);

/**
 * vhost_worker_create - make a worker that nobody can find yet
 * @dev: the device; dev->mm is set and it has its number
 * @owner: the thread of the owner whose cgroups and limits count
 * @timeout: how long the owner may take for its part, in jiffies; it has one
 *	only if @owner is not the caller
 *
 * Its thread runs, and is named after owner, device and worker.
 *
 * Context: D held. Takes L.
 * Return: the worker; -ENOSPC at the cap, or what making the thread failed
 * with: -EAGAIN (RLIMIT_NPROC, pids.max), -ERESTARTNOINTR (a signal is
 * pending), -EINTR (being killed), -ENOMEM; for another than the owner also
 * -EOWNERDEAD, -ETIMEDOUT.
 */
struct vhost_worker *vhost_worker_create(struct vhost_dev *dev,
					 struct task_struct *owner, long timeout)
{
	struct vhost_worker *worker;
	char name[40];
	u32 id;
	int err;

	err = vhost_worker_reserve(dev, &id);
	if (err)
		return ERR_PTR(err);

	err = -ENOMEM;
	worker = vhost_worker_alloc(dev);
	if (!worker)
		goto unreserve;

	init_llist_head(&worker->work_list);
	init_completion(&worker->running);
	init_completion(&worker->emptied);
	init_completion(&worker->reaped);
	refcount_set(&worker->refs, 1);
	INIT_WORK(&worker->reap, vhost_worker_reap);
	u64_stats_init(&worker->syncp);
	worker->ops = vhost_worker_kind(dev);
	worker->dev = dev;
	worker->kcov_handle = kcov_common_handle();
	worker->id = id;
	vhost_worker_name(worker, name, sizeof(name));

	err = worker->ops->create(worker, name, owner, timeout);
	if (err)
		goto free;

	return worker;

free:
	kfree(worker);
unreserve:
	vhost_worker_unreserve(dev, id);
	return ERR_PTR(err);
}

static void vhost_worker_last(struct vhost_work *work)
{
	struct vhost_worker *worker = container_of(work, struct vhost_worker, last);

	worker->finished = true;
	if (worker->ops->leave)
		worker->ops->leave(worker);
	complete(&worker->emptied);
}

/*
 * Take a worker out of the set. What may still be on its list then are flushes,
 * which found it in the set a moment ago; worker->last comes behind them, and
 * then the thread ends. One that has ended has run them all.
 */
static void vhost_worker_unlink(struct vhost_worker *worker)
{
	struct vhost_workers *workers = &worker->dev->workers;

	vhost_work_init(&worker->last, vhost_worker_last);
	mutex_lock(&workers->lock);
	xa_erase(&workers->xa, worker->id);
	workers->count--;
	if (worker->ended)
		complete(&worker->emptied);
	else
		vhost_worker_queue(worker, &worker->last);
	vhost_registry_changed();
	mutex_unlock(&workers->lock);
}

static void vhost_worker_put(struct vhost_worker *worker)
{
	if (refcount_dec_and_test(&worker->refs))
		kfree(worker);
}

static void vhost_worker_end(struct vhost_worker *worker)
{
	wait_for_completion(&worker->emptied);
	worker->ops->stop(worker);
	WARN_ON_ONCE(!llist_empty(&worker->work_list));
	if (worker->thread)
		put_task_struct(worker->thread);
	complete(&worker->reaped);
	vhost_worker_put(worker);
}

/**
 * vhost_worker_destroy - end a worker
 * @worker: no virtqueue leads to it, and all that they queued has run
 *
 * Context: process; takes L.
 */
void vhost_worker_destroy(struct vhost_worker *worker)
{
	vhost_worker_unlink(worker);
	vhost_worker_end(worker);
}

static void vhost_worker_reap(struct work_struct *work)
{
	struct vhost_worker *worker = container_of(work, struct vhost_worker, reap);
	struct vhost_dev *dev = worker->dev;

	vhost_worker_end(worker);
	vhost_dev_put(dev);
}

/**
 * vhost_worker_destroy_within - end a worker, and do not wait for it for long
 * @worker: no virtqueue leads to it, and all that they queued has run
 * @timeout: how long to wait, in jiffies
 *
 * A thread of an owner that is stopped ends when the owner goes on, or dies.
 * The worker is not in the set any more when this returns, and a close of the
 * device waits for it.
 *
 * Context: process; takes L. The caller has the device by vhost_dev_get().
 */
void vhost_worker_destroy_within(struct vhost_worker *worker, long timeout)
{
	refcount_inc(&worker->refs);
	refcount_inc(&worker->dev->workers.users);
	vhost_worker_unlink(worker);
	queue_work(vhost_reaper, &worker->reap);
	wait_for_completion_timeout(&worker->reaped, timeout);
	vhost_worker_put(worker);
}

/**
 * vhost_reaper_init - prepare for vhost_worker_destroy_within()
 *
 * Return: 0 or -ENOMEM.
 */
int __init vhost_reaper_init(void)
{
	vhost_reaper = alloc_workqueue("vhost-reaper", WQ_UNBOUND, 0);
	return vhost_reaper ? 0 : -ENOMEM;
}

/**
 * vhost_reaper_exit - wait for the last worker's end
 *
 * The last of them may have let the last device go a moment ago.
 */
void vhost_reaper_exit(void)
{
	destroy_workqueue(vhost_reaper);
}

/**
 * vhost_worker_publish - let a new worker be found
 * @worker: fresh from vhost_worker_create()
 *
 * Context: L held.
 */
void vhost_worker_publish(struct vhost_worker *worker)
{
	struct vhost_workers *workers = &worker->dev->workers;

	lockdep_assert_held(&workers->lock);

	/* Cannot fail: the reservation has the memory. */
	xa_store(&workers->xa, worker->id, worker, GFP_KERNEL_ACCOUNT);
	trace_vhost_worker_create(worker);
	vhost_registry_changed();
}

/**
 * vhost_worker_free - end a worker that serves no virtqueue
 * @dev: the device
 * @id: id of the worker
 * @timeout: how long to wait for the worker, in jiffies; MAX_SCHEDULE_TIMEOUT:
 *	until its thread is gone. Otherwise the caller has the device by
 *	vhost_dev_get().
 *
 * Work that was queued on it has run when this returns 0.
 *
 * Context: process, D held. Takes L; waits for the worker without it.
 * Return: 0; -ENODEV (no such worker), -EBUSY (a virtqueue is attached),
 * -ENOMEM; the worker stays: -EINTR (the caller is being killed), -ETIMEDOUT.
 */
int vhost_worker_free(struct vhost_dev *dev, u32 id, long timeout)
{
	struct vhost_worker *worker;
	struct vhost_barrier *b;
	unsigned long gp_state = 0;
	int err = 0;

	b = vhost_barrier_alloc(1);
	if (!b)
		return -ENOMEM;

	mutex_lock(&dev->workers.lock);
	worker = vhost_worker_find(dev, id);
	if (IS_ERR(worker))
		err = PTR_ERR(worker);
	else if (worker->attached)
		err = -EBUSY;
	else
		gp_state = worker->gp_state;
	mutex_unlock(&dev->workers.lock);
	if (err) {
		vhost_barrier_put(b);
		return err;
	}

	/* D keeps others from attaching to it, and from freeing it, too. */
	cond_synchronize_rcu(gp_state);
	vhost_barrier_add(b, id);
	err = vhost_barrier_wait(b, dev, timeout);
	if (err)
		return err;

	trace_vhost_worker_free(worker);
	vhost_nl_worker_event(worker, VHOST_CMD_WORKER_DEL_NTF);
	if (timeout == MAX_SCHEDULE_TIMEOUT)
		vhost_worker_destroy(worker);
	else
		vhost_worker_destroy_within(worker, timeout);
	return 0;
}

/**
 * vhost_worker_killed - the end of a worker whose process was killed
 * @data: the worker
 *
 * Takes the worker out of the map and runs what is on its list, so that every
 * flush of it ends. The worker stays in the set until it is freed or the
 * device closes.
 *
 * Context: the worker's own thread, under vhost_task's exit_mutex. Takes L.
 */
void vhost_worker_killed(void *data)
{
	struct vhost_worker *worker = data;
	struct vhost_dev *dev = worker->dev;
	unsigned long gp_state;
	int i;

	mutex_lock(&dev->workers.lock);
	trace_vhost_worker_kill(worker);
	worker->killed = true;
	for (i = 0; i < dev->nvqs; i++) {
		if (vhost_vq_worker(dev->vqs[i]) != worker)
			continue;
		rcu_assign_pointer(dev->vqs[i]->worker, NULL);
		vhost_worker_detach_vq(worker);
	}
	gp_state = worker->gp_state;
	vhost_registry_changed();
	mutex_unlock(&dev->workers.lock);

	/* Now all that virtqueues queued is on the list, and is run. */
	cond_synchronize_rcu(gp_state);
	vhost_worker_run(worker);

	/* Flushes still come until here, and no further. */
	mutex_lock(&dev->workers.lock);
	worker->ended = true;
	mutex_unlock(&dev->workers.lock);
	vhost_worker_run(worker);

	vhost_nl_worker_event(worker, VHOST_CMD_WORKER_KILLED_NTF);
}

/**
 * vhost_worker_read_counts - read what a worker has done so far
 * @worker: the worker; cannot go away
 * @counts: where to put it
 *
 * Context: any but the worker's own thread.
 */
void vhost_worker_read_counts(struct vhost_worker *worker,
			      struct vhost_worker_counts *counts)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&worker->syncp);
		*counts = worker->counts;
	} while (u64_stats_fetch_retry(&worker->syncp, start));
}

/**
 * vhost_workers_init - prepare a device that has no worker yet
 * @dev: the device; its virtqueues are set
 */
void vhost_workers_init(struct vhost_dev *dev)
{
	int i;

	mutex_init(&dev->workers.lock);
	xa_init_flags(&dev->workers.xa, XA_FLAGS_ALLOC);
	dev->workers.next_id = 0;
	dev->workers.count = 0;
	dev->workers.closing = false;
	vhost_registry_init(dev);
	vhost_policy_init(dev);
	for (i = 0; i < dev->nvqs; i++) {
		RCU_INIT_POINTER(dev->vqs[i]->worker, NULL);
		atomic64_set(&dev->vqs[i]->counts.kicks, 0);
		atomic64_set(&dev->vqs[i]->counts.works, 0);
	}
}

/**
 * vhost_workers_start - make the first worker and attach every virtqueue to it
 * @dev: the device; dev->mm is set
 *
 * Context: the owner, D held.
 * Return: 0, or what making the thread failed with: -EAGAIN (RLIMIT_NPROC,
 * pids.max), -ERESTARTNOINTR (a signal is pending), -EINTR (being killed),
 * -ENOMEM.
 */
int vhost_workers_start(struct vhost_dev *dev)
{
	struct vhost_worker *worker;
	int i, err;

	err = vhost_registry_reserve(dev);
	if (err)
		return err;
	dev->workers.next_id = 0;
	worker = vhost_worker_create(dev, current, MAX_SCHEDULE_TIMEOUT);
	if (IS_ERR(worker)) {
		vhost_registry_remove(dev);
		return PTR_ERR(worker);
	}

	mutex_lock(&dev->workers.lock);
	vhost_policy_reset(dev);
	vhost_worker_publish(worker);
	for (i = 0; i < dev->nvqs && !worker->killed; i++) {
		rcu_assign_pointer(dev->vqs[i]->worker, worker);
		worker->attached++;
	}
	mutex_unlock(&dev->workers.lock);
	vhost_registry_publish(dev);
	vhost_nl_worker_event(worker, VHOST_CMD_WORKER_ADD_NTF);
	return 0;
}

/**
 * vhost_workers_stop - end all workers
 * @dev: the device; its drivers have stopped polling
 *
 * What was queued has run when this returns, and no virtqueue points to a
 * worker any more.
 *
 * Context: D held, or the last reference to the device's file. Takes L.
 */
void vhost_workers_stop(struct vhost_dev *dev)
{
	struct vhost_worker *worker, *told = NULL;
	unsigned long id;
	int i;

	/*
	 * Not: if there is no worker. Drivers rely on the grace period below
	 * for what they do around vhost_vq_work_queue().
	 */
	if (!dev->use_worker || !vhost_dev_has_owner(dev))
		return;

	vhost_registry_remove(dev);
	mutex_lock(&dev->workers.lock);
	for (i = 0; i < dev->nvqs; i++) {
		worker = vhost_vq_worker(dev->vqs[i]);
		if (!worker)
			continue;
		rcu_assign_pointer(dev->vqs[i]->worker, NULL);
		vhost_worker_detach_vq(worker);
	}
	mutex_unlock(&dev->workers.lock);

	synchronize_rcu();
	vhost_dev_flush(dev);

	/* They end while we wait for the one that was told last. */
	xa_for_each(&dev->workers.xa, id, worker) {
		trace_vhost_worker_free(worker);
		vhost_worker_unlink(worker);
		worker->next = told;
		told = worker;
	}
	while (told) {
		worker = told;
		told = worker->next;
		vhost_worker_end(worker);
	}
}
