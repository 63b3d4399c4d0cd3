// SPDX-License-Identifier: GPL-2.0
/*
 * qsd.c - a disk of qemu-storage-daemon, by VDUSE and virtio_vdpa a block device of this kernel
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/vduse.h>

#include "error.h"
#include "put.h"
#include "qsd.h"
#include "shell.h"

#define FILE_PATH	"/tmp/" QSD_NAME ".img"
#define RECORD_PATH	"/tmp/vduse-blk-" QSD_NAME	/* where the daemon notes what is in flight */
#define LOG_PATH	"/tmp/" QSD_NAME ".log"
#define CONTROL		"/dev/vduse/control"
#define DEVICE		"/dev/vduse/" QSD_NAME
#define BUS		"/sys/bus/vdpa/"
#define WAIT_MS		guest_patience(15000)
#define TIMEOUT_S	"1"		/* how long the kernel waits for a daemon that is gone */

/* --- small things */

static int run(const char *line)
{
	char out[512];
	int code = shell_run(out, sizeof(out), "%s 2>&1", line);

	if (code < 0)
		return code;
	return code ? guest_fail(EIO, "'%s' ends with %d: %s", line, code, out) : 0;
}

/* Wait until @path is there. */
static int wait_path(const char *path)
{
	uint64_t start = guest_now_ns();

	while (access(path, F_OK)) {
		if (!guest_left_ms(start, WAIT_MS))
			return guest_fail(ETIMEDOUT, "%s is missing", path);
		guest_sleep_ms(20);
	}
	return 0;
}

int qsd_put(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), QSD_DIR "/%s", file);
	return put_text(path, text);
}

int qsd_get(const char *file, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), QSD_DIR "/%s", file);
	return put_read(path, text, size);
}

/* --- the daemon */

static int start_daemon(struct qsd *q)
{
	char export[200];
	int log;

	snprintf(export, sizeof(export), "vduse-blk,id=" QSD_NAME ",name=" QSD_NAME
		 ",node-name=d0,num-queues=%u,queue-size=128,writable=on", q->queues);
	q->daemon = fork();
	if (q->daemon < 0)
		return guest_fail(errno, "fork");
	if (!q->daemon) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		log = open(LOG_PATH, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(log, 1);
		dup2(log, 2);
		execlp("qemu-storage-daemon", "qemu-storage-daemon", "--blockdev",
		       "file,node-name=d0,filename=" FILE_PATH, "--export", export, NULL);
		_exit(127);
	}
	return 0;
}

/* It has the device open: from then on it answers. */
static int wait_daemon(struct qsd *q)
{
	uint64_t start = guest_now_ns();
	int fd;

	while ((fd = qsd_take_fd(q)) < 0) {
		if (waitpid(q->daemon, NULL, WNOHANG)) {
			q->daemon = 0;
			return guest_fail(ECHILD, "qemu-storage-daemon has ended, see " LOG_PATH);
		}
		if (!guest_left_ms(start, WAIT_MS))
			return fd;
		guest_sleep_ms(20);
	}
	close(fd);
	return 0;
}

static int end_daemon(struct qsd *q, int signal)
{
	uint64_t start = guest_now_ns();

	if (!q->daemon)
		return 0;
	kill(q->daemon, signal);
	while (!waitpid(q->daemon, NULL, WNOHANG)) {
		if (!guest_left_ms(start, WAIT_MS))
			return guest_fail(ETIMEDOUT, "qemu-storage-daemon does not end");
		guest_sleep_ms(10);
	}
	q->daemon = 0;
	return 0;
}

int qsd_kill(struct qsd *q)
{
	return end_daemon(q, SIGKILL);
}

int qsd_restart(struct qsd *q)
{
	return start_daemon(q) ?: wait_daemon(q);
}

int qsd_take_fd(const struct qsd *q)
{
	char dir_path[64], path[400], target[64];
	int pidfd = syscall(SYS_pidfd_open, q->daemon, 0), fd = -ENOENT;
	struct dirent *entry;
	DIR *dir;

	snprintf(dir_path, sizeof(dir_path), "/proc/%d/fd", q->daemon);
	dir = opendir(dir_path);
	while (dir && fd == -ENOENT && (entry = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", dir_path, entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		if (!strcmp(target, DEVICE))
			fd = syscall(SYS_pidfd_getfd, pidfd, atoi(entry->d_name), 0);
	}
	if (dir)
		closedir(dir);
	close(pidfd);
	return fd < 0 ? guest_fail(ENOENT, "the daemon has not opened " DEVICE) : fd;
}

/* --- the device */

/* The name of the only thing in @dir that begins with @prefix. */
static int find(const char *dir_path, const char *prefix, char *name, size_t size)
{
	DIR *dir = opendir(dir_path);
	struct dirent *entry;
	int err = -ENOENT;

	if (!dir)
		return -errno;
	while (err && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix))) {
			snprintf(name, size, "%.*s", (int)size - 1, entry->d_name);
			err = 0;
		}
	closedir(dir);
	return err;
}

static int find_disk(struct qsd *q)
{
	char path[200] = BUS "devices/" QSD_NAME, name[20];
	uint64_t start = guest_now_ns();

	for (;;) {
		size_t n = strlen(BUS "devices/" QSD_NAME);

		if (!find(path, "virtio", name, sizeof(name))) {
			snprintf(path + n, sizeof(path) - n, "/%s/block", name);
			if (!find(path, "vd", name, sizeof(name)))
				break;
			path[n] = 0;
		}
		if (!guest_left_ms(start, WAIT_MS))
			return guest_fail(ETIMEDOUT, "no disk below %s", path);
		guest_sleep_ms(20);
	}
	snprintf(q->disk, sizeof(q->disk), "/dev/%s", name);
	return wait_path(q->disk);
}

/* A device goes to the driver that was loaded first, unless it goes to none by itself. */
int qsd_add(struct qsd *q)
{
	int err = put_text(BUS "drivers_autoprobe", "0") ?:
		  run(QSD_VDPA " dev add name " QSD_NAME " mgmtdev vduse");

	put_text(BUS "drivers_autoprobe", "1");
	return err ?: put_text(BUS "drivers/virtio_vdpa/bind", QSD_NAME) ?: find_disk(q);
}

int qsd_del(struct qsd *q)
{
	q->disk[0] = 0;
	return run(QSD_VDPA " dev del " QSD_NAME);
}

/* The daemon does this itself unless it was killed. */
static int destroy(void)
{
	char name[VDUSE_NAME_MAX] = QSD_NAME;
	int fd, err = 0;

	if (access(DEVICE, F_OK))
		return 0;
	fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, VDUSE_DESTROY_DEV, name))
		err = guest_fail(errno, "VDUSE_DESTROY_DEV " QSD_NAME);
	close(fd);
	return err;
}

/*
 * What is left of a test that was broken off, whose daemon has ended with it. Another has to answer the
 * requests that were in flight, or the disk never goes.
 */
static int remove_leftovers(struct qsd *q)
{
	if (access(DEVICE, F_OK))
		return 0;
	return qsd_restart(q) ?: qsd_stop(q);
}

int qsd_start(struct qsd *q, unsigned int queues, unsigned int mb)
{
	char line[64];
	int err;

	*q = (struct qsd){ .queues = queues };
	err = remove_leftovers(q);
	if (err)
		return err;
	unlink(FILE_PATH);
	unlink(RECORD_PATH);
	snprintf(line, sizeof(line), "truncate -s %uM " FILE_PATH, mb);
	return run("modprobe -a vduse virtio_blk virtio_vdpa") ?: run(line) ?: qsd_restart(q);
}

int qsd_stop(struct qsd *q)
{
	int err = 0;

	if (!q->daemon)
		qsd_put("msg_timeout", TIMEOUT_S);
	if (!access(BUS "devices/" QSD_NAME, F_OK))
		err = qsd_del(q);
	err = err ?: end_daemon(q, SIGTERM) ?: destroy();
	unlink(FILE_PATH);
	return err;
}
