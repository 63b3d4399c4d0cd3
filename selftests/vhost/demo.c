// SPDX-License-Identifier: GPL-2.0
/*
 * demo.c - move the queues of a running guest to workers of their own, from outside
 *
 * Two processes. One plays a guest that knows nothing of workers: it sets up a vhost-scsi device on a
 * LIO ramdisk and reads from it without a pause, checking every read. The other plays the
 * administrator: it has vhost-ctl and nothing else. While the guest runs it moves the guest's queues
 * from one worker to a worker each and back, again and again, and measures what the guest gets done
 * in between, with 1, 2 and 4 queues. It prints what vhost-ctl shows, the figures, and what they mean.
 *
 * Usage: demo [-k default|kthread|task] [-r ROUNDS] [-t MS_PER_ROUND] [-d DEPTH]
 * Exit: 0 all I/O was right and the queues moved as asked, 1 not, 2 usage, 3 the kernel has no
 * VHOST_NEW_WORKER.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/guest.h"

#define QUEUES		4
#define ROUNDS_MAX	15
#define LUN_BYTES	(32 << 20)
#define BLOCKS		8	/* of a read: 4 KiB */
#define POINTS		3	/* 1, 2 and 4 queues */
#define FIRST_VQ	2	/* 0 is the control queue, 1 the event queue */
#define MAP_MAX		64
#define ARGS_MAX	8

extern char **environ;

enum variant { ONE_WORKER, WORKER_PER_QUEUE, VARIANTS };

struct point {			/* a line of the table */
	unsigned int queues;
	double kiops[VARIANTS][ROUNDS_MAX];
	double median[VARIANTS];
	double ratio, low, high;	/* median and quartiles of the rounds, a pair each */
};

struct options {
	enum vdev_thread kind;
	unsigned int rounds, round_ms, depth;
};

/* What the guest is told; it answers each with a byte, 0 if it went well. */
enum command {
	GUEST_QUIT = 'q',
	GUEST_STOP = 's',		/* the load */
	GUEST_MAP = 'm',		/* read the map from the kernel */
	GUEST_RUN = '0',		/* + number of queues: start the load */
};

/* What both processes see. */
struct shared {
	char wwpn[64];
	char kind[16];
	_Atomic uint64_t completed;	/* requests of the load that runs */
	uint32_t worker[QUEUES];	/* of each I/O queue, after GUEST_MAP */
	uint64_t verified, errors;
	char error[200];		/* the first of them */
};

struct demo {
	struct options opts;
	struct shared *shared;
	pid_t guest;
	int to_guest, from_guest;
	uint32_t own[QUEUES];		/* the workers made for the queues */
	uint32_t first;			/* the worker that was there before */
	struct point point[POINTS];
};

static int usage(const char *name)
{
	fprintf(stderr, "usage: %s [-k default|kthread|task] [-r ROUNDS] [-t MS] [-d DEPTH]\n",
		name);
	return 2;
}

static int parse_kind(struct options *opts, const char *text)
{
	for (opts->kind = VDEV_THREAD_DEFAULT; opts->kind <= VDEV_THREAD_TASK; opts->kind++)
		if (!strcmp(text, vdev_thread_name(opts->kind)))
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

static int parse(struct options *opts, int argc, char **argv)
{
	int opt, err = 0;

	while (!err && (opt = getopt(argc, argv, "k:r:t:d:")) != -1) {
		if (opt == 'k')
			err = parse_kind(opts, optarg);
		else if (opt == 'r')
			err = parse_number(&opts->rounds, optarg, ROUNDS_MAX);
		else if (opt == 't')
			err = parse_number(&opts->round_ms, optarg, 60000);
		else if (opt == 'd')
			err = parse_number(&opts->depth, optarg, 128);
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

/* The guest --------------------------------------------------------------- */

static int start_device(const struct options *options, struct lio **target, struct vscsi **dev)
{
	struct lio_opts lio = { .size = LUN_BYTES };
	struct vscsi_opts opts = {
		.queues = QUEUES,
		.ring_size = 128,
		.indirect = true,
		.event_idx = true,
		.thread = options->kind,
	};
	int err = lio_create(&lio, target);

	if (err)
		return err;
	opts.wwpn = (*target)->wwpn;
	return vscsi_start(&opts, dev);
}

static int fill(struct vscsi *dev)
{
	struct load_opts opts = {
		.dev = dev,
		.blocks = 64,
		.depth = 8,
		.mode = LOAD_FILL,
	};

	return load_run(&opts, NULL);
}

static int start_load(const struct options *options, struct vscsi *dev, unsigned int queues,
		      struct load **load)
{
	struct load_opts opts = {
		.dev = dev,
		.queues = queues,
		.depth = options->depth,
		.batch = options->depth > 8 ? 8 : 1,
		.blocks = BLOCKS,
		.mode = LOAD_READ,
		.check = LOAD_CHECK_STAMP,
	};

	return load_start(&opts, load);
}

/* Wrong I/O is counted and told at the end; the result only tells whether it could run. */
static int stop_load(struct shared *shared, struct load **load)
{
	struct load_stats total = { 0 };
	int err;

	load_stop(*load);
	err = load_wait(*load, &total);
	if (err && !shared->error[0])
		snprintf(shared->error, sizeof(shared->error), "%s", guest_error());
	shared->errors += total.lost + total.doubled + total.corrupt + total.failed;
	shared->verified += total.verified;
	load_free(*load);
	*load = NULL;
	return err && load_clean(&total) ? err : 0;
}

static int read_map(struct shared *shared, struct vscsi *dev)
{
	unsigned int q;
	int err = 0;

	for (q = 0; q < QUEUES && !err; q++)
		err = vdev_get_worker(dev->fd, vscsi_vq(dev, q), &shared->worker[q]);
	return err;
}

/* Do as told until told to end; tell meanwhile how far the load is. */
static void serve(const struct options *options, struct shared *shared, struct vscsi *dev,
		  int in, int out)
{
	struct pollfd wait = { .fd = in, .events = POLLIN };
	struct load *load = NULL;
	char command, failed = 0;

	for (;;) {
		if (!poll(&wait, 1, load ? 1 : -1)) {
			shared->completed = load_completed(load);
			continue;
		}
		if (read(in, &command, 1) != 1 || command == GUEST_QUIT)
			break;
		if (command == GUEST_STOP)
			failed = stop_load(shared, &load) != 0;
		else if (command == GUEST_MAP)
			failed = read_map(shared, dev) != 0;
		else
			failed = start_load(options, dev, command - GUEST_RUN, &load) != 0;
		if (failed)
			complain("the guest");
		if (write(out, &failed, 1) != 1)
			break;
	}
	if (load)
		stop_load(shared, &load);
}

static int play_guest(const struct options *options, struct shared *shared, int in, int out)
{
	struct lio *target = NULL;
	struct vscsi *dev = NULL;
	char ready = 0;
	int ret = 0;

	prctl(PR_SET_NAME, "guest");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (start_device(options, &target, &dev)) {
		ret = complain("cannot set up the device");
	} else if (fill(dev)) {
		ret = complain("cannot fill the ramdisk");
	} else {
		snprintf(shared->wwpn, sizeof(shared->wwpn), "%s", target->wwpn);
		snprintf(shared->kind, sizeof(shared->kind), "%s",
			 vdev_thread_name(vdev_thread_kind(dev->fd)));
		if (write(out, &ready, 1) == 1)
			serve(options, shared, dev, in, out);
	}
	vscsi_stop(dev);
	if (lio_destroy(target))
		ret = complain("cannot take the target away");
	return ret;
}

/* The administrator ------------------------------------------------------- */

static int ask_guest(struct demo *demo, char command)
{
	char failed;

	if (command && write(demo->to_guest, &command, 1) != 1)
		return -EPIPE;
	if (read(demo->from_guest, &failed, 1) != 1)
		return -EPIPE;
	return failed ? -EIO : 0;
}

static int start_guest(struct demo *demo)
{
	int to[2], from[2];

	demo->shared = mmap(NULL, sizeof(*demo->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (demo->shared == MAP_FAILED || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return -errno;
	demo->guest = fork();
	if (demo->guest < 0)
		return -errno;
	if (!demo->guest) {
		close(to[1]);
		close(from[0]);
		exit(play_guest(&demo->opts, demo->shared, to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	demo->to_guest = to[1];
	demo->from_guest = from[0];
	return ask_guest(demo, 0);
}

static int end_guest(struct demo *demo)
{
	char command = GUEST_QUIT;
	int status = 0;

	if (!demo->guest)
		return 0;
	if (write(demo->to_guest, &command, 1) != 1)
		kill(demo->guest, SIGTERM);
	if (waitpid(demo->guest, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Run vhost-ctl with the words given, NULL at the end; it says itself what is wrong. */
static int ctl(const char *word, ...)
{
	char *argv[ARGS_MAX + 2] = { "vhost-ctl", (char *)word };
	int status, argc = 1, err;
	va_list ap;
	pid_t pid;

	va_start(ap, word);
	while (argv[argc] && argc < ARGS_MAX)
		argv[++argc] = va_arg(ap, char *);
	va_end(ap);

	fflush(stdout);
	err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (err) {
		fprintf(stderr, "demo: cannot run vhost-ctl: %s\n", strerror(err));
		return -err;
	}
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return status ? -EREMOTEIO : 0;
}

/* "2=w1,3=w2": the first @queues I/O queues on a worker for all or on one each. */
static void write_map(const struct demo *demo, unsigned int queues, enum variant variant,
		      char *map, size_t size)
{
	size_t used = 0;
	unsigned int q;

	for (q = 0; q < queues && used < size; q++)
		used += snprintf(map + used, size - used, "%s%u=w%u", q ? "," : "", FIRST_VQ + q,
				 variant == ONE_WORKER ? demo->first : demo->own[q]);
}

/* Move queues, and believe only what the guest's own kernel interface says afterwards. */
static int attach(struct demo *demo, unsigned int queues, enum variant variant)
{
	char map[MAP_MAX];
	unsigned int q;
	int err;

	write_map(demo, queues, variant, map, sizeof(map));
	err = ctl("attach", demo->shared->wwpn, map, NULL) ?: ask_guest(demo, GUEST_MAP);
	for (q = 0; q < queues && !err; q++) {
		uint32_t want = variant == ONE_WORKER ? demo->first : demo->own[q];

		if (demo->shared->worker[q] != want)
			err = guest_fail(EBADE, "vq %u is on worker %u, not on %u", FIRST_VQ + q,
					 demo->shared->worker[q], want);
	}
	return err;
}

/* The first move makes the workers, in one message to the kernel. */
static int make_workers(struct demo *demo)
{
	unsigned int q, other;
	char map[MAP_MAX];
	int err;

	err = ask_guest(demo, GUEST_MAP);
	if (err)
		return err;
	demo->first = demo->shared->worker[0];

	snprintf(map, sizeof(map), "%u-%u=new", FIRST_VQ, FIRST_VQ + QUEUES - 1);
	printf("\n# vhost-ctl attach %s %s\n", demo->shared->wwpn, map);
	err = ctl("attach", demo->shared->wwpn, map, NULL) ?: ask_guest(demo, GUEST_MAP);
	if (err)
		return err;
	for (q = 0; q < QUEUES; q++) {
		demo->own[q] = demo->shared->worker[q];
		for (other = 0; other < q; other++)
			if (demo->own[other] == demo->own[q])
				return guest_fail(EBADE, "vq %u and %u share worker %u",
						  FIRST_VQ + other, FIRST_VQ + q, demo->own[q]);
		if (demo->own[q] == demo->first)
			return guest_fail(EBADE, "vq %u has no new worker", FIRST_VQ + q);
	}
	return 0;
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static double kiops_for(struct demo *demo, unsigned int ms)
{
	uint64_t before = demo->shared->completed;
	double start = now_ms();

	usleep(ms * 1000);
	return (demo->shared->completed - before) / (now_ms() - start);
}

static int run_round(struct demo *demo, struct point *point, enum variant variant,
		     unsigned int round)
{
	int err = attach(demo, point->queues, variant);

	if (!err)
		point->kiops[variant][round] = kiops_for(demo, demo->opts.round_ms);
	return err;
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
	int err, end;

	demo->shared->completed = 0;
	err = ask_guest(demo, GUEST_RUN + point->queues);
	if (err)
		return err;
	for (round = 0; round < demo->opts.rounds && !err; round++) {
		for (step = 0; step < VARIANTS && !err; step++) {
			variant = (round + step) % VARIANTS;	/* who goes first takes turns */
			err = run_round(demo, point, variant, round);
		}
	}
	end = ask_guest(demo, GUEST_STOP);
	if (!err)
		sum_up(point, demo->opts.rounds);
	return err ?: end;
}

static void print_table(const struct demo *demo)
{
	unsigned int i;

	printf("\n%u KiB reads, %u in flight per queue; before: all queues on one worker, after: a worker\n"
	       "each; median of %u moves there and back, measured for %u ms each:\n\n", BLOCKS / 2,
	       demo->opts.depth, demo->opts.rounds, demo->opts.round_ms);
	printf("  %6s  %12s  %11s  %5s  %s\n", "QUEUES", "BEFORE kIOPS", "AFTER kIOPS", "RATIO",
	       "QUARTILES");
	for (i = 0; i < POINTS; i++) {
		const struct point *point = &demo->point[i];

		printf("  %6u  %12.1f  %11.1f  %5.2f  %.2f - %.2f\n", point->queues,
		       point->median[ONE_WORKER], point->median[WORKER_PER_QUEUE], point->ratio,
		       point->low, point->high);
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

static int report(const struct demo *demo)
{
	const struct shared *shared = demo->shared;

	print_table(demo);
	print_words(demo);
	if (shared->errors) {
		fflush(stdout);
		fprintf(stderr, "demo: %llu requests went wrong; %s\n",
			(unsigned long long)shared->errors, shared->error);
		return 1;
	}
	printf("All %llu reads returned what had been written; none lost, none doubled.\n",
	       (unsigned long long)shared->verified);
	return shared->verified ? 0 : 1;
}

static int show(const char *object, struct demo *demo)
{
	printf("\n# vhost-ctl %s show %s\n", object, demo->shared->wwpn);
	return ctl(object, "show", demo->shared->wwpn, NULL);
}

static int run(struct demo *demo)
{
	unsigned int i;

	if (start_guest(demo))
		return complain("cannot start the guest");
	printf("A guest runs on a vhost-scsi device with %u I/O queues; its workers are %ss.\n", QUEUES,
	       demo->shared->kind);
	if (show("dev", demo) || make_workers(demo) || show("worker", demo))
		return complain("cannot give the queues workers of their own");
	for (i = 0; i < POINTS; i++) {
		demo->point[i].queues = 1U << i;
		printf("%s%u queue%s ...", i ? " " : "\nMoving them there and back under load: ",
		       1U << i, i ? "s" : "");
		fflush(stdout);
		if (measure(demo, &demo->point[i])) {
			printf("\n");
			return complain("cannot run the load");
		}
	}
	printf(" done.\n");
	if (show("stats", demo))
		return 1;
	return report(demo);
}

int main(int argc, char **argv)
{
	struct demo demo = {
		.opts = {
			.kind = VDEV_THREAD_DEFAULT,
			.rounds = 7,
			.round_ms = 120,
			.depth = 32,
		},
	};
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	if (parse(&demo.opts, argc, argv))
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
	return end_guest(&demo) ?: ret;
}
