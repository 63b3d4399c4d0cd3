// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the default policy of the host.
 */
#include <linux/err.h>

#include "vhost.h"
#include "netlink.h"
#include "netlink_priv.h"

/* A message with the policy, or NULL if there is no memory for it. */
static struct sk_buff *vhost_nl_policy_msg(const struct vhost_policy *policy, u32 portid, u32 seq,
					   u8 cmd)
{
	struct sk_buff *skb = genlmsg_new(2 * nla_total_size(sizeof(u32)), GFP_KERNEL);
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, portid, seq, &vhost_nl_family, 0, cmd);
	if (!hdr || nla_put_u32(skb, VHOST_A_POLICY_KIND, policy->kind) ||
	    (policy->kind == VHOST_POLICY_KIND_COUNT &&
	     nla_put_u32(skb, VHOST_A_POLICY_COUNT, policy->count))) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

/**
 * vhost_nl_policy_event - tell listeners that the default policy is another one
 * @policy: the policy
 *
 * Context: process, the lock held that orders the changes.
 */
void vhost_nl_policy_event(const struct vhost_policy *policy)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&vhost_nl_family, &init_net, VHOST_NLGRP_EVENTS))
		return;
	skb = vhost_nl_policy_msg(policy, 0, 0, VHOST_CMD_POLICY_NTF);
	if (skb)
		genlmsg_multicast(&vhost_nl_family, skb, 0, VHOST_NLGRP_EVENTS, GFP_KERNEL);
	else
		genl_set_err(&vhost_nl_family, &init_net, 0, VHOST_NLGRP_EVENTS, -ENOBUFS);
}

int vhost_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct vhost_policy policy;
	struct sk_buff *reply;
	int err = vhost_nl_check(skb, info->extack);

	if (err)
		return err;
	vhost_policy_get(&policy);
	reply = vhost_nl_policy_msg(&policy, info->snd_portid, info->snd_seq,
				    VHOST_CMD_POLICY_GET);
	if (!reply)
		return vhost_nl_error(info->extack, NULL, -ENOMEM);
	return genlmsg_reply(reply, info);
}

int vhost_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *count = info->attrs[VHOST_A_POLICY_COUNT];
	struct vhost_policy policy = { 0 };
	int err = vhost_nl_check(skb, info->extack);
	u32 kind;

	err = err ?: vhost_nl_u32(info, VHOST_A_POLICY_KIND, &kind);
	if (err)
		return err;
	policy.kind = kind;
	if (kind == VHOST_POLICY_KIND_COUNT) {
		err = vhost_nl_u32(info, VHOST_A_POLICY_COUNT, &policy.count);
	} else if (count) {
		NL_SET_ERR_MSG_ATTR(info->extack, count, "only the policy count has a number");
		err = -EINVAL;
	}
	if (!err)
		vhost_policy_set(&policy);
	return err;
}
