// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: let an administrator change the workers of a device.
 *
 * A front end like the ioctls: parse, check, find the device, call the core,
 * answer. The contract is the YAML file that netlink_gen.c is made from.
 *
 * Every wait has an end. While a request is served, genetlink holds a lock that
 * keeps families from coming and going, on the whole host. The core may wait
 * for a worker that waits for guest memory, or for an owner that was stopped,
 * and dev->mutex may be held by somebody who does the same; so each wait gets
 * VHOST_NL_TIMEOUT at most.
 */
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "vhost.h"
#include "netlink.h"
#include "netlink_priv.h"

/* How long a request waits for the owner, and for workers */
#define VHOST_NL_TIMEOUT	(5 * HZ)

/* Finding the device ------------------------------------------------------ */

/**
 * vhost_nl_check - refuse who is not the administrator of the host
 * @skb: the request
 * @extack: where to say why
 *
 * Return: 0 or -EPERM.
 */
int vhost_nl_check(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_SYS_ADMIN in the initial user namespace");
	return -EPERM;
}

static const char *vhost_nl_text(int err)
{
	switch (err) {
	case -ENOBUFS:
		return "the device has no such virtqueue";
	case -EBUSY:
		return "a virtqueue is attached to the worker";
	case -ENOSPC:
		return "more workers than the device may have, see vhost.max_workers";
	case -EOWNERDEAD:
		return "the process was killed";
	case -EOPNOTSUPP:
		return "the driver of this device is made for one worker";
	case -EAGAIN:
		return "the owner may have no more threads, see RLIMIT_NPROC and pids.max";
	case -ETIMEDOUT:
		return "the change is in force, but a worker did not come to it in time";
	case -ENOMEM:
		return "the kernel has no memory for it";
	default:
		return NULL;
	}
}

/**
 * vhost_nl_error - say why a request is refused
 * @extack: where to say it
 * @attr: the attribute that is to blame
 * @err: the error of the core
 *
 * Return: @err.
 */
int vhost_nl_error(struct netlink_ext_ack *extack, const struct nlattr *attr, int err)
{
	const char *text = vhost_nl_text(err);

	if (err && extack) {
		if (text)
			extack->_msg = text;
		NL_SET_BAD_ATTR(extack, attr);
	}
	return err;
}

/**
 * vhost_nl_no_device - say that the device of a request is not there, or no more
 * @info: the request
 * @attr: the attribute with its number
 *
 * Return: -ENODEV.
 */
int vhost_nl_no_device(struct genl_info *info, int attr)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such device");
	return -ENODEV;
}

/**
 * vhost_nl_find - find the device that a request is about
 * @skb: the request
 * @info: the same, parsed
 * @attr: the attribute with the number
 * @dev: the device, for vhost_dev_put()
 *
 * Return: 0; -EPERM, -EINVAL (no attribute), -ENODEV.
 */
int vhost_nl_find(struct sk_buff *skb, struct genl_info *info, int attr,
		  struct vhost_dev **dev)
{
	int err = vhost_nl_check(skb, info->extack);

	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "the device is missing");
		return -EINVAL;
	}
	*dev = vhost_dev_get(nla_get_u32(info->attrs[attr]));
	return *dev ? 0 : vhost_nl_no_device(info, attr);
}

static int vhost_nl_trylock(struct vhost_dev *dev)
{
	unsigned long end = jiffies + VHOST_NL_TIMEOUT;

	while (!mutex_trylock(&dev->mutex)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_killable(1);
	}
	return 0;
}

/* Find the device and lock it, for vhost_nl_unlock(). */
static int vhost_nl_lock(struct sk_buff *skb, struct genl_info *info, int attr,
			 struct vhost_dev **dev)
{
	int err = vhost_nl_find(skb, info, attr, dev);

	if (err)
		return err;

	err = vhost_nl_trylock(*dev);
	if (err == -ETIMEDOUT) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "the owner keeps the device busy, nothing was changed");
		err = -EBUSY;
	}
	if (err)
		goto put;
	/* It may have lost its owner while we waited. */
	if ((*dev)->workers.dev_id == nla_get_u32(info->attrs[attr]))
		return 0;

	mutex_unlock(&(*dev)->mutex);
	err = vhost_nl_no_device(info, attr);
put:
	vhost_dev_put(*dev);
	return err;
}

static void vhost_nl_unlock(struct vhost_dev *dev)
{
	mutex_unlock(&dev->mutex);
	vhost_dev_put(dev);
}

/**
 * vhost_nl_u32 - an attribute that a request must have
 * @info: the request
 * @attr: its type
 * @value: what is in it
 *
 * Return: 0 or -EINVAL.
 */
int vhost_nl_u32(struct genl_info *info, int attr, u32 *value)
{
	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "an attribute is missing");
		return -EINVAL;
	}
	*value = nla_get_u32(info->attrs[attr]);
	return 0;
}

/* CPUs -------------------------------------------------------------------- */

/* Read a list of CPUs; @mask is to be freed if this returns 0. */
static int vhost_nl_parse_cpus(struct genl_info *info, cpumask_var_t *mask)
{
	const struct nlattr *attr = info->attrs[VHOST_A_WORKER_CPUS];

	if (!zalloc_cpumask_var(mask, GFP_KERNEL))
		return vhost_nl_error(info->extack, attr, -ENOMEM);
	if (!cpulist_parse(nla_data(attr), *mask) && !cpumask_empty(*mask))
		return 0;

	free_cpumask_var(*mask);
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "not a list of CPUs of this host");
	return -EINVAL;
}

static int vhost_nl_set_cpus(struct genl_info *info, struct vhost_worker *worker,
			     const struct cpumask *mask)
{
	const struct nlattr *attr = info->attrs[VHOST_A_WORKER_CPUS];
	struct task_struct *task;
	cpumask_var_t old;
	int err = -EINVAL;

	wait_for_completion_killable_timeout(&worker->running, VHOST_NL_TIMEOUT);
	task = vhost_worker_thread(worker);
	if (!task) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the thread has not run yet: is the owner stopped?");
		return -ETIMEDOUT;
	}
	if (!alloc_cpumask_var(&old, GFP_KERNEL))
		return vhost_nl_error(info->extack, attr, -ENOMEM);
	cpumask_copy(old, &task->cpus_mask);
	cpus_read_lock();
	if (cpumask_subset(mask, cpu_online_mask))
		err = set_cpus_allowed_ptr(task, mask);
	cpus_read_unlock();
	/*
	 * What sched_setaffinity() once said of the thread, or of the one that
	 * made it, goes on to hold: the scheduler takes CPUs outside away.
	 */
	if (!err && !cpumask_equal(&task->cpus_mask, mask)) {
		set_cpus_allowed_ptr(task, old);
		err = -EBUSY;
	}
	free_cpumask_var(old);
	if (err == -EBUSY)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the thread was confined to other CPUs by sched_setaffinity()");
	else if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "not all of these CPUs are online and usable");
	return err;
}

/* Workers ----------------------------------------------------------------- */

struct vhost_nl_workers {
	unsigned int		n;
	struct vhost_worker	*worker[];
};

/* All of them get the time of one: they may all wait for the same. */
static void vhost_nl_destroy_workers(struct vhost_nl_workers *made)
{
	unsigned long end = jiffies + VHOST_NL_TIMEOUT;
	long left;

	while (made->n) {
		left = end - jiffies;
		vhost_worker_destroy_within(made->worker[--made->n], max(left, 0L));
	}
}

/*
 * Make @n workers in the owner's context, or none; nobody finds them yet.
 * @attr is to blame if that does not work.
 */
static struct vhost_nl_workers *vhost_nl_make_workers(struct vhost_dev *dev, unsigned int n,
						      struct netlink_ext_ack *extack,
						      const struct nlattr *attr)
{
	unsigned long end = jiffies + VHOST_NL_TIMEOUT;
	struct vhost_nl_workers *made;
	struct vhost_worker *worker;
	struct task_struct *owner;
	long left;
	int err;

	if (n && !dev->workers.many)
		return ERR_PTR(vhost_nl_error(extack, attr, -EOPNOTSUPP));
	if (n > vhost_workers_max(dev))
		return ERR_PTR(vhost_nl_error(extack, attr, -ENOSPC));

	made = kzalloc(struct_size(made, worker, n), GFP_KERNEL);
	if (!made)
		return ERR_PTR(vhost_nl_error(extack, attr, -ENOMEM));
	if (!n)
		return made;

	owner = vhost_dev_owner_task(dev);
	err = owner ? 0 : -EOWNERDEAD;
	while (!err && made->n < n) {
		/* One limit for all: the owner may be slow on purpose. */
		left = end - jiffies;
		worker = vhost_worker_create(dev, owner, max(left, 1L));
		if (IS_ERR(worker)) {
			err = PTR_ERR(worker);
			break;
		}
		made->worker[made->n++] = worker;
		/* It was waited for, and yet it has not run: the next will not, either. */
		if (owner != current && !vhost_worker_thread(worker))
			err = -ETIMEDOUT;
	}
	if (owner)
		put_task_struct(owner);
	if (!err)
		return made;

	vhost_nl_destroy_workers(made);
	kfree(made);
	/*
	 * The caller is the owner, and a netlink request is not restarted. -EINTR
	 * would be no answer at all: netlink keeps it for itself.
	 */
	if (err == -ERESTARTNOINTR) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a signal came in between, ask again");
		return ERR_PTR(-EAGAIN);
	}
	if (err == -ETIMEDOUT) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "no worker of the owner could make another in time: is the owner stopped?");
		return ERR_PTR(err);
	}
	return ERR_PTR(vhost_nl_error(extack, attr, err));
}

static void vhost_nl_tell_workers(struct vhost_nl_workers *made, u8 cmd)
{
	unsigned int i;

	for (i = 0; i < made->n; i++)
		vhost_nl_worker_event(made->worker[i], cmd);
}

static void vhost_nl_publish_workers(struct vhost_dev *dev, struct vhost_nl_workers *made)
{
	unsigned int i;

	mutex_lock(&dev->workers.lock);
	for (i = 0; i < made->n; i++)
		vhost_worker_publish(made->worker[i]);
	mutex_unlock(&dev->workers.lock);
	vhost_nl_tell_workers(made, VHOST_CMD_WORKER_ADD_NTF);
}

/* Answer with the device and the numbers of the workers that were made. */
static int vhost_nl_reply_ids(struct genl_info *info, u8 cmd, int dev_attr, int id_attr,
			      struct vhost_dev *dev, struct vhost_nl_workers *made)
{
	struct sk_buff *skb;
	unsigned int i;
	void *hdr;
	int err;

	skb = genlmsg_new((made->n + 1) * nla_total_size(sizeof(u32)), GFP_KERNEL);
	if (!skb)
		return vhost_nl_error(info->extack, NULL, -ENOMEM);
	hdr = genlmsg_put_reply(skb, info, &vhost_nl_family, 0, cmd);
	err = hdr ? nla_put_u32(skb, dev_attr, dev->workers.dev_id) : -EMSGSIZE;
	for (i = 0; !err && i < made->n; i++)
		err = nla_put_u32(skb, id_attr, made->worker[i]->id);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* Pin new workers; the first that cannot be is the end of all. */
static int vhost_nl_pin_workers(struct genl_info *info, struct vhost_nl_workers *made)
{
	cpumask_var_t mask;
	unsigned int i;
	int err;

	if (!info->attrs[VHOST_A_WORKER_CPUS])
		return 0;
	err = vhost_nl_parse_cpus(info, &mask);
	if (err)
		return err;
	for (i = 0; !err && i < made->n; i++)
		err = vhost_nl_set_cpus(info, made->worker[i], mask);
	free_cpumask_var(mask);
	return err;
}

int vhost_nl_worker_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *count = info->attrs[VHOST_A_WORKER_COUNT];
	struct vhost_nl_workers *made;
	struct vhost_dev *dev;
	int err;

	err = vhost_nl_lock(skb, info, VHOST_A_WORKER_DEV_ID, &dev);
	if (err)
		return err;

	made = vhost_nl_make_workers(dev, count ? nla_get_u32(count) : 1, info->extack,
				     count ?: info->attrs[VHOST_A_WORKER_DEV_ID]);
	err = PTR_ERR_OR_ZERO(made);
	if (err)
		goto unlock;
	err = vhost_nl_pin_workers(info, made);
	if (err) {
		vhost_nl_destroy_workers(made);
		goto free;
	}
	vhost_policy_chosen(dev);
	vhost_nl_publish_workers(dev, made);
	err = vhost_nl_reply_ids(info, VHOST_CMD_WORKER_NEW, VHOST_A_WORKER_DEV_ID,
				 VHOST_A_WORKER_NEW_ID, dev, made);
free:
	kfree(made);
unlock:
	vhost_nl_unlock(dev);
	return err;
}

/* Find the worker that @attr names. D is held, so that it stays. */
static struct vhost_worker *vhost_nl_find_worker(struct vhost_dev *dev, const struct nlattr *attr,
						 struct netlink_ext_ack *extack)
{
	struct vhost_worker *worker = xa_load(&dev->workers.xa, nla_get_u32(attr));

	if (worker)
		return worker;
	NL_SET_ERR_MSG_ATTR(extack, attr, "no such worker");
	return ERR_PTR(-ENODEV);
}

/* Find and lock the device, and find the worker of it, that a request is about. */
static struct vhost_worker *vhost_nl_lock_worker(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_worker *worker;
	struct vhost_dev *dev;
	int err;
	u32 id;

	err = vhost_nl_lock(skb, info, VHOST_A_WORKER_DEV_ID, &dev);
	if (err)
		return ERR_PTR(err);
	err = vhost_nl_u32(info, VHOST_A_WORKER_ID, &id);
	worker = err ? ERR_PTR(err) :
		 vhost_nl_find_worker(dev, info->attrs[VHOST_A_WORKER_ID], info->extack);
	if (IS_ERR(worker))
		vhost_nl_unlock(dev);
	return worker;
}

int vhost_nl_worker_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_worker *worker = vhost_nl_lock_worker(skb, info);
	cpumask_var_t mask;
	int err = -EINVAL;

	if (IS_ERR(worker))
		return PTR_ERR(worker);
	if (GENL_REQ_ATTR_CHECK(info, VHOST_A_WORKER_CPUS)) {
		NL_SET_ERR_MSG(info->extack, "the list of CPUs is missing");
		goto unlock;
	}
	err = vhost_nl_parse_cpus(info, &mask);
	if (err)
		goto unlock;
	if (READ_ONCE(worker->killed))
		err = vhost_nl_error(info->extack, info->attrs[VHOST_A_WORKER_ID], -EOWNERDEAD);
	else
		err = vhost_nl_set_cpus(info, worker, mask);
	free_cpumask_var(mask);
unlock:
	vhost_nl_unlock(worker->dev);
	return err;
}

int vhost_nl_worker_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_worker *worker = vhost_nl_lock_worker(skb, info);
	struct vhost_dev *dev;
	int err;

	if (IS_ERR(worker))
		return PTR_ERR(worker);
	dev = worker->dev;

	err = vhost_worker_free(dev, worker->id, VHOST_NL_TIMEOUT);
	if (!err)
		vhost_policy_chosen(dev);
	if (err == -ETIMEDOUT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[VHOST_A_WORKER_ID],
				    "the worker does not come to an end in time, it stays");
	else
		vhost_nl_error(info->extack, info->attrs[VHOST_A_WORKER_ID], err);
	vhost_nl_unlock(dev);
	return err;
}

/* The map ----------------------------------------------------------------- */

/* Whether the map is in force after what vhost_workers_attach() returned. */
static bool vhost_nl_map_changed(int err)
{
	return !err || err == -EINTR || err == -ETIMEDOUT;
}

int vhost_nl_vq_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_vring_worker entry;
	struct vhost_dev *dev;
	int blame, err;

	err = vhost_nl_lock(skb, info, VHOST_A_VQ_DEV_ID, &dev);
	if (err)
		return err;
	err = vhost_nl_u32(info, VHOST_A_VQ_INDEX, &entry.index) ?:
	      vhost_nl_u32(info, VHOST_A_VQ_WORKER_ID, &entry.worker_id);
	if (err)
		goto unlock;

	err = vhost_workers_attach(dev, &entry, 1, VHOST_NL_TIMEOUT);
	if (vhost_nl_map_changed(err))
		vhost_policy_chosen(dev);
	blame = err == -ENOBUFS ? VHOST_A_VQ_INDEX : VHOST_A_VQ_WORKER_ID;
	if (err == -ENODEV)
		NL_SET_ERR_MSG(info->extack, "no such worker");
	vhost_nl_error(info->extack, info->attrs[blame], err);
unlock:
	vhost_nl_unlock(dev);
	return err;
}

/*
 * A map in the making. While @is_new, map[].worker_id counts the workers that
 * are to be made.
 */
struct vhost_nl_map {
	unsigned int			n;
	unsigned int			new;	/* workers to be made */
	const struct nlattr		*new_attr;
	unsigned long			*seen;	/* a bit for each virtqueue */
	unsigned long			*is_new;	/* a bit for each entry */
	struct vhost_vring_worker	map[];
};

static void vhost_nl_map_free(struct vhost_nl_map *m)
{
	bitmap_free(m->seen);
	bitmap_free(m->is_new);
	kfree(m);
}

static struct vhost_nl_map *vhost_nl_map_alloc(unsigned int nvqs)
{
	struct vhost_nl_map *m;

	/* No virtqueue twice, and so no more entries than virtqueues. */
	m = kzalloc(struct_size(m, map, nvqs), GFP_KERNEL);
	if (!m)
		return NULL;
	m->seen = bitmap_zalloc(nvqs, GFP_KERNEL);
	m->is_new = bitmap_zalloc(nvqs, GFP_KERNEL);
	if (m->seen && m->is_new)
		return m;
	vhost_nl_map_free(m);
	return NULL;
}

static int vhost_nl_map_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
			       const char *text)
{
	extack->_msg = text;
	NL_SET_BAD_ATTR(extack, attr);
	return -EINVAL;
}

static int vhost_nl_map_add(struct vhost_nl_map *m, struct vhost_dev *dev,
			    const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[VHOST_A_ENTRY_MAX + 1], *old, *new;
	struct vhost_vring_worker *e = &m->map[m->n];
	struct vhost_worker *worker;
	int err;

	err = nla_parse_nested(tb, VHOST_A_ENTRY_MAX, attr, vhost_entry_nl_policy, extack);
	if (err)
		return err;
	old = tb[VHOST_A_ENTRY_WORKER_ID];
	new = tb[VHOST_A_ENTRY_NEW_WORKER];
	if (!tb[VHOST_A_ENTRY_VQ])
		return vhost_nl_map_refuse(extack, attr, "an entry without a virtqueue");
	if (!old == !new)
		return vhost_nl_map_refuse(extack, attr,
					   "an entry needs a worker, one that exists or a new one");

	e->index = nla_get_u32(tb[VHOST_A_ENTRY_VQ]);
	if (e->index >= dev->nvqs)
		return vhost_nl_error(extack, tb[VHOST_A_ENTRY_VQ], -ENOBUFS);
	if (__test_and_set_bit(e->index, m->seen))
		return vhost_nl_map_refuse(extack, tb[VHOST_A_ENTRY_VQ],
					   "a virtqueue has two entries");
	e->worker_id = nla_get_u32(old ?: new);
	if (new) {
		__set_bit(m->n, m->is_new);
		m->new_attr = new;
		m->new = max(m->new, min_t(u32, e->worker_id, INT_MAX) + 1);
	} else {
		worker = vhost_nl_find_worker(dev, old, extack);
		if (IS_ERR(worker))
			return PTR_ERR(worker);
		if (READ_ONCE(worker->killed))
			return vhost_nl_error(extack, old, -EOWNERDEAD);
	}
	m->n++;
	return 0;
}

static int vhost_nl_map_parse(struct vhost_nl_map *m, struct vhost_dev *dev,
			      struct genl_info *info)
{
	const struct nlattr *attr;
	unsigned int i;
	int rem, err;

	if (GENL_REQ_ATTR_CHECK(info, VHOST_A_MAP_ENTRY)) {
		NL_SET_ERR_MSG(info->extack, "the map has no entry");
		return -EINVAL;
	}
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != VHOST_A_MAP_ENTRY)
			continue;
		err = vhost_nl_map_add(m, dev, attr, info->extack);
		if (err)
			return err;
	}

	/* Each new worker must serve something. */
	if (m->new > m->n)
		goto gap;
	bitmap_zero(m->seen, dev->nvqs);
	for_each_set_bit(i, m->is_new, m->n)
		__set_bit(m->map[i].worker_id, m->seen);
	if (!m->new || find_first_zero_bit(m->seen, dev->nvqs) >= m->new)
		return 0;
gap:
	return vhost_nl_map_refuse(info->extack, m->new_attr,
				   "the numbers of new workers have a gap");
}

static int vhost_nl_map_apply(struct vhost_nl_map *m, struct vhost_dev *dev,
			      struct genl_info *info)
{
	struct nlattr *blame = info->attrs[VHOST_A_MAP_DEV_ID];
	struct vhost_nl_workers *made;
	unsigned int i;
	int err, sent;

	made = vhost_nl_make_workers(dev, m->new, info->extack, m->new_attr);
	if (IS_ERR(made))
		return PTR_ERR(made);
	for_each_set_bit(i, m->is_new, m->n)
		m->map[i].worker_id = made->worker[m->map[i].worker_id]->id;

	/* Listeners hear of a worker before they hear what it serves. */
	vhost_nl_publish_workers(dev, made);
	err = vhost_workers_attach(dev, m->map, m->n, VHOST_NL_TIMEOUT);
	if (vhost_nl_map_changed(err)) {
		vhost_policy_chosen(dev);
		sent = vhost_nl_reply_ids(info, VHOST_CMD_MAP_SET, VHOST_A_MAP_DEV_ID,
					  VHOST_A_MAP_NEW_ID, dev, made);
		err = err ?: sent;
	} else {
		vhost_nl_tell_workers(made, VHOST_CMD_WORKER_DEL_NTF);
		vhost_nl_destroy_workers(made);
	}
	kfree(made);
	return vhost_nl_error(info->extack, blame, err);
}

int vhost_nl_map_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_nl_map *m;
	struct vhost_dev *dev;
	int err;

	err = vhost_nl_lock(skb, info, VHOST_A_MAP_DEV_ID, &dev);
	if (err)
		return err;
	m = vhost_nl_map_alloc(dev->nvqs);
	if (!m) {
		err = vhost_nl_error(info->extack, NULL, -ENOMEM);
		goto unlock;
	}
	err = vhost_nl_map_parse(m, dev, info) ?: vhost_nl_map_apply(m, dev, info);
	vhost_nl_map_free(m);
unlock:
	vhost_nl_unlock(dev);
	return err;
}

/* The family -------------------------------------------------------------- */

static const struct genl_multicast_group vhost_nl_groups[] = {
	[VHOST_NLGRP_EVENTS] = {
		.name	= VHOST_MCGRP_EVENTS,
		.flags	= GENL_MCAST_CAP_SYS_ADMIN,
	},
};

struct genl_family vhost_nl_family __ro_after_init = {
	.name		= VHOST_FAMILY_NAME,
	.version	= VHOST_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.parallel_ops	= true,
	.ops		= vhost_nl_ops,
	.n_ops		= ARRAY_SIZE(vhost_nl_ops),
	.resv_start_op	= VHOST_CMD_DEV_GET,
	.mcgrps		= vhost_nl_groups,
	.n_mcgrps	= ARRAY_SIZE(vhost_nl_groups),
};

/**
 * vhost_nl_init - offer the family
 *
 * Return: 0 or -errno.
 */
int __init vhost_nl_init(void)
{
	int err = vhost_reaper_init();

	if (err)
		return err;
	err = genl_register_family(&vhost_nl_family);
	if (err)
		vhost_reaper_exit();
	else
		vhost_policy_tell(true);
	return err;
}

/**
 * vhost_nl_exit - take the family back
 */
void vhost_nl_exit(void)
{
	vhost_policy_tell(false);
	genl_unregister_family(&vhost_nl_family);
	vhost_reaper_exit();
}

MODULE_ALIAS_GENL_FAMILY(VHOST_FAMILY_NAME);
