// SPDX-License-Identifier: GPL-2.0
/*
 * What more request queues are good for, and what they cost.
 *
 * bench cost TAG...: for a VM in which a tick of the TSC is an executed instruction (boot -c). The
 * daemon is outside and time goes on while it works; so a spinner of the idle class keeps the CPU busy
 * and counts its rounds, which are taken off. Prints two lines for each TAG: TAG read|write INSTRUCTIONS,
 * of one.
 *
 * bench rate TAG...: reads, then writes, of 4 KiB per second, by two threads on each CPU, in turns between
 * the tags. Prints two lines for each: TAG read|write PER_SECOND.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mount.h>
#include <unistd.h>
#include <x86intrin.h>

#include "error.h"
#include "vfs.h"

#define MAX_CPUS	4
#define PER_CPU		2		/* threads that read or write */
#define MAX_THREADS	(MAX_CPUS * PER_CPU)
#define REPEATS		3
#define MAX_TAGS	8
#define COUNT_BLOCKS	500		/* of a thread */
#define RATE_MS		2000
#define FILE_BLOCKS	16

static bool done;
static int nr_cpus;

static void fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, guest_error());
	exit(1);
}

/* --- spinners */

static unsigned long spins[MAX_CPUS][16];	/* a cache line each */

static void *spin(void *arg)
{
	volatile unsigned long *count = spins[(long)arg];
	struct sched_param param = { 0 };

	if (vfs_pin((long)arg) || pthread_setschedparam(pthread_self(), SCHED_IDLE, &param))
		fail("spinner");
	for (;;)
		(*count)++;
	return NULL;
}

static double all_spins(void)
{
	double sum = 0;

	for (int cpu = 0; cpu < nr_cpus; cpu++)
		sum += *(volatile unsigned long *)spins[cpu];
	return sum;
}

/* Instructions of a round, with its part of the clock's interrupts. */
static double start_spinners(void)
{
	double start_spins, start;
	pthread_t thread;

	for (long cpu = 0; cpu < nr_cpus; cpu++)
		if (pthread_create(&thread, NULL, spin, (void *)cpu))
			fail("spinner");
	guest_sleep_ms(1000);
	start = __rdtsc();
	start_spins = all_spins();
	guest_sleep_ms(2000);
	return (__rdtsc() - start) / (all_spins() - start_spins);
}

/* --- I/O */

struct user {
	const char *dir;
	int nr;
	bool write;
	unsigned long wanted, blocks;	/* wanted: 0 until it is told to end */
};

static void *use(void *arg)
{
	struct user *user = arg;
	void *buf = aligned_alloc(VFS_BLOCK, VFS_BLOCK);
	char path[64];
	ssize_t len;
	off_t at;
	int fd;

	memset(buf, 0, VFS_BLOCK);
	snprintf(path, sizeof(path), "%s/r%d", user->dir, user->nr);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || vfs_pin(user->nr % nr_cpus))
		fail(path);
	while (user->wanted ? user->blocks < user->wanted : !__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		at = user->blocks % FILE_BLOCKS * VFS_BLOCK;
		len = user->write ? pwrite(fd, buf, VFS_BLOCK, at) : pread(fd, buf, VFS_BLOCK, at);
		if (len != VFS_BLOCK)
			fail(path);
		user->blocks++;
	}
	close(fd);
	free(buf);
	return NULL;
}

/* All read, or write, so many blocks each or for RATE_MS. Returns the number of blocks. */
static unsigned long use_all(const struct vfs *vfs, bool write, unsigned long wanted)
{
	struct user users[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	unsigned long sum = 0;

	done = false;
	for (int i = 0; i < nr_cpus * PER_CPU; i++) {
		users[i] = (struct user){ .dir = vfs->dir, .nr = i, .write = write, .wanted = wanted };
		if (pthread_create(&threads[i], NULL, use, &users[i]))
			fail("thread");
	}
	if (!wanted)
		guest_sleep_ms(RATE_MS);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < nr_cpus * PER_CPU; i++) {
		pthread_join(threads[i], NULL);
		sum += users[i].blocks;
	}
	return sum;
}

static void set_up(const char *tag, struct vfs *vfs)
{
	char name[16];

	/* The distribution's modules of 6.1 show nothing in sysfs. */
	snprintf(vfs->dir, sizeof(vfs->dir), "/tmp/%s", tag);
	mkdir(vfs->dir, 0755);
	if (mount(tag, vfs->dir, "virtiofs", 0, NULL)) {
		guest_fail(errno, "mount");
		fail(tag);
	}
	for (int i = 0; i < nr_cpus * PER_CPU; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		if (vfs_io(vfs, name, FILE_BLOCKS, i))
			fail(tag);
	}
	use_all(vfs, false, FILE_BLOCKS);
}

static double cost_of(const struct vfs *vfs, bool write, double per_spin)
{
	double start_spins = all_spins(), start = __rdtsc();
	unsigned long blocks = use_all(vfs, write, COUNT_BLOCKS);

	return (__rdtsc() - start - (all_spins() - start_spins) * per_spin) / blocks;
}

static double rate_of(const struct vfs *vfs, bool write)
{
	uint64_t start = guest_now_ns();
	unsigned long blocks = use_all(vfs, write, 0);

	return blocks * 1e9 / (guest_now_ns() - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	double results[2][MAX_TAGS][REPEATS], per_spin = 0, *median;
	bool cost = argc > 1 && !strcmp(argv[1], "cost");
	struct vfs vfs[MAX_TAGS];
	int nr_tags = argc - 2;

	if (nr_tags < 1 || nr_tags > MAX_TAGS || vfs_load())
		fail("usage: bench cost|rate TAG...");
	nr_cpus = vfs_nr_online() < MAX_CPUS ? vfs_nr_online() : MAX_CPUS;
	if (cost)
		per_spin = start_spinners();
	for (int i = 0; i < nr_tags; i++)
		set_up(argv[2 + i], &vfs[i]);
	for (int repeat = 0; repeat < REPEATS; repeat++)
		for (int n = 0; n < 2 * nr_tags; n++)
			results[n % 2][n / 2][repeat] = cost ? cost_of(&vfs[n / 2], n % 2, per_spin) :
							       rate_of(&vfs[n / 2], n % 2);
	for (int n = 0; n < 2 * nr_tags; n++) {
		median = results[n % 2][n / 2];
		qsort(median, REPEATS, sizeof(*median), compare);
		printf("%s %s %.0f\n", argv[2 + n / 2], n % 2 ? "write" : "read", median[REPEATS / 2]);
	}
	return 0;
}
