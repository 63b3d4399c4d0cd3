/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vctl.h - vhost devices of any process, their workers and virtqueues: the netlink family "vhost"
 *
 * Functions return 0 (or a count) or the kernel's negative errno; what else a refusal said is in
 * vctl.genl until the next call.
 */
#ifndef GUEST_VCTL_H
#define GUEST_VCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/vhost_netlink.h>
#include "genl.h"

#define VCTL_VQS_MAX	130	/* of vhost-scsi, which has the most */
#define VCTL_NONE	UINT32_MAX	/* no worker, no list */

struct vctl {
	struct genl genl;
};

struct vctl_dev {
	uint32_t id;
	char backend[16];
	uint32_t owner_pid;
	char owner_comm[32];	/* "" = not told */
	uint32_t thread_kind;	/* enum vhost_thread_kind */
	uint32_t vqs, vqs_used, workers, max_workers;
	char wwpn[256];		/* "" = not told */
	char policy[20];	/* the same */
	uint32_t policy_failed;
};

struct vctl_worker {
	uint32_t dev_id, id, tid, thread_kind;
	char cpus[VHOST_CPUS_MAX + 1], vqs[VHOST_CPUS_MAX + 1];	/* "" = not told */
	bool killed;
	uint64_t works, runs, wakeups, busy_ns, longest_run_ns;
};

struct vctl_vq {
	uint32_t dev_id, index;
	uint32_t worker_id;	/* VCTL_NONE = not told */
	bool used;
	uint64_t kicks, works;
};

struct vctl_entry {
	uint32_t vq, worker;
	bool is_new;		/* @worker counts new workers */
};

/* -ENOENT when there is no such family. */
int vctl_open(struct vctl *v);
void vctl_close(struct vctl *v);
bool vctl_present(void);

/* Tell. The lists take at most @max; the count of all there are is returned. @dev 0: of all devices. */
int vctl_dev_get(struct vctl *v, uint32_t id, struct vctl_dev *dev);
int vctl_devs(struct vctl *v, struct vctl_dev *list, unsigned int max);
int vctl_worker_get(struct vctl *v, uint32_t dev, uint32_t id, struct vctl_worker *worker);
int vctl_workers(struct vctl *v, uint32_t dev, struct vctl_worker *list, unsigned int max);
int vctl_vq_get(struct vctl *v, uint32_t dev, uint32_t index, struct vctl_vq *vq);
int vctl_vqs(struct vctl *v, uint32_t dev, struct vctl_vq *list, unsigned int max);

/* The newest device of process @pid; -ENODEV when it has none. */
int vctl_dev_of(struct vctl *v, pid_t pid, struct vctl_dev *dev);

/* Change. @count 0 and @cpus NULL are left out; the numbers of new workers go to @ids (may be NULL). */
int vctl_worker_new(struct vctl *v, uint32_t dev, uint32_t count, const char *cpus, uint32_t *ids);
int vctl_worker_set(struct vctl *v, uint32_t dev, uint32_t id, const char *cpus);
int vctl_worker_del(struct vctl *v, uint32_t dev, uint32_t id);
int vctl_vq_set(struct vctl *v, uint32_t dev, uint32_t vq, uint32_t worker);
int vctl_map_set(struct vctl *v, uint32_t dev, const struct vctl_entry *map, unsigned int n,
		 uint32_t *ids);

/* The default policy of the host. */
struct vctl_policy {
	uint32_t kind;		/* enum vhost_policy_kind */
	uint32_t count;		/* 0 = not told */
};

int vctl_policy_get(struct vctl *v, struct vctl_policy *policy);
int vctl_policy_set(struct vctl *v, const struct vctl_policy *policy);

/* Parts of a map request, for tests that spoil it; the offset of the entry. */
int vctl_put_entry(struct genl_msg *msg, const struct vctl_entry *entry);

/*
 * Send what must be refused: 0 if it is, with this errno, a text that contains @word and, unless it is
 * VCTL_ANY, this offset of the attribute to blame or (VCTL_MISSING) type of the missing one. A dump of the
 * kernels that we know does not name the attribute.
 */
#define VCTL_ANY		(-2)
#define VCTL_MISSING(type)	(1 << 16 | (type))
int vctl_refused(struct vctl *v, struct genl_msg *msg, int err, int blame, const char *word);

/* Read a message. */
void vctl_parse_dev(const struct genl_msg *msg, struct vctl_dev *dev);
void vctl_parse_worker(const struct genl_msg *msg, struct vctl_worker *worker);
void vctl_parse_policy(const struct genl_msg *msg, struct vctl_policy *policy);
void vctl_parse_vq(const struct genl_msg *msg, struct vctl_vq *vq);
/* The entries of a map event: at most @max to @list, returns how many. */
int vctl_parse_map(const struct genl_msg *msg, struct vctl_entry *list, unsigned int max);

#endif /* GUEST_VCTL_H */
