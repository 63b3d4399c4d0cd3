// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup.c - a group of the unified hierarchy
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "error.h"

#define ROOT		"/sys/fs/cgroup"
#define REMOVE_MS	5000

static int put(const char *dir, const char *file, const char *text)
{
	char path[160];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = guest_fail(errno, "write '%s' to %s", text, path);
	close(fd);
	return err;
}

int cgroup_make(struct cgroup *group)
{
	static unsigned int counter;

	if (access(ROOT "/cgroup.procs", F_OK) && mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		return guest_fail(errno, "mount of cgroup2 on " ROOT);
	put(ROOT, "cgroup.subtree_control", "+pids");
	snprintf(group->name, sizeof(group->name), "/vhost-test-%d-%u", getpid(), counter++);
	snprintf(group->path, sizeof(group->path), ROOT "%s", group->name);
	if (mkdir(group->path, 0755))
		return guest_fail(errno, "mkdir %s", group->path);
	return 0;
}

int cgroup_enter(const struct cgroup *group, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return put(group->path, "cgroup.procs", text);
}

int cgroup_set_pids_max(const struct cgroup *group, const char *max)
{
	return put(group->path, "pids.max", max);
}

int cgroup_contains(const struct cgroup *group, pid_t tid)
{
	char path[40], line[160], want[80];
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", tid);
	snprintf(want, sizeof(want), "0::%s\n", group->name);
	file = fopen(path, "re");
	if (!file)
		return guest_fail(errno, "open %s", path);
	while (!found && fgets(line, sizeof(line), file))
		found = !strcmp(line, want);
	fclose(file);
	return found;
}

int cgroup_remove(const struct cgroup *group)
{
	uint64_t start = guest_now_ns();

	while (rmdir(group->path)) {
		if (errno != EBUSY || !guest_left_ms(start, REMOVE_MS))
			return guest_fail(errno, "rmdir %s", group->path);
		guest_sleep_ms(10);
	}
	return 0;
}
