/* SPDX-License-Identifier: GPL-2.0 */
/* The request queues of a virtio-fs device and the CPUs that use them. */
#ifndef _VIRTIO_FS_MQ_H
#define _VIRTIO_FS_MQ_H

#include <linux/cpumask.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/virtio.h>
#include <linux/workqueue.h>

struct virtio_fs_mq_dir;

/**
 * struct virtio_fs_mq - which CPU uses which request queue of a device
 * @kobj: /sys/fs/virtiofs/N; the life of all this
 * @vdev: the device, valid until virtio_fs_mq_retire()
 * @tag: its tag, valid as long
 * @dirs: /sys/fs/virtiofs/N/mqs, or NULL
 * @queues: the directories in it, one for each virtqueue
 * @nr_dirs: how many of @queues there are
 * @node: for the callback when a CPU is gone
 * @poll: looks after queues none of whose CPUs is online
 * @nr_vqs: number of virtqueues
 * @first: index of the first virtqueue for requests
 * @pinned: interrupts belong to the CPUs of the map and die with them
 * @map: for each possible CPU its request queue, counted from 0; never changes
 */
struct virtio_fs_mq {
	struct kobject kobj;
	struct virtio_device *vdev;
	const char *tag;
	struct kobject *dirs;
	struct virtio_fs_mq_dir **queues;
	unsigned int nr_dirs;
	struct hlist_node node;
	struct delayed_work poll;
	unsigned int nr_vqs;
	unsigned int first;
	bool pinned;
	unsigned int map[];
};

/**
 * virtio_fs_mq_limit - how many request queues are of use
 * @nr: number that the device offers
 *
 * Return: that number, but no more than there may be CPUs.
 */
static inline unsigned int virtio_fs_mq_limit(unsigned int nr)
{
	return min(nr, nr_cpu_ids);
}

/**
 * virtio_fs_mq_index - the virtqueue for a request that is sent here and now
 * @mq: the map
 *
 * The caller may move to another CPU at once: that costs time and nothing else,
 * for every queue takes requests from every CPU.
 *
 * Return: the index of the virtqueue.
 */
static inline unsigned int virtio_fs_mq_index(const struct virtio_fs_mq *mq)
{
	return mq->first + mq->map[raw_smp_processor_id()];
}

int virtio_fs_mq_init(void);
void virtio_fs_mq_exit(void);

struct virtio_fs_mq *virtio_fs_mq_create(struct virtio_device *vdev,
					 unsigned int first,
					 unsigned int nr_vqs);
void virtio_fs_mq_put(struct virtio_fs_mq *mq);

int virtio_fs_mq_publish(struct virtio_fs_mq *mq, const char *tag);
void virtio_fs_mq_retire(struct virtio_fs_mq *mq);

unsigned long virtio_fs_mq_patience(void);

#endif
