// SPDX-License-Identifier: GPL-2.0
/*
 * threads.c - the threads that serve an owner's vhost devices
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "threads.h"

#define STEP_MS		10
#define PREFIX		"vhost-"
#define COMM_MAX	15	/* characters of a task's name */
#define PF_KTHREAD	0x00200000

struct scan {
	pid_t owner;
	struct vthread *list;
	unsigned int max, count;
};

static int read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	if (!file)
		return -errno;
	if (!fgets(line, size, file))
		err = -ESRCH;
	line[strcspn(line, "\n")] = 0;
	fclose(file);
	return err;
}

/* State and PF_* flags of /proc/.../stat; the name in parentheses may contain anything. */
static int read_stat(const char *dir, char *state, unsigned int *flags)
{
	char path[96], line[1024], *end;
	int err;

	snprintf(path, sizeof(path), "%s/stat", dir);
	err = read_line(path, line, sizeof(line));
	if (err)
		return err;
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", state, flags) != 2)
		return -EINVAL;
	return 0;
}

static void take(struct scan *scan, const char *dir, pid_t tid, enum vdev_thread kind,
		 const char *comm)
{
	struct vthread thread = { .tid = tid, .kind = kind };
	unsigned int flags, at;

	if (read_stat(dir, &thread.state, &flags) || thread.state == 'Z' || thread.state == 'X')
		return;
	if (flags & PF_KTHREAD ? kind != VDEV_THREAD_KTHREAD : kind != VDEV_THREAD_TASK)
		return;
	snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
	scan->count++;
	if (scan->count > scan->max)
		return;
	for (at = scan->count - 1; at && scan->list[at - 1].tid > tid; at--)
		scan->list[at] = scan->list[at - 1];
	scan->list[at] = thread;
}

/* "vhost-<owner>" and nothing that makes it another number. */
static bool names_owner(const char *comm, pid_t owner)
{
	char *end;

	if (strncmp(comm, PREFIX, strlen(PREFIX)) || !isdigit(comm[strlen(PREFIX)]))
		return false;
	return strtol(comm + strlen(PREFIX), &end, 10) == owner;
}

static void look(struct scan *scan, const char *base, const char *name, enum vdev_thread kind)
{
	char dir[64], path[96], comm[64];

	snprintf(dir, sizeof(dir), "%s/%.20s", base, name);
	snprintf(path, sizeof(path), "%s/comm", dir);
	if (!isdigit(name[0]) || read_line(path, comm, sizeof(comm)))
		return;
	if (kind == VDEV_THREAD_TASK ? !strncmp(comm, PREFIX, strlen(PREFIX)) :
				       names_owner(comm, scan->owner))
		take(scan, dir, atoi(name), kind, comm);
}

static int scan_dir(struct scan *scan, const char *base, enum vdev_thread kind)
{
	struct dirent *entry;
	DIR *handle = opendir(base);

	if (!handle)
		return errno == ENOENT ? 0 : guest_fail(errno, "read %s", base);
	while ((entry = readdir(handle)))
		look(scan, base, entry->d_name, kind);
	closedir(handle);
	return 0;
}

int threads_list(pid_t owner, struct vthread *list, unsigned int max)
{
	struct scan scan = { .owner = owner, .list = list, .max = list ? max : 0 };
	char base[40];
	int err;

	snprintf(base, sizeof(base), "/proc/%d/task", owner);
	err = scan_dir(&scan, base, VDEV_THREAD_TASK);
	if (!err)
		err = scan_dir(&scan, "/proc", VDEV_THREAD_KTHREAD);
	return err ?: (int)scan.count;
}

/* A task whose name has no room for it shows its process anyway. */
void threads_name(pid_t owner, uint32_t dev, uint32_t worker, enum vdev_thread kind, char *name,
		  size_t size)
{
	int len = snprintf(name, size, PREFIX "%d-%u.%u", owner, dev, worker);

	if (kind == VDEV_THREAD_TASK && len > COMM_MAX)
		snprintf(name, size, PREFIX "%u.%u", dev, worker);
}

int threads_wait_count(pid_t owner, unsigned int count, int timeout_ms)
{
	uint64_t start = guest_now_ns();
	int found;

	for (;;) {
		found = threads_list(owner, NULL, 0);
		if (found < 0 || found == (int)count)
			return found < 0 ? found : 0;
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "process %d has %d worker threads, not %u",
					  owner, found, count);
		guest_sleep_ms(STEP_MS);
	}
}

static bool contains(const struct vthread *list, int count, pid_t tid)
{
	while (count-- > 0)
		if (list[count].tid == tid)
			return true;
	return false;
}

int threads_new(const struct vthread *before, int nr_before, const struct vthread *after,
		int nr_after, struct vthread *list, unsigned int max)
{
	int i, count = 0;

	for (i = 0; i < nr_after; i++) {
		if (contains(before, nr_before, after[i].tid))
			continue;
		if ((unsigned int)count < max)
			list[count] = after[i];
		count++;
	}
	return count;
}

int threads_wait_gone(pid_t pid, int timeout_ms)
{
	uint64_t start = guest_now_ns();
	unsigned int flags;
	char dir[32], state;

	snprintf(dir, sizeof(dir), "/proc/%d", pid);
	while (!read_stat(dir, &state, &flags) && state != 'Z' && state != 'X') {
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "process %d lives on in state %c", pid, state);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}
