/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The default policy: how the virtqueues of a device get their workers if
 * nobody says so.
 */
#ifndef _VHOST_POLICY_H
#define _VHOST_POLICY_H

#include <linux/types.h>
#include <linux/vhost_netlink.h>

struct vhost_dev;

/* Room for a policy in words */
#define VHOST_POLICY_TEXT	16

/**
 * struct vhost_policy - a policy
 * @kind: which one
 * @count: how many workers, if @kind is VHOST_POLICY_KIND_COUNT
 */
struct vhost_policy {
	enum vhost_policy_kind	kind;
	u32			count;
};

/**
 * struct vhost_dev_policy - what the default policy did for a device
 * @first_vq: I: first virtqueue of those that carry data; it stays with the
 *	first worker, as do those before it
 * @retry: D: 1 + the virtqueue whose placing was interrupted by a signal, or 0
 * @chosen: D and L to write: somebody chose the workers himself
 * @applied: D and L to write: a virtqueue was placed by @last
 * @last: D and L to write: the policy by which a virtqueue was placed last
 * @failed: D and L to write: virtqueues for which no worker could be made
 */
struct vhost_dev_policy {
	u32			first_vq;
	u32			retry;
	bool			chosen;
	bool			applied;
	struct vhost_policy	last;
	u32			failed;
};

/* for vhost and its drivers */
void vhost_policy_first_vq(struct vhost_dev *dev, u32 index);
long vhost_policy_kick(struct vhost_dev *dev, u32 index, bool is_new);

/* for the workers */
void vhost_policy_init(struct vhost_dev *dev);
void vhost_policy_reset(struct vhost_dev *dev);
void vhost_policy_chosen(struct vhost_dev *dev);

/* for netlink */
void vhost_policy_tell(bool tell);
void vhost_policy_get(struct vhost_policy *policy);
void vhost_policy_set(const struct vhost_policy *policy);
bool vhost_policy_text(struct vhost_dev *dev, char *text, size_t size);

#endif /* _VHOST_POLICY_H */
