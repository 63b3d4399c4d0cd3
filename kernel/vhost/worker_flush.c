// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for the workers of a vhost device: for what they hold and for what
 * they have still to do.
 *
 * A flush is a piece of work of our own, put behind what is on the list; when
 * it runs, everything before it has run. It is put there only under the lock
 * and only while the thread still looks at the list. Nobody needs the worker
 * itself to wait, so a worker may be freed under a waiter: before its thread
 * ends the list is run to the end.
 *
 * A worker may be stuck on guest memory that never comes. Who waits for it must
 * be able to end all the same; see vhost_may_interrupt().
 */
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "vhost.h"

/* How long a dying task waits before it breaks off accesses to guest memory */
#define VHOST_INTERRUPT_PERIOD	(HZ / 10)

/* Waits that a stuck worker cannot keep from ending ------------------------ */

/*
 * A task on its way out must not wait for memory that nobody may deliver any
 * more. It breaks the workers' accesses off if the memory is its own, or if the
 * device closes; a stranger who dies must not make a living guest's I/O fail. A
 * close can be left to a kernel thread, which has nobody to kill it.
 */
static bool vhost_may_interrupt(struct vhost_dev *dev)
{
	if (READ_ONCE(dev->workers.closing))
		return current->flags & (PF_EXITING | PF_KTHREAD) ||
		       fatal_signal_pending(current);
	return current->mm == dev->mm && fatal_signal_pending(current);
}

/**
 * vhost_workers_closing - say that the last reference to the device is gone
 * @dev: the device
 *
 * Nobody finds the device any more when this returns.
 *
 * Context: the driver's release function, before it waits for anything or takes
 * a lock. Takes L.
 */
void vhost_workers_closing(struct vhost_dev *dev)
{
	WRITE_ONCE(dev->workers.closing, true);
	vhost_registry_close(dev);
}
EXPORT_SYMBOL_GPL(vhost_workers_closing);

/**
 * vhost_workers_interrupt - break off waits of workers for guest memory
 * @dev: the device
 *
 * An access that waits for a page right now fails, as if the page were not
 * mapped, and so do those of the works that the worker took from its list
 * together with this one. Later ones are not affected. Workers that are threads
 * of the owner need no help, since what kills the owner ends their waits too.
 *
 * Context: process; takes L.
 */
void vhost_workers_interrupt(struct vhost_dev *dev)
{
	struct vhost_worker *worker;
	unsigned long id;

	mutex_lock(&dev->workers.lock);
	xa_for_each(&dev->workers.xa, id, worker)
		if (worker->ops->interrupt)
			worker->ops->interrupt(worker);
	mutex_unlock(&dev->workers.lock);
}

/**
 * vhost_wait_for_workers - wait for a completion that workers bring about
 * @dev: the device
 * @done: the completion
 *
 * Waits to the end, but an owner that is killed and whoever closes the device
 * break off the accesses to guest memory that may keep the workers from it.
 *
 * Context: process; takes L.
 */
void vhost_wait_for_workers(struct vhost_dev *dev, struct completion *done)
{
	if (!vhost_may_interrupt(dev) && !wait_for_completion_killable(done))
		return;

	if (!vhost_may_interrupt(dev)) {
		wait_for_completion(done);
		return;
	}
	while (!wait_for_completion_timeout(done, VHOST_INTERRUPT_PERIOD))
		vhost_workers_interrupt(dev);
}
EXPORT_SYMBOL_GPL(vhost_wait_for_workers);

/**
 * vhost_vq_lock_nested - lock vq->mutex on behalf of an ioctl or a close
 * @vq: the virtqueue
 * @subclass: for lockdep, if other vq->mutex are held
 *
 * A worker holds vq->mutex across accesses to guest memory. This is
 * mutex_lock() for those who must not outlive their own death because of it. A
 * dying task tries ten times a second, without a place in the queue.
 *
 * Context: process; takes L when the task is dying, and so no caller holds it.
 */
void vhost_vq_lock_nested(struct vhost_virtqueue *vq, unsigned int subclass)
{
	if (!vhost_may_interrupt(vq->dev) &&
	    !mutex_lock_killable_nested(&vq->mutex, subclass))
		return;

	if (!vhost_may_interrupt(vq->dev)) {
		mutex_lock_nested(&vq->mutex, subclass);
		return;
	}
	while (!mutex_trylock(&vq->mutex)) {
		schedule_timeout_uninterruptible(VHOST_INTERRUPT_PERIOD);
		vhost_workers_interrupt(vq->dev);
	}
}
EXPORT_SYMBOL_GPL(vhost_vq_lock_nested);

/* Flushes ----------------------------------------------------------------- */

/*
 * A flush of as many workers at once as fit on the stack, so that it cannot
 * fail. Its waiter stays to the end.
 */
#define VHOST_FLUSH_WORKERS	16

struct vhost_flush_work {
	struct vhost_work	work;
	struct vhost_flush	*flush;
};

struct vhost_flush {
	atomic_t		left;	/* works to come, and who queues them */
	struct completion	done;
	struct vhost_flush_work	works[VHOST_FLUSH_WORKERS];
};

static void vhost_flush_put(struct vhost_flush *flush)
{
	if (atomic_dec_and_test(&flush->left))
		complete(&flush->done);
}

static void vhost_flush_fn(struct vhost_work *work)
{
	vhost_flush_put(container_of(work, struct vhost_flush_work, work)->flush);
}

/*
 * Put a flush on the workers from number @start on that still look at their
 * list, until it is full. Tell the number to go on with; 0: there is none.
 */
static unsigned long vhost_flush_queue(struct vhost_flush *flush, struct vhost_workers *workers,
				       unsigned long start)
{
	struct vhost_flush_work *fw = flush->works;
	struct vhost_worker *worker;
	unsigned long id;

	mutex_lock(&workers->lock);
	xa_for_each_start(&workers->xa, id, worker, start) {
		if (worker->ended)
			continue;
		if (fw == flush->works + VHOST_FLUSH_WORKERS)
			break;
		fw->flush = flush;
		vhost_work_init(&fw->work, vhost_flush_fn);
		atomic_inc(&flush->left);
		vhost_worker_queue(worker, &fw->work);
		fw++;
	}
	mutex_unlock(&workers->lock);
	return worker ? id : 0;
}

/**
 * vhost_dev_flush - wait until all work queued so far has run
 * @dev: the device
 *
 * Covers the workers that the device had all along, and those that are being
 * killed: they run their work before they end.
 *
 * Context: process, not a worker of @dev. Takes L, holds nothing while it
 * waits.
 */
void vhost_dev_flush(struct vhost_dev *dev)
{
	struct vhost_flush flush;
	unsigned long id = 0;

	do {
		init_completion(&flush.done);
		atomic_set(&flush.left, 1);
		id = vhost_flush_queue(&flush, &dev->workers, id);
		vhost_flush_put(&flush);
		vhost_wait_for_workers(dev, &flush.done);
	} while (id);
}
EXPORT_SYMBOL_GPL(vhost_dev_flush);

/*
 * A flush of several workers at once that a killed waiter can walk away from:
 * whoever comes last frees it.
 */
struct vhost_barrier_work {
	struct vhost_work	work;
	struct vhost_barrier	*barrier;
	u32			worker_id;
};

struct vhost_barrier {
	refcount_t			refs;	/* the waiter and each work */
	atomic_t			left;	/* the same, still to come */
	struct completion		done;
	unsigned int			n;
	struct vhost_barrier_work	works[];
};

/**
 * vhost_barrier_alloc - prepare a flush of several workers
 * @max: how many workers may be added
 *
 * Return: the barrier, or NULL if there is no memory.
 */
struct vhost_barrier *vhost_barrier_alloc(unsigned int max)
{
	struct vhost_barrier *b;

	b = kzalloc(struct_size(b, works, max), GFP_KERNEL);
	if (!b)
		return NULL;

	refcount_set(&b->refs, 1);
	atomic_set(&b->left, 1);
	init_completion(&b->done);
	return b;
}

/**
 * vhost_barrier_put - drop a reference
 * @b: the barrier
 *
 * For a waiter that does not come to vhost_barrier_wait().
 */
void vhost_barrier_put(struct vhost_barrier *b)
{
	if (refcount_dec_and_test(&b->refs))
		kfree(b);
}

static void vhost_barrier_fn(struct vhost_work *work)
{
	struct vhost_barrier *b =
		container_of(work, struct vhost_barrier_work, work)->barrier;

	if (atomic_dec_and_test(&b->left))
		complete(&b->done);
	vhost_barrier_put(b);
}

/**
 * vhost_barrier_add - remember a worker; once is enough
 * @b: the barrier
 * @worker_id: id of the worker
 */
void vhost_barrier_add(struct vhost_barrier *b, u32 worker_id)
{
	unsigned int i;

	for (i = 0; i < b->n; i++)
		if (b->works[i].worker_id == worker_id)
			return;
	b->works[b->n++].worker_id = worker_id;
}

/**
 * vhost_barrier_is_empty - tell whether there is nobody to wait for
 * @b: the barrier
 *
 * Return: true if no worker was added.
 */
bool vhost_barrier_is_empty(const struct vhost_barrier *b)
{
	return !b->n;
}

/**
 * vhost_barrier_wait - flush the remembered workers
 * @b: the barrier; the waiter's reference goes
 * @dev: the device
 * @timeout: how long to wait, in jiffies
 *
 * A worker that was freed since, or whose thread has ended, has run its work.
 *
 * Context: process; takes L, holds nothing while it waits.
 * Return: 0; the workers may not be done: -EINTR (the caller is being killed),
 * -ETIMEDOUT.
 */
int vhost_barrier_wait(struct vhost_barrier *b, struct vhost_dev *dev, long timeout)
{
	struct vhost_barrier_work *bw;
	struct vhost_worker *worker;
	long left = 1;

	mutex_lock(&dev->workers.lock);
	for (bw = b->works; bw < b->works + b->n; bw++) {
		worker = xa_load(&dev->workers.xa, bw->worker_id);
		if (!worker || worker->ended)
			continue;
		bw->barrier = b;
		vhost_work_init(&bw->work, vhost_barrier_fn);
		refcount_inc(&b->refs);
		atomic_inc(&b->left);
		vhost_worker_queue(worker, &bw->work);
	}
	mutex_unlock(&dev->workers.lock);

	if (!atomic_dec_and_test(&b->left))
		left = wait_for_completion_killable_timeout(&b->done, timeout);
	vhost_barrier_put(b);
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}
