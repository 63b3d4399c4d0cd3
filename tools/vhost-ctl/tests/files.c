// SPDX-License-Identifier: GPL-2.0
/*
 * Files, modules and time of a host that is a directory: see stage.h.
 *
 * The file /same of that directory says which descriptors are the same open
 * file, as "PID FD PID FD".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "stage.h"

/* The C library has it but no header declares it. */
int init_module(void *image, unsigned long len, const char *options);

static const char *const prefixes[] = {
	"/proc/", "/sys/", "/lib/modules", "/etc/modprobe.d", "/run/modprobe.d",
	"/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d",
};

#define NR_PREFIXES (sizeof(prefixes) / sizeof(*prefixes))
#define NS_PER_S 1000000000LL

static const char *root;
static int64_t now_ns = NS_PER_S;	/* moves only by sleeping */

REAL(fopen)
REAL(open)
REAL(openat)
REAL(opendir)
REAL(scandir)
REAL(readlink)
REAL(stat)
REAL(setmntent)
REAL(syscall)
REAL(init_module)
REAL(uname)
REAL(clock_gettime)
REAL(clock_nanosleep)
REAL(nanosleep)

__attribute__((constructor)) static void find_root(void)
{
	root = getenv("VHOST_CTL_ROOT");
}

/* Where the file is; @buf may be used for that. */
static const char *staged(const char *path, char *buf)
{
	bool known = !strcmp(path, "/proc");

	for (size_t i = 0; i < NR_PREFIXES; i++)
		known |= !strncmp(path, prefixes[i], strlen(prefixes[i]));
	if (!root || !known)
		return path;
	if (snprintf(buf, PATH_MAX, "%s%s", root, path) >= PATH_MAX)
		stage_stop("too long: ", path);
	return buf;
}

FILE *fopen(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	return real_fopen()(staged(path, buf), mode);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	char buf[PATH_MAX];
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return real_open()(staged(path, buf), flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	char buf[PATH_MAX];
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return real_openat()(dir, staged(path, buf), flags, mode);
}

DIR *opendir(const char *path)
{
	char buf[PATH_MAX];

	return real_opendir()(staged(path, buf));
}

int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	char buf[PATH_MAX];

	return real_scandir()(staged(path, buf), names, filter, compare);
}

ssize_t readlink(const char *path, char *target, size_t size)
{
	char buf[PATH_MAX];

	return real_readlink()(staged(path, buf), target, size);
}

int stat(const char *path, struct stat *st)
{
	char buf[PATH_MAX];

	return real_stat()(staged(path, buf), st);
}

FILE *setmntent(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	return real_setmntent()(staged(path, buf), mode);
}

/* --- system calls that would reach the real host */

static bool is_same_file(long a, long b, long fd_a, long fd_b)
{
	long pid1, fd1, pid2, fd2;
	char path[PATH_MAX];
	bool same = false;
	FILE *in;

	snprintf(path, sizeof(path), "%s/same", root);
	in = real_fopen()(path, "re");
	while (in && !same && fscanf(in, "%ld %ld %ld %ld", &pid1, &fd1, &pid2, &fd2) == 4)
		same = pid1 == a && fd1 == fd_a && pid2 == b && fd2 == fd_b;
	if (in)
		fclose(in);
	return same;
}

static int refuse(void)
{
	errno = EPERM;
	return -1;
}

long syscall(long number, ...)
{
	long args[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	if (root && number == SYS_kcmp)
		return !is_same_file(args[0], args[1], args[3], args[4]);
	if (root && (number == SYS_finit_module || number == SYS_init_module))
		return refuse();
	return real_syscall()(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

int init_module(void *image, unsigned long len, const char *options)
{
	return root ? refuse() : real_init_module()(image, len, options);
}

int uname(struct utsname *name)
{
	int err = real_uname()(name);
	FILE *in = err || !root ? NULL : fopen("/proc/sys/kernel/osrelease", "re");

	if (in && fgets(name->release, sizeof(name->release), in))
		name->release[strcspn(name->release, "\n")] = '\0';
	if (in)
		fclose(in);
	return err;
}

/* --- time */

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!root || clock != CLOCK_MONOTONIC)
		return real_clock_gettime()(clock, time);
	*time = timespec_of(now_ns);
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
		    struct timespec *left)
{
	if (!root || !(flags & TIMER_ABSTIME))
		return real_clock_nanosleep()(clock, flags, until, left);
	now_ns = until->tv_sec * NS_PER_S + until->tv_nsec;
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return root ? 0 : real_nanosleep()(time, left);
}
