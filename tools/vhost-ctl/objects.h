/* SPDX-License-Identifier: GPL-2.0 */
/*
 * objects.h - devices, workers, virtqueues and maps as the kernel tells of them
 */
#ifndef VHOST_CTL_OBJECTS_H
#define VHOST_CTL_OBJECTS_H

#include <linux/vhost_netlink.h>

#include "record.h"

struct dev {
	struct record rec;
	uint32_t id;
	char *backend;
	uint32_t owner_pid;
	char *owner_comm;
	uint32_t thread_kind;
	uint32_t vqs;
	uint32_t vqs_used;
	uint32_t workers;
	uint32_t max_workers;
	char *wwpn;
	char *policy;
	uint32_t policy_failed;
};

/* What the tool adds to a worker. */
enum {
	WORKER_OWNER_PID = VHOST_A_WORKER_MAX + 16,
	WORKER_OWNER_COMM,
};

struct worker {
	struct record rec;
	uint32_t dev_id;
	uint32_t id;
	uint32_t tid;
	uint32_t thread_kind;
	char *cpus;
	struct list vqs;
	uint64_t works;
	uint64_t runs;
	uint64_t wakeups;
	uint64_t busy_ns;
	uint64_t longest_run_ns;
	uint32_t count;
	struct list new_id;
	uint32_t owner_pid;
	char *owner_comm;
};

struct vq {
	struct record rec;
	uint32_t dev_id;
	uint32_t index;
	uint32_t worker_id;
	uint64_t kicks;
	uint64_t works;
};

struct entry {
	struct record rec;
	uint32_t vq;
	uint32_t worker_id;
	uint32_t new_worker;
};

struct map {
	struct record rec;
	uint32_t dev_id;
	struct rows entry;	/* struct entry */
	struct list new_id;
};

struct policy {
	struct record rec;
	uint32_t kind;
	uint32_t count;
};

extern const struct object dev_object, worker_object, vq_object, entry_object, map_object,
			   policy_object;

#endif /* VHOST_CTL_OBJECTS_H */
