/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vduse.h - a vdpa block device in user space, through VDUSE
 *
 * A process, the player, answers the kernel's questions and serves the virtqueues, with a thread for each;
 * the disk is memory. The player cannot be a thread of the guest: while the owner maps memory into the device
 * the kernel holds the lock of the owner's address space and waits for the device, which needs that lock
 * to follow. Like a LIO target of lio.h the device is undone on every exit of its maker, SIGKILL included.
 */
#ifndef GUEST_VDUSE_H
#define GUEST_VDUSE_H

#include <stdbool.h>
#include <stdint.h>

#define VDUSE_SECTORS	2048	/* of 512 bytes */
#define VDUSE_QUEUES	2
#define VDUSE_RING	64	/* most entries of a ring */

struct vduse;

/* Can this kernel have such a device? */
bool vduse_present(void);

/* Make it and add it as vdpa device. The calls below are for the process that made it. */
int vduse_create(struct vduse **dev);

/* Delete it: nobody may have vduse_path() open. */
int vduse_destroy(struct vduse *dev);

/* Its /dev/vhost-vdpa-N. */
const char *vduse_path(const struct vduse *dev);

/* While held no request is taken from a ring; afterwards those that wait there are. */
void vduse_hold(struct vduse *dev, bool hold);

struct vduse_counts {
	uint64_t requests;	/* answered, of all queues */
	uint64_t unmapped;	/* accesses to guest memory that is not mapped */
	uint64_t resets;	/* of the device, by the driver */
};

void vduse_count(struct vduse *dev, struct vduse_counts *counts);

#endif /* GUEST_VDUSE_H */
