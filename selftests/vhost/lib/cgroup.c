// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup.c - a group of the unified hierarchy
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "error.h"
#include "put.h"

#define ROOT		"/sys/fs/cgroup"
#define REMOVE_MS	guest_patience(5000)

static int put(const char *dir, const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return put_text(path, text);
}

int cgroup_make(struct cgroup *group)
{
	static unsigned int counter;

	if (access(ROOT "/cgroup.procs", F_OK) && mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		return guest_fail(errno, "mount of cgroup2 on " ROOT);
	put(ROOT, "cgroup.subtree_control", "+pids");
	put(ROOT, "cgroup.subtree_control", "+memory");
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

int cgroup_set(const struct cgroup *group, const char *file, const char *text)
{
	return put(group->path, file, text);
}

long long cgroup_read(const struct cgroup *group, const char *file, const char *key)
{
	char path[160], line[160];
	size_t len = key ? strlen(key) : 0;
	long long number = -1;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", group->path, file);
	stream = fopen(path, "re");
	if (!stream)
		return guest_fail(errno, "open %s", path);
	while (number < 0 && fgets(line, sizeof(line), stream))
		if (!key || (!strncmp(line, key, len) && line[len] == ' '))
			number = strtoll(line + len, NULL, 10);
	fclose(stream);
	return number < 0 ? guest_fail(EBADMSG, "%s of %s", key ?: "a number", path) : number;
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
