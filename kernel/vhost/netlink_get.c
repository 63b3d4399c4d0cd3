// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: tell about devices, workers and virtqueues, on request and
 * when something happens.
 *
 * Nothing here waits for the owner: what is told is read under
 * vhost_workers.lock, which is never held for long, and not under dev->mutex,
 * which an ioctl may hold while it waits for guest memory.
 */
#include <linux/cpumask.h>
#include <linux/nospec.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "vhost.h"
#include "netlink.h"
#include "netlink_priv.h"

/* Room for a list of CPUs or virtqueues */
#define VHOST_NL_LIST_SIZE	(VHOST_CPUS_MAX + 1)
/* The attributes of a worker, without its two lists */
#define VHOST_NL_FIXED_SIZE	512

/*
 * A message in the making.
 */
struct vhost_nl_msg {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;	/* of a dump, or NULL */
	struct pid_namespace	*ns;	/* whose pids */
	u32			portid;
	u32			seq;
	int			flags;
	u8			cmd;
	char			list[VHOST_NL_LIST_SIZE];
};

static void *vhost_nl_begin(struct vhost_nl_msg *msg)
{
	void *hdr;

	hdr = genlmsg_put(msg->skb, msg->portid, msg->seq, &vhost_nl_family,
			  msg->flags, msg->cmd);
	if (hdr && msg->cb)
		genl_dump_check_consistent(msg->cb, hdr);
	return hdr;
}

static int vhost_nl_end(struct vhost_nl_msg *msg, void *hdr, bool ok)
{
	if (!ok) {
		genlmsg_cancel(msg->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(msg->skb, hdr);
	return 0;
}

/* A backend says nothing about use: vhost-scsi sets it for all virtqueues. */
static bool vhost_nl_vq_used(struct vhost_virtqueue *vq)
{
	/*
	 * Comes and goes under vq->mutex, which may be held for long. Whether
	 * there is one is all we want to know, and that may be stale by the
	 * time it is read anyway.
	 */
	return data_race(vq->kick);
}

static u32 vhost_nl_vqs_used(struct vhost_dev *dev)
{
	u32 used = 0;
	int i;

	for (i = 0; i < dev->nvqs; i++)
		used += vhost_nl_vq_used(dev->vqs[i]);
	return used;
}

static bool vhost_nl_put_policy(struct sk_buff *skb, struct vhost_dev *dev)
{
	char text[VHOST_POLICY_TEXT];

	if (!dev->workers.many)
		return true;
	return (!vhost_policy_text(dev, text, sizeof(text)) ||
		!nla_put_string(skb, VHOST_A_DEV_POLICY, text)) &&
	       !nla_put_u32(skb, VHOST_A_DEV_POLICY_FAILED, dev->workers.policy.failed);
}

static bool vhost_nl_put_owner(struct vhost_nl_msg *msg, struct vhost_dev *dev)
{
	struct task_struct *task;
	char comm[TASK_COMM_LEN];
	bool ok;

	task = get_pid_task(dev->workers.owner, PIDTYPE_TGID);
	if (!task)
		return !nla_put_u32(msg->skb, VHOST_A_DEV_OWNER_PID, 0);

	get_task_comm(comm, task);
	ok = !nla_put_u32(msg->skb, VHOST_A_DEV_OWNER_PID,
			  pid_nr_ns(dev->workers.owner, msg->ns)) &&
	     !nla_put_string(msg->skb, VHOST_A_DEV_OWNER_COMM, comm);
	put_task_struct(task);
	return ok;
}

/* -ENODEV: it lost its owner, and with it its number. */
static int vhost_nl_fill_dev(struct vhost_nl_msg *msg, struct vhost_dev *dev)
{
	struct vhost_workers *workers = &dev->workers;
	struct sk_buff *skb = msg->skb;
	void *hdr;
	bool ok;

	lockdep_assert_held(&workers->lock);

	if (!workers->dev_id)
		return -ENODEV;
	hdr = vhost_nl_begin(msg);
	if (!hdr)
		return -EMSGSIZE;

	ok = !nla_put_u32(skb, VHOST_A_DEV_ID, workers->dev_id) &&
	     (!workers->backend ||
	      !nla_put_string(skb, VHOST_A_DEV_BACKEND, workers->backend)) &&
	     vhost_nl_put_owner(msg, dev) &&
	     !nla_put_u32(skb, VHOST_A_DEV_THREAD_KIND,
			  vhost_worker_kind(dev)->kind) &&
	     !nla_put_u32(skb, VHOST_A_DEV_VQS, dev->nvqs) &&
	     !nla_put_u32(skb, VHOST_A_DEV_VQS_USED, vhost_nl_vqs_used(dev)) &&
	     !nla_put_u32(skb, VHOST_A_DEV_WORKERS, workers->count) &&
	     !nla_put_u32(skb, VHOST_A_DEV_MAX_WORKERS, vhost_workers_max(dev)) &&
	     (!workers->wwpn[0] ||
	      !nla_put_string(skb, VHOST_A_DEV_WWPN, workers->wwpn)) &&
	     vhost_nl_put_policy(skb, dev);
	return vhost_nl_end(msg, hdr, ok);
}

/* One that does not fit is left out: it would not fit the next message either. */
static bool vhost_nl_put_cpus(struct vhost_nl_msg *msg, struct task_struct *task)
{
	/* The mask may change meanwhile, as it may right after. */
	int len = snprintf(msg->list, sizeof(msg->list), "%*pbl",
			   cpumask_pr_args(&task->cpus_mask));

	return len >= sizeof(msg->list) ||
	       !nla_put_string(msg->skb, VHOST_A_WORKER_CPUS, msg->list);
}

/* Print the virtqueues of a worker as ranges; false if it has none. */
static bool vhost_nl_list_vqs(struct vhost_nl_msg *msg, struct vhost_worker *worker)
{
	struct vhost_dev *dev = worker->dev;
	size_t len = 0;
	int i, first;

	for (i = 0; i < dev->nvqs; i++) {
		if (vhost_vq_worker(dev->vqs[i]) != worker)
			continue;
		first = i;
		while (i + 1 < dev->nvqs &&
		       vhost_vq_worker(dev->vqs[i + 1]) == worker)
			i++;
		len += scnprintf(msg->list + len, sizeof(msg->list) - len,
				 i > first ? "%s%d-%d" : "%s%d",
				 len ? "," : "", first, i);
	}
	return len;
}

static bool vhost_nl_put_counters(struct sk_buff *skb, struct vhost_worker *worker)
{
	struct vhost_worker_counts c;

	vhost_worker_read_counts(worker, &c);
	return !nla_put_u64_64bit(skb, VHOST_A_WORKER_WORKS, c.works,
				  VHOST_A_WORKER_PAD) &&
	       !nla_put_u64_64bit(skb, VHOST_A_WORKER_RUNS, c.runs,
				  VHOST_A_WORKER_PAD) &&
	       !nla_put_u64_64bit(skb, VHOST_A_WORKER_WAKEUPS, c.wakeups,
				  VHOST_A_WORKER_PAD) &&
	       !nla_put_u64_64bit(skb, VHOST_A_WORKER_BUSY_NS, c.busy_ns,
				  VHOST_A_WORKER_PAD) &&
	       !nla_put_u64_64bit(skb, VHOST_A_WORKER_LONGEST_RUN_NS,
				  c.longest_run_ns, VHOST_A_WORKER_PAD);
}

static int vhost_nl_fill_worker(struct vhost_nl_msg *msg, struct vhost_worker *worker)
{
	struct vhost_dev *dev = worker->dev;
	struct task_struct *task = vhost_worker_thread(worker);
	struct sk_buff *skb = msg->skb;
	void *hdr;
	bool ok;

	lockdep_assert_held(&dev->workers.lock);

	hdr = vhost_nl_begin(msg);
	if (!hdr)
		return -EMSGSIZE;

	ok = !nla_put_u32(skb, VHOST_A_WORKER_DEV_ID, dev->workers.dev_id) &&
	     !nla_put_u32(skb, VHOST_A_WORKER_ID, worker->id) &&
	     !nla_put_u32(skb, VHOST_A_WORKER_TID,
			  task ? task_pid_nr_ns(task, msg->ns) : 0) &&
	     !nla_put_u32(skb, VHOST_A_WORKER_THREAD_KIND, worker->ops->kind) &&
	     (!task || vhost_nl_put_cpus(msg, task)) &&
	     (!vhost_nl_list_vqs(msg, worker) ||
	      !nla_put_string(skb, VHOST_A_WORKER_VQS, msg->list)) &&
	     (!worker->killed || !nla_put_flag(skb, VHOST_A_WORKER_KILLED)) &&
	     vhost_nl_put_counters(skb, worker);
	return vhost_nl_end(msg, hdr, ok);
}

static int vhost_nl_fill_vq(struct vhost_nl_msg *msg, struct vhost_dev *dev, u32 index)
{
	struct vhost_virtqueue *vq = dev->vqs[index];
	struct vhost_worker *worker = vhost_vq_worker(vq);
	struct sk_buff *skb = msg->skb;
	void *hdr;
	bool ok;

	hdr = vhost_nl_begin(msg);
	if (!hdr)
		return -EMSGSIZE;

	ok = !nla_put_u32(skb, VHOST_A_VQ_DEV_ID, dev->workers.dev_id) &&
	     !nla_put_u32(skb, VHOST_A_VQ_INDEX, index) &&
	     (!worker || !nla_put_u32(skb, VHOST_A_VQ_WORKER_ID, worker->id)) &&
	     (!vhost_nl_vq_used(vq) || !nla_put_flag(skb, VHOST_A_VQ_USED)) &&
	     !nla_put_u64_64bit(skb, VHOST_A_VQ_KICKS,
				atomic64_read(&vq->counts.kicks), VHOST_A_VQ_PAD) &&
	     !nla_put_u64_64bit(skb, VHOST_A_VQ_WORKS,
				atomic64_read(&vq->counts.works), VHOST_A_VQ_PAD);
	return vhost_nl_end(msg, hdr, ok);
}

/* Requests ---------------------------------------------------------------- */

/* A message for one answer. */
static struct vhost_nl_msg *vhost_nl_reply_new(struct genl_info *info, u8 cmd)
{
	struct vhost_nl_msg *msg;

	msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	if (msg)
		msg->skb = genlmsg_new(VHOST_NL_FIXED_SIZE + 4 * VHOST_NL_LIST_SIZE,
				       GFP_KERNEL);
	if (!msg || !msg->skb) {
		kfree(msg);
		return ERR_PTR(vhost_nl_error(info->extack, NULL, -ENOMEM));
	}
	msg->ns = task_active_pid_ns(current);
	msg->portid = info->snd_portid;
	msg->seq = info->snd_seq;
	msg->cmd = cmd;
	return msg;
}

/* @attr names the device. */
static int vhost_nl_reply(struct vhost_nl_msg *msg, struct genl_info *info, int attr, int err)
{
	/* It lost its owner just now, unless something else was said. */
	if (err == -ENODEV && !info->extack->_msg)
		vhost_nl_no_device(info, attr);
	if (err)
		nlmsg_free(msg->skb);
	else
		err = genlmsg_reply(msg->skb, info);
	kfree(msg);
	return err;
}

int vhost_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_nl_msg *msg;
	struct vhost_dev *dev;
	int err;

	err = vhost_nl_find(skb, info, VHOST_A_DEV_ID, &dev);
	if (err)
		return err;
	msg = vhost_nl_reply_new(info, VHOST_CMD_DEV_GET);
	err = PTR_ERR_OR_ZERO(msg);
	if (err)
		goto put;

	mutex_lock(&dev->workers.lock);
	err = vhost_nl_fill_dev(msg, dev);
	mutex_unlock(&dev->workers.lock);
	err = vhost_nl_reply(msg, info, VHOST_A_DEV_ID, err);
put:
	vhost_dev_put(dev);
	return err;
}

int vhost_nl_worker_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_worker *worker;
	struct vhost_nl_msg *msg;
	struct vhost_dev *dev;
	int err;
	u32 id;

	err = vhost_nl_find(skb, info, VHOST_A_WORKER_DEV_ID, &dev);
	if (err)
		return err;
	err = vhost_nl_u32(info, VHOST_A_WORKER_ID, &id);
	if (err)
		goto put;
	msg = vhost_nl_reply_new(info, VHOST_CMD_WORKER_GET);
	err = PTR_ERR_OR_ZERO(msg);
	if (err)
		goto put;

	mutex_lock(&dev->workers.lock);
	worker = xa_load(&dev->workers.xa, id);
	err = -ENODEV;
	if (worker && dev->workers.dev_id)
		err = vhost_nl_fill_worker(msg, worker);
	else if (dev->workers.dev_id)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[VHOST_A_WORKER_ID],
				    "no such worker");
	mutex_unlock(&dev->workers.lock);
	err = vhost_nl_reply(msg, info, VHOST_A_WORKER_DEV_ID, err);
put:
	vhost_dev_put(dev);
	return err;
}

int vhost_nl_vq_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_nl_msg *msg;
	struct vhost_dev *dev;
	u32 index;
	int err;

	err = vhost_nl_find(skb, info, VHOST_A_VQ_DEV_ID, &dev);
	if (err)
		return err;
	err = vhost_nl_u32(info, VHOST_A_VQ_INDEX, &index);
	if (err)
		goto put;
	if (index >= dev->nvqs) {
		err = vhost_nl_error(info->extack, info->attrs[VHOST_A_VQ_INDEX],
				     -ENOBUFS);
		goto put;
	}
	msg = vhost_nl_reply_new(info, VHOST_CMD_VQ_GET);
	err = PTR_ERR_OR_ZERO(msg);
	if (err)
		goto put;

	mutex_lock(&dev->workers.lock);
	err = -ENODEV;
	if (dev->workers.dev_id)
		err = vhost_nl_fill_vq(msg, dev, array_index_nospec(index, dev->nvqs));
	mutex_unlock(&dev->workers.lock);
	err = vhost_nl_reply(msg, info, VHOST_A_VQ_DEV_ID, err);
put:
	vhost_dev_put(dev);
	return err;
}

/* Dumps ------------------------------------------------------------------- */

/* Where a dump goes on: with entry @next of device @dev. */
struct vhost_nl_dump {
	unsigned long	dev;
	unsigned long	next;
};

/*
 * Tell about what a device has, from entry *next on. L is held. -EMSGSIZE: the
 * message is full and *next is where to go on.
 */
typedef int (*vhost_nl_fill_fn)(struct vhost_nl_msg *msg, struct vhost_dev *dev,
				unsigned long *next);

static int vhost_nl_dump_dev(struct vhost_nl_msg *msg, struct vhost_dev *dev,
			     unsigned long *next)
{
	return vhost_nl_fill_dev(msg, dev);
}

static int vhost_nl_dump_workers(struct vhost_nl_msg *msg, struct vhost_dev *dev,
				 unsigned long *next)
{
	struct vhost_worker *worker;
	unsigned long id;
	int err;

	xa_for_each_start(&dev->workers.xa, id, worker, *next) {
		err = vhost_nl_fill_worker(msg, worker);
		if (err) {
			*next = id;
			return err;
		}
	}
	return 0;
}

static int vhost_nl_dump_vqs(struct vhost_nl_msg *msg, struct vhost_dev *dev,
			     unsigned long *next)
{
	int err;

	for (; *next < dev->nvqs; ++*next) {
		err = vhost_nl_fill_vq(msg, dev, *next);
		if (err)
			return err;
	}
	return 0;
}

static int vhost_nl_dump_one(struct vhost_nl_msg *msg, struct vhost_dev *dev,
			     struct vhost_nl_dump *at, vhost_nl_fill_fn fill)
{
	int err = 0;

	/* One that just lost its owner is not there any more. */
	mutex_lock(&dev->workers.lock);
	if (dev->workers.dev_id == at->dev)
		err = fill(msg, dev, &at->next);
	mutex_unlock(&dev->workers.lock);
	return err == -ENODEV ? 0 : err;
}

/* Go through all devices, or look at @only if it is not 0. */
static int vhost_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, u32 only,
			 vhost_nl_fill_fn fill)
{
	struct vhost_nl_dump *at = (void *)cb->ctx;
	const struct genlmsghdr *hdr = nlmsg_data(cb->nlh);
	struct vhost_nl_msg *msg;
	struct vhost_dev *dev;
	unsigned long wanted;
	int err = 0;

	msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	msg->skb = skb;
	msg->cb = cb;
	msg->ns = task_active_pid_ns(current);
	msg->portid = NETLINK_CB(cb->skb).portid;
	msg->seq = cb->nlh->nlmsg_seq;
	msg->flags = NLM_F_MULTI;
	msg->cmd = hdr->cmd;
	cb->seq = vhost_registry_generation();

	if (only)
		at->dev = max_t(unsigned long, at->dev, only);
	for (;;) {
		wanted = at->dev;
		dev = vhost_dev_get_next(&at->dev);
		if (!dev)
			break;
		/* The one that we were in the middle of is gone. */
		if (at->dev != wanted)
			at->next = 0;
		if (!only || at->dev == only)
			err = vhost_nl_dump_one(msg, dev, at, fill);
		vhost_dev_put(dev);
		if (err)
			break;
		at->dev++;
		at->next = 0;
		if (only)
			break;
	}
	kfree(msg);
	/* What is in the message is sent first. */
	return err == -EMSGSIZE && skb->len ? skb->len : err ?: skb->len;
}

/* The device that a dump is about, 0 for all. */
static int vhost_nl_dump_filter(struct netlink_callback *cb, int attr, int unwanted,
				const struct nla_policy *policy, u32 *only)
{
	struct nlattr *tb[VHOST_NL_FILTER_MAX + 1];
	struct vhost_dev *dev;
	int err;

	err = genlmsg_parse(cb->nlh, &vhost_nl_family, tb, VHOST_NL_FILTER_MAX, policy,
			    cb->extack);
	if (err)
		return err;
	if (tb[unwanted]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, tb[unwanted],
				    "a dump is about a device, not about one part of it");
		return -EINVAL;
	}
	*only = 0;
	if (!tb[attr])
		return 0;

	*only = nla_get_u32(tb[attr]);
	dev = vhost_dev_get(*only);
	if (dev) {
		vhost_dev_put(dev);
		return 0;
	}
	/* It may also have gone since the dump began, and that is no error. */
	if (((struct vhost_nl_dump *)cb->ctx)->dev)
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, tb[attr], "no such device");
	return -ENODEV;
}

int vhost_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *tb[VHOST_A_DEV_ID + 1];
	int err;

	err = vhost_nl_check(cb->skb, cb->extack) ?:
	      genlmsg_parse(cb->nlh, &vhost_nl_family, tb, VHOST_A_DEV_ID,
			    vhost_dev_get_nl_policy, cb->extack);
	if (err)
		return err;
	if (tb[VHOST_A_DEV_ID]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, tb[VHOST_A_DEV_ID],
				    "a dump of devices is about all of them");
		return -EINVAL;
	}
	return vhost_nl_dump(skb, cb, 0, vhost_nl_dump_dev);
}

int vhost_nl_worker_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	u32 only;
	int err;

	err = vhost_nl_check(cb->skb, cb->extack) ?:
	      vhost_nl_dump_filter(cb, VHOST_A_WORKER_DEV_ID, VHOST_A_WORKER_ID,
				   vhost_worker_get_nl_policy, &only);
	return err ?: vhost_nl_dump(skb, cb, only, vhost_nl_dump_workers);
}

int vhost_nl_vq_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	u32 only;
	int err;

	err = vhost_nl_check(cb->skb, cb->extack) ?:
	      vhost_nl_dump_filter(cb, VHOST_A_VQ_DEV_ID, VHOST_A_VQ_INDEX,
				   vhost_vq_get_nl_policy, &only);
	return err ?: vhost_nl_dump(skb, cb, only, vhost_nl_dump_vqs);
}

/* Events ------------------------------------------------------------------ */

/* A message for the group, or NULL if nobody listens. */
static struct vhost_nl_msg *vhost_nl_event_new(u8 cmd, size_t size)
{
	struct vhost_nl_msg *msg;

	if (!genl_has_listeners(&vhost_nl_family, &init_net, VHOST_NLGRP_EVENTS))
		return NULL;
	msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	if (msg)
		msg->skb = genlmsg_new(size, GFP_KERNEL);
	if (!msg || !msg->skb) {
		kfree(msg);
		genl_set_err(&vhost_nl_family, &init_net, 0, VHOST_NLGRP_EVENTS,
			     -ENOBUFS);
		return NULL;
	}
	msg->ns = &init_pid_ns;
	msg->cmd = cmd;
	return msg;
}

/*
 * A listener whose socket is full, or for whom there is no memory, learns of it
 * by ENOBUFS. L is held, so that nothing comes behind what it must not come
 * behind; see vhost_workers.listed.
 */
static void vhost_nl_event_send(struct vhost_nl_msg *msg, int err)
{
	if (err)
		nlmsg_free(msg->skb);
	else
		genlmsg_multicast(&vhost_nl_family, msg->skb, 0, VHOST_NLGRP_EVENTS,
				  GFP_ATOMIC);
	kfree(msg);
}

/**
 * vhost_nl_dev_event - tell listeners about a device
 * @dev: the device; has its number still
 * @cmd: what happened
 *
 * Context: process. Takes L.
 */
void vhost_nl_dev_event(struct vhost_dev *dev, u8 cmd)
{
	struct vhost_nl_msg *msg = vhost_nl_event_new(cmd, GENLMSG_DEFAULT_SIZE);
	int err = -ENODEV;

	if (!msg)
		return;
	mutex_lock(&dev->workers.lock);
	/* The first and the last that is told come before and after it is listed. */
	if (dev->workers.listed || cmd != VHOST_CMD_DEV_CHANGE_NTF)
		err = vhost_nl_fill_dev(msg, dev);
	vhost_nl_event_send(msg, err);
	mutex_unlock(&dev->workers.lock);
}

/**
 * vhost_nl_worker_event - tell listeners about a worker
 * @worker: the worker; cannot go away
 * @cmd: what happened
 *
 * Context: process. Takes L.
 */
void vhost_nl_worker_event(struct vhost_worker *worker, u8 cmd)
{
	struct vhost_workers *workers = &worker->dev->workers;
	struct vhost_nl_msg *msg;
	int err = -ENODEV;

	msg = vhost_nl_event_new(cmd, VHOST_NL_FIXED_SIZE + 4 * VHOST_NL_LIST_SIZE);
	if (!msg)
		return;
	mutex_lock(&workers->lock);
	/*
	 * One that is not in the set yet, or any more, has not begun to exist,
	 * or has ended.
	 */
	if (workers->listed && xa_load(&workers->xa, worker->id) == worker)
		err = vhost_nl_fill_worker(msg, worker);
	vhost_nl_event_send(msg, err);
	mutex_unlock(&workers->lock);
}

static bool vhost_nl_put_entry(struct sk_buff *skb, const struct vhost_vring_worker *e)
{
	struct nlattr *nest = nla_nest_start(skb, VHOST_A_MAP_ENTRY);

	if (!nest || nla_put_u32(skb, VHOST_A_ENTRY_VQ, e->index) ||
	    nla_put_u32(skb, VHOST_A_ENTRY_WORKER_ID, e->worker_id))
		return false;
	nla_nest_end(skb, nest);
	return true;
}

static int vhost_nl_fill_map(struct vhost_nl_msg *msg, struct vhost_dev *dev,
			     const struct vhost_vring_worker *map, unsigned int n)
{
	unsigned int i;
	void *hdr;
	bool ok;

	hdr = vhost_nl_begin(msg);
	if (!hdr)
		return -EMSGSIZE;
	ok = !nla_put_u32(msg->skb, VHOST_A_MAP_DEV_ID, dev->workers.dev_id);
	for (i = 0; ok && i < n; i++)
		ok = vhost_nl_put_entry(msg->skb, &map[i]);
	return vhost_nl_end(msg, hdr, ok);
}

/**
 * vhost_nl_map_event - tell listeners which virtqueues were given to workers
 * @dev: the device
 * @map: pairs of virtqueue index and worker id
 * @n: number of pairs
 *
 * Context: process, D held. Takes L.
 */
void vhost_nl_map_event(struct vhost_dev *dev, const struct vhost_vring_worker *map,
			unsigned int n)
{
	struct vhost_nl_msg *msg;
	int err = -ENODEV;

	msg = vhost_nl_event_new(VHOST_CMD_MAP_NTF, nla_total_size(sizeof(u32)) +
				 n * nla_total_size(2 * nla_total_size(sizeof(u32))));
	if (!msg)
		return;
	mutex_lock(&dev->workers.lock);
	if (dev->workers.listed)
		err = vhost_nl_fill_map(msg, dev, map, n);
	vhost_nl_event_send(msg, err);
	mutex_unlock(&dev->workers.lock);
}
