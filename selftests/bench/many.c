// SPDX-License-Identifier: GPL-2.0
/*
 * many.c - how long it takes to list many devices with all their workers and virtqueues
 *
 * many PREFIX         opens devices that have an owner and nothing else, and runs vhost-ctl on them;
 *                     writes down what the kernel said, to PREFIX.OBJECT
 * many replay PREFIX  the same vhost-ctl on what was written down: on a machine that emulates nothing,
 *                     and without any kernel
 *
 * Prints a line for each: OBJECT OBJECTS MILLISECONDS (median; a process each time). The preloaded
 * library STAGE writes down and plays.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/guest.h"
#include "lib/vctl.h"

#define DEVICES		64
#define VQS		130
#define REPEATS		9
#define PATH_SIZE	256

extern char **environ;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* vhost-ctl OBJECT show, its output thrown away; milliseconds, or -1. */
static double show(char *object)
{
	char *argv[] = { "vhost-ctl", object, "show", NULL };
	posix_spawn_file_actions_t actions;
	double start = now_ms();
	int status, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err || waitpid(pid, &status, 0) < 0 || status) {
		fprintf(stderr, "many: vhost-ctl %s show failed\n", object);
		return -1;
	}
	return now_ms() - start;
}

static const struct {
	char		*name;
	unsigned int	number;
} objects[] = {
	{ "dev",	DEVICES },
	{ "worker",	DEVICES },
	{ "vq",		DEVICES * VQS },
};

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

/* vhost-ctl with the library, which @role, its variable, tells what to do with a file. */
static double show_staged(char *object, const char *role, const char *prefix)
{
	const char *stage = getenv("STAGE");
	char path[PATH_SIZE], mark[PATH_SIZE + 4];
	double ms;

	if (!stage) {
		fprintf(stderr, "many: STAGE does not name the library\n");
		return -1;
	}
	snprintf(path, sizeof(path), "%s.%s", prefix, object);
	/* Each process begins at the beginning, not where the last one stopped. */
	snprintf(mark, sizeof(mark), "%s.at", path);
	unlink(mark);
	setenv(role, path, 1);
	setenv("LD_PRELOAD", stage, 1);
	ms = show(object);
	unsetenv("LD_PRELOAD");
	unsetenv(role);
	unlink(mark);
	return ms;
}

static int time_show(const char *replay)
{
	double took[REPEATS];
	unsigned int o, i;

	for (o = 0; o < OBJECTS; o++) {
		for (i = 0; i < REPEATS; i++) {
			took[i] = replay ?
				  show_staged(objects[o].name, "VHOST_CTL_REPLAY", replay) :
				  show(objects[o].name);
			if (took[i] < 0)
				return 1;
		}
		qsort(took, REPEATS, sizeof(took[0]), compare);
		printf("%s %u %.1f\n", objects[o].name, objects[o].number, took[REPEATS / 2]);
	}
	return 0;
}

static int write_down(const char *prefix)
{
	unsigned int o;

	for (o = 0; o < OBJECTS; o++)
		if (show_staged(objects[o].name, "VHOST_CTL_RECORD", prefix) < 0)
			return 1;
	return 0;
}

/* The kernel's part alone: a dump, read and taken apart. */
static int time_dump(void)
{
	static struct vctl_vq list[1];
	double took[REPEATS];
	struct vctl v;
	unsigned int i;
	int n = 0;

	if (vctl_open(&v))
		return 1;
	for (i = 0; i < REPEATS; i++) {
		took[i] = now_ms();
		n = vctl_vqs(&v, 0, list, 1);
		took[i] = now_ms() - took[i];
	}
	vctl_close(&v);
	qsort(took, REPEATS, sizeof(took[0]), compare);
	printf("vq-get-dump %d %.1f\n", n, took[REPEATS / 2]);
	return n != DEVICES * VQS;
}

int main(int argc, char *argv[])
{
	int i, fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "replay"))
		return time_show(argv[2]);
	if (argc != 2) {
		fprintf(stderr, "usage: many [replay] PREFIX\n");
		return 1;
	}
	for (i = 0; i < DEVICES; i++) {
		fd = vdev_open(VDEV_SCSI);
		if (fd < 0 || vdev_set_owner(fd)) {
			fprintf(stderr, "many: device %d: %s\n", i, guest_error());
			return 1;
		}
	}
	return time_show(NULL) || time_dump() || write_down(argv[1]);
}
