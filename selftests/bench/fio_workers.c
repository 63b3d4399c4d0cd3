// SPDX-License-Identifier: GPL-2.0
/*
 * fio_workers.c - fio on one virtqueue or many, served by one worker or by a worker each
 *
 * Random reads and writes of 4 KiB, 128 in flight for each virtqueue and 1024 in all at most, on a LIO
 * ramdisk that keeps nothing. One fio goes through all shapes, so that those of a pair run next to each
 * other. Prints a line for each: JOBS WORKERS IOPS, where WORKERS 0 is one for each virtqueue.
 *
 * Usage: fio_workers ROUNDS MILLISECONDS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/guest.h"
#include "lib/shell.h"
#include "terse.h"

#define JOB_FILE	"/tmp/workers.fio"
#define LUN_BYTES	(1UL << 30)
#define DEPTH		128
#define DEPTH_ALL	1024
#define OUTPUT		(64 << 10)

static const unsigned int jobs[] = { 1, 2, 4, 8, 16 };
#define SHAPES		(sizeof(jobs) / sizeof(jobs[0]))

static int write_jobs(const struct lio *target, bool has_workers, const char *ms)
{
	FILE *file = fopen(JOB_FILE, "we");
	unsigned int i, per_vq, depth;

	if (!file)
		return guest_fail(errno, JOB_FILE);
	fprintf(file, "[global]\nioengine=external:/lib/vhost-scsi.so\nwwpn=%s\nthread=1\n"
		"rw=randrw\nbs=4k\nnorandommap\nrandrepeat=1\ntime_based\nruntime=%sms\n"
		"group_reporting\n", target->wwpn, ms);
	for (i = 0; i < SHAPES; i++)
		for (per_vq = 0; per_vq <= has_workers; per_vq++) {
			depth = DEPTH * jobs[i] > DEPTH_ALL ? DEPTH_ALL / jobs[i] : DEPTH;
			fprintf(file, "[%u-%u]\nstonewall\nnumjobs=%u\niodepth=%u\nworkers=%s\n",
				jobs[i], !per_vq, jobs[i], depth, per_vq ? "per-vq" : "1");
		}
	return fclose(file) ? guest_fail(errno, JOB_FILE) : 0;
}

/* A group of jobs that fio tells of is a shape, its name that of the jobs. */
static int print_shapes(char *out, unsigned int shapes)
{
	unsigned int seen, job, workers;
	const char *name;
	double iops;

	for (seen = 0; (name = terse_next(&out, &iops)); seen++) {
		if (sscanf(name, "%u-%u", &job, &workers) != 2)
			return guest_fail(EPROTO, "fio told of jobs '%s'", name);
		printf("%u %u %.0f\n", job, workers, iops);
	}
	return seen == shapes ? 0 : guest_fail(EPROTO, "fio told of %u shapes", seen);
}

static int measure(bool has_workers)
{
	static char out[OUTPUT];
	int code = shell_run(out, sizeof(out), "/bin/fio --minimal " JOB_FILE " 2>&1");

	if (!code)
		return print_shapes(out, has_workers ? 2 * SHAPES : SHAPES);
	fputs(out, stderr);
	return guest_fail(EIO, "fio ended with %d", code);
}

static int has_workers(void)
{
	int fd = vdev_open(VDEV_SCSI), has;

	if (fd < 0)
		return fd;
	has = vdev_has_workers(fd);
	close(fd);
	return has;
}

int main(int argc, char **argv)
{
	struct lio_opts opts = { .backend = LIO_NULLIO, .size = LUN_BYTES };
	struct lio *target = NULL;
	int rounds, err, has;

	if (argc != 3) {
		fprintf(stderr, "usage: fio_workers ROUNDS MILLISECONDS\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	has = has_workers();
	err = has < 0 ? has : lio_create(&opts, &target);
	if (!err)
		err = lio_set_attrib(target, 0, "emulate_pr", "0");
	if (!err)
		err = write_jobs(target, has, argv[2]);
	for (rounds = atoi(argv[1]); !err && rounds > 0; rounds--)
		err = measure(has);
	if (err)
		fprintf(stderr, "fio_workers: %s\n", guest_error());
	lio_destroy(target);
	return err != 0;
}
