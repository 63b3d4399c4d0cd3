// SPDX-License-Identifier: GPL-2.0
/*
 * All vhost devices that have an owner, so that others than the owner can find
 * them by number.
 *
 * A number is given out when a device gets its owner and taken back when it
 * loses it (VHOST_RESET_OWNER) or is closed. Who looks a device up gets a
 * reference that keeps its memory, not its number: whoever needs both takes
 * dev->mutex or workers.lock and looks at the number again.
 *
 * Close comes first to vhost_registry_close(), with no lock held: no new
 * reference from there on, and those that exist are waited for, as everything
 * that a close waits for: see vhost_wait_for_workers().
 */
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "vhost.h"
#include "netlink.h"

/* Numbers to devices; a number that is reserved reads as NULL. */
static DEFINE_XARRAY_ALLOC1(vhost_devs);
static DEFINE_MUTEX(vhost_devs_lock);
static u32 vhost_devs_next;

/* Changes with every device, worker and map; 0 is left out. */
static atomic_t vhost_generation = ATOMIC_INIT(1);

/**
 * vhost_registry_changed - say that what a dump shows is not the same any more
 *
 * Context: the lock is held under which the change was made, so that nobody
 * sees it in a generation that it does not belong to.
 */
void vhost_registry_changed(void)
{
	if (!atomic_inc_return(&vhost_generation))
		atomic_inc(&vhost_generation);
}

/**
 * vhost_registry_generation - tell which state of all devices this is
 *
 * Context: any.
 * Return: a number that is another one after each change, never 0.
 */
unsigned int vhost_registry_generation(void)
{
	return atomic_read(&vhost_generation) ?: 1;
}

/**
 * vhost_registry_init - prepare a device that cannot be found
 * @dev: the device
 */
void vhost_registry_init(struct vhost_dev *dev)
{
	struct vhost_workers *workers = &dev->workers;

	workers->dev_id = 0;
	workers->listed = false;
	workers->owner = NULL;
	workers->wwpn[0] = '\0';
	refcount_set(&workers->users, 1);
	init_completion(&workers->unused);
}

/**
 * vhost_dev_describe - tell what kind of device this is
 * @dev: the device, just initialised
 * @backend: name of the driver: scsi, net, vsock, test
 * @many: whether the driver is made for more than one worker
 *
 * Context: the driver's open function, after vhost_dev_init().
 */
void vhost_dev_describe(struct vhost_dev *dev, const char *backend, bool many)
{
	dev->workers.backend = backend;
	dev->workers.many = many;
}
EXPORT_SYMBOL_GPL(vhost_dev_describe);

/**
 * vhost_dev_set_wwpn - tell the name of the target that the device leads to
 * @dev: the device
 * @wwpn: the name; empty or NULL if it leads to none any more
 *
 * Context: process, D held. Takes L.
 */
void vhost_dev_set_wwpn(struct vhost_dev *dev, const char *wwpn)
{
	struct vhost_workers *workers = &dev->workers;
	bool same;

	if (!wwpn)
		wwpn = "";
	mutex_lock(&workers->lock);
	same = !strcmp(workers->wwpn, wwpn);
	if (!same) {
		strscpy(workers->wwpn, wwpn, sizeof(workers->wwpn));
		vhost_registry_changed();
	}
	mutex_unlock(&workers->lock);
	if (!same)
		vhost_nl_dev_event(dev, VHOST_CMD_DEV_CHANGE_NTF);
}
EXPORT_SYMBOL_GPL(vhost_dev_set_wwpn);

/**
 * vhost_registry_reserve - give a device its number
 * @dev: the device
 *
 * Nobody finds it yet.
 *
 * Context: the owner, D held. Takes L.
 * Return: 0 or -ENOMEM.
 */
int vhost_registry_reserve(struct vhost_dev *dev)
{
	struct vhost_workers *workers = &dev->workers;
	u32 id;
	int ret;

	ret = xa_alloc_cyclic(&vhost_devs, &id, NULL, xa_limit_31b,
			      &vhost_devs_next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;

	mutex_lock(&workers->lock);
	workers->dev_id = id;
	workers->owner = get_task_pid(current, PIDTYPE_TGID);
	mutex_unlock(&workers->lock);
	return 0;
}

static void vhost_registry_list(struct vhost_dev *dev, bool listed)
{
	mutex_lock(&dev->workers.lock);
	dev->workers.listed = listed;
	mutex_unlock(&dev->workers.lock);
}

/**
 * vhost_registry_publish - let a device be found
 * @dev: the device, after vhost_registry_reserve()
 *
 * Context: D held. Takes L.
 */
void vhost_registry_publish(struct vhost_dev *dev)
{
	mutex_lock(&vhost_devs_lock);
	/* Cannot fail: the reservation has the memory. */
	xa_store(&vhost_devs, dev->workers.dev_id, dev, GFP_KERNEL_ACCOUNT);
	vhost_registry_changed();
	mutex_unlock(&vhost_devs_lock);
	vhost_nl_dev_event(dev, VHOST_CMD_DEV_ADD_NTF);
	vhost_registry_list(dev, true);
}

static void vhost_registry_hide(struct vhost_dev *dev)
{
	bool was_there;

	mutex_lock(&vhost_devs_lock);
	was_there = xa_erase(&vhost_devs, dev->workers.dev_id);
	if (was_there)
		vhost_registry_changed();
	mutex_unlock(&vhost_devs_lock);
	if (!was_there)
		return;

	vhost_registry_list(dev, false);
	vhost_nl_dev_event(dev, VHOST_CMD_DEV_DEL_NTF);
}

/**
 * vhost_registry_remove - take back the number of a device
 * @dev: the device; may have none
 *
 * Context: D held, or the last reference to the device's file. Takes L.
 */
void vhost_registry_remove(struct vhost_dev *dev)
{
	struct vhost_workers *workers = &dev->workers;
	struct pid *owner;

	if (!workers->dev_id)
		return;
	vhost_registry_hide(dev);

	mutex_lock(&workers->lock);
	owner = workers->owner;
	workers->owner = NULL;
	workers->dev_id = 0;
	workers->wwpn[0] = '\0';
	mutex_unlock(&workers->lock);
	put_pid(owner);
}

/**
 * vhost_registry_close - nobody shall find the device any more
 * @dev: the device
 *
 * Returns when nobody has it in hands.
 *
 * Context: the last reference to the device's file, no lock held. Takes L.
 */
void vhost_registry_close(struct vhost_dev *dev)
{
	struct vhost_workers *workers = &dev->workers;

	if (workers->dev_id)
		vhost_registry_hide(dev);
	if (!refcount_dec_and_test(&workers->users))
		vhost_wait_for_workers(dev, &workers->unused);
}

/**
 * vhost_dev_get - find a device by its number
 * @id: the number
 *
 * Context: process.
 * Return: the device, for vhost_dev_put(), or NULL.
 */
struct vhost_dev *vhost_dev_get(u32 id)
{
	struct vhost_dev *dev;

	mutex_lock(&vhost_devs_lock);
	dev = xa_load(&vhost_devs, id);
	if (dev)
		refcount_inc(&dev->workers.users);
	mutex_unlock(&vhost_devs_lock);
	return dev;
}

/**
 * vhost_dev_get_next - find the device with the next number
 * @id: where to begin; the number of the device that was found
 *
 * Context: process.
 * Return: the device, for vhost_dev_put(), or NULL.
 */
struct vhost_dev *vhost_dev_get_next(unsigned long *id)
{
	struct vhost_dev *dev;

	mutex_lock(&vhost_devs_lock);
	dev = xa_find(&vhost_devs, id, ULONG_MAX, XA_PRESENT);
	if (dev)
		refcount_inc(&dev->workers.users);
	mutex_unlock(&vhost_devs_lock);
	return dev;
}

/**
 * vhost_dev_put - give a device back
 * @dev: the device, from vhost_dev_get()
 *
 * Context: any.
 */
void vhost_dev_put(struct vhost_dev *dev)
{
	if (refcount_dec_and_test(&dev->workers.users))
		complete(&dev->workers.unused);
}

/**
 * vhost_dev_owner_task - a thread of the owner whose context a worker gets
 * @dev: the device
 *
 * Context: process, D held.
 * Return: a thread, for put_task_struct(); NULL if the owner is gone.
 */
struct task_struct *vhost_dev_owner_task(struct vhost_dev *dev)
{
	struct task_struct *leader, *t, *found = NULL;

	rcu_read_lock();
	leader = pid_task(dev->workers.owner, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, t) {
			/* Compared only: an mm may leave right after. */
			if (READ_ONCE(t->mm) != dev->mm || READ_ONCE(t->flags) & PF_EXITING)
				continue;
			found = get_task_struct(t);
			break;
		}
	}
	rcu_read_unlock();
	return found;
}
