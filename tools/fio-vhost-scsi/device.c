// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - vhost-scsi devices that jobs of one process share
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "lib/error.h"

#define TARGETS		"/sys/kernel/config/target/vhost/"
#define PROBE_RING	16
#define PAGE		4096
#define QUEUE_BYTES	(1 << 20)	/* of a queue besides its ring: bounce buffer, alignment */
#define ENTRY_BYTES	1024		/* of a ring entry: descriptors, header, indirect table */

struct shared {
	struct shared *next;
	char *wwpn;
	unsigned int wave, users;
	struct vscsi *dev;
};

struct known {
	struct known *next;
	char *wwpn;
	struct device_lun lun;
};

/* Of the process; job threads come and go. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared *devices;
static struct known *luns;

/* What the kernel says of a target that is absent, or in use, depends on which others exist. */
static int set_endpoint(struct vscsi *dev, const char *wwpn)
{
	char path[sizeof(TARGETS) + 64];
	int err = vscsi_set_endpoint(dev, wwpn);

	if (err != -EEXIST && err != -ENODEV)
		return err;
	strcpy(path, TARGETS);
	strncat(path, wwpn, 63);
	if (access(path, F_OK))
		return guest_fail(ENODEV, "there is no vhost target %s (see " TARGETS ")", wwpn);
	return guest_fail(EBUSY, "target %s has no LUN and nexus, or serves another vhost device",
			  wwpn);
}

/* Queue q goes to worker q modulo their number; worker 0 is the one that every device has. */
static int make_workers(struct vscsi *dev, unsigned int count)
{
	uint32_t id[count];
	unsigned int i;
	int err;

	if (count < 2)
		return 0;
	err = vdev_get_worker(dev->fd, vscsi_vq(dev, 0), &id[0]);
	for (i = 1; !err && i < count; i++)
		err = vdev_new_worker(dev->fd, &id[i]);
	for (i = 1; !err && i < dev->queues; i++)
		err = vdev_attach_worker(dev->fd, vscsi_vq(dev, i), id[i % count]);
	if (err == -ENOTTY || err == -EPERM || err == -EINVAL)
		return guest_fail(EOPNOTSUPP, "vhost_scsi of this kernel has one worker only");
	return err;
}

static int start(const struct device_shape *shape, struct vscsi **devp)
{
	unsigned int workers = shape->workers < shape->queues ? shape->workers : shape->queues;
	struct vscsi_opts opts = {
		.queues = shape->queues,
		.ring_size = shape->ring_size,
		.indirect = true,
		.event_idx = true,
		.mem_size = shape->buffers + (shape->queues + 1) *
			    (QUEUE_BYTES + (size_t)shape->ring_size * ENTRY_BYTES),
	};
	struct vscsi *dev;
	int err;

	err = vscsi_open(&opts, &dev);
	if (err)
		return err;
	err = make_workers(dev, workers);
	if (!err)
		err = vscsi_setup_queues(dev);
	if (!err)
		err = set_endpoint(dev, shape->wwpn);
	if (err)
		vscsi_stop(dev);
	else
		*devp = dev;
	return err;
}

static int share(const struct device_shape *shape, struct shared **sharedp)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	int err = -ENOMEM;

	if (shared)
		shared->wwpn = strdup(shape->wwpn);
	if (shared && shared->wwpn)
		err = start(shape, &shared->dev);
	if (err) {
		if (shared)
			free(shared->wwpn);
		free(shared);
		return err;
	}
	shared->wave = shape->wave;
	shared->next = devices;
	devices = shared;
	*sharedp = shared;
	return 0;
}

int device_get(const struct device_shape *shape, struct vscsi **dev)
{
	struct shared *shared;
	int err = 0;

	pthread_mutex_lock(&lock);
	for (shared = devices; shared; shared = shared->next)
		if (shared->wave == shape->wave && !strcmp(shared->wwpn, shape->wwpn))
			break;
	if (!shared)
		err = share(shape, &shared);
	if (!err) {
		shared->users++;
		*dev = shared->dev;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void device_put(struct vscsi *dev)
{
	struct shared **link, *shared;

	pthread_mutex_lock(&lock);
	for (link = &devices; (shared = *link); link = &shared->next)
		if (shared->dev == dev)
			break;
	if (shared && !--shared->users) {
		*link = shared->next;
		vscsi_stop(dev);
		free(shared->wwpn);
		free(shared);
	}
	pthread_mutex_unlock(&lock);
}

void *device_buffer(struct vscsi *dev, size_t bytes)
{
	void *buffer;

	pthread_mutex_lock(&lock);
	buffer = gmem_alloc(dev->mem, bytes, PAGE);
	pthread_mutex_unlock(&lock);
	return buffer;
}

static int ask_capacity(struct device_lun *lun)
{
	struct vscsi_opts opts = { .ring_size = PROBE_RING, .target = lun->tpgt };
	struct vscsi *dev;
	int err;

	err = vscsi_open(&opts, &dev);
	if (err)
		return err;
	err = vscsi_setup_queues(dev);
	if (!err)
		err = set_endpoint(dev, lun->wwpn);
	if (!err)
		err = vscsi_read_capacity(dev, 0, lun->lun, &lun->blocks, &lun->block_size);
	vscsi_stop(dev);
	return err;
}

static struct known *find_known(const struct device_lun *lun)
{
	struct known *known;

	for (known = luns; known; known = known->next)
		if (known->lun.tpgt == lun->tpgt && known->lun.lun == lun->lun &&
		    !strcmp(known->wwpn, lun->wwpn))
			break;
	return known;
}

static void remember(const struct device_lun *lun)
{
	struct known *known = calloc(1, sizeof(*known));

	if (!known)
		return;	/* it is asked again then */
	known->wwpn = strdup(lun->wwpn);
	if (!known->wwpn) {
		free(known);
		return;
	}
	known->lun = *lun;
	known->next = luns;
	luns = known;
}

int device_capacity(struct device_lun *lun)
{
	struct known *known;
	int err = 0;

	pthread_mutex_lock(&lock);
	known = find_known(lun);
	if (known) {
		lun->blocks = known->lun.blocks;
		lun->block_size = known->lun.block_size;
	} else {
		err = ask_capacity(lun);
		if (!err)
			remember(lun);
	}
	pthread_mutex_unlock(&lock);
	return err;
}
