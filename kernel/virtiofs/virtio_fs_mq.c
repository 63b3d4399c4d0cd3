// SPDX-License-Identifier: GPL-2.0
/*
 * Map the CPUs to the request queues of a virtio-fs device.
 *
 * The transport says best which CPU takes the interrupt of a queue; that CPU
 * sends requests there. If it does not say, CPUs are divided evenly, and if
 * there is no memory for that, all use the first queue.
 *
 * An interrupt that the transport gave to CPUs is shut down when the last of
 * them goes offline, and what the device answers then is told to nobody. Nobody
 * sends to such a queue any more, but it can hold requests that were sent
 * before, or by one who was about to. So it is looked at from time to time
 * until one of its CPUs is back.
 */
#include <linux/cpu_groups.h>
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

#include "virtio_fs_mq.h"
#include "virtio_fs_mq_sysfs.h"

#define VIRTIO_FS_POLL_BUSY	1		/* jiffies between two looks */
#define VIRTIO_FS_POLL_IDLE	(HZ / 10)	/* the same, of an empty queue */

static unsigned int remove_timeout = 30;
module_param(remove_timeout, uint, 0644);
MODULE_PARM_DESC(remove_timeout,
		 "Seconds that the removal of a device waits for answers before it ends the requests with an error, 0: for ever");

static int virtio_fs_mq_cpuhp_state;

/* The map ------------------------------------------------------------------ */

static unsigned int virtio_fs_mq_nr(const struct virtio_fs_mq *mq)
{
	return mq->nr_vqs - mq->first;
}

static bool virtio_fs_mq_map_affinity(struct virtio_fs_mq *mq)
{
	struct virtio_device *vdev = mq->vdev;
	const struct cpumask *mask;
	unsigned int cpu, queue;

	if (!vdev->config->get_vq_affinity)
		return false;

	/* A CPU that is in no mask must have a queue, too. */
	for_each_possible_cpu(cpu)
		mq->map[cpu] = cpu % virtio_fs_mq_nr(mq);

	for (queue = 0; queue < virtio_fs_mq_nr(mq); queue++) {
		mask = vdev->config->get_vq_affinity(vdev, mq->first + queue);
		if (!mask)
			return false;

		for_each_cpu(cpu, mask)
			mq->map[cpu] = queue;
	}

	return true;
}

/* Fill in the map, and return by what. */
static const char *virtio_fs_mq_map(struct virtio_fs_mq *mq)
{
	unsigned int cpu;

	if (virtio_fs_mq_map_affinity(mq)) {
		mq->pinned = true;
		return "interrupts";
	}

	if (!cpu_groups_map(mq->map, virtio_fs_mq_nr(mq)))
		return "groups";

	for_each_possible_cpu(cpu)
		mq->map[cpu] = 0;

	return "lack of memory";
}

static bool virtio_fs_mq_cpus(const struct virtio_fs_mq *mq, unsigned int queue,
			      struct cpumask *mask)
{
	unsigned int cpu;

	cpumask_clear(mask);
	for_each_possible_cpu(cpu)
		if (mq->map[cpu] == queue)
			cpumask_set_cpu(cpu, mask);

	return !cpumask_empty(mask);
}

static void virtio_fs_mq_tell(const struct virtio_fs_mq *mq, const char *by)
{
	unsigned int queue;
	cpumask_var_t mask;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return;

	for (queue = 0; queue < virtio_fs_mq_nr(mq); queue++)
		if (virtio_fs_mq_cpus(mq, queue, mask))
			dev_dbg(&mq->vdev->dev, "request queue %u: CPUs %*pbl, by %s\n",
				queue, cpumask_pr_args(mask), by);

	free_cpumask_var(mask);
}

/* Queues without CPUs ------------------------------------------------------- */

static bool virtio_fs_mq_has_online(const struct virtio_fs_mq *mq,
				    unsigned int queue)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (mq->map[cpu] == queue)
			return true;

	return false;
}

/* Do what its interrupt would have done; true if more may be to come soon. */
static bool virtio_fs_mq_look(struct virtqueue *vq)
{
	vring_interrupt(0, vq);

	/* Only a hint, so that it need not be read under the queue's lock. */
	return READ_ONCE(vq->num_free) < virtqueue_get_vring_size(vq);
}

static void virtio_fs_mq_poll(struct work_struct *work)
{
	struct virtio_fs_mq *mq = container_of(to_delayed_work(work),
					       struct virtio_fs_mq, poll);
	bool orphans = false, busy = false;
	struct virtqueue *vq;

	virtio_device_for_each_vq(mq->vdev, vq) {
		if (vq->index < mq->first ||
		    virtio_fs_mq_has_online(mq, vq->index - mq->first))
			continue;

		orphans = true;
		busy |= virtio_fs_mq_look(vq);
	}

	if (orphans)
		schedule_delayed_work(&mq->poll, busy ? VIRTIO_FS_POLL_BUSY :
							VIRTIO_FS_POLL_IDLE);
}

/* A CPU is gone, and with it the interrupts that were only its own. */
static int virtio_fs_mq_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct virtio_fs_mq *mq = hlist_entry(node, struct virtio_fs_mq, node);

	mod_delayed_work(system_wq, &mq->poll, 0);

	return 0;
}

/* Life --------------------------------------------------------------------- */

/**
 * virtio_fs_mq_create - map the CPUs to the request queues of a device
 * @vdev: the device, whose virtqueues are set up
 * @first: index of the first virtqueue for requests
 * @nr_vqs: number of virtqueues
 *
 * Context: may sleep.
 * Return: the map, to be given back by virtio_fs_mq_put(), and before the
 * virtqueues are deleted to virtio_fs_mq_retire(). Else an error pointer,
 * -ENOMEM or what the registration of the CPU callback returned.
 */
struct virtio_fs_mq *virtio_fs_mq_create(struct virtio_device *vdev,
					 unsigned int first,
					 unsigned int nr_vqs)
{
	struct virtio_fs_mq *mq;
	int ret;

	mq = kzalloc_node(struct_size(mq, map, nr_cpu_ids), GFP_KERNEL,
			  dev_to_node(&vdev->dev));
	if (!mq)
		return ERR_PTR(-ENOMEM);

	virtio_fs_mq_sysfs_init(mq);
	INIT_DELAYED_WORK(&mq->poll, virtio_fs_mq_poll);
	mq->vdev = vdev;
	mq->first = first;
	mq->nr_vqs = nr_vqs;
	virtio_fs_mq_tell(mq, virtio_fs_mq_map(mq));

	if (mq->pinned) {
		ret = cpuhp_state_add_instance_nocalls(virtio_fs_mq_cpuhp_state,
						       &mq->node);
		if (ret) {
			virtio_fs_mq_put(mq);
			return ERR_PTR(ret);
		}
	}

	return mq;
}

/**
 * virtio_fs_mq_put - give back a map
 * @mq: the map, or NULL
 *
 * Context: may sleep.
 */
void virtio_fs_mq_put(struct virtio_fs_mq *mq)
{
	if (mq)
		kobject_put(&mq->kobj);
}

/**
 * virtio_fs_mq_retire - part with the device
 * @mq: the map, or NULL
 *
 * It is no longer in sysfs, and nothing here looks at the virtqueues any more.
 * The map itself stays for requests of a file system that is still mounted.
 *
 * Context: may sleep; takes cpus_read_lock().
 */
void virtio_fs_mq_retire(struct virtio_fs_mq *mq)
{
	if (!mq)
		return;

	virtio_fs_mq_unpublish(mq);
	if (mq->pinned)
		cpuhp_state_remove_instance_nocalls(virtio_fs_mq_cpuhp_state,
						    &mq->node);
	cancel_delayed_work_sync(&mq->poll);
}

/**
 * virtio_fs_mq_patience - how long the removal of a device waits for answers
 *
 * Context: any.
 * Return: jiffies, MAX_SCHEDULE_TIMEOUT for ever.
 */
unsigned long virtio_fs_mq_patience(void)
{
	unsigned int seconds = READ_ONCE(remove_timeout);

	return seconds ? seconds * (unsigned long)HZ : MAX_SCHEDULE_TIMEOUT;
}

/**
 * virtio_fs_mq_init - prepare for devices
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what the registration of the CPU callback returned.
 */
int virtio_fs_mq_init(void)
{
	int ret;

	ret = virtio_fs_mq_sysfs_create();
	if (ret)
		return ret;

	ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "fs/virtiofs:dead",
				      NULL, virtio_fs_mq_cpu_dead);
	if (ret < 0) {
		virtio_fs_mq_sysfs_destroy();
		return ret;
	}
	virtio_fs_mq_cpuhp_state = ret;

	return 0;
}

/**
 * virtio_fs_mq_exit - undo virtio_fs_mq_init() when there are no more devices
 *
 * Context: may sleep.
 */
void virtio_fs_mq_exit(void)
{
	cpuhp_remove_multi_state(virtio_fs_mq_cpuhp_state);
	virtio_fs_mq_sysfs_destroy();
}
