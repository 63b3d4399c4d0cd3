/* SPDX-License-Identifier: GPL-2.0 */
/*
 * threads.h - the threads that serve an owner's vhost devices, read from /proc
 *
 * Task kind: threads of the owner, /proc/<owner>/task/<tid>, whose name begins with "vhost-".
 * Kthread kind: kernel threads named "vhost-<owner>", alone (stock modules) or followed by
 * "-<device>.<worker>". All devices of the owner are counted together.
 */
#ifndef GUEST_THREADS_H
#define GUEST_THREADS_H

#include <stdbool.h>
#include <sys/types.h>
#include "vdev.h"

#define THREADS_MAX	512

struct vthread {
	pid_t tid;
	enum vdev_thread kind;	/* VDEV_THREAD_TASK or VDEV_THREAD_KTHREAD */
	char state;		/* R, S, D, ... of /proc/<tid>/stat */
	char comm[64];
};

/*
 * Worker threads of process @owner, ordered by tid, at most @max into @list (may be NULL with 0).
 * Returns how many there are, or -errno. An owner that is gone has none of the task kind.
 */
int threads_list(pid_t owner, struct vthread *list, unsigned int max);

/* The name that the thread of a worker has with our modules. */
void threads_name(pid_t owner, uint32_t dev, uint32_t worker, enum vdev_thread kind, char *name,
		  size_t size);

/* Wait until @owner has exactly @count of them: 0 or -ETIMEDOUT (guest_error() says how many). */
int threads_wait_count(pid_t owner, unsigned int count, int timeout_ms);

/* Threads in @after and not in @before (by tid): copies at most @max, returns how many. */
int threads_new(const struct vthread *before, int nr_before, const struct vthread *after,
		int nr_after, struct vthread *list, unsigned int max);

/*
 * Has process or thread @pid ended (gone or zombie)? Wait for it: 0 or -ETIMEDOUT. Works for any
 * process.
 */
int threads_wait_gone(pid_t pid, int timeout_ms);

#endif /* GUEST_THREADS_H */
