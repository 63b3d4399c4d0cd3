// SPDX-License-Identifier: GPL-2.0
/*
 * The default policy: give the virtqueues of a device to workers when its
 * owner, which knows nothing of workers, and the administrator say nothing.
 *
 * How many virtqueues a guest will use is not known before it uses them: a
 * vhost-scsi device has 130. So a virtqueue is placed when it gets its kick
 * eventfd. The first one that carries data, and the control queues before it,
 * stay with the worker that SET_OWNER made; that is also what VMMs do which make
 * a worker per virtqueue themselves. For each other one there is a new worker,
 * until the device has as many as the policy says; from then on it is given to
 * the worker with the fewest.
 *
 * Who chooses for himself is left alone: one ioctl or netlink request that
 * makes, ends or attaches a worker is the end of the policy for that device, until
 * it gets another owner. A virtqueue that is not with the first worker has been
 * placed, and stays where it is.
 *
 * Nothing here makes an ioctl fail. What the policy could not do is told in the
 * log and in the attributes of the device.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "vhost.h"
#include "netlink.h"

/* Protects what follows; held while listeners are told, so that they hear in order. */
static DEFINE_MUTEX(vhost_policy_lock);
static struct vhost_policy vhost_policy_default = { .kind = VHOST_POLICY_KIND_SINGLE };
static bool vhost_policy_is_told;

static const char *const vhost_policy_names[] = {
	[VHOST_POLICY_KIND_SINGLE]	= "single",
	[VHOST_POLICY_KIND_PER_VQ]	= "per-vq",
	[VHOST_POLICY_KIND_PER_CPU]	= "per-cpu",
};

/* The default ------------------------------------------------------------- */

/**
 * vhost_policy_get - tell the default
 * @policy: where to put it
 *
 * Context: process.
 */
void vhost_policy_get(struct vhost_policy *policy)
{
	mutex_lock(&vhost_policy_lock);
	*policy = vhost_policy_default;
	mutex_unlock(&vhost_policy_lock);
}

/**
 * vhost_policy_set - change the default, for virtqueues that come into use later
 * @policy: the new one
 *
 * Context: process.
 */
void vhost_policy_set(const struct vhost_policy *policy)
{
	bool same;

	mutex_lock(&vhost_policy_lock);
	same = policy->kind == vhost_policy_default.kind &&
	       policy->count == vhost_policy_default.count;
	vhost_policy_default = *policy;
	if (!same && vhost_policy_is_told)
		vhost_nl_policy_event(policy);
	mutex_unlock(&vhost_policy_lock);
}

/**
 * vhost_policy_tell - say whether there is a family whose listeners can be told
 * @tell: there is; the parameter may change before that and after it
 *
 * Context: process.
 */
void vhost_policy_tell(bool tell)
{
	mutex_lock(&vhost_policy_lock);
	vhost_policy_is_told = tell;
	mutex_unlock(&vhost_policy_lock);
}

static int vhost_policy_print(const struct vhost_policy *policy, char *text, size_t size)
{
	if (policy->kind == VHOST_POLICY_KIND_COUNT)
		return scnprintf(text, size, "%u", policy->count);
	return scnprintf(text, size, "%s", vhost_policy_names[policy->kind]);
}

/* A name or a number, with nothing around it but the newline of echo. */
static int vhost_policy_parse(const char *text, struct vhost_policy *policy)
{
	int kind = __sysfs_match_string(vhost_policy_names, ARRAY_SIZE(vhost_policy_names), text);

	*policy = (struct vhost_policy){ .kind = kind };
	if (kind >= 0)
		return 0;

	policy->kind = VHOST_POLICY_KIND_COUNT;
	if (*text < '1' || *text > '9' || kstrtou32(text, 10, &policy->count))
		return -EINVAL;
	return 0;
}

static int vhost_policy_param_set(const char *text, const struct kernel_param *kp)
{
	struct vhost_policy policy;
	int err = vhost_policy_parse(text, &policy);

	if (!err)
		vhost_policy_set(&policy);
	return err;
}

static int vhost_policy_param_get(char *buffer, const struct kernel_param *kp)
{
	struct vhost_policy policy;
	int len;

	vhost_policy_get(&policy);
	len = vhost_policy_print(&policy, buffer, VHOST_POLICY_TEXT);
	buffer[len] = '\n';
	buffer[len + 1] = '\0';
	return len + 1;
}

static const struct kernel_param_ops vhost_policy_param_ops = {
	.set = vhost_policy_param_set,
	.get = vhost_policy_param_get,
};

module_param_cb(default_workers, &vhost_policy_param_ops, NULL, 0644);
MODULE_PARM_DESC(default_workers,
		 "Workers of a device unless somebody chooses them: single, per-vq, per-cpu or a number (default: single)");

/* Devices ----------------------------------------------------------------- */

/**
 * vhost_policy_init - prepare a device
 * @dev: the device
 */
void vhost_policy_init(struct vhost_dev *dev)
{
	dev->workers.policy = (struct vhost_dev_policy){ 0 };
}

/**
 * vhost_policy_first_vq - tell which virtqueues of a device carry data
 * @dev: the device, just initialised
 * @index: the first of them; 0 unless told
 *
 * Context: the driver's open function, after vhost_dev_init().
 */
void vhost_policy_first_vq(struct vhost_dev *dev, u32 index)
{
	dev->workers.policy.first_vq = index;
}
EXPORT_SYMBOL_GPL(vhost_policy_first_vq);

/**
 * vhost_policy_reset - the device has a new owner, who has chosen nothing yet
 * @dev: the device
 *
 * Context: D and L held.
 */
void vhost_policy_reset(struct vhost_dev *dev)
{
	lockdep_assert_held(&dev->workers.lock);

	dev->workers.policy = (struct vhost_dev_policy){
		.first_vq = dev->workers.policy.first_vq,
	};
}

/**
 * vhost_policy_chosen - somebody chose workers of a device himself
 * @dev: the device
 *
 * Context: D held. Takes L.
 */
void vhost_policy_chosen(struct vhost_dev *dev)
{
	lockdep_assert_held(&dev->mutex);

	mutex_lock(&dev->workers.lock);
	dev->workers.policy.chosen = true;
	mutex_unlock(&dev->workers.lock);
}

/**
 * vhost_policy_text - tell in words how a device got its workers
 * @dev: the device
 * @text: where to write
 * @size: room there, VHOST_POLICY_TEXT is enough
 *
 * Context: L held.
 * Return: false if nothing can be said: no virtqueue is in use yet, or the
 * driver is made for one worker.
 */
bool vhost_policy_text(struct vhost_dev *dev, char *text, size_t size)
{
	const struct vhost_dev_policy *p = &dev->workers.policy;

	lockdep_assert_held(&dev->workers.lock);

	if (p->chosen)
		strscpy(text, "explicit", size);
	else if (p->applied)
		vhost_policy_print(&p->last, text, size);
	return p->chosen || p->applied;
}

static unsigned int vhost_policy_most(const struct vhost_policy *policy)
{
	switch (policy->kind) {
	case VHOST_POLICY_KIND_PER_VQ:
		return UINT_MAX;
	case VHOST_POLICY_KIND_PER_CPU:
		return num_online_cpus();
	case VHOST_POLICY_KIND_COUNT:
		return policy->count;
	default:
		return 1;
	}
}

/* The worker that SET_OWNER made, or NULL if the owner was killed. */
static struct vhost_worker *vhost_policy_first_worker(struct vhost_dev *dev)
{
	return vhost_vq_worker(dev->vqs[dev->workers.policy.first_vq]);
}

static bool vhost_policy_is_unplaced(struct vhost_dev *dev, u32 index)
{
	struct vhost_worker *worker;
	bool unplaced;

	mutex_lock(&dev->workers.lock);
	worker = vhost_vq_worker(dev->vqs[index]);
	unplaced = worker && worker == vhost_policy_first_worker(dev);
	mutex_unlock(&dev->workers.lock);
	return unplaced;
}

/*
 * How many virtqueues a worker serves besides @index. Those that nobody uses are
 * all with the first worker and do not count, but for the first one with data.
 */
static unsigned int vhost_policy_load(struct vhost_worker *worker, u32 index)
{
	struct vhost_dev *dev = worker->dev;
	unsigned int load = 1;
	u32 i;

	if (worker != vhost_policy_first_worker(dev))
		return worker->attached;

	for (i = dev->workers.policy.first_vq + 1; i < dev->nvqs; i++)
		if (i != index && dev->vqs[i]->kick && vhost_vq_worker(dev->vqs[i]) == worker)
			load++;
	return load;
}

static u32 vhost_policy_least_loaded(struct vhost_dev *dev, u32 index)
{
	unsigned int load, least = UINT_MAX;
	struct vhost_worker *worker;
	unsigned long id;
	u32 found = 0;

	mutex_lock(&dev->workers.lock);
	xa_for_each(&dev->workers.xa, id, worker) {
		load = vhost_policy_load(worker, index);
		if (load >= least)
			continue;
		least = load;
		found = id;
	}
	mutex_unlock(&dev->workers.lock);
	return found;
}

/* Give a virtqueue that just came into use to a worker, by the policy. */
static int vhost_policy_place(struct vhost_dev *dev, u32 index, const struct vhost_policy *policy)
{
	struct vhost_vring_worker entry = { .index = index };
	unsigned int most = vhost_policy_most(policy);
	struct vhost_worker *worker;

	if (most == 1 || index <= dev->workers.policy.first_vq ||
	    !vhost_policy_is_unplaced(dev, index))
		return 0;

	/* Changes under D only */
	if (dev->workers.count < most) {
		worker = vhost_worker_create(dev, current, MAX_SCHEDULE_TIMEOUT);
		if (IS_ERR(worker))
			return PTR_ERR(worker);
		vhost_worker_offer(worker);
		entry.worker_id = worker->id;
	} else {
		entry.worker_id = vhost_policy_least_loaded(dev, index);
	}

	/*
	 * Nobody was promised that what came just now has run, so there is
	 * nothing to wait for. A kick in between is handled by the first worker.
	 */
	return vhost_workers_attach(dev, &entry, 1, 0);
}

static void vhost_policy_note(struct vhost_dev *dev, const struct vhost_policy *policy, int err)
{
	struct vhost_dev_policy *p = &dev->workers.policy;

	mutex_lock(&dev->workers.lock);
	p->applied = true;
	p->last = *policy;
	if (err)
		p->failed++;
	mutex_unlock(&dev->workers.lock);
}

static void vhost_policy_warn(struct vhost_dev *dev, u32 index, const struct vhost_policy *policy,
			      int err)
{
	struct vhost_workers *workers = &dev->workers;
	char text[VHOST_POLICY_TEXT];

	vhost_policy_print(policy, text, sizeof(text));
	pr_warn_ratelimited("vhost: device %u (%s) of process %d: virtqueue %u stays with the first worker, by policy %s it needs another: error %d\n",
			    workers->dev_id, workers->backend, pid_nr(workers->owner), index,
			    text, err);
}

/**
 * vhost_policy_kick - a virtqueue was given a kick eventfd, or lost it
 * @dev: the device
 * @index: the virtqueue
 * @is_new: it has one, and had none
 *
 * Places a virtqueue that comes into use.
 *
 * Context: VHOST_SET_VRING_KICK, D held and no vq->mutex. Takes L.
 * Return: 0; -ERESTARTNOINTR if a signal is to be handled first: the ioctl is
 * then made once more, finds the same eventfd, and comes here again.
 */
long vhost_policy_kick(struct vhost_dev *dev, u32 index, bool is_new)
{
	struct vhost_dev_policy *p = &dev->workers.policy;
	struct vhost_policy policy;
	int err;

	if (!dev->workers.many)
		return 0;
	lockdep_assert_held(&dev->mutex);
	if (p->chosen || (!is_new && (p->retry != index + 1 || !dev->vqs[index]->kick)))
		return 0;

	vhost_policy_get(&policy);
	err = vhost_policy_place(dev, index, &policy);
	p->retry = err == -ERESTARTNOINTR ? index + 1 : 0;
	/* Who is being killed needs no worker any more. */
	if (p->retry || err == -EINTR || err == -EOWNERDEAD)
		return p->retry ? err : 0;

	vhost_policy_note(dev, &policy, err);
	if (err)
		vhost_policy_warn(dev, index, &policy, err);
	return 0;
}
