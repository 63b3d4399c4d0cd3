// SPDX-License-Identifier: GPL-2.0
/*
 * The map from the virtqueues of a vhost device to its workers.
 *
 * Moving virtqueues (vhost_workers_attach()). Change all pointers, wait for
 * one grace period, then flush each worker that lost a virtqueue. Meanwhile
 * new work runs on the new worker, possibly at the same time as the rest on
 * the old one; what both touch is protected by vq->mutex, as ever.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>

#include "vhost.h"
#include "netlink.h"
#include "trace.h"

/**
 * vhost_vq_worker - the worker of a virtqueue
 * @vq: the virtqueue
 *
 * Context: L held.
 * Return: the worker, or NULL.
 */
struct vhost_worker *vhost_vq_worker(struct vhost_virtqueue *vq)
{
	return rcu_dereference_protected(vq->worker,
			lockdep_is_held(&vq->dev->workers.lock));
}

/* L held. */
void vhost_worker_detach_vq(struct vhost_worker *worker)
{
	lockdep_assert_held(&worker->dev->workers.lock);

	if (!--worker->attached)
		worker->gp_state = get_state_synchronize_rcu();
}

/*
 * Whether work may be queued for a virtqueue: it has a backend or a kick
 * eventfd. Both change under D and vq->mutex; D is enough to read them.
 */
static bool vhost_vq_is_live(struct vhost_virtqueue *vq)
{
	return vhost_vq_get_backend(vq) || vq->kick;
}

static int vhost_map_check(struct vhost_dev *dev,
			   const struct vhost_vring_worker *map, unsigned int n)
{
	struct vhost_worker *worker;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (map[i].index >= dev->nvqs)
			return -ENOBUFS;
		worker = vhost_worker_find(dev, map[i].worker_id);
		if (IS_ERR(worker))
			return PTR_ERR(worker);
		if (worker->killed)
			return -EOWNERDEAD;
	}
	return 0;
}

/*
 * Change one pointer, and remember in @b, unless it is NULL, the worker that
 * needs a flush. Tell whether it was another one.
 */
static bool vhost_map_set(struct vhost_virtqueue *vq, u32 index,
			  struct vhost_worker *new, struct vhost_barrier *b)
{
	struct vhost_worker *old = vhost_vq_worker(vq);

	if (old == new)
		return false;

	rcu_assign_pointer(vq->worker, new);
	new->attached++;
	trace_vhost_vq_attach(vq->dev, index, old ? (s64)old->id : -1, new->id);

	if (old) {
		vhost_worker_detach_vq(old);
		if (b && vhost_vq_is_live(vq))
			vhost_barrier_add(b, old->id);
	} else if (vq->handle_kick) {
		/* A kick that found no worker was dropped: look again. */
		vhost_worker_queue(new, &vq->poll.work);
	}
	return true;
}

/**
 * vhost_workers_attach - give virtqueues to workers
 * @dev: the device
 * @map: pairs of virtqueue index and worker id
 * @n: number of pairs
 * @timeout: how long to wait for the workers that lose a virtqueue, in jiffies;
 *	0: wait for nothing, and earlier work may run at any later time
 *
 * All or nothing: either every pair is in force, or the map is as it was. The
 * virtqueues keep running. Work queued before the call has run when it returns
 * 0, if it waits. However many virtqueues move, there is one grace period, and none if none
 * of them is live.
 *
 * Context: D held. Takes L; waits for workers without it.
 * Return: 0; -ENOBUFS (no such virtqueue), -ENODEV (no such worker),
 * -EOWNERDEAD (the worker was killed), -ENOMEM: nothing changed. -EINTR (the
 * caller is being killed) and -ETIMEDOUT: the map changed, but earlier work may
 * not have run.
 */
int vhost_workers_attach(struct vhost_dev *dev,
			 const struct vhost_vring_worker *map, unsigned int n,
			 long timeout)
{
	struct vhost_barrier *b = NULL;
	bool changed = false;
	unsigned int i;
	int err;

	lockdep_assert_held(&dev->mutex);

	if (timeout)
		b = vhost_barrier_alloc(n);
	if (timeout && !b)
		return -ENOMEM;

	mutex_lock(&dev->workers.lock);
	err = vhost_map_check(dev, map, n);
	for (i = 0; !err && i < n; i++) {
		u32 index = array_index_nospec(map[i].index, dev->nvqs);

		changed |= vhost_map_set(dev->vqs[index], index,
					 vhost_worker_find(dev, map[i].worker_id), b);
	}
	if (changed)
		vhost_registry_changed();
	mutex_unlock(&dev->workers.lock);

	if (changed)
		vhost_nl_map_event(dev, map, n);

	if (!b)
		return err;
	if (err || vhost_barrier_is_empty(b)) {
		vhost_barrier_put(b);
		return err;
	}

	/* From here on nobody queues on a worker that a virtqueue left. */
	synchronize_rcu();
	return vhost_barrier_wait(b, dev, timeout);
}
