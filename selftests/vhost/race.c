// SPDX-License-Identifier: GPL-2.0
/*
 * race.c - storms: workers come and go while queues, resets, the endpoint and flushes use them
 *
 * What hangs in the kernel cannot be ended from here: the test then says what hangs and ends its
 * process, and whoever runs it has to give up on the machine.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "lib/storm.h"

#define QUEUES		3
#define RUN_MS		7000
#define MIN_KILLS	4
#define STALL_MS	guest_patience(5000)
#define DEAD_VQ		40	/* from here on virtqueues that the guest does not use */
#define ARRAY(a)	(sizeof(a) / sizeof((a)[0]))

FIXTURE(race) {
	struct lio *target;
	struct vscsi *dev;
	int threads;		/* worker threads before the device was opened */
};

FIXTURE_THREADS(race);

FIXTURE_SETUP(race)
{
	struct lio_opts lio = { .size = 16 << 20, .luns = 2 };
	struct vscsi_opts opts = { .queues = QUEUES, .ring_size = 64, .thread = variant->thread };

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	self->threads = storm_count_threads();
	ASSERT_OK(vscsi_start(&opts, &self->dev));
	ASSERT_OK(storm_expedite(true));
}

FIXTURE_TEARDOWN(race)
{
	storm_expedite(false);
	vscsi_stop(self->dev);
	EXPECT_OK(storm_wait_threads(self->threads, STALL_MS));
	EXPECT_OK(lio_destroy(self->target));
}

/* After a hang nothing can be tidied up: not even close() would return. */
#define ASSERT_NO_HANG(call) \
	ASSERT_NE(-ETIMEDOUT, call) { \
		TH_LOG("%s: %s", #call, guest_error()); \
		kill(getpid(), SIGKILL); \
	}

/* A worker serves a virtqueue that is not in use for a moment: no grace period, no flush. */
static int brief_worker_round(struct storm *s)
{
	int fd = ((struct vscsi *)s->arg)->fd;
	uint32_t vq = DEAD_VQ + s->seed % 32, id;
	int err = vdev_new_worker(fd, &id);

	if (!err)
		err = vdev_attach_worker(fd, vq, id);
	if (!err && storm_random(s, 2))
		usleep(storm_random(s, 300));
	if (!err)
		err = vdev_attach_worker(fd, vq, 0);
	return err ?: vdev_free_worker(fd, id);
}

/* The same with a virtqueue under load. */
static int live_worker_round(struct storm *s)
{
	struct vscsi *dev = s->arg;
	uint32_t vq = storm_random(s, VDEV_SCSI_VQ_IO + QUEUES), id;
	int err = vdev_new_worker(dev->fd, &id);

	if (!err)
		err = vdev_attach_worker(dev->fd, vq, id);
	if (!err)
		err = vdev_attach_worker(dev->fd, vq, 0);
	return err ?: vdev_free_worker(dev->fd, id);
}

/* Let them rage beside a load. */
static void rage(struct __test_metadata *_metadata, struct storm *storms, unsigned int n,
		 struct load *load)
{
	int err = storm_run(storms, n, RUN_MS, STALL_MS, load);

	ASSERT_NO_HANG(err);
	EXPECT_OK(err);
	while (n--)
		TH_LOG("%-16s %llu rounds", storms[n].name,
		       (unsigned long long)storm_rounds(&storms[n]));
}

/* covers: D1 D2 W6 */
TEST_F_TIMEOUT(race, lun_resets_end_while_workers_come_and_go, 60)
{
	struct load_opts opts = { .dev = self->dev, .threads = 1, .depth = 3,
				  .check = LOAD_CHECK_STAMP };
	struct reset_map reset = { self->dev, 0, NULL };
	struct storm storms[] = {
		{ .name = "LUN RESET", .round = reset_round, .arg = &reset, .least = 5 },
		{ .name = "brief workers", .round = brief_worker_round, .arg = self->dev,
		  .least = 5 },
		{ .name = "brief workers 2", .round = brief_worker_round, .arg = self->dev,
		  .seed = 19 },
	};

	ASSERT_OK(load_start(&opts, &reset.load));
	rage(_metadata, storms, ARRAY(storms), reset.load);
	EXPECT_OK(load_finish(reset.load, NULL));
}

/* covers: D1 D2 W6 */
TEST_F_TIMEOUT(race, everything_at_once_hangs_nobody, 60)
{
	struct load_opts opts = { .dev = self->dev, .threads = 1, .depth = 3,
				  .check = LOAD_CHECK_STAMP };
	struct reset_map reset = { self->dev, 0, NULL };
	struct swap_map map = { .fd = self->dev->fd, .nr_vqs = 5, .vqs = { 0, 1, 2, 3, 4 } };
	struct storm storms[] = {
		{ .name = "LUN RESET", .round = reset_round, .arg = &reset },
		{ .name = "brief workers", .round = brief_worker_round, .arg = self->dev },
		{ .name = "live workers", .round = live_worker_round, .arg = self->dev },
		{ .name = "swap", .round = swap_round, .arg = &map, .seed = 7 },
		{ .name = "flush", .round = flush_round, .arg = self->dev },
	};

	ASSERT_OK(swap_make_workers(&map, 3));
	ASSERT_OK(load_start(&opts, &reset.load));
	rage(_metadata, storms, ARRAY(storms), reset.load);
	EXPECT_OK(load_finish(reset.load, NULL));
}

struct endpoint {
	struct vscsi *dev;
	const char *wwpn;
};

static int kick_all(struct vscsi *dev)
{
	unsigned int i;
	int err = gvq_kick_force(dev->ctl.vq);

	for (i = 0; i < dev->queues && !err; i++)
		err = gvq_kick_force(dev->io[i].vq);
	return err;
}

/* Kicks that come while there is no endpoint are lost by nature: kick again. */
static int endpoint_round(struct storm *s)
{
	struct endpoint *e = s->arg;
	int err = vdev_scsi_clear_endpoint(e->dev->fd, e->wwpn);

	if (!err)
		err = vdev_scsi_set_endpoint(e->dev->fd, e->wwpn);
	return err ?: kick_all(e->dev);
}

/* covers: D1 W6 S2 */
TEST_F_TIMEOUT(race, endpoint_comes_and_goes_while_workers_do, 60)
{
	struct load_opts opts = { .dev = self->dev, .threads = 1, .depth = 3,
				  .check = LOAD_CHECK_STAMP };
	struct endpoint endpoint = { self->dev, self->target->wwpn };
	struct reset_map reset = { self->dev, 0, NULL };
	struct storm storms[] = {
		{ .name = "endpoint", .round = endpoint_round, .arg = &endpoint },
		{ .name = "LUN RESET", .round = reset_round, .arg = &reset },
		{ .name = "brief workers", .round = brief_worker_round, .arg = self->dev },
		{ .name = "live workers", .round = live_worker_round, .arg = self->dev },
	};

	ASSERT_OK(load_start(&opts, &reset.load));
	rage(_metadata, storms, ARRAY(storms), reset.load);
	load_stop(reset.load);
	EXPECT_OK(kick_all(self->dev));
	EXPECT_OK(load_finish(reset.load, NULL));
}

struct toggle {
	struct vscsi *dev;
	uint64_t *log;
};

static int toggle_round(struct storm *s)
{
	struct toggle *t = s->arg;
	uint64_t features = t->dev->features;

	if (s->rounds & 1)
		features |= 1ULL << VHOST_F_LOG_ALL;
	return vdev_set_features(t->dev->fd, features);
}

/* Ask for used ring writes of I/O queue @q to be logged. */
static int log_used_ring(struct vscsi *dev, unsigned int q)
{
	struct gvq *vq = dev->io[q].vq;
	struct vhost_vring_addr addr = {
		.index = vq->index,
		.flags = 1 << VHOST_VRING_F_LOG,
		.desc_user_addr = (uintptr_t)vq->desc,
		.avail_user_addr = (uintptr_t)vq->avail,
		.used_user_addr = (uintptr_t)vq->used,
		.log_guest_addr = gmem_gpa(dev->mem, vq->used),
	};

	if (ioctl(dev->fd, VHOST_SET_VRING_ADDR, &addr))
		return guest_fail(errno, "VHOST_SET_VRING_ADDR with log of vq %u", vq->index);
	return 0;
}

static bool is_dirty(const uint64_t *log, uint64_t gpa)
{
	uint64_t page = gpa >> 12;

	return log[page / 64] >> (page % 64) & 1;
}

/* covers: S5 */
TEST_F_TIMEOUT(race, dirty_log_is_toggled_while_workers_run, 60)
{
	struct load_opts opts = { .dev = self->dev, .depth = 6, .check = LOAD_CHECK_STAMP };
	static uint64_t log[4096];
	uint64_t log_base = (uintptr_t)log;
	struct toggle toggle = { self->dev, log };
	struct storm storms[] = {
		{ .name = "LOG_ALL", .round = toggle_round, .arg = &toggle },
		{ .name = "live workers", .round = live_worker_round, .arg = self->dev },
		{ .name = "flush", .round = flush_round, .arg = self->dev },
	};
	struct load *load;
	unsigned int i;

	ASSERT_OK(vscsi_clear_endpoint(self->dev));
	ASSERT_EQ(0, ioctl(self->dev->fd, VHOST_SET_LOG_BASE, &log_base));
	for (i = 0; i < QUEUES; i++)
		ASSERT_OK(log_used_ring(self->dev, i));
	ASSERT_OK(vscsi_set_endpoint(self->dev, self->target->wwpn));
	ASSERT_OK(load_start(&opts, &load));
	rage(_metadata, storms, ARRAY(storms), load);
	EXPECT_OK(load_finish(load, NULL));

	/* And it does log, when it is on. */
	memset(log, 0, sizeof(log));
	ASSERT_OK(vdev_set_features(self->dev->fd, self->dev->features | 1ULL << VHOST_F_LOG_ALL));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	EXPECT_TRUE(is_dirty(log, gmem_gpa(self->dev->mem, self->dev->io[0].vq->used)));
	ASSERT_OK(vdev_set_features(self->dev->fd, self->dev->features));
}

struct victim {
	const char *wwpn;
	enum vdev_thread thread;
};

/* An owner that makes and frees workers under load until it is killed. */
static int victim_main(struct proc *me, void *arg)
{
	const struct victim *v = arg;
	struct vscsi_opts opts = { .wwpn = v->wwpn, .queues = QUEUES, .ring_size = 16,
				   .thread = v->thread };
	struct storm storms[3] = {
		{ .name = "brief workers", .round = brief_worker_round },
		{ .name = "live workers", .round = live_worker_round },
		{ .name = "LUN RESET", .round = reset_round },
	};
	struct reset_map reset = { 0 };
	struct load_opts load = { .depth = 4 };
	struct vscsi *dev;
	unsigned int i;
	int err;

	err = vscsi_start(&opts, &dev);
	load.dev = dev;
	if (!err)
		err = load_start(&load, &reset.load);
	reset.dev = dev;
	for (i = 0; i < 3 && !err; i++) {
		storms[i].arg = i < 2 ? (void *)dev : &reset;
		err = storm_start(&storms[i]);
	}
	if (err)
		return err;
	proc_pause(me);
}

/* covers: W6 D2 */
TEST_F_TIMEOUT(race, owner_killed_amid_the_storm_leaves_nothing, 90)
{
	struct victim victim = { self->target->wwpn, variant->thread };
	uint64_t end_ns = guest_now_ns() + RUN_MS * 1000000ULL;
	struct storm dice = { .seed = 12345 };
	unsigned int kills = 0;
	struct proc *proc;

	vscsi_stop(self->dev);
	self->dev = NULL;
	while (guest_now_ns() < end_ns || kills < MIN_KILLS) {
		ASSERT_OK(proc_start(victim_main, &victim, &proc));
		ASSERT_OK(proc_wait_ready(proc, STALL_MS));
		usleep(storm_random(&dice, 100000));
		ASSERT_OK(proc_kill(proc, STALL_MS));
		proc_free(proc);
		ASSERT_OK(storm_wait_threads(self->threads, STALL_MS));
		kills++;
	}
	TH_LOG("%u kills", kills);
}

TEST_HARNESS_MAIN
