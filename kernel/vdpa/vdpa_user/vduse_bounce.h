/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bounce buffer of a VDUSE device, whose size is open until the device is
 * used: what vduse_dev.c needs.
 */
#ifndef _VDUSE_BOUNCE_H
#define _VDUSE_BOUNCE_H

#include <linux/mutex.h>

struct device;
struct device_attribute;
struct vduse_iova_domain;

/**
 * struct vduse_bounce - the size that the bounce buffer will have
 * @lock: protects what follows, and that the domain is made once
 * @size: in bytes, whole pages
 * @fixed: the domain has been made
 */
struct vduse_bounce {
	struct mutex	lock;	/* see above */
	unsigned int	size;
	bool		fixed;
};

extern struct device_attribute vduse_attr_bounce_size;

/* By vduse_dev.c, which alone knows its struct vduse_dev. */
struct vduse_bounce *vduse_device_bounce(struct device *device);

void vduse_bounce_init(struct vduse_bounce *bounce);
int vduse_bounce_domain(struct vduse_bounce *bounce,
			struct vduse_iova_domain **domain);
bool vduse_bounce_ready(unsigned int cmd, struct vduse_iova_domain **domain);

#endif
