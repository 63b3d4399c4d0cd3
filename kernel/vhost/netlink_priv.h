/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two halves of the netlink front end share: netlink.c (requests that
 * change something) and netlink_get.c (requests and events that tell).
 */
#ifndef _VHOST_NETLINK_PRIV_H
#define _VHOST_NETLINK_PRIV_H

#include <net/genetlink.h>

#include "netlink_gen.h"

struct vhost_dev;

/* Requests for a part of a device have the device first and the part second. */
#define VHOST_NL_FILTER_MAX	2
static_assert(VHOST_A_WORKER_DEV_ID == 1 && VHOST_A_WORKER_ID == 2);
static_assert(VHOST_A_VQ_DEV_ID == 1 && VHOST_A_VQ_INDEX == 2);

extern struct genl_family vhost_nl_family;

int vhost_nl_check(struct sk_buff *skb, struct netlink_ext_ack *extack);
int vhost_nl_find(struct sk_buff *skb, struct genl_info *info, int attr,
		  struct vhost_dev **dev);
int vhost_nl_no_device(struct genl_info *info, int attr);
int vhost_nl_u32(struct genl_info *info, int attr, u32 *value);
int vhost_nl_error(struct netlink_ext_ack *extack, const struct nlattr *attr, int err);

#endif /* _VHOST_NETLINK_PRIV_H */
