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
 *   T  written by the worker's own thread only
 */
#ifndef _VHOST_WORKER_H
#define _VHOST_WORKER_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>
#include <linux/xarray.h>
#include <linux/workqueue.h>
#include <linux/vhost_netlink.h>
#include <linux/vhost_worker.h>

#include "policy.h"

struct task_struct;
struct pid;
struct vhost_barrier;
struct vhost_dev;
struct vhost_poll;
struct vhost_task;
struct vhost_virtqueue;
struct vhost_worker_ops;

/* Longest name of a target, see VHOST_SCSI_SET_ENDPOINT */
#define VHOST_WWPN_SIZE		224

/**
 * struct vhost_vq_counts - what has been asked of a virtqueue
 * @kicks: kicks of the guest that arrived
 * @works: pieces of work that were queued
 */
struct vhost_vq_counts {
	atomic64_t	kicks;
	atomic64_t	works;
};

/**
 * struct vhost_worker_counts - what a worker has done
 * @works: pieces of work that it ran
 * @runs: how often it emptied its list
 * @wakeups: runs that came after it had slept
 * @busy_ns: time in runs, in nanoseconds
 * @longest_run_ns: longest run, in nanoseconds
 */
struct vhost_worker_counts {
	u64	works;
	u64	runs;
	u64	wakeups;
	u64	busy_ns;
	u64	longest_run_ns;
};

/**
 * struct vhost_worker - a thread that runs the work of the virtqueues
 *	attached to it
 * @work_list: work to run, newest first; pushed by anyone, emptied by the
 *	thread
 * @ops: I: what differs between the kinds of thread
 * @task: I: the thread, a kernel thread
 * @vtsk: I: the thread, a thread of the owner
 * @thread: the thread, set when it runs first: see vhost_worker_thread()
 * @running: completed when @thread is set
 * @syncp: for readers of @counts
 * @counts: T: what it has done
 * @idle: T: its list was empty when it last looked
 * @dev: I: the device
 * @kcov_handle: I: kcov handle of the program that made the worker
 * @id: I: id, unique in the device
 * @attached: L: number of virtqueues whose worker this is
 * @killed: L: the thread is ending because its process was killed, so that
 *	nobody may attach to it any more
 * @ended: L: the thread has looked at its list for the last time
 * @gp_state: L: RCU state when @attached last fell to 0: once that grace
 *	period is over, nobody can queue work here any more
 * @last: the work behind all others, once it has left the set; vhost.h defines
 *	struct vhost_work before it includes this header
 * @finished: T: @last has run; the thread ends by itself
 * @emptied: completed when @last has run
 * @next: the one that was told to end before it, see vhost_workers_stop()
 * @reap: work that ends it, see vhost_worker_destroy_within()
 * @refs: who ends it, and who waits for that
 * @reaped: completed when its thread is gone
 */
struct vhost_worker {
	struct llist_head		work_list;
	const struct vhost_worker_ops	*ops;
	union {
		struct task_struct	*task;
		struct vhost_task	*vtsk;
	};
	struct task_struct		*thread;
	struct completion		running;
	struct u64_stats_sync		syncp;
	struct vhost_worker_counts	counts;
	bool				idle;
	struct vhost_dev		*dev;
	u64				kcov_handle;
	u32				id;
	unsigned int			attached;
	bool				killed;
	bool				ended;
	unsigned long			gp_state;

	struct vhost_work		last;
	bool				finished;
	struct completion		emptied;
	struct vhost_worker		*next;
	struct work_struct		reap;
	refcount_t			refs;
	struct completion		reaped;
};

/**
 * struct vhost_workers - the workers of a device
 * @lock: protects the set and the map from virtqueues to workers
 * @xa: L: id to worker; an id reserved for a worker in the making reads as
 *	NULL
 * @next_id: D: where the search for a free id begins
 * @count: L: number of workers, those in the making included
 * @closing: the last reference to the device is gone; never false again
 * @backend: I: name of the driver
 * @many: I: the driver is made for more than one worker
 * @dev_id: D and L to write: number of the device, 0 while it has no owner
 * @listed: L: listeners have heard that it came, and not yet that it goes: they
 *	may hear more of it
 * @owner: L: the process that owns it
 * @wwpn: L: name of the target that it leads to, or empty
 * @users: who has found the device, see vhost_dev_get(), and its file
 * @unused: completed when @users has fallen to 0
 * @policy: what the default policy did
 */
struct vhost_workers {
	struct mutex	lock;	/* L */
	struct xarray	xa;
	u32		next_id;
	unsigned int	count;
	bool		closing;

	/* registry.c */
	const char		*backend;
	bool			many;
	u32			dev_id;
	bool			listed;
	struct pid		*owner;
	char			wwpn[VHOST_WWPN_SIZE];
	refcount_t		users;
	struct completion	unused;

	/* policy.c */
	struct vhost_dev_policy	policy;
};

/**
 * struct vhost_worker_ops - a kind of worker thread
 * @kind: which one
 * @create: make the thread in the context of a thread of the owner, ready to
 *	run work; 0 or -errno. May sleep, but not longer than the timeout for the
 *	owner to do its part.
 * @leave: called by the thread itself in its last work: let it end after that;
 *	NULL if it looks at @finished
 * @stop: wait for the thread's exit; its last work has run, or it was killed. May
 *	sleep.
 * @wakeup: make the thread look at its list. Any context.
 * @interrupt: break off the thread's wait for guest memory, or NULL if a
 *	signal to the owner does it
 */
struct vhost_worker_ops {
	enum vhost_thread_kind kind;
	int (*create)(struct vhost_worker *worker, const char *name,
		      struct task_struct *owner, long timeout);
	void (*leave)(struct vhost_worker *worker);
	void (*stop)(struct vhost_worker *worker);
	void (*wakeup)(struct vhost_worker *worker);
	void (*interrupt)(struct vhost_worker *worker);
};

/* worker_thread.c, for worker.c */
const struct vhost_worker_ops *vhost_worker_kind(struct vhost_dev *dev);
bool vhost_worker_run(struct vhost_worker *worker);
struct task_struct *vhost_worker_thread(struct vhost_worker *worker);

/* worker.c, for worker_thread.c */
void vhost_worker_killed(void *data);

/* worker.c, for worker_map.c */
struct vhost_worker *vhost_worker_find(struct vhost_dev *dev, u32 id);

/* worker.c, for worker_flush.c, worker_map.c and worker_thread.c */
bool vhost_worker_queue(struct vhost_worker *worker, struct vhost_work *work);

/* worker_map.c, for worker.c */
void vhost_worker_detach_vq(struct vhost_worker *worker);

/* worker_flush.c, for worker.c and worker_map.c */
struct vhost_barrier *vhost_barrier_alloc(unsigned int max);
void vhost_barrier_put(struct vhost_barrier *b);
void vhost_barrier_add(struct vhost_barrier *b, u32 worker_id);
bool vhost_barrier_is_empty(const struct vhost_barrier *b);
int vhost_barrier_wait(struct vhost_barrier *b, struct vhost_dev *dev,
		       long timeout);

/* worker.c, for the module */
int vhost_reaper_init(void);
void vhost_reaper_exit(void);

/* worker.c, for the front ends */
struct vhost_worker *vhost_worker_create(struct vhost_dev *dev,
					 struct task_struct *owner,
					 long timeout);
void vhost_worker_publish(struct vhost_worker *worker);
void vhost_worker_destroy(struct vhost_worker *worker);
void vhost_worker_destroy_within(struct vhost_worker *worker, long timeout);
int vhost_worker_free(struct vhost_dev *dev, u32 id, long timeout);
void vhost_worker_read_counts(struct vhost_worker *worker,
			      struct vhost_worker_counts *counts);
unsigned int vhost_workers_max(struct vhost_dev *dev);

/* worker_map.c, for the front ends */
struct vhost_worker *vhost_vq_worker(struct vhost_virtqueue *vq);
int vhost_workers_attach(struct vhost_dev *dev,
			 const struct vhost_vring_worker *map, unsigned int n,
			 long timeout);

/* worker_ioctl.c, for policy.c */
void vhost_worker_offer(struct vhost_worker *worker);

/* registry.c */
void vhost_registry_init(struct vhost_dev *dev);
int vhost_registry_reserve(struct vhost_dev *dev);
void vhost_registry_publish(struct vhost_dev *dev);
void vhost_registry_remove(struct vhost_dev *dev);
void vhost_registry_close(struct vhost_dev *dev);
void vhost_registry_changed(void);
unsigned int vhost_registry_generation(void);
struct vhost_dev *vhost_dev_get(u32 id);
struct vhost_dev *vhost_dev_get_next(unsigned long *id);
void vhost_dev_put(struct vhost_dev *dev);
struct task_struct *vhost_dev_owner_task(struct vhost_dev *dev);

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

void vhost_dev_describe(struct vhost_dev *dev, const char *backend, bool many);
void vhost_dev_set_wwpn(struct vhost_dev *dev, const char *wwpn);

void vhost_poll_kicked(struct vhost_poll *poll);
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
