/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink: what the rest of the vhost module needs of it.
 */
#ifndef _VHOST_NETLINK_H
#define _VHOST_NETLINK_H

#include <linux/types.h>
#include <linux/vhost_netlink.h>

struct vhost_dev;
struct vhost_policy;
struct vhost_vring_worker;
struct vhost_worker;

int vhost_nl_init(void);
void vhost_nl_exit(void);
void vhost_nl_dev_event(struct vhost_dev *dev, u8 cmd);
void vhost_nl_worker_event(struct vhost_worker *worker, u8 cmd);
void vhost_nl_map_event(struct vhost_dev *dev,
			const struct vhost_vring_worker *map, unsigned int n);
void vhost_nl_policy_event(const struct vhost_policy *policy);

#endif /* _VHOST_NETLINK_H */
