/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vblk.h - a virtio-blk guest on /dev/vhost-vdpa-N
 *
 * One thread at a time per queue, different queues may be used by different threads.
 */
#ifndef GUEST_VBLK_H
#define GUEST_VBLK_H

#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_blk.h>

#include "vdev.h"

#define VBLK_SECTOR	512
#define VBLK_QUEUES	2
#define VBLK_RING	64
#define VBLK_UNANSWERED	0xee	/* status before the device has written it */

struct vblk_req {		/* in guest memory */
	struct virtio_blk_outhdr hdr;
	uint8_t status;		/* VIRTIO_BLK_S_* */
	uint8_t data[VBLK_SECTOR] __attribute__((aligned(64)));
};

struct vblk {
	int fd;
	struct gmem *mem;
	struct gvq *vq[VBLK_QUEUES];
};

/* Open @path, become its owner, map all of the guest's memory, make the queues. */
int vblk_open(const char *path, struct vblk **dev);
void vblk_close(struct vblk *dev);

/* Negotiate, give the queues to the device, DRIVER_OK; and the end of that: a reset, rings are forgotten. */
int vblk_start(struct vblk *dev);
int vblk_reset(struct vblk *dev);

/* The steps of it. */
int vblk_set_status(int fd, uint8_t status);
int vblk_get_status(int fd, uint8_t *status);
int vblk_get_capacity(int fd, uint64_t *sectors);
int vblk_get_queues(int fd, uint32_t *queues);

/*
 * Messages to the device's IOTLB: map guest memory [@gpa, @gpa + @size), all of which has to be within @mem;
 * unmap every mapping that has a part in it.
 */
int vblk_map(int fd, const struct gmem *mem, uint64_t gpa, uint64_t size);
int vblk_unmap(int fd, uint64_t gpa, uint64_t size);

struct vblk_req *vblk_req_alloc(struct vblk *dev);

/*
 * Send @req: one sector, data at @data_gpa, or in @req when that is 0. vblk_collect() gives the next answered
 * request of the queue; @len is what the device says it wrote. Both may be NULL.
 */
int vblk_send(struct vblk *dev, unsigned int q, struct vblk_req *req, uint32_t type, uint64_t sector,
	      uint64_t data_gpa);
int vblk_collect(struct vblk *dev, unsigned int q, int timeout_ms, struct vblk_req **req,
		 uint32_t *len);

#endif /* GUEST_VBLK_H */
