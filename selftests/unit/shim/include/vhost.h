/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the worker code sees of drivers/vhost/vhost.h with our hooks applied:
 * the same names and types, without the rings.
 */
#ifndef _VHOST_H
#define _VHOST_H

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vhost.h>

struct file;
struct vhost_work;
typedef void (*vhost_work_fn_t)(struct vhost_work *work);

#define VHOST_WORK_QUEUED 1
struct vhost_work {
	struct llist_node	node;
	vhost_work_fn_t		fn;
	unsigned long		flags;
};

#include "worker.h"

struct vhost_poll {
	struct vhost_work	work;
	struct vhost_virtqueue	*vq;
};

struct vhost_virtqueue {
	struct vhost_dev *dev;
	struct vhost_worker __rcu *worker;
	struct vhost_vq_counts counts;
	struct mutex mutex;
	struct file *kick;
	struct vhost_poll poll;
	vhost_work_fn_t handle_kick;
	void *private_data;
};

struct vhost_dev {
	struct mm_struct *mm;
	struct mutex mutex;
	struct vhost_virtqueue **vqs;
	int nvqs;
	struct vhost_workers workers;
	bool use_worker;
	bool fork_owner;
};

void vhost_poll_queue(struct vhost_poll *poll);
bool vhost_dev_has_owner(struct vhost_dev *dev);
long vhost_dev_check_owner(struct vhost_dev *dev);

static inline void *vhost_vq_get_backend(struct vhost_virtqueue *vq)
{
	return vq->private_data;
}

#endif
