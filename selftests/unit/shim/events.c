// SPDX-License-Identifier: GPL-2.0
/* What the netlink front end is told, remembered for tests. */
#include <linux/mutex.h>
#include "vhost.h"
#include <linux/cpumask.h>
#include <linux/printk.h>
#include "netlink.h"

#define COMMANDS	(VHOST_CMD_MAX + 1)

static struct shim_spin events_lock;
static struct shim_event last[COMMANDS];
static unsigned int counts[COMMANDS];

static void record(u8 cmd, struct shim_event event)
{
	if (cmd >= COMMANDS)
		shim_bug("event %u", cmd);
	shim_spin_lock(&events_lock);
	event.nth = ++counts[cmd];
	last[cmd] = event;
	shim_spin_unlock(&events_lock);
}

struct shim_event shim_event(unsigned int cmd)
{
	struct shim_event event;

	shim_spin_lock(&events_lock);
	event = last[cmd];
	shim_spin_unlock(&events_lock);
	return event;
}

/* An event shows its device, and so takes its lock. */
static struct shim_event about(struct vhost_dev *dev)
{
	struct shim_event event = { 0 };

	mutex_lock(&dev->workers.lock);
	event.dev = dev->workers.dev_id;
	event.workers = dev->workers.count;
	mutex_unlock(&dev->workers.lock);
	return event;
}

void vhost_nl_dev_event(struct vhost_dev *dev, u8 cmd)
{
	struct shim_event event = about(dev);

	if (!event.dev)
		shim_bug("event %u of a device without a number", cmd);
	record(cmd, event);
}

void vhost_nl_worker_event(struct vhost_worker *worker, u8 cmd)
{
	struct shim_event event = about(worker->dev);

	/* Of a device that has gone nobody hears. */
	if (!event.dev)
		return;
	event.worker = worker->id;
	record(cmd, event);
}

void vhost_nl_map_event(struct vhost_dev *dev, const struct vhost_vring_worker *map,
			unsigned int n)
{
	struct shim_event event = about(dev);

	lockdep_assert_held(&dev->mutex);
	event.entries = n;
	event.worker = map[0].worker_id;
	record(VHOST_CMD_MAP_NTF, event);
}

void vhost_nl_policy_event(const struct vhost_policy *policy)
{
	record(VHOST_CMD_POLICY_NTF, (struct shim_event){ .entries = policy->count });
}

/* The log and the host ------------------------------------------------------ */

unsigned int shim_cpus = 1;
static unsigned int warnings;

void shim_warn(const char *fmt, ...)
{
	__atomic_fetch_add(&warnings, 1, __ATOMIC_RELAXED);
}

unsigned int shim_warnings(void)
{
	return __atomic_load_n(&warnings, __ATOMIC_RELAXED);
}
