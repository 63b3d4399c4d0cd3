/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vdpa.h - vdpa devices are added and deleted, by generic netlink as `vdpa dev add` does it
 */
#ifndef GUEST_VDPA_H
#define GUEST_VDPA_H

#include <stddef.h>

/*
 * Add device @name of the management device @mgmtdev ("vduse"). -ENODEV when there is no such family or
 * management device. Loaded drivers bind to the device before the call returns.
 */
int vdpa_add(const char *mgmtdev, const char *name);

/*
 * Delete it, -ENODEV when there is none. The kernel waits, and cannot be interrupted, until nobody has its
 * /dev/vhost-vdpa-N open any more.
 */
int vdpa_del(const char *name);

/* The character device with which vhost_vdpa serves vdpa device @name. -ENOENT when it does not. */
int vdpa_vhost_path(const char *name, char *path, size_t size);

#endif /* GUEST_VDPA_H */
