// SPDX-License-Identifier: GPL-2.0
/*
 * cost.c - instructions that an I/O costs: guest's driver, vhost and LIO together
 *
 * For a VM in which a tick of the TSC is an executed instruction (one CPU, QEMU's -icount; boot -c). Then
 * the figure has no noise to speak of, and counts work, not waiting. Prints a line for each point:
 * DEPTH INSTRUCTIONS_PER_IO (median of three).
 */
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "lib/guest.h"

#define LUN_BYTES	(16 << 20)
#define REPEATS		3
#define BLOCKS		8	/* of a read: 4 KiB */

static const unsigned int depths[] = { 1, 4, 32 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure_once(struct vscsi *dev, unsigned int depth, double *cost)
{
	struct load_opts opts = {
		.dev = dev,
		.depth = depth,
		.batch = depth,
		.blocks = BLOCKS,
		.mode = LOAD_READ,
		.check = LOAD_CHECK_STAMP,
		.count = depth == 1 ? 2000 : 8000,
	};
	struct load_stats total;
	uint64_t start = __rdtsc();
	int err = load_run(&opts, &total);

	*cost = (double)(__rdtsc() - start) / total.completed;
	return err;
}

static int measure(struct vscsi *dev, unsigned int depth)
{
	double cost[REPEATS];
	unsigned int i;
	int err;

	/* The first is for caches and pages. */
	err = measure_once(dev, depth, &cost[0]);
	for (i = 0; i < REPEATS && !err; i++)
		err = measure_once(dev, depth, &cost[i]);
	if (err)
		return err;
	qsort(cost, REPEATS, sizeof(cost[0]), compare);
	printf("%u %.0f\n", depth, cost[REPEATS / 2]);
	return 0;
}

int main(void)
{
	struct load_opts fill = { .blocks = 64, .depth = 8, .mode = LOAD_FILL };
	struct lio_opts lio = { .size = LUN_BYTES };
	struct vscsi_opts opts = {
		.queues = 1,
		.ring_size = 128,
		.indirect = true,
		.event_idx = true,
		.thread = VDEV_THREAD_KTHREAD,	/* which all kernels have */
	};
	struct lio *target = NULL;
	unsigned int i;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	err = lio_create(&lio, &target);
	if (!err) {
		opts.wwpn = target->wwpn;
		err = vscsi_start(&opts, &fill.dev);
	}
	if (!err)
		err = load_run(&fill, NULL);
	for (i = 0; i < sizeof(depths) / sizeof(depths[0]) && !err; i++)
		err = measure(fill.dev, depths[i]);
	if (err)
		fprintf(stderr, "cost: %s\n", guest_error());
	vscsi_stop(fill.dev);
	lio_destroy(target);
	return err != 0;
}
