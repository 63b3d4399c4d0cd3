// SPDX-License-Identifier: GPL-2.0
/*
 * demo.c - one worker against a worker per queue, on a vhost-scsi device with a LIO ramdisk
 *
 * Plays the guest: sets up the target, fills it, then reads it with 1, 2 and 4 queues, in turn with
 * all queues on one worker and with each queue on its own. Every read is checked. It prints the
 * workers with their threads, the figures, and what they show.
 *
 * Usage: demo [-k default|kthread|task] [-r ROUNDS] [-t MS_PER_ROUND] [-d DEPTH]
 * Exit: 0 all I/O was right and the workers were attached as asked, 1 not, 2 usage, 3 the kernel
 * has no VHOST_NEW_WORKER.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/guest.h"

#define QUEUES		4
#define ROUNDS_MAX	15
#define LUN_BYTES	(32 << 20)
#define BLOCKS		8	/* of a read: 4 KiB */
#define POINTS		3	/* 1, 2 and 4 queues */
#define ROW_MAX		128

enum variant { ONE_WORKER, WORKER_PER_QUEUE, VARIANTS };

struct point {			/* a line of the table */
	unsigned int queues;
	double kiops[VARIANTS][ROUNDS_MAX];
	double median[VARIANTS];
	double ratio, low, high;	/* median and quartiles of the rounds, a pair each */
	uint64_t verified, errors;
};

struct worker {
	uint32_t id;
	struct vthread thread;
};

struct demo {
	enum vdev_thread kind;
	unsigned int rounds, round_ms, depth;
	struct lio *target;
	struct vscsi *dev;
	struct worker worker[QUEUES + 1];	/* [0] is the default one */
	struct point point[POINTS];
	char first_error[200];
};

static int usage(const char *name)
{
	fprintf(stderr, "usage: %s [-k default|kthread|task] [-r ROUNDS] [-t MS] [-d DEPTH]\n",
		name);
	return 2;
}

static int parse_kind(struct demo *demo, const char *text)
{
	for (demo->kind = VDEV_THREAD_DEFAULT; demo->kind <= VDEV_THREAD_TASK; demo->kind++)
		if (!strcmp(text, vdev_thread_name(demo->kind)))
			return 0;
	return -EINVAL;
}

static int parse_number(unsigned int *value, const char *text, unsigned int max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || !number || number > max)
		return -EINVAL;
	*value = number;
	return 0;
}

static int parse(struct demo *demo, int argc, char **argv)
{
	int opt, err = 0;

	while (!err && (opt = getopt(argc, argv, "k:r:t:d:")) != -1) {
		if (opt == 'k')
			err = parse_kind(demo, optarg);
		else if (opt == 'r')
			err = parse_number(&demo->rounds, optarg, ROUNDS_MAX);
		else if (opt == 't')
			err = parse_number(&demo->round_ms, optarg, 60000);
		else if (opt == 'd')
			err = parse_number(&demo->depth, optarg, 128);
		else
			err = -EINVAL;
	}
	return err || optind < argc ? -EINVAL : 0;
}

static int complain(const char *what)
{
	fprintf(stderr, "demo: %s: %s\n", what, guest_error());
	return 1;
}

/* 1, 0, or a complaint on stderr and a negative errno. */
static int workers_supported(void)
{
	int fd = vdev_open(VDEV_SCSI), ret;

	if (fd < 0) {
		complain("no vhost-scsi here (module vhost_scsi loaded, root?)");
		return fd;
	}
	ret = vdev_has_workers(fd);
	close(fd);
	if (ret < 0)
		complain("cannot tell whether vhost-scsi has workers");
	return ret;
}

static int start_device(struct demo *demo)
{
	struct lio_opts lio = { .size = LUN_BYTES };
	struct vscsi_opts opts = {
		.queues = QUEUES,
		.ring_size = 128,
		.indirect = true,
		.event_idx = true,
		.thread = demo->kind,
	};
	int err = lio_create(&lio, &demo->target);

	if (err)
		return err;
	opts.wwpn = demo->target->wwpn;
	return vscsi_start(&opts, &demo->dev);
}

/* The thread of a worker is the one that was not there before. */
static int note_worker(struct worker *worker, struct vthread *seen, int nr_seen)
{
	struct vthread now[QUEUES + 2];
	int nr = threads_list(getpid(), now, QUEUES + 2);

	if (nr < 0)
		return nr;
	if (threads_new(seen, nr_seen, now, nr, &worker->thread, 1) != 1)
		return guest_fail(ESRCH, "worker %u has no thread of its own", worker->id);
	memcpy(seen, now, sizeof(now));
	return nr;
}

static int make_workers(struct demo *demo)
{
	struct vthread seen[QUEUES + 2];
	int nr = 0, err;
	unsigned int i;

	err = vdev_get_worker(demo->dev->fd, vscsi_vq(demo->dev, 0), &demo->worker[0].id);
	if (err)
		return err;
	nr = note_worker(&demo->worker[0], seen, 0);
	for (i = 1; i <= QUEUES && nr >= 0; i++) {
		err = vdev_new_worker(demo->dev->fd, &demo->worker[i].id);
		if (err)
			return err;
		nr = note_worker(&demo->worker[i], seen, nr);
	}
	return nr < 0 ? nr : 0;
}

/* Attach, and believe only what the kernel says afterwards. */
static int attach(struct demo *demo, unsigned int queues, enum variant variant)
{
	int fd = demo->dev->fd, err = 0;
	unsigned int q;

	for (q = 0; q < queues && !err; q++) {
		uint32_t want = demo->worker[variant == ONE_WORKER ? 0 : q + 1].id, got;

		err = vdev_attach_worker(fd, vscsi_vq(demo->dev, q), want);
		if (!err)
			err = vdev_get_worker(fd, vscsi_vq(demo->dev, q), &got);
		if (!err && got != want)
			err = guest_fail(EBADE, "vq %u is on worker %u, not on %u",
					 vscsi_vq(demo->dev, q), got, want);
	}
	return err;
}

static int fill(struct demo *demo)
{
	struct load_opts opts = {
		.dev = demo->dev,
		.blocks = 64,
		.depth = 8,
		.mode = LOAD_FILL,
	};

	return load_run(&opts, NULL);
}

/* Wrong I/O is counted and reported at the end; the result only tells whether it could run. */
static int run_round(struct demo *demo, struct point *point, enum variant variant,
		     unsigned int round)
{
	struct load_opts opts = {
		.dev = demo->dev,
		.queues = point->queues,
		.depth = demo->depth,
		.batch = demo->depth > 8 ? 8 : 1,
		.blocks = BLOCKS,
		.mode = LOAD_READ,
		.check = LOAD_CHECK_STAMP,
		.run_ms = demo->round_ms,
	};
	struct load_stats total = { 0 };
	int err = attach(demo, point->queues, variant);

	if (err)
		return err;
	err = load_run(&opts, &total);
	if (err && load_clean(&total))
		return err;
	if (err && !demo->first_error[0])
		snprintf(demo->first_error, sizeof(demo->first_error), "%s", guest_error());
	point->errors += total.lost + total.doubled + total.corrupt + total.failed;
	point->verified += total.verified;
	if (total.elapsed_ns)
		point->kiops[variant][round] = total.completed * 1e6 / total.elapsed_ns;
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @value. */
static double median(double *value, unsigned int count)
{
	qsort(value, count, sizeof(*value), compare);
	return value[count / 2];
}

/* Load on the host comes and goes, so the ratio is taken within each round. */
static void sum_up(struct point *point, unsigned int rounds)
{
	double pair[ROUNDS_MAX];
	unsigned int i;

	for (i = 0; i < rounds; i++)
		pair[i] = point->kiops[ONE_WORKER][i] > 0 ?
			  point->kiops[WORKER_PER_QUEUE][i] / point->kiops[ONE_WORKER][i] : 0;
	point->ratio = median(pair, rounds);
	point->low = pair[rounds / 4];
	point->high = pair[rounds - 1 - rounds / 4];
	for (i = 0; i < VARIANTS; i++)
		point->median[i] = median(point->kiops[i], rounds);
}

static int measure(struct demo *demo, struct point *point)
{
	unsigned int round, step;
	enum variant variant;
	int err;

	for (round = 0; round < demo->rounds; round++) {
		for (step = 0; step < VARIANTS; step++) {
			variant = (round + step) % VARIANTS;	/* who goes first takes turns */
			err = run_round(demo, point, variant, round);
			if (err)
				return err;
		}
	}
	sum_up(point, demo->rounds);
	return 0;
}

/* "0-1 5": the vqs that the kernel says are on @id. */
static int queues_of(struct demo *demo, uint32_t id, char *text, size_t size)
{
	unsigned int vq, last = vscsi_vq(demo->dev, QUEUES - 1);
	size_t used = 0;
	uint32_t got;
	int err;

	text[0] = 0;
	for (vq = 0; vq <= last; vq++) {
		err = vdev_get_worker(demo->dev->fd, vq, &got);
		if (err)
			return err;
		if (got == id && used < size)
			used += snprintf(text + used, size - used, "%s%u", used ? " " : "", vq);
	}
	return 0;
}

static int print_workers(struct demo *demo)
{
	char queues[ROW_MAX];
	unsigned int i;
	int err;

	printf("\nWorkers of the device, a worker per queue (vq 0 control, 1 event, 2-%u I/O):\n\n",
	       vscsi_vq(demo->dev, QUEUES - 1));
	printf("  %6s  %6s  %-8s%-20s%s\n", "WORKER", "TID", "KIND", "THREAD", "VQS");
	for (i = 0; i <= QUEUES; i++) {
		const struct worker *worker = &demo->worker[i];

		err = queues_of(demo, worker->id, queues, sizeof(queues));
		if (err)
			return err;
		printf("  %6u  %6d  %-8s%-20s%s\n", worker->id, worker->thread.tid,
		       vdev_thread_name(worker->thread.kind), worker->thread.comm, queues);
	}
	return 0;
}

static void print_table(const struct demo *demo)
{
	unsigned int i;

	printf("\n%u KiB reads, %u in flight per queue, median of %u rounds of %u ms each:\n\n",
	       BLOCKS / 2, demo->depth, demo->rounds, demo->round_ms);
	printf("  %6s  %16s  %22s  %5s  %-11s  %8s  %6s\n", "QUEUES", "ONE WORKER kIOPS",
	       "WORKER PER QUEUE kIOPS", "RATIO", "QUARTILES", "VERIFIED", "ERRORS");
	for (i = 0; i < POINTS; i++) {
		const struct point *point = &demo->point[i];

		printf("  %6u  %16.1f  %22.1f  %5.2f  %.2f - %.2f  %8llu  %6llu\n", point->queues,
		       point->median[ONE_WORKER], point->median[WORKER_PER_QUEUE], point->ratio,
		       point->low, point->high, (unsigned long long)point->verified,
		       (unsigned long long)point->errors);
	}
}

/*
 * With one queue there is nothing to spread and both arrangements are the same, so that the scatter
 * of its ratio tells how far the figures can be trusted.
 */
static bool trusted(const struct demo *demo)
{
	return demo->point[0].low > 0.8 && demo->point[0].high < 1.25;
}

static void print_words(const struct demo *demo)
{
	const struct point *most = &demo->point[POINTS - 1];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double percent = (most->ratio - 1) * 100;

	printf("\nWith %u queues, a worker per queue moved ", most->queues);
	if (percent > 5)
		printf("%.0f %% more I/O than one worker for all", percent);
	else if (percent < -5)
		printf("%.0f %% less I/O than one worker for all", -percent);
	else
		printf("as much I/O as one worker for all");
	printf(",\nwith %u queues the ratio was %.2f.\n", demo->point[1].queues,
	       demo->point[1].ratio);
	if (!trusted(demo))
		printf("But with one queue, where both are the same, it was between %.2f and %.2f:\n"
		       "the machine is busy with other things, the ratios prove little this time.\n",
		       demo->point[0].low, demo->point[0].high);
	else if (percent <= 5)
		printf("Guest, workers and target share %ld CPU%s here: a worker without a CPU of\n"
		       "its own brings nothing.\n", cpus, cpus == 1 ? "" : "s");
}

static uint64_t sum_verified(const struct demo *demo, uint64_t *errors)
{
	uint64_t verified = 0;
	unsigned int i;

	*errors = 0;
	for (i = 0; i < POINTS; i++) {
		verified += demo->point[i].verified;
		*errors += demo->point[i].errors;
	}
	return verified;
}

static int report(const struct demo *demo)
{
	uint64_t errors, verified = sum_verified(demo, &errors);

	print_table(demo);
	print_words(demo);
	if (errors) {
		fflush(stdout);
		fprintf(stderr, "demo: %llu requests went wrong; %s\n", (unsigned long long)errors,
			demo->first_error);
		return 1;
	}
	printf("All %llu reads returned what had been written; none lost, none doubled.\n",
	       (unsigned long long)verified);
	return verified ? 0 : 1;
}

static int run(struct demo *demo)
{
	unsigned int i;

	if (start_device(demo))
		return complain("cannot set up the device");
	printf("vhost-scsi device with %u I/O queues on LIO ramdisk %s, workers are %ss.\n", QUEUES,
	       demo->target->wwpn, vdev_thread_name(vdev_thread_kind(demo->dev->fd)));
	if (make_workers(demo))
		return complain("cannot make workers");
	if (fill(demo))
		return complain("cannot fill the ramdisk");
	if (attach(demo, QUEUES, WORKER_PER_QUEUE) || print_workers(demo))
		return complain("cannot attach the queues to their workers");
	for (i = 0; i < POINTS; i++) {
		demo->point[i].queues = 1U << i;
		printf("%s%u queue%s ...", i ? " " : "\nMeasuring: ", 1U << i, i ? "s" : "");
		fflush(stdout);
		if (measure(demo, &demo->point[i])) {
			printf("\n");
			return complain("cannot run the load");
		}
	}
	printf(" done.\n");
	return report(demo);
}

int main(int argc, char **argv)
{
	struct demo demo = {
		.kind = VDEV_THREAD_DEFAULT,
		.rounds = 7,
		.round_ms = 120,
		.depth = 32,
	};
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(&demo, argc, argv))
		return usage(argv[0]);
	ret = workers_supported();
	if (ret < 0)
		return 1;
	if (!ret) {
		fputs("demo: this vhost_scsi has one worker per device (no VHOST_NEW_WORKER): ", stderr);
		fputs("load the module of this project in its place\n", stderr);
		return 3;
	}
	ret = run(&demo);
	vscsi_stop(demo.dev);
	if (lio_destroy(demo.target)) {
		complain("cannot take the target away");
		ret = ret ?: 1;
	}
	return ret;
}
