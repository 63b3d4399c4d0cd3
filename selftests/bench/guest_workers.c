// SPDX-License-Identifier: GPL-2.0
/*
 * guest_workers.c - fio in a Linux guest, its queues served by one worker or by a worker each
 *
 * Random reads and writes of 4 KiB; the LUN takes 128 commands at a time, which the jobs share. One guest
 * serves for all, and vhost-ctl changes the workers under it, in turn. Prints a line for each shape: JOBS
 * WORKERS IOPS, where WORKERS 0 is one for each virtqueue.
 *
 * Usage: guest_workers ROUNDS SECONDS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "lib/error.h"
#include "rig.h"
#include "terse.h"

#define DEPTH_ALL	128	/* what QEMU lets a LUN have by default */
#define FIO_MS		300000

static const unsigned int jobs[] = { 1, 2, 4 };
#define SHAPES		(sizeof(jobs) / sizeof(jobs[0]))

static void write_command(char *line, size_t size, const char *seconds)
{
	unsigned int i, len;

	len = snprintf(line, size, "fio --minimal --filename=/dev/sda --direct=1 --ioengine=libaio --thread "
		       "--rw=randrw --bs=4k --norandommap --randrepeat=1 --time_based --runtime=%s "
		       "--group_reporting --gtod_reduce=1 --disk_util=0 --eta=never "
		       "--cpus_allowed=0-%u --cpus_allowed_policy=split", seconds, MACHINE_QUEUES - 1);
	for (i = 0; i < SHAPES; i++)
		len += snprintf(line + len, size - len, " --name=%u --stonewall --numjobs=%u --iodepth=%u",
				jobs[i], jobs[i], DEPTH_ALL / jobs[i]);
}

/* A group of jobs that fio tells of is a shape, its name the number of jobs. */
static int print_shapes(char *text, unsigned int workers)
{
	unsigned int seen;
	const char *name;
	double iops;

	for (seen = 0; (name = terse_next(&text, &iops)); seen++)
		printf("%s %u %.0f\n", name, workers, iops);
	return seen == SHAPES ? 0 : guest_fail(EPROTO, "fio told of %u shapes", seen);
}

static int measure(struct rig *rig, const char *command, unsigned int workers)
{
	size_t from = rig->m->mark;
	char *text;
	int err;

	err = machine_say(rig->m, command);
	err = err ?: machine_wait_text(rig->m, RIG_DONE " 0", FIO_MS);
	if (err)
		return err;
	text = strndup(rig->m->text + from, rig->m->mark - from);
	err = text ? print_shapes(text, workers) : -ENOMEM;
	free(text);
	return err;
}

int main(int argc, char **argv)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN, .linux_guest = true };
	struct rig rig = { 0 };
	char command[1024];
	int rounds, err;

	if (argc != 3) {
		fprintf(stderr, "usage: guest_workers ROUNDS SECONDS\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	write_command(command, sizeof(command), argv[2]);
	err = rig_start(&rig, &opts, E2E_ONCE);
	err = err ?: lio_set_attrib(rig.target, 0, "emulate_pr", "0");
	err = err ?: rig_wait_linux(&rig);
	for (rounds = atoi(argv[1]); !err && rounds > 0; rounds--) {
		err = rig_gather(&rig) ?: measure(&rig, command, 1);
		err = err ?: rig_spread(&rig) ?: measure(&rig, command, 0);
	}
	if (err)
		fprintf(stderr, "guest_workers: %s\n", guest_error());
	rig_end(&rig);
	return err != 0;
}
