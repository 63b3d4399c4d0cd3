// SPDX-License-Identifier: GPL-2.0
/*
 * Devices and workers as /proc shows them.
 *
 * A device is an open file of /dev/vhost-*, which several descriptors and
 * processes may share. A worker is a thread that the kernel named "vhost-PID" for
 * the thread that became the owner: a kernel thread, or one of the owner's. Which
 * of an owner's devices a thread serves cannot be seen.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "args.h"
#include "kmods.h"
#include "objects.h"
#include "proc.h"

#define DEV_PREFIX	"/dev/vhost-"
#define NAME_PREFIX	"vhost-"
#define PF_USER_WORKER	0x00004000	/* a thread that the kernel runs for a process */
#define PF_KTHREAD	0x00200000

/* An open file of a device. */
struct handle {
	uint32_t pid, fd;
	const char *backend;
};

struct scan {
	uint32_t pid;		/* the only owner of interest, or 0 */
	struct handle *handles;
	size_t nr_handles;
	unsigned int hidden;	/* processes whose files we may not see */
	struct rows workers;
};

static const char *const backends[] = { "scsi", "net", "vsock", "test" };

#define NR_BACKENDS (sizeof(backends) / sizeof(*backends))

/* --- files of /proc */

static int is_number(const struct dirent *entry)
{
	uint32_t number;

	return parse_u32(entry->d_name, &number);
}

/* Call @fn with each number that is a name in the directory, in order. False: cannot be read. */
typedef void number_fn(uint32_t number, void *arg);

static bool for_numbers(const char *dir, number_fn *fn, void *arg)
{
	struct dirent **names;
	uint32_t number;
	int nr = scandir(dir, &names, is_number, versionsort);

	if (nr < 0)
		return false;
	for (int i = 0; i < nr; i++) {
		if (parse_u32(names[i]->d_name, &number))
			fn(number, arg);
		free(names[i]);
	}
	free(names);
	return true;
}

/* The line of the file /proc/@pid/@file that starts with @key, without it; the caller frees it. */
static char *read_value(uint32_t pid, const char *file, const char *key)
{
	char *path = xasprintf("/proc/%u/%s", pid, file), line[4096], *value = NULL;
	FILE *in = fopen(path, "re");

	free(path);
	while (in && !value && fgets(line, sizeof(line), in)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		value = xasprintf("%s", line + strlen(key));
	}
	if (in)
		fclose(in);
	return value;
}

static uint32_t read_tgid(uint32_t tid)
{
	char *value = read_value(tid, "status", "Tgid:\t");
	uint32_t tgid = 0;

	if (value && !parse_u32(value, &tgid))
		tgid = 0;
	free(value);
	return tgid;
}

char *proc_cpus(uint32_t tid)
{
	return read_value(tid, "status", "Cpus_allowed_list:\t");
}

/* The flags of the thread; its name, which stands before them in parentheses, may hold anything. */
static unsigned int read_flags(uint32_t tid)
{
	char *value = read_value(tid, "stat", ""), *end;
	unsigned int flags = 0;

	end = value ? strrchr(value, ')') : NULL;
	if (end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	free(value);
	return flags;
}

/* --- threads */

static void set_u32(struct record *rec, unsigned int attr, uint32_t *slot, uint32_t value)
{
	*slot = value;
	record_set(rec, attr);
}

static void set_text(struct record *rec, unsigned int attr, char **slot, char *text)
{
	*slot = text;
	if (text)
		record_set(rec, attr);
}

static void add_worker(struct scan *scan, uint32_t tid, uint32_t owner, uint32_t kind)
{
	struct worker *worker;
	struct record *rec;

	if (scan->pid && scan->pid != owner)
		return;
	worker = rows_add(&scan->workers);
	rec = &worker->rec;
	set_u32(rec, VHOST_A_WORKER_TID, &worker->tid, tid);
	set_u32(rec, VHOST_A_WORKER_THREAD_KIND, &worker->thread_kind, kind);
	set_text(rec, VHOST_A_WORKER_CPUS, &worker->cpus, proc_cpus(tid));
	set_u32(rec, WORKER_OWNER_PID, &worker->owner_pid, owner);
	if (owner)
		set_text(rec, WORKER_OWNER_COMM, &worker->owner_comm,
			 printable(read_value(owner, "comm", "")));
}

/* Has thread @tid a worker's name? If it names a thread of the owner, that is *@pid, else 0. */
static bool is_named_vhost(uint32_t tid, uint32_t *pid)
{
	char *name = read_value(tid, "comm", NAME_PREFIX);
	char *end = name ? name + strspn(name, "0123456789") : NULL;
	bool good = name && end != name && (!*end || *end == '-' || *end == '.');

	*pid = 0;
	if (good && *end != '.') {
		*end = '\0';
		good = parse_u32(name, pid);
	}
	free(name);
	return good;
}

struct task_scan {
	struct scan *scan;
	uint32_t pid;
};

static void look_at_thread(uint32_t tid, void *arg)
{
	struct task_scan *task = arg;
	uint32_t named;

	if (is_named_vhost(tid, &named) && read_flags(tid) & PF_USER_WORKER)
		add_worker(task->scan, tid, task->pid, VHOST_THREAD_KIND_TASK);
}

/* --- open files */

static void look_at_fd(uint32_t fd, void *arg)
{
	struct task_scan *task = arg;
	struct scan *scan = task->scan;
	char path[64], target[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", task->pid, fd);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return;
	target[len] = '\0';
	if (strncmp(target, DEV_PREFIX, strlen(DEV_PREFIX)))
		return;
	for (size_t i = 0; i < NR_BACKENDS; i++) {
		if (strcmp(target + strlen(DEV_PREFIX), backends[i]))
			continue;
		scan->handles = xrealloc(scan->handles, scan->nr_handles + 1,
					 sizeof(*scan->handles));
		scan->handles[scan->nr_handles++] =
			(struct handle){ .pid = task->pid, .fd = fd, .backend = backends[i] };
	}
}

static bool is_same_file(const struct handle *a, const struct handle *b)
{
	return a->backend == b->backend &&
	       !syscall(SYS_kcmp, a->pid, b->pid, KCMP_FILE, a->fd, b->fd);
}

static void look_at_process(uint32_t pid, void *arg)
{
	struct scan *scan = arg;
	struct task_scan task = { scan, pid };
	char path[64];
	uint32_t named;

	if (read_flags(pid) & PF_KTHREAD) {
		if (is_named_vhost(pid, &named))
			add_worker(scan, pid, named ? read_tgid(named) : 0,
				   VHOST_THREAD_KIND_KTHREAD);
		return;
	}
	if (scan->pid && scan->pid != pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	for_numbers(path, look_at_thread, &task);
	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	if (!for_numbers(path, look_at_fd, &task) && errno == EACCES)
		scan->hidden++;
}

/* DEV must be a pid, with or without the word: *@pid, or 0 for no DEV at all. */
static int parse_pid(const char *text, uint32_t *pid)
{
	*pid = 0;
	if (!text)
		return 0;
	if (!strncmp(text, "pid:", strlen("pid:")))
		text += strlen("pid:");
	if (parse_u32(text, pid) && *pid)
		return 0;
	return fail(EXIT_LACKING,
		    "without control only the pid of an owner names a device, not '%s'",
		    text);
}

/* Look at all processes, for the owner that the argument DEV @text means, or all for NULL. */
static int scan_all(const char *text, struct scan *scan)
{
	int code;

	*scan = (struct scan){ .workers.object = &worker_object };
	kmods_lacking();
	code = parse_pid(text, &scan->pid);
	if (!code && !for_numbers("/proc", look_at_process, scan))
		code = fail_errno(EXIT_REFUSED, errno, "/proc");
	return code;
}

static void scan_free(struct scan *scan)
{
	free(scan->handles);
	rows_free(&scan->workers);
}

/* --- devices */

/* How many threads the process owns; *@kind is what they are. */
static uint32_t count_workers(const struct scan *scan, uint32_t pid, uint32_t *kind)
{
	const struct worker *worker;
	uint32_t count = 0;

	for_each_row(worker, &scan->workers) {
		if (worker->owner_pid != pid)
			continue;
		*kind = worker->thread_kind;
		count++;
	}
	return count;
}

/* Is it the same device as an earlier one of a process that owns threads? */
static bool is_repeated(const struct scan *scan, size_t index)
{
	uint32_t kind;

	for (size_t i = 0; i < index; i++)
		if (is_same_file(&scan->handles[i], &scan->handles[index]) &&
		    count_workers(scan, scan->handles[i].pid, &kind))
			return true;
	return false;
}

static void add_dev(const struct handle *handle, uint32_t kind, struct rows *devs)
{
	struct dev *dev = rows_add(devs);
	struct record *rec = &dev->rec;

	set_text(rec, VHOST_A_DEV_BACKEND, &dev->backend, xasprintf("%s", handle->backend));
	set_u32(rec, VHOST_A_DEV_OWNER_PID, &dev->owner_pid, handle->pid);
	set_text(rec, VHOST_A_DEV_OWNER_COMM, &dev->owner_comm,
		 printable(read_value(handle->pid, "comm", "")));
	set_u32(rec, VHOST_A_DEV_THREAD_KIND, &dev->thread_kind, kind);
}

/* The device has all of its owner's workers if it is the owner's only one. */
static void count_for_devs(const struct scan *scan, struct rows *devs)
{
	struct dev *dev, *other;

	for_each_row(dev, devs) {
		unsigned int siblings = 0;
		uint32_t kind;

		for_each_row(other, devs)
			siblings += other->owner_pid == dev->owner_pid;
		if (siblings == 1)
			set_u32(&dev->rec, VHOST_A_DEV_WORKERS, &dev->workers,
				count_workers(scan, dev->owner_pid, &kind));
	}
}

/* --- both */

static void warn_of_hidden(const struct scan *scan)
{
	if (scan->hidden)
		warn("the open files of %u processes may not be read, "
		     "as root all devices would be seen",
		     scan->hidden);
}

static int check_found(const struct rows *rows, const struct scan *scan)
{
	if (!scan->pid || rows->nr)
		return 0;
	return fail(EXIT_USAGE, "process %u is not seen to own a vhost device", scan->pid);
}

int proc_devs(const char *text, struct rows *devs)
{
	struct scan scan;
	uint32_t kind;
	int code = scan_all(text, &scan);

	*devs = (struct rows){ .object = &dev_object };
	for (size_t i = 0; i < scan.nr_handles; i++)
		if (count_workers(&scan, scan.handles[i].pid, &kind) && !is_repeated(&scan, i))
			add_dev(&scan.handles[i], kind, devs);
	count_for_devs(&scan, devs);
	if (!code) {
		warn_of_hidden(&scan);
		code = check_found(devs, &scan);
	}
	scan_free(&scan);
	return code;
}

int proc_workers(const char *text, struct rows *workers)
{
	struct scan scan;
	int code = scan_all(text, &scan);

	*workers = scan.workers;
	scan.workers.data = NULL;
	scan.workers.nr = 0;
	scan_free(&scan);
	return code ? code : check_found(workers, &scan);
}
