// SPDX-License-Identifier: GPL-2.0
/*
 * vblk.c - a virtio-blk guest on vhost-vdpa
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/virtio_config.h>
#include <sys/ioctl.h>

#include "error.h"
#include "vblk.h"

#define MEM_BYTES	(1 << 20)
#define FEATURES	(VDEV_F_VERSION_1 | 1ULL << VIRTIO_F_ACCESS_PLATFORM)

int vblk_set_status(int fd, uint8_t status)
{
	if (ioctl(fd, VHOST_VDPA_SET_STATUS, &status))
		return guest_fail(errno, "VHOST_VDPA_SET_STATUS %#x", status);
	return 0;
}

int vblk_get_status(int fd, uint8_t *status)
{
	if (ioctl(fd, VHOST_VDPA_GET_STATUS, status))
		return guest_fail(errno, "VHOST_VDPA_GET_STATUS");
	return 0;
}

int vblk_get_capacity(int fd, uint64_t *sectors)
{
	union {
		struct vhost_vdpa_config head;
		char room[sizeof(struct vhost_vdpa_config) + sizeof(*sectors)];
	} config = { .head = {
		.off = offsetof(struct virtio_blk_config, capacity), .len = sizeof(*sectors),
	} };

	if (ioctl(fd, VHOST_VDPA_GET_CONFIG, &config))
		return guest_fail(errno, "VHOST_VDPA_GET_CONFIG");
	*sectors = *(__virtio64 *)config.head.buf;
	return 0;
}

int vblk_get_queues(int fd, uint32_t *queues)
{
	if (ioctl(fd, VHOST_VDPA_GET_VQS_COUNT, queues))
		return guest_fail(errno, "VHOST_VDPA_GET_VQS_COUNT");
	return 0;
}

static int iotlb_message(int fd, const struct vhost_iotlb_msg *iotlb)
{
	struct vhost_msg_v2 msg = { .type = VHOST_IOTLB_MSG_V2, .iotlb = *iotlb };

	if (write(fd, &msg, sizeof(msg)) != sizeof(msg))
		return guest_fail(errno, "IOTLB message %u for %#llx, %#llx bytes", iotlb->type,
				  iotlb->iova, iotlb->size);
	return 0;
}

int vblk_map(int fd, const struct gmem *mem, uint64_t gpa, uint64_t size)
{
	const struct vhost_iotlb_msg iotlb = {
		.type = VHOST_IOTLB_UPDATE, .perm = VHOST_ACCESS_RW, .iova = gpa, .size = size,
		.uaddr = (uintptr_t)gmem_va(mem, gpa),
	};

	return iotlb_message(fd, &iotlb);
}

int vblk_unmap(int fd, uint64_t gpa, uint64_t size)
{
	const struct vhost_iotlb_msg iotlb = {
		.type = VHOST_IOTLB_INVALIDATE, .iova = gpa, .size = size,
	};

	return iotlb_message(fd, &iotlb);
}

int vblk_open(const char *path, struct vblk **devp)
{
	const struct gvq_opts opts = { .num = VBLK_RING, .guest_addr = true };
	struct vblk *dev = calloc(1, sizeof(*dev));
	unsigned int i;
	int err;

	if (!dev)
		return guest_fail(ENOMEM, "vhost-vdpa guest");
	dev->fd = open(path, O_RDWR | O_CLOEXEC);
	err = dev->fd < 0 ? guest_fail(errno, "open %s", path) : vdev_set_owner(dev->fd);
	if (!err)
		err = gmem_create(MEM_BYTES, &dev->mem);
	if (!err)
		err = vblk_map(dev->fd, dev->mem, GMEM_BASE, dev->mem->size);
	for (i = 0; !err && i < VBLK_QUEUES; i++)
		err = gvq_create(dev->mem, i, &opts, &dev->vq[i]);
	if (err)
		vblk_close(dev);
	else
		*devp = dev;
	return err;
}

void vblk_close(struct vblk *dev)
{
	unsigned int i;

	if (!dev)
		return;
	if (dev->fd >= 0)
		close(dev->fd);
	for (i = 0; i < VBLK_QUEUES; i++)
		gvq_destroy(dev->vq[i]);
	gmem_destroy(dev->mem);
	free(dev);
}

static int negotiate(int fd)
{
	const uint8_t driver = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;
	uint64_t acked;
	int err = vblk_set_status(fd, driver);

	if (!err)
		err = vdev_ack_features(fd, FEATURES, &acked);
	if (!err && acked != FEATURES)
		err = guest_fail(ENOTSUP, "the device offers too few features");
	return err ?: vblk_set_status(fd, driver | VIRTIO_CONFIG_S_FEATURES_OK);
}

static int enable(struct gvq *vq, int fd)
{
	struct vhost_vring_state state = { vq->index, 1 };

	if (ioctl(fd, VHOST_VDPA_SET_VRING_ENABLE, &state))
		return guest_fail(errno, "VHOST_VDPA_SET_VRING_ENABLE vq %u", vq->index);
	return 0;
}

int vblk_start(struct vblk *dev)
{
	unsigned int i;
	uint8_t status;
	int err = negotiate(dev->fd);

	for (i = 0; !err && i < VBLK_QUEUES; i++)
		err = gvq_setup(dev->vq[i], dev->fd) ?: enable(dev->vq[i], dev->fd);
	if (!err)
		err = vblk_get_status(dev->fd, &status);
	return err ?: vblk_set_status(dev->fd, status | VIRTIO_CONFIG_S_DRIVER_OK);
}

int vblk_reset(struct vblk *dev)
{
	unsigned int i;
	int err = vblk_set_status(dev->fd, 0);

	for (i = 0; !err && i < VBLK_QUEUES; i++)
		gvq_reset(dev->vq[i]);
	return err;
}

struct vblk_req *vblk_req_alloc(struct vblk *dev)
{
	return gmem_alloc(dev->mem, sizeof(struct vblk_req), 64);
}

int vblk_send(struct vblk *dev, unsigned int q, struct vblk_req *req, uint32_t type, uint64_t sector,
	      uint64_t data_gpa)
{
	const struct gvq_sg data = { data_gpa ?: gmem_gpa(dev->mem, req->data), VBLK_SECTOR };
	const struct gvq_sg hdr = { gmem_gpa(dev->mem, &req->hdr), sizeof(req->hdr) };
	const struct gvq_sg status = { gmem_gpa(dev->mem, &req->status), sizeof(req->status) };
	const struct gvq_sg sg[] = { hdr, data, status };
	int ret;

	req->hdr = (struct virtio_blk_outhdr){ .type = type, .sector = sector };
	req->status = VBLK_UNANSWERED;
	ret = gvq_add(dev->vq[q], sg, type == VIRTIO_BLK_T_OUT ? 2 : 1,
		      type == VIRTIO_BLK_T_OUT ? 1 : 2, req);
	if (ret >= 0)
		ret = gvq_kick(dev->vq[q]);
	return ret < 0 ? ret : 0;
}

int vblk_collect(struct vblk *dev, unsigned int q, int timeout_ms, struct vblk_req **req,
		 uint32_t *len)
{
	void *cookie;
	int ret = gvq_wait(dev->vq[q], timeout_ms);

	if (!ret)
		ret = gvq_pop(dev->vq[q], &cookie, len);
	if (ret < 0)
		return ret;
	if (req)
		*req = cookie;
	return 0;
}
