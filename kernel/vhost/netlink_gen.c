// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/vhost.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/vhost_netlink.h>

/* Common nested types */
const struct nla_policy vhost_entry_nl_policy[VHOST_A_ENTRY_NEW_WORKER + 1] = {
	[VHOST_A_ENTRY_VQ] = { .type = NLA_U32, },
	[VHOST_A_ENTRY_WORKER_ID] = { .type = NLA_U32, },
	[VHOST_A_ENTRY_NEW_WORKER] = { .type = NLA_U32, },
};

/* VHOST_CMD_DEV_GET - do */
const struct nla_policy vhost_dev_get_nl_policy[VHOST_A_DEV_ID + 1] = {
	[VHOST_A_DEV_ID] = { .type = NLA_U32, },
};

/* VHOST_CMD_WORKER_GET - do */
const struct nla_policy vhost_worker_get_nl_policy[VHOST_A_WORKER_ID + 1] = {
	[VHOST_A_WORKER_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_WORKER_ID] = { .type = NLA_U32, },
};

/* VHOST_CMD_WORKER_NEW - do */
const struct nla_policy vhost_worker_new_nl_policy[VHOST_A_WORKER_COUNT + 1] = {
	[VHOST_A_WORKER_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_WORKER_COUNT] = NLA_POLICY_MIN(NLA_U32, 1),
	[VHOST_A_WORKER_CPUS] = { .type = NLA_NUL_STRING, .len = VHOST_CPUS_MAX, },
};

/* VHOST_CMD_WORKER_SET - do */
const struct nla_policy vhost_worker_set_nl_policy[VHOST_A_WORKER_CPUS + 1] = {
	[VHOST_A_WORKER_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_WORKER_ID] = { .type = NLA_U32, },
	[VHOST_A_WORKER_CPUS] = { .type = NLA_NUL_STRING, .len = VHOST_CPUS_MAX, },
};

/* VHOST_CMD_WORKER_DEL - do */
const struct nla_policy vhost_worker_del_nl_policy[VHOST_A_WORKER_ID + 1] = {
	[VHOST_A_WORKER_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_WORKER_ID] = { .type = NLA_U32, },
};

/* VHOST_CMD_VQ_GET - do */
const struct nla_policy vhost_vq_get_nl_policy[VHOST_A_VQ_INDEX + 1] = {
	[VHOST_A_VQ_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_VQ_INDEX] = { .type = NLA_U32, },
};

/* VHOST_CMD_VQ_SET - do */
const struct nla_policy vhost_vq_set_nl_policy[VHOST_A_VQ_WORKER_ID + 1] = {
	[VHOST_A_VQ_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_VQ_INDEX] = { .type = NLA_U32, },
	[VHOST_A_VQ_WORKER_ID] = { .type = NLA_U32, },
};

/* VHOST_CMD_MAP_SET - do */
const struct nla_policy vhost_map_set_nl_policy[VHOST_A_MAP_ENTRY + 1] = {
	[VHOST_A_MAP_DEV_ID] = { .type = NLA_U32, },
	[VHOST_A_MAP_ENTRY] = NLA_POLICY_NESTED(vhost_entry_nl_policy),
};

/* VHOST_CMD_POLICY_GET - do */
const struct nla_policy vhost_policy_get_nl_policy[VHOST_A_POLICY_PAD + 1] = {
};

/* VHOST_CMD_POLICY_SET - do */
const struct nla_policy vhost_policy_set_nl_policy[VHOST_A_POLICY_COUNT + 1] = {
	[VHOST_A_POLICY_KIND] = NLA_POLICY_MAX(NLA_U32, 3),
	[VHOST_A_POLICY_COUNT] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Ops table for vhost */
const struct genl_ops vhost_nl_ops[10] = {
	{
		.cmd		= VHOST_CMD_DEV_GET,
		.doit		= vhost_nl_dev_get_doit,
		.dumpit		= vhost_nl_dev_get_dumpit,
		.policy		= vhost_dev_get_nl_policy,
		.maxattr	= VHOST_A_DEV_ID,
	},
	{
		.cmd		= VHOST_CMD_WORKER_GET,
		.doit		= vhost_nl_worker_get_doit,
		.dumpit		= vhost_nl_worker_get_dumpit,
		.policy		= vhost_worker_get_nl_policy,
		.maxattr	= VHOST_A_WORKER_ID,
	},
	{
		.cmd		= VHOST_CMD_WORKER_NEW,
		.doit		= vhost_nl_worker_new_doit,
		.policy		= vhost_worker_new_nl_policy,
		.maxattr	= VHOST_A_WORKER_COUNT,
	},
	{
		.cmd		= VHOST_CMD_WORKER_SET,
		.doit		= vhost_nl_worker_set_doit,
		.policy		= vhost_worker_set_nl_policy,
		.maxattr	= VHOST_A_WORKER_CPUS,
	},
	{
		.cmd		= VHOST_CMD_WORKER_DEL,
		.doit		= vhost_nl_worker_del_doit,
		.policy		= vhost_worker_del_nl_policy,
		.maxattr	= VHOST_A_WORKER_ID,
	},
	{
		.cmd		= VHOST_CMD_VQ_GET,
		.doit		= vhost_nl_vq_get_doit,
		.dumpit		= vhost_nl_vq_get_dumpit,
		.policy		= vhost_vq_get_nl_policy,
		.maxattr	= VHOST_A_VQ_INDEX,
	},
	{
		.cmd		= VHOST_CMD_VQ_SET,
		.doit		= vhost_nl_vq_set_doit,
		.policy		= vhost_vq_set_nl_policy,
		.maxattr	= VHOST_A_VQ_WORKER_ID,
	},
	{
		.cmd		= VHOST_CMD_MAP_SET,
		.doit		= vhost_nl_map_set_doit,
		.policy		= vhost_map_set_nl_policy,
		.maxattr	= VHOST_A_MAP_ENTRY,
	},
	{
		.cmd		= VHOST_CMD_POLICY_GET,
		.doit		= vhost_nl_policy_get_doit,
		.policy		= vhost_policy_get_nl_policy,
		.maxattr	= VHOST_A_POLICY_PAD,
	},
	{
		.cmd		= VHOST_CMD_POLICY_SET,
		.doit		= vhost_nl_policy_set_doit,
		.policy		= vhost_policy_set_nl_policy,
		.maxattr	= VHOST_A_POLICY_COUNT,
	},
};

static const struct genl_multicast_group vhost_nl_mcgrps[] = {
	[VHOST_NLGRP_EVENTS] = { "events", },
};
