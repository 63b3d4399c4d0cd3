// SPDX-License-Identifier: GPL-2.0
/*
 * vduse_queues.c - a disk of qemu-storage-daemon with one virtqueue, and with one for each CPU
 *
 * Threads on every CPU read blocks as fast as they get them. One queue and many take turns, so that what
 * else the host does meets both. Prints a line for each turn: QUEUES IOPS TICKS_PER_IO. Ticks are of the TSC: in
 * a VM that counts, executed instructions of all CPUs together.
 *
 * usage: vduse_queues ROUNDS MILLISECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#include "lib/error.h"
#include "lib/qsd.h"

#define DISK_MB		16
#define PER_CPU		4	/* threads, each with a read in flight */
#define MAX_CPUS	16
#define BLOCK		4096
#define BLOCKS		(DISK_MB * 1024 * 1024 / BLOCK)

struct reader {
	pthread_t thread;
	unsigned int cpu;
	int fd, err;
	unsigned long reads;
};

static atomic_bool stop;

static void *read_all(void *arg)
{
	struct reader *me = arg;
	unsigned int seed = me->cpu;
	void *block = aligned_alloc(BLOCK, BLOCK);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(me->cpu, &set);
	if (!block || sched_setaffinity(0, sizeof(set), &set))
		me->err = -errno;
	while (!me->err && !stop) {
		off_t at = (off_t)(rand_r(&seed) % BLOCKS) * BLOCK;

		if (pread(me->fd, block, BLOCK, at) == BLOCK)
			me->reads++;
		else
			me->err = guest_fail(errno, "read");
	}
	free(block);
	return NULL;
}

static int measure(const char *disk, unsigned int cpus, unsigned int ms, unsigned int queues)
{
	struct reader readers[MAX_CPUS * PER_CPU] = { 0 };
	unsigned int i, n = cpus * PER_CPU;
	int fd = open(disk, O_RDONLY | O_DIRECT | O_CLOEXEC), err = 0;
	unsigned long reads = 0;
	uint64_t ns, ticks;

	if (fd < 0)
		return guest_fail(errno, "%s", disk);
	stop = false;
	ns = guest_now_ns();
	ticks = __rdtsc();
	for (i = 0; i < n; i++) {
		readers[i].cpu = i % cpus;
		readers[i].fd = fd;
		if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]))
			return guest_fail(EAGAIN, "thread %u", i);
	}
	guest_sleep_ms(ms);
	stop = true;
	for (i = 0; i < n; i++) {
		pthread_join(readers[i].thread, NULL);
		reads += readers[i].reads;
		err = err ?: readers[i].err;
	}
	ticks = __rdtsc() - ticks;
	ns = guest_now_ns() - ns;
	close(fd);
	if (!err && !reads)
		err = guest_fail(EIO, "no read ended");
	if (!err)
		printf("%u %.0f %.0f\n", queues, reads * 1e9 / ns, (double)ticks / reads);
	return err;
}

static int turn(unsigned int cpus, unsigned int queues, unsigned int ms)
{
	struct qsd disk;
	int err = qsd_start(&disk, queues, DISK_MB) ?: qsd_add(&disk);

	err = err ?: measure(disk.disk, cpus, ms, queues);
	return qsd_stop(&disk) ?: err;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err = 0;

	if (argc != 3 || cpus > MAX_CPUS)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int round = 0; round < atoi(argv[1]) && !err; round++)
		err = turn(cpus, 1, atoi(argv[2])) ?: turn(cpus, cpus, atoi(argv[2]));
	if (err)
		fprintf(stderr, "vduse_queues: %s\n", guest_error());
	return !!err;
}
