// SPDX-License-Identifier: GPL-2.0
/*
 * vduse.c - a VDUSE block device: making, undoing, and the answers to the kernel
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "error.h"
#include "vdpa.h"
#include "vduse_priv.h"
#include "watch.h"

#define CONTROL		"/dev/vduse/control"
#define PLAYER_MS	guest_patience(5000)	/* to its start, to its end */
#define ANSWER_S	"5"	/* the kernel takes a device that is silent for longer for broken */
#define FEATURES	(1ULL << VIRTIO_F_VERSION_1 | 1ULL << VIRTIO_F_ACCESS_PLATFORM | \
			 1ULL << VIRTIO_BLK_F_MQ)

bool vduse_present(void)
{
	return !access(CONTROL, F_OK);
}

const char *vduse_path(const struct vduse *dev)
{
	return dev->path;
}

/* --- answers */

/* Take the rings as the driver left them when it set DRIVER_OK. */
static void start_queues(struct vduse *dev)
{
	unsigned int i;

	for (i = 0; i < VDUSE_QUEUES; i++) {
		struct vduse_queue *queue = &dev->queue[i];
		struct vduse_vq_eventfd kick = { .index = i, .fd = queue->kick_fd };

		if (queue->live)
			continue;
		queue->ring = (struct vduse_vq_info){ .index = i };
		queue->live = !ioctl(dev->fd, VDUSE_VQ_GET_INFO, &queue->ring) &&
			      queue->ring.ready && queue->ring.num &&
			      !ioctl(dev->fd, VDUSE_VQ_SETUP_KICKFD, &kick);
		queue->next_avail = queue->ring.split.avail_index;
		queue->used_idx = queue->ring.split.avail_index;
	}
}

static void set_status(struct vduse *dev, uint8_t status)
{
	unsigned int i;

	if (status & VIRTIO_CONFIG_S_DRIVER_OK)
		start_queues(dev);
	if (status)
		return;
	for (i = 0; i < VDUSE_QUEUES; i++)
		dev->queue[i].live = false;
	vduse_drop_maps(dev, 0, ~0ULL);
	dev->counts.resets++;
}

static void answer(struct vduse *dev)
{
	struct vduse_dev_response response = { .result = VDUSE_REQ_RESULT_OK };
	struct vduse_dev_request request;
	ssize_t n = read(dev->fd, &request, sizeof(request));

	if (n != sizeof(request))
		return;
	response.request_id = request.request_id;
	pthread_mutex_lock(&dev->lock);
	switch (request.type) {
	case VDUSE_GET_VQ_STATE:
		response.vq_state.index = request.vq_state.index;
		response.vq_state.split.avail_index =
			dev->queue[request.vq_state.index % VDUSE_QUEUES].next_avail;
		break;
	case VDUSE_SET_STATUS:
		set_status(dev, request.s.status);
		break;
	case VDUSE_UPDATE_IOTLB:
		vduse_drop_maps(dev, request.iova.start, request.iova.last);
		break;
	default:
		response.result = VDUSE_REQ_RESULT_FAILED;
	}
	pthread_mutex_unlock(&dev->lock);
	n = write(dev->fd, &response, sizeof(response));
	(void)n;		/* who asked may have given up */
}

static void answer_all(struct vduse *dev)
{
	struct pollfd pfd[2] = {
		{ .fd = dev->fd, .events = POLLIN },
		{ .fd = dev->stop_fd, .events = POLLIN },
	};

	while (poll(pfd, 2, -1) < 0 || !(pfd[1].revents || pfd[0].revents & POLLERR))
		if (pfd[0].revents & POLLIN)
			answer(dev);
	/* POLLERR: the kernel takes it for broken. */
}

/* --- making and undoing */

static int create_device(struct vduse *dev)
{
	struct virtio_blk_config *disk;
	struct vduse_dev_config *config = calloc(1, sizeof(*config) + sizeof(*disk));
	uint64_t version = VDUSE_API_VERSION;
	int err = 0;

	if (!config)
		return guest_fail(ENOMEM, "VDUSE device");
	snprintf(config->name, sizeof(config->name), "%s", dev->name);
	config->device_id = VIRTIO_ID_BLOCK;
	config->features = FEATURES;
	config->vq_num = VDUSE_QUEUES;
	config->vq_align = 4096;
	config->config_size = sizeof(*disk);
	disk = (struct virtio_blk_config *)config->config;
	disk->capacity = VDUSE_SECTORS;
	disk->num_queues = VDUSE_QUEUES;
	if (ioctl(dev->ctl_fd, VDUSE_SET_API_VERSION, &version) ||
	    ioctl(dev->ctl_fd, VDUSE_CREATE_DEV, config))
		err = guest_fail(errno, "VDUSE_CREATE_DEV %s", dev->name);
	free(config);
	return err;
}

static int write_timeout(const struct vduse *dev)
{
	char path[96];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/class/vduse/%s/msg_timeout", dev->name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, ANSWER_S, strlen(ANSWER_S)) < 0)
		err = guest_fail(errno, "%s", path);
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_device(struct vduse *dev)
{
	char path[64];
	int err = create_device(dev);

	if (!err)
		err = write_timeout(dev);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/dev/vduse/%s", dev->name);
	dev->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (dev->fd < 0)
		return guest_fail(errno, "open %s", path);
	return 0;
}

static int set_up_queue(struct vduse *dev, unsigned int index)
{
	struct vduse_vq_config config = { .index = index, .max_size = VDUSE_RING };
	struct vduse_queue *queue = &dev->queue[index];

	queue->dev = dev;
	queue->index = index;
	queue->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->kick_fd < 0)
		return guest_fail(errno, "eventfd");
	if (ioctl(dev->fd, VDUSE_VQ_SETUP, &config))
		return guest_fail(errno, "VDUSE_VQ_SETUP %u", index);
	return 0;
}

/* The process that is the device. */
static int play(struct proc *me, void *arg)
{
	struct vduse *dev = arg;
	pthread_t thread[VDUSE_QUEUES];
	unsigned int i;

	for (i = 0; i < VDUSE_QUEUES; i++) {
		int err = pthread_create(&thread[i], NULL, vduse_queue_main, &dev->queue[i]);

		if (err)
			return guest_fail(err, "thread of a VDUSE device");
	}
	proc_ready(me);
	answer_all(dev);
	for (i = 0; i < VDUSE_QUEUES; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static int start_player(struct vduse *dev)
{
	return proc_start(play, dev, &dev->player) ?: proc_wait_ready(dev->player, PLAYER_MS);
}

static void stop_player(struct vduse *dev)
{
	if (!dev->player)
		return;
	eventfd_write(dev->stop_fd, 1);
	proc_wait(dev->player, PLAYER_MS);
	proc_free(dev->player);
}

/* Both are content when it is gone already. */
static int remove_vdpa(const char *name)
{
	int err = vdpa_del(name);

	return err == -ENODEV ? 0 : err;
}

static int remove_device(int ctl_fd, const char *name)
{
	char arg[VDUSE_NAME_MAX] = "";

	strcpy(arg, name);
	if (ioctl(ctl_fd, VDUSE_DESTROY_DEV, arg) && errno != EINVAL)
		return guest_fail(errno, "VDUSE_DESTROY_DEV %s", name);
	return 0;
}

/* For the watcher: it has no descriptors of the maker's. */
static int undo(const void *what)
{
	const struct vduse *dev = what;
	int ctl_fd = open(CONTROL, O_RDWR | O_CLOEXEC), err;

	if (ctl_fd < 0)
		return guest_fail(errno, "open " CONTROL);
	err = remove_vdpa(dev->name) ?: remove_device(ctl_fd, dev->name);
	close(ctl_fd);
	return err;
}

static int make(struct vduse *dev)
{
	unsigned int i;
	int err;

	dev->stop_fd = eventfd(0, EFD_CLOEXEC);
	dev->ctl_fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	if (dev->stop_fd < 0 || dev->ctl_fd < 0)
		return guest_fail(errno, "open " CONTROL);
	dev->watch_fd = watch_start("vduse-watcher", undo, dev);
	err = dev->watch_fd < 0 ? dev->watch_fd : open_device(dev);
	for (i = 0; !err && i < VDUSE_QUEUES; i++)
		err = set_up_queue(dev, i);
	if (!err)
		err = start_player(dev);
	if (!err)
		err = vdpa_add("vduse", dev->name);
	return err ?: vdpa_vhost_path(dev->name, dev->path, sizeof(dev->path));
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

int vduse_create(struct vduse **devp)
{
	static unsigned int counter;
	struct vduse *dev;
	char text[200];
	unsigned int i;
	int err;

	dev = mmap(NULL, sizeof(*dev), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (dev == MAP_FAILED)
		return guest_fail(errno, "VDUSE device");
	init_lock(&dev->lock);
	dev->maker = getpid();
	dev->ctl_fd = dev->fd = dev->stop_fd = dev->watch_fd = -1;
	for (i = 0; i < VDUSE_QUEUES; i++)
		dev->queue[i].kick_fd = -1;
	snprintf(dev->name, sizeof(dev->name), "test%d-%u", dev->maker, counter++);
	err = make(dev);
	if (!err) {
		*devp = dev;
		return 0;
	}
	snprintf(text, sizeof(text), "%s", guest_error());
	vduse_destroy(dev);
	guest_keep(text);
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int vduse_destroy(struct vduse *dev)
{
	unsigned int i;
	int err;

	if (!dev)
		return 0;
	if (dev->maker != getpid())
		return guest_fail(EPERM, "VDUSE device %s belongs to process %d", dev->name, dev->maker);
	err = remove_vdpa(dev->name);
	stop_player(dev);
	for (i = 0; i < VDUSE_QUEUES; i++)
		close_fd(dev->queue[i].kick_fd);
	close_fd(dev->fd);
	if (!err)
		err = remove_device(dev->ctl_fd, dev->name);
	close_fd(dev->ctl_fd);
	close_fd(dev->stop_fd);
	if (err || dev->watch_fd < 0)
		close_fd(dev->watch_fd);
	else
		watch_stop(dev->watch_fd);
	munmap(dev, sizeof(*dev));
	return err;
}

/* --- what the test may ask */

void vduse_hold(struct vduse *dev, bool hold)
{
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	dev->held = hold;
	pthread_mutex_unlock(&dev->lock);
	for (i = 0; i < VDUSE_QUEUES && !hold; i++)
		eventfd_write(dev->queue[i].kick_fd, 1);
}

void vduse_count(struct vduse *dev, struct vduse_counts *counts)
{
	pthread_mutex_lock(&dev->lock);
	*counts = dev->counts;
	pthread_mutex_unlock(&dev->lock);
}
