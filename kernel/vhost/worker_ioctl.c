// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls on workers: take the argument, call the core, give the answer.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "vhost.h"
#include "netlink.h"

/* The numbers that unmodified VMMs were built with. */
static_assert(VHOST_NEW_WORKER == 0x8004AF08);
static_assert(VHOST_FREE_WORKER == 0x4004AF09);
static_assert(VHOST_ATTACH_VRING_WORKER == 0x4008AF15);
static_assert(VHOST_GET_VRING_WORKER == 0xC008AF16);
static_assert(VHOST_SET_FORK_FROM_OWNER == 0x4001AF84);
static_assert(VHOST_GET_FORK_FROM_OWNER == 0x8001AF85);
static_assert(sizeof(struct vhost_worker_state) == 4);
static_assert(sizeof(struct vhost_vring_worker) == 8);

/**
 * vhost_worker_offer - let a new worker be found, and tell listeners of it
 * @worker: fresh from vhost_worker_create()
 *
 * Context: D held. Takes L.
 */
void vhost_worker_offer(struct vhost_worker *worker)
{
	struct vhost_dev *dev = worker->dev;

	mutex_lock(&dev->workers.lock);
	vhost_worker_publish(worker);
	mutex_unlock(&dev->workers.lock);
	vhost_nl_worker_event(worker, VHOST_CMD_WORKER_ADD_NTF);
}

static long vhost_new_worker(struct vhost_dev *dev, void __user *argp)
{
	struct vhost_worker_state state;
	struct vhost_worker *worker;

	worker = vhost_worker_create(dev, current, MAX_SCHEDULE_TIMEOUT);
	if (IS_ERR(worker))
		return PTR_ERR(worker);

	/* While nobody can find it: what user space cannot name must not stay. */
	state.worker_id = worker->id;
	if (copy_to_user(argp, &state, sizeof(state))) {
		vhost_worker_destroy(worker);
		return -EFAULT;
	}

	vhost_worker_offer(worker);
	return 0;
}

static long vhost_free_worker(struct vhost_dev *dev, void __user *argp)
{
	struct vhost_worker_state state;

	if (copy_from_user(&state, argp, sizeof(state)))
		return -EFAULT;
	return vhost_worker_free(dev, state.worker_id, MAX_SCHEDULE_TIMEOUT);
}

static long vhost_attach_vring_worker(struct vhost_dev *dev, void __user *argp)
{
	struct vhost_vring_worker map;

	if (copy_from_user(&map, argp, sizeof(map)))
		return -EFAULT;
	return vhost_workers_attach(dev, &map, 1, MAX_SCHEDULE_TIMEOUT);
}

static long vhost_get_vring_worker(struct vhost_dev *dev, void __user *argp)
{
	struct vhost_vring_worker map;
	struct vhost_worker *worker;

	if (copy_from_user(&map, argp, sizeof(map)))
		return -EFAULT;
	if (map.index >= dev->nvqs)
		return -ENOBUFS;
	map.index = array_index_nospec(map.index, dev->nvqs);

	mutex_lock(&dev->workers.lock);
	worker = vhost_vq_worker(dev->vqs[map.index]);
	if (worker)
		map.worker_id = worker->id;
	mutex_unlock(&dev->workers.lock);

	if (!worker)
		return -EINVAL;
	return copy_to_user(argp, &map, sizeof(map)) ? -EFAULT : 0;
}

/**
 * vhost_worker_ioctl - the worker ioctls of a driver that opted in
 * @dev: the device
 * @ioctl: the number
 * @argp: the argument in user space
 *
 * Context: process, D held.
 * Return: 0, what <linux/vhost_worker.h> says of each ioctl, or -ENOIOCTLCMD
 * if @ioctl is none of them.
 */
long vhost_worker_ioctl(struct vhost_dev *dev, unsigned int ioctl,
			void __user *argp)
{
	long err;

	lockdep_assert_held(&dev->mutex);

	if (!dev->use_worker || !vhost_dev_has_owner(dev))
		return -EINVAL;
	err = vhost_dev_check_owner(dev);
	if (err)
		return err;

	switch (ioctl) {
	case VHOST_NEW_WORKER:
		err = vhost_new_worker(dev, argp);
		break;
	case VHOST_FREE_WORKER:
		err = vhost_free_worker(dev, argp);
		break;
	case VHOST_ATTACH_VRING_WORKER:
		err = vhost_attach_vring_worker(dev, argp);
		break;
	case VHOST_GET_VRING_WORKER:
		return vhost_get_vring_worker(dev, argp);
	default:
		return -ENOIOCTLCMD;
	}
	if (!err)
		vhost_policy_chosen(dev);
	return err;
}
EXPORT_SYMBOL_GPL(vhost_worker_ioctl);

/**
 * vhost_dev_check_caller - refuse ioctls of strangers on an owned device
 * @dev: the device
 *
 * For what a driver allows before SET_OWNER: once there is an owner, whoever
 * else holds the file may not change the device under it.
 *
 * Context: process; takes D.
 * Return: 0, or -EPERM.
 */
long vhost_dev_check_caller(struct vhost_dev *dev)
{
	long err = 0;

	mutex_lock(&dev->mutex);
	if (vhost_dev_has_owner(dev))
		err = vhost_dev_check_owner(dev);
	mutex_unlock(&dev->mutex);
	return err;
}
EXPORT_SYMBOL_GPL(vhost_dev_check_caller);

/**
 * vhost_single_worker_ioctl - the worker ioctls of a driver with one worker
 * @dev: the device
 *
 * Context: process; takes D.
 * Return: -EPERM if the caller is not the owner, -ENOTTY if it is.
 */
long vhost_single_worker_ioctl(struct vhost_dev *dev)
{
	long err;

	mutex_lock(&dev->mutex);
	err = vhost_dev_check_owner(dev);
	mutex_unlock(&dev->mutex);
	return err ?: -ENOTTY;
}
EXPORT_SYMBOL_GPL(vhost_single_worker_ioctl);
