/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/vhost.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_VHOST_GEN_H
#define _LINUX_VHOST_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/vhost_netlink.h>

/* Common nested types */
extern const struct nla_policy vhost_entry_nl_policy[VHOST_A_ENTRY_NEW_WORKER + 1];

extern const struct nla_policy vhost_dev_get_nl_policy[VHOST_A_DEV_ID + 1];

extern const struct nla_policy vhost_worker_get_nl_policy[VHOST_A_WORKER_ID + 1];

extern const struct nla_policy vhost_worker_new_nl_policy[VHOST_A_WORKER_COUNT + 1];

extern const struct nla_policy vhost_worker_set_nl_policy[VHOST_A_WORKER_CPUS + 1];

extern const struct nla_policy vhost_worker_del_nl_policy[VHOST_A_WORKER_ID + 1];

extern const struct nla_policy vhost_vq_get_nl_policy[VHOST_A_VQ_INDEX + 1];

extern const struct nla_policy vhost_vq_set_nl_policy[VHOST_A_VQ_WORKER_ID + 1];

extern const struct nla_policy vhost_map_set_nl_policy[VHOST_A_MAP_ENTRY + 1];

extern const struct nla_policy vhost_policy_get_nl_policy[VHOST_A_POLICY_PAD + 1];

extern const struct nla_policy vhost_policy_set_nl_policy[VHOST_A_POLICY_COUNT + 1];

/* Ops table for vhost */
extern const struct genl_ops vhost_nl_ops[10];

int vhost_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int vhost_nl_worker_get_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_worker_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int vhost_nl_worker_new_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_worker_set_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_worker_del_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_vq_get_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_vq_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int vhost_nl_vq_set_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_map_set_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int vhost_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	VHOST_NLGRP_EVENTS,
};

#endif /* _LINUX_VHOST_GEN_H */
