/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup.h - a group of the unified hierarchy, gone with cgroup_remove()
 */
#ifndef GUEST_CGROUP_H
#define GUEST_CGROUP_H

#include <sys/types.h>

struct cgroup {
	char path[96];		/* the directory */
	char name[48];		/* as /proc/PID/cgroup shows it: "/vhost-..." */
};

/*
 * Make a group of its own below the root, with the controllers of pids and memory. The hierarchy is mounted when it is
 * not. -ENODEV/-EINVAL/... when the kernel has none of it.
 */
int cgroup_make(struct cgroup *group);
/* Move process @pid, and write one of its files: pids.max, say, "max" or a number. */
int cgroup_enter(const struct cgroup *group, pid_t pid);
int cgroup_set(const struct cgroup *group, const char *file, const char *text);
/* A number in one of its files; with @key the number behind that word. -errno; -ENOENT without the controller. */
long long cgroup_read(const struct cgroup *group, const char *file, const char *key);
/* Is @tid in the group? 1, 0 or -errno. */
int cgroup_contains(const struct cgroup *group, pid_t tid);
/* Wait until it is empty, then remove it: 0, or -EBUSY after some seconds. */
int cgroup_remove(const struct cgroup *group);

#endif /* GUEST_CGROUP_H */
