// SPDX-License-Identifier: GPL-2.0
/*
 * policies.c - what the default policies cost: time and memory of many devices whose queues come
 * into use
 *
 * Each device is a vhost-scsi with an owner, and gets a kick eventfd for its control and event queue
 * and for each I/O queue, as from a VMM at the start of a guest. Prints a line for each policy:
 * POLICY WORKERS OWNER_MS KICK_MS CLOSE_MS MEMORY_KIB. Memory is what is not free any more when all
 * queues are in use, beyond what the devices need with one worker and no queue in use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/guest.h"
#include "lib/abi.h"
#include "lib/put.h"
#include "lib/vctl.h"

#define DEVICES		101
#define QUEUES		32
#define VQS		(VDEV_SCSI_VQ_IO + QUEUES)
#define SETTLE_MS	300

static int fds[DEVICES], kick;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static long free_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "MemFree: %ld kB", &kib);
	if (file)
		fclose(file);
	return kib;
}

static int own(void)
{
	int i;

	for (i = 0; i < DEVICES; i++) {
		fds[i] = vdev_open(VDEV_SCSI);
		if (fds[i] < 0 || vdev_set_owner(fds[i]))
			return 1;
	}
	return 0;
}

static int use(void)
{
	struct vhost_vring_file file = { .fd = kick };
	int i;

	for (i = 0; i < DEVICES; i++)
		for (file.index = 0; file.index < VQS; file.index++)
			if (ioctl(fds[i], VHOST_SET_VRING_KICK, &file))
				return 1;
	return 0;
}

static void end(void)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		close(fds[i]);
}

/* All of them as they should be. */
static int count_workers(void)
{
	static struct vctl_dev devs[DEVICES];
	int workers = 0, n, i;
	struct vctl v;

	if (vctl_open(&v))
		return -1;
	n = vctl_devs(&v, devs, DEVICES);
	for (i = 0; i < n; i++)
		workers += devs[i].policy_failed ? -1000000 : (int)devs[i].workers;
	vctl_close(&v);
	return n == DEVICES ? workers : -1;
}

static int measure(const char *policy)
{
	double start = now_ms(), owned, used, closed;
	long before, after;
	int workers;

	if (put_text(PUT_DEFAULT_WORKERS, policy) || own())
		return 1;
	owned = now_ms() - start;
	guest_sleep_ms(SETTLE_MS);
	before = free_kib();
	start = now_ms();
	if (use())
		return 1;
	used = now_ms() - start;
	guest_sleep_ms(SETTLE_MS);
	after = free_kib();
	workers = count_workers();
	start = now_ms();
	end();
	closed = now_ms() - start;
	printf("%s %d %.0f %.0f %.0f %ld\n", policy, workers, owned, used, closed, before - after);
	return workers < DEVICES;
}

int main(void)
{
	static const char *const policies[] = { "single", "4", "per-cpu", "per-vq" };
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	kick = eventfd(0, EFD_CLOEXEC);
	/* What is allocated once and kept is no policy's. */
	if (put_text(PUT_DEFAULT_WORKERS, "per-vq") || own() || use())
		goto fail;
	end();
	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (measure(policies[i]))
			goto fail;
	return put_text(PUT_DEFAULT_WORKERS, "single") ? 1 : 0;
fail:
	fprintf(stderr, "policies: %s\n", guest_error());
	return 1;
}
