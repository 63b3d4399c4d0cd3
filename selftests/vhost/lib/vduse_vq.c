// SPDX-License-Identifier: GPL-2.0
/*
 * vduse_vq.c - the queues of a VDUSE block device: guest memory, rings, requests
 *
 * Everything here runs under the device's lock, so that a reset or a change of the mappings is over when it
 * is answered.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ring.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "vduse_priv.h"

#define CHAIN_MAX	8	/* segments of a request */

struct segment {
	void *va;		/* NULL: not mapped */
	uint32_t len;
	bool write;
};

/* --- guest memory */

void vduse_drop_maps(struct vduse *dev, uint64_t start, uint64_t last)
{
	unsigned int i = 0;

	while (i < dev->nr_maps) {
		struct vduse_map *map = &dev->map[i];

		if (map->last < start || map->start > last) {
			i++;
			continue;
		}
		munmap(map->va, map->last - map->start + 1);
		*map = dev->map[--dev->nr_maps];
	}
}

/* Ask the kernel for the file behind @iova, and map all that it gives. */
static struct vduse_map *map_more(struct vduse *dev, uint64_t iova)
{
	struct vduse_iotlb_entry entry = { .start = iova, .last = iova };
	struct vduse_map *map = &dev->map[dev->nr_maps];
	int prot, fd;
	void *va;

	if (dev->nr_maps == VDUSE_MAPS)
		return NULL;
	fd = ioctl(dev->fd, VDUSE_IOTLB_GET_FD, &entry);
	if (fd < 0)
		return NULL;
	prot = (entry.perm & VDUSE_ACCESS_RO ? PROT_READ : 0) |
	       (entry.perm & VDUSE_ACCESS_WO ? PROT_WRITE : 0);
	va = mmap(NULL, entry.last - entry.start + 1, prot, MAP_SHARED, fd, entry.offset);
	close(fd);
	if (va == MAP_FAILED)
		return NULL;
	*map = (struct vduse_map){ entry.start, entry.last, va };
	dev->nr_maps++;
	return map;
}

static void *translate(struct vduse *dev, uint64_t iova, uint32_t len)
{
	struct vduse_map *map = NULL;
	unsigned int i;

	for (i = 0; i < dev->nr_maps && !map; i++)
		if (iova >= dev->map[i].start && iova <= dev->map[i].last)
			map = &dev->map[i];
	map = map ?: map_more(dev, iova);
	if (!map || len > map->last - iova + 1) {
		dev->counts.unmapped++;
		return NULL;
	}
	return map->va + (iova - map->start);
}

/* --- requests */

/* The segments of the chain at @head; 0 if it is malformed. */
static unsigned int collect(struct vduse_queue *queue, const struct vring_desc *desc, uint16_t head,
			    struct segment *seg)
{
	unsigned int n = 0;

	while (n < CHAIN_MAX && head < queue->ring.num) {
		seg[n].len = desc[head].len;
		seg[n].write = desc[head].flags & VRING_DESC_F_WRITE;
		seg[n].va = translate(queue->dev, desc[head].addr, desc[head].len);
		n++;
		if (!(desc[head].flags & VRING_DESC_F_NEXT))
			return n;
		head = desc[head].next;
	}
	return 0;
}

static uint8_t transfer(struct vduse *dev, const struct virtio_blk_outhdr *hdr,
			const struct segment *data)
{
	uint64_t sectors = data->len / VDUSE_SECTOR;

	if (!data->va || data->len % VDUSE_SECTOR || sectors > VDUSE_SECTORS ||
	    hdr->sector > VDUSE_SECTORS - sectors)
		return VIRTIO_BLK_S_IOERR;
	if (hdr->type == VIRTIO_BLK_T_IN && data->write)
		memcpy(data->va, dev->disk + hdr->sector * VDUSE_SECTOR, data->len);
	else if (hdr->type == VIRTIO_BLK_T_OUT && !data->write)
		memcpy(dev->disk + hdr->sector * VDUSE_SECTOR, data->va, data->len);
	else
		return VIRTIO_BLK_S_UNSUPP;
	return VIRTIO_BLK_S_OK;
}

/* Header, one piece of data, status. Returns how many bytes were written. */
static uint32_t serve(struct vduse *dev, const struct segment *seg, unsigned int n)
{
	const struct segment *status = &seg[n - 1];

	if (n != 3 || !status->write || !status->len || !status->va)
		return 0;
	if (!seg[0].va || seg[0].len < sizeof(struct virtio_blk_outhdr))
		*(uint8_t *)status->va = VIRTIO_BLK_S_IOERR;
	else
		*(uint8_t *)status->va = transfer(dev, seg[0].va, &seg[1]);
	return 1 + (seg[1].write && *(uint8_t *)status->va == VIRTIO_BLK_S_OK ? seg[1].len : 0);
}

/* --- rings */

/* Serve all that is in the ring, then tell the driver. */
static void pass(struct vduse_queue *queue)
{
	const struct vduse_vq_info *ring = &queue->ring;
	struct vduse *dev = queue->dev;
	const struct vring_desc *desc = translate(dev, ring->desc_addr, ring->num * sizeof(*desc));
	struct vring_avail *avail = translate(dev, ring->driver_addr, 6 + ring->num * 2);
	struct vring_used *used = translate(dev, ring->device_addr, 6 + ring->num * 8);
	struct segment seg[CHAIN_MAX];
	bool any = false;

	if (!desc || !avail || !used)
		return;
	while (queue->next_avail != __atomic_load_n(&avail->idx, __ATOMIC_ACQUIRE)) {
		uint16_t head = avail->ring[queue->next_avail++ % ring->num];
		unsigned int n = collect(queue, desc, head, seg);

		used->ring[queue->used_idx % ring->num] =
			(struct vring_used_elem){ head, n ? serve(dev, seg, n) : 0 };
		__atomic_store_n(&used->idx, ++queue->used_idx, __ATOMIC_RELEASE);
		dev->counts.requests++;
		any = true;
	}
	/* The driver asks for calls, then looks at the index: either it sees it, or we see the question. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (any && !(__atomic_load_n(&avail->flags, __ATOMIC_RELAXED) & VRING_AVAIL_F_NO_INTERRUPT))
		ioctl(dev->fd, VDUSE_VQ_INJECT_IRQ, &queue->index);
}

void *vduse_queue_main(void *arg)
{
	struct vduse_queue *queue = arg;
	struct vduse *dev = queue->dev;
	struct pollfd pfd[2] = {
		{ .fd = queue->kick_fd, .events = POLLIN },
		{ .fd = dev->stop_fd, .events = POLLIN },
	};
	uint64_t kicks;

	while (poll(pfd, 2, -1) < 0 || !pfd[1].revents) {
		if (read(queue->kick_fd, &kicks, sizeof(kicks)) != sizeof(kicks))
			continue;
		pthread_mutex_lock(&dev->lock);
		if (queue->live && !dev->held)
			pass(queue);
		pthread_mutex_unlock(&dev->lock);
	}
	return NULL;
}
