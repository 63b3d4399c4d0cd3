/* SPDX-License-Identifier: GPL-2.0 */
/*
 * storm.h - threads that do one thing again and again, with a watchdog; and what tests of live devices
 * ask of them: map changes, resets, flushes, random numbers, the CPU time of threads, the kernel's log
 *
 * A round that takes longer than the storm's limit is a hang: storm_run() then names the thread, and
 * the process had better end (the thread is likely to be in the kernel for good).
 */
#ifndef GUEST_STORM_H
#define GUEST_STORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "load.h"

struct storm {
	const char *name;
	int (*round)(struct storm *storm);	/* once: 0, or -errno, which ends it */
	void *arg;
	uint64_t least;		/* rounds that storm_run() waits for */
	unsigned int seed;	/* of storm_random(); not 0 after the start */
	uint64_t rounds;	/* done so far */
	/* private */
	int error;
	char text[160];
	uint64_t began_ns;	/* of the round under way */
	bool stop, ended, started;
	pthread_t thread;
};

/* Start a thread. Set name, round, arg before. */
int storm_start(struct storm *storm);

/*
 * Tell @n storms to stop and wait for them, @stall_ms at most. 0; -ETIMEDOUT when one hangs; else the
 * first error of a round. guest_error() names the storm.
 */
int storm_stop(struct storm *storms, unsigned int n, unsigned int stall_ms);

/* 0 while all are well, as storm_stop() otherwise. */
int storm_check(const struct storm *storms, unsigned int n, unsigned int stall_ms);

/*
 * Start @n storms, let them rage for @run_ms, and on until each has done the rounds that it must at
 * least: -ETIME when that takes several times as long. Then stop them. @load (may be NULL) is watched as well: its
 * number of completed requests must grow within @stall_ms.
 */
int storm_run(struct storm *storms, unsigned int n, unsigned int run_ms, unsigned int stall_ms,
	      struct load *load);

uint32_t storm_random(struct storm *storm, uint32_t below);
uint64_t storm_rounds(const struct storm *storm);

/* Moves virtqueues between workers: a round is one ATTACH of a random pair. */
#define SWAP_MAX	16

struct swap_map {
	int fd;
	unsigned int nr_vqs, nr_workers;
	uint32_t vqs[SWAP_MAX], workers[SWAP_MAX];
};

int swap_round(struct storm *storm);	/* arg: struct swap_map */

/* Make workers until @map has @count of them, worker 0 included (which exists). */
int swap_make_workers(struct swap_map *map, unsigned int count);

/* LUN RESET, the answer awaited; arg: struct reset_map. */
struct reset_map {
	struct vscsi *dev;
	unsigned int lun;
	struct load *load;	/* told of the reset; may be NULL */
};

int reset_round(struct storm *storm);

/* A flush of all workers: any ioctl of the common part ends with one; arg: struct vscsi. */
int flush_round(struct storm *storm);

/* Grace periods that take microseconds instead of milliseconds, for hotter races. */
int storm_expedite(bool on);

/* Worker threads in the whole system (kthreads) and in this process; -errno. */
int storm_count_threads(void);
int storm_wait_threads(int count, int timeout_ms);

/* CPU time of a thread in ns, from schedstat; -errno. */
int64_t storm_cpu_ns(pid_t tid);

/* Lines in the kernel's log since storm_log_open(). */
int storm_log_open(void);
int storm_log_lines(int fd);
/* Those of them that contain @words. */
int storm_log_count(int fd, const char *words);

#endif /* GUEST_STORM_H */
