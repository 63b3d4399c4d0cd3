// SPDX-License-Identifier: GPL-2.0
/*
 * many.c - how long it takes to list many devices with all their workers and virtqueues
 *
 * Opens devices that have an owner and nothing else, and runs vhost-ctl on them. Prints a line for each:
 * OBJECT OBJECTS MILLISECONDS (median; a process each time).
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
#define REPEATS		5

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

static int time_show(char *object, unsigned int objects)
{
	double took[REPEATS];
	unsigned int i;

	for (i = 0; i < REPEATS; i++) {
		took[i] = show(object);
		if (took[i] < 0)
			return 1;
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
	printf("%s %u %.1f\n", object, objects, took[REPEATS / 2]);
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

int main(void)
{
	int i, fd, err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < DEVICES; i++) {
		fd = vdev_open(VDEV_SCSI);
		if (fd < 0 || vdev_set_owner(fd)) {
			fprintf(stderr, "many: device %d: %s\n", i, guest_error());
			return 1;
		}
	}
	err = time_show("dev", DEVICES) || time_show("worker", DEVICES) ||
	      time_show("vq", DEVICES * VQS) || time_dump();
	return err;
}
