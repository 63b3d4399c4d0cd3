/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workers of a vhost device: what vhost.h and the drivers need of them.
 *
 * Lock order: dev->mutex, then vq->mutex, then vhost_workers.lock. Nobody takes
 * vq->mutex or waits for a worker with vhost_workers.lock held: vq->mutex is
 * held across accesses to guest memory, which may wait for as long as the
 * guest's memory manager likes, and neither a map change nor the end of a
 * worker may depend on that.
 *
 * Lock letters used below:
 *   D  dev->mutex
 *   L  vhost_workers.lock
 *   R  written under L, read under RCU (see vhost_vq_work_queue())
 *   I  set before the object is published, then constant
 */
#ifndef _VHOST_WORKER_H
#define _VHOST_WORKER_H

#include <linux/completion.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <linux/vhost_worker.h>

struct task_struct;
struct vhost_barrier;
struct vhost_dev;
struct vhost_task;
struct vhost_virtqueue;
struct vhost_worker_ops;

/**
 * struct vhost_worker - a thread that runs the work of the virtqueues
 *	attached to it
 * @work_list: work to run, newest first; pushed by anyone, emptied by the
 *	thread
 * @ops: I: what differs between the kinds of thread
 * @task: I: the thread, a kernel thread
 * @vtsk: I: the thread, a thread of the owner
 * @dev: I: the device
 * @kcov_handle: I: kcov handle of the program that made the worker
 * @id: I: id, unique in the device
 * @attached: L: number of virtqueues whose worker this is
 * @killed: L: the thread is ending because its process was killed, so that
 *	nobody may attach to it any more
 * @ended: L: the thread has looked at its list for the last time
 * @freeing: L: someone is about to free it, so that nobody may attach to it
 * @gp_state: L: RCU state when @attached last fell to 0: once that grace
 *	period is over, nobody can queue work here any more
 */
struct vhost_worker {
	struct llist_head		work_list;
	const struct vhost_worker_ops	*ops;
	union {
		struct task_struct	*task;
		struct vhost_task	*vtsk;
	};
	struct vhost_dev		*dev;
	u64				kcov_handle;
	u32				id;
	unsigned int			attached;
	bool				killed;
	bool				ended;
	bool				freeing;
	unsigned long			gp_state;
};

/**
 * struct vhost_workers - the workers of a device
 * @lock: protects the set and the map from virtqueues to workers
 * @xa: L: id to worker; an id reserved for a worker in the making reads as
 *	NULL
 * @next_id: D: where the search for a free id begins
 * @count: L: number of workers, those in the making included
 * @closing: the last reference to the device is gone; never false again
 */
struct vhost_workers {
	struct mutex	lock;	/* L */
	struct xarray	xa;
	u32		next_id;
	unsigned int	count;
	bool		closing;
};

/**
 * struct vhost_worker_ops - a kind of worker thread
 * @create: make the thread, ready to run work; 0 or -errno. May sleep.
 * @stop: end the thread and wait for its exit. The caller has made sure that
 *	nobody queues work any more and that the list was run. May sleep.
 * @wakeup: make the thread look at its list. Any context.
 * @interrupt: break off the thread's wait for guest memory, or NULL if a
 *	signal to the owner does it
 */
struct vhost_worker_ops {
	int (*create)(struct vhost_worker *worker, const char *name);
	void (*stop)(struct vhost_worker *worker);
	void (*wakeup)(struct vhost_worker *worker);
	void (*interrupt)(struct vhost_worker *worker);
};

/**
 * struct vhost_flush - a work that tells when those before it have run
 * @work: what goes on the list
 * @done: @work has run
 *
 * vhost.h defines struct vhost_work before it includes this header.
 */
struct vhost_flush {
	struct vhost_work	work;
	struct completion	done;
};

/* worker_thread.c, for worker.c */
const struct vhost_worker_ops *vhost_worker_kind(struct vhost_dev *dev);
bool vhost_worker_run(struct vhost_worker *worker);

/* worker.c, for worker_thread.c */
void vhost_worker_killed(void *data);

/* worker.c, for worker_flush.c */
void vhost_worker_queue(struct vhost_worker *worker, struct vhost_work *work);

/* worker_flush.c, for worker.c */
void vhost_flush_init(struct vhost_flush *flush);
struct vhost_barrier *vhost_barrier_alloc(unsigned int max);
void vhost_barrier_put(struct vhost_barrier *b);
void vhost_barrier_add(struct vhost_barrier *b, u32 worker_id);
bool vhost_barrier_is_empty(const struct vhost_barrier *b);
int vhost_barrier_wait(struct vhost_barrier *b, struct vhost_dev *dev);

/* worker.c, for the front ends */
struct vhost_worker *vhost_worker_create(struct vhost_dev *dev);
void vhost_worker_publish(struct vhost_worker *worker);
void vhost_worker_destroy(struct vhost_worker *worker);
int vhost_worker_free(struct vhost_dev *dev, u32 id);
struct vhost_worker *vhost_vq_worker(struct vhost_virtqueue *vq);
int vhost_workers_attach(struct vhost_dev *dev,
			 const struct vhost_vring_worker *map, unsigned int n);

/* for vhost and its drivers */
void vhost_workers_init(struct vhost_dev *dev);
int vhost_workers_start(struct vhost_dev *dev);
void vhost_workers_stop(struct vhost_dev *dev);
void vhost_workers_interrupt(struct vhost_dev *dev);
void vhost_workers_closing(struct vhost_dev *dev);
long vhost_worker_ioctl(struct vhost_dev *dev, unsigned int ioctl,
			void __user *argp);
long vhost_dev_check_caller(struct vhost_dev *dev);
long vhost_single_worker_ioctl(struct vhost_dev *dev);

bool vhost_vq_work_queue(struct vhost_virtqueue *vq, struct vhost_work *work);
bool vhost_vq_has_work(struct vhost_virtqueue *vq);
void vhost_vq_lock_nested(struct vhost_virtqueue *vq, unsigned int subclass);
void vhost_work_init(struct vhost_work *work, void (*fn)(struct vhost_work *));
void vhost_dev_flush(struct vhost_dev *dev);
void vhost_wait_for_workers(struct vhost_dev *dev, struct completion *done);

static inline void vhost_vq_lock(struct vhost_virtqueue *vq)
{
	vhost_vq_lock_nested(vq, 0);
}

#endif /* _VHOST_WORKER_H */
