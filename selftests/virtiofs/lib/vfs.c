// SPDX-License-Identifier: GPL-2.0
/*
 * vfs.c - virtio-fs devices of the VM, as seen in sysfs and by the daemon behind them
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "error.h"
#include "put.h"
#include "vfs.h"

#define SYSFS		"/sys/fs/virtiofs"
#define DRIVER		"/sys/bus/virtio/drivers/virtiofs"
#define TEXT_MAX	8192

/* Read a file as text, without the newline at its end. */
static int read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0, n;

	if (fd < 0)
		return guest_fail(errno, "%s", path);
	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	close(fd);
	if (n < 0)
		return guest_fail(errno, "%s", path);
	buf[len] = '\0';
	if (len && buf[len - 1] == '\n')
		buf[len - 1] = '\0';
	return 0;
}

/* "0-2, 4" and the like. */
static void parse_cpus(const char *text, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last; first++)
			CPU_SET(first, cpus);
		text = end + strspn(end, ", ");
	}
}

/* --- modules and CPUs */

int vfs_set_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return put_text(path, online ? "1" : "0");
}

int vfs_nr_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int vfs_nr_possible(void)
{
	cpu_set_t cpus;
	char text[256];

	if (read_text("/sys/devices/system/cpu/possible", text, sizeof(text)))
		return -1;
	parse_cpus(text, &cpus);
	return CPU_COUNT(&cpus);
}

int vfs_load(void)
{
	if (system("modprobe -a virtio_pci virtiofs"))
		return guest_fail(ENOENT, "modprobe virtiofs");
	for (int cpu = 1; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		if (!access(path, W_OK))
			put_text(path, "1");
	}
	return 0;
}

int vfs_pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return guest_fail(errno, "run on CPU %d", cpu);
	return 0;
}

/* --- a device */

static int read_queue(int index, unsigned int vq, cpu_set_t *cpus)
{
	char path[96], text[TEXT_MAX];
	int err;

	snprintf(path, sizeof(path), SYSFS "/%d/mqs/%u/cpu_list", index, vq);
	if (access(path, F_OK))
		return -ENOENT;
	err = read_text(path, text, sizeof(text));
	if (!err)
		parse_cpus(text, cpus);
	return err;
}

static int read_queues(struct vfs *vfs)
{
	int err = read_queue(vfs->index, 0, &vfs->hiprio);

	vfs->nr_queues = 0;
	while (!err && vfs->nr_queues < VFS_MAX_QUEUES) {
		err = read_queue(vfs->index, vfs->nr_queues + 1, &vfs->cpus[vfs->nr_queues]);
		if (!err)
			vfs->nr_queues++;
	}
	if (err == -ENOENT && vfs->nr_queues)
		return 0;
	return guest_fail(ENOENT, "queues of device %d in " SYSFS, vfs->index);
}

int vfs_find(const char *tag, struct vfs *vfs)
{
	struct dirent *entry;
	DIR *dir = opendir(SYSFS);

	if (!dir)
		return guest_fail(errno, SYSFS);
	*vfs = (struct vfs){ .index = -1 };
	while ((entry = readdir(dir))) {
		char path[300], text[64];

		snprintf(path, sizeof(path), SYSFS "/%s/tag", entry->d_name);
		if (entry->d_name[0] != '.' && !read_text(path, text, sizeof(text)) &&
		    !strcmp(text, tag))
			vfs->index = atoi(entry->d_name);
	}
	closedir(dir);
	snprintf(vfs->tag, sizeof(vfs->tag), "%s", tag);
	if (vfs->index < 0)
		return guest_fail(ENOENT, "tag %s in " SYSFS, tag);
	return read_queues(vfs);
}

int vfs_mount(const char *tag, struct vfs *vfs)
{
	int err = vfs_find(tag, vfs);

	if (err)
		return err;
	snprintf(vfs->dir, sizeof(vfs->dir), "/tmp/%s", tag);
	mkdir(vfs->dir, 0755);
	if (mount(tag, vfs->dir, "virtiofs", 0, NULL)) {
		vfs->dir[0] = '\0';
		return guest_fail(errno, "mount of %s", tag);
	}
	return 0;
}

int vfs_umount(struct vfs *vfs)
{
	if (vfs->dir[0] && umount(vfs->dir))
		return guest_fail(errno, "unmount of %s", vfs->dir);
	vfs->dir[0] = '\0';
	return 0;
}

int vfs_queue_of(const struct vfs *vfs, int cpu)
{
	for (unsigned int queue = 0; queue < vfs->nr_queues; queue++)
		if (CPU_ISSET(cpu, &vfs->cpus[queue]))
			return queue;
	return -1;
}

static int change_driver(const char *file, int index)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), DRIVER "/%s", file);
	snprintf(name, sizeof(name), "virtio%d", index);
	return put_text(path, name);
}

int vfs_unbind(int index)
{
	return change_driver("unbind", index);
}

int vfs_bind(int index)
{
	return change_driver("bind", index);
}

bool vfs_is_bound(int index)
{
	char path[64];

	snprintf(path, sizeof(path), DRIVER "/virtio%d", index);
	return !access(path, F_OK);
}

int vfs_monitor(const struct vfs *by, const char *command)
{
	char path[96];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/monitor", by->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return guest_fail(errno, "%s", path);
	if (write(fd, command, strlen(command)) < 0)
		err = guest_fail(errno, "QEMU's answer to %s", command);
	close(fd);
	return err;
}

/* --- interrupts */

/* Find the line of /proc/interrupts of a virtqueue; the number before its colon, or an error. */
static int find_interrupt(int index, const char *name, char *line, size_t size)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char wanted[64];

	if (!file)
		return guest_fail(errno, "/proc/interrupts");
	snprintf(wanted, sizeof(wanted), " virtio%d-%s\n", index, name);
	while (fgets(line, size, file)) {
		size_t len = strlen(line), tail = strlen(wanted);

		if (len > tail && !strcmp(line + len - tail, wanted)) {
			fclose(file);
			return atoi(line);
		}
	}
	fclose(file);
	return guest_fail(ENOENT, "interrupt of virtio%d-%s", index, name);
}

int vfs_interrupts(const struct vfs *vfs, unsigned long *counts)
{
	char line[1024], name[32];

	for (unsigned int queue = 0; queue < vfs->nr_queues; queue++) {
		char *at;
		int irq;

		snprintf(name, sizeof(name), "requests.%u", queue);
		irq = find_interrupt(vfs->index, name, line, sizeof(line));
		if (irq < 0)
			return irq;
		counts[queue] = 0;
		at = strchr(line, ':') + 1;
		for (int cpu = 0; cpu < vfs_nr_online(); cpu++)
			counts[queue] += strtoul(at, &at, 10);
	}
	return 0;
}

int vfs_affinity(const struct vfs *vfs, const char *name, cpu_set_t *cpus)
{
	char text[TEXT_MAX], path[64];
	int irq = find_interrupt(vfs->index, name, text, sizeof(text)), err;

	if (irq < 0)
		return irq;
	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
	err = read_text(path, text, sizeof(text));
	if (!err)
		parse_cpus(text, cpus);
	return err;
}

int vfs_requests(const struct vfs *vfs, unsigned long *counts)
{
	char text[TEXT_MAX], *at = text;
	ssize_t len = getxattr(vfs->dir, "user.requests", text, sizeof(text) - 1);

	if (len < 0)
		return guest_fail(errno, "user.requests of %s", vfs->dir);
	text[len] = '\0';
	strtoul(at, &at, 10);	/* hiprio */
	for (unsigned int queue = 0; queue < vfs->nr_queues; queue++)
		counts[queue] = strtoul(at, &at, 10);
	return 0;
}

/* --- data */

/* What block @block of a file has to hold. */
static void fill(unsigned int *words, unsigned int block, unsigned int seed)
{
	for (unsigned int i = 0; i < VFS_BLOCK / sizeof(*words); i++)
		words[i] = (seed * 2654435761u) ^ (block << 10) ^ i;
}

static int write_blocks(int fd, void *buf, unsigned int blocks, unsigned int seed)
{
	for (unsigned int block = 0; block < blocks; block++) {
		fill(buf, block, seed);
		if (pwrite(fd, buf, VFS_BLOCK, (off_t)block * VFS_BLOCK) != VFS_BLOCK)
			return guest_fail(errno, "write of block %u", block);
	}
	return 0;
}

static int check_blocks(int fd, void *buf, void *wanted, unsigned int blocks, unsigned int seed)
{
	for (unsigned int block = 0; block < blocks; block++) {
		fill(wanted, block, seed);
		if (pread(fd, buf, VFS_BLOCK, (off_t)block * VFS_BLOCK) != VFS_BLOCK)
			return guest_fail(errno, "read of block %u", block);
		if (memcmp(buf, wanted, VFS_BLOCK))
			return guest_fail(EILSEQ, "block %u is not what was written", block);
	}
	return 0;
}

int vfs_io(const struct vfs *vfs, const char *name, unsigned int blocks, unsigned int seed)
{
	char path[128];
	void *bufs;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", vfs->dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	if (fd < 0)
		return guest_fail(errno, "%s", path);
	bufs = aligned_alloc(VFS_BLOCK, 2 * VFS_BLOCK);
	err = write_blocks(fd, bufs, blocks, seed);
	if (!err)
		err = check_blocks(fd, bufs, (char *)bufs + VFS_BLOCK, blocks, seed);
	free(bufs);
	close(fd);
	return err;
}
