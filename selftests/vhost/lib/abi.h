/* SPDX-License-Identifier: GPL-2.0 */
/*
 * abi.h - the vhost uAPI with the worker ioctls, whatever the age of the system's own headers
 */
#ifndef GUEST_ABI_H
#define GUEST_ABI_H

#include <linux/types.h>
#include <linux/vhost.h>

#if __has_include("linux/vhost_worker.h")
#include <linux/vhost_worker.h>
#endif

#ifndef VHOST_NEW_WORKER
struct vhost_worker_state {
	unsigned int worker_id;
};

struct vhost_vring_worker {
	unsigned int index;
	unsigned int worker_id;
};

#define VHOST_NEW_WORKER _IOR(VHOST_VIRTIO, 0x8, struct vhost_worker_state)
#define VHOST_FREE_WORKER _IOW(VHOST_VIRTIO, 0x9, struct vhost_worker_state)
#define VHOST_ATTACH_VRING_WORKER _IOW(VHOST_VIRTIO, 0x15, struct vhost_vring_worker)
#define VHOST_GET_VRING_WORKER _IOWR(VHOST_VIRTIO, 0x16, struct vhost_vring_worker)
#endif

#ifndef VHOST_SET_FORK_FROM_OWNER
#define VHOST_FORK_OWNER_KTHREAD 0
#define VHOST_FORK_OWNER_TASK 1
#define VHOST_SET_FORK_FROM_OWNER _IOW(VHOST_VIRTIO, 0x84, __u8)
#define VHOST_GET_FORK_FROM_OWNER _IOR(VHOST_VIRTIO, 0x85, __u8)
#endif

#endif /* GUEST_ABI_H */
