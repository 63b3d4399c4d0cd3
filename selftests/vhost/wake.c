// SPDX-License-Identifier: GPL-2.0
/*
 * wake.c - a worker wakes for every kick, and sleeps when there is nothing to do
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define RUN_MS		7000
#define MIN_PINGS	500	/* of each kind */
#define ANSWER_MS	guest_patience(8000)	/* a missed wake-up lasts for ever, a busy host does not */
#define LATENCY_MS	guest_patience(1000)
#define ABSENT_TARGET	9

FIXTURE(wake) {
	struct lio *target;
	struct vscsi *dev;
};

FIXTURE_THREADS(wake);

FIXTURE_SETUP(wake)
{
	struct lio_opts lio = { .size = 4 << 20 };
	struct vscsi_opts opts = { .queues = 2, .ring_size = 64, .thread = variant->thread };

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
}

FIXTURE_TEARDOWN(wake)
{
	vscsi_stop(self->dev);
	EXPECT_OK(lio_destroy(self->target));
}

struct pings {
	uint64_t rounds, max_ns;
	uint32_t random;
};

static void pause_a_little(struct pings *p)
{
	unsigned int n;

	p->random = p->random * 1664525 + 1013904223;
	for (n = p->random >> 17; n; n--)
		__asm__ volatile("" ::: "memory");
}

/*
 * One command, one kick, and no other kick until it was answered. The used ring is polled, so that
 * the next kick meets the worker at each step of its way to sleep.
 */
static int ping(struct vscsi *dev, unsigned int q, unsigned int target, struct pings *p)
{
	struct gvq *vq = dev->io[q].vq;
	struct vscsi_cmd cmd = { .timeout_ms = ANSWER_MS }, *done;
	uint64_t start_ns = guest_now_ns(), ns;
	int err;

	vscsi_lun(cmd.lun, target, 0);
	err = vscsi_send(dev, q, &cmd);
	if (err)
		return err;
	gvq_disarm(vq);
	while (!gvq_has_used(vq) && guest_now_ns() - start_ns < ANSWER_MS * 1000000ULL)
		;
	err = vscsi_collect(dev, q, 0, &done);
	if (err)
		return guest_fail(ETIMEDOUT, "round %llu was never answered",
				  (unsigned long long)p->rounds);
	ns = guest_now_ns() - start_ns;
	p->rounds++;
	if (ns > p->max_ns)
		p->max_ns = ns;
	pause_a_little(p);
	return 0;
}

/* For so long, and on until there were enough; the harness's limit is on that. */
static int ping_for(struct vscsi *dev, unsigned int target, unsigned int ms, struct pings *p)
{
	uint64_t end_ns = guest_now_ns() + ms * 1000000ULL, least = p->rounds + MIN_PINGS;
	int err = 0;

	while (!err && (guest_now_ns() < end_ns || p->rounds < least))
		err = ping(dev, 0, target, p);
	return err;
}

/* covers: W1 */
TEST_F(wake, one_kick_at_a_time_is_always_answered)
{
	struct pings p = { 0 };

	/* Answered by the worker itself: asleep and awake again, as fast as can be. */
	ASSERT_OK(ping_for(self->dev, ABSENT_TARGET, RUN_MS / 2, &p));
	/* Answered through LIO: the worker sleeps once more in between. */
	ASSERT_OK(ping_for(self->dev, VSCSI_TARGET, RUN_MS / 2, &p));
	TH_LOG("%llu rounds, longest %llu us", (unsigned long long)p.rounds,
	       (unsigned long long)p.max_ns / 1000);
}

/* covers: W1 */
TEST_F(wake, one_kick_at_a_time_is_always_answered_while_swapping)
{
	struct swap_map map = { .fd = self->dev->fd, .nr_vqs = 1, .vqs = { VDEV_SCSI_VQ_IO } };
	struct storm swap = { .name = "swap", .round = swap_round, .arg = &map };
	struct pings p = { 0 };

	ASSERT_OK(swap_make_workers(&map, 2));
	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(storm_start(&swap));
	EXPECT_OK(ping_for(self->dev, ABSENT_TARGET, RUN_MS / 2, &p));
	EXPECT_OK(ping_for(self->dev, VSCSI_TARGET, RUN_MS / 2, &p));
	EXPECT_OK(storm_stop(&swap, 1, ANSWER_MS));
	storm_expedite(false);
	TH_LOG("%llu rounds, %llu swaps, longest %llu us", (unsigned long long)p.rounds,
	       (unsigned long long)storm_rounds(&swap), (unsigned long long)p.max_ns / 1000);
	EXPECT_LT(50, storm_rounds(&swap));
}

/* covers: W13 */
TEST_F(wake, idle_worker_uses_no_cpu)
{
	struct swap_map map = { .fd = self->dev->fd };
	struct vthread list[8];
	int64_t before[8], used_ns;
	struct pings p = { 0 };
	int i, n;

	ASSERT_OK(swap_make_workers(&map, 3));
	ASSERT_OK(vdev_attach_worker(map.fd, vscsi_vq(self->dev, 1), map.workers[1]));
	for (i = 0; i < 50; i++) {
		ASSERT_OK(ping(self->dev, 0, VSCSI_TARGET, &p));
		ASSERT_OK(ping(self->dev, 1, ABSENT_TARGET, &p));
	}
	n = threads_list(getpid(), list, 8);
	ASSERT_EQ(3, n);
	for (i = 0; i < n; i++) {
		before[i] = storm_cpu_ns(list[i].tid);
		ASSERT_LE(0, before[i]) TH_LOG("%s", guest_error());
	}
	guest_sleep_ms(2000);
	for (i = 0; i < n; i++) {
		used_ns = storm_cpu_ns(list[i].tid) - before[i];
		EXPECT_GT(2000000, used_ns)
			TH_LOG("thread %s used %lld ns", list[i].comm, (long long)used_ns);
	}
}

static int pin(pid_t tid)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(tid, sizeof(one), &one))
		return guest_fail(errno, "pin thread %d", tid);
	return 0;
}

/* covers: W13 */
TEST_F(wake, latency_is_bounded_with_everything_on_one_cpu)
{
	struct load_opts opts = { .dev = self->dev, .first_queue = 1, .queues = 1, .depth = 16,
				  .run_ms = 5000, .check = LOAD_CHECK_STAMP };
	struct swap_map map = { .fd = self->dev->fd };
	struct load_stats total;
	struct pings p = { 0 };
	struct vthread list[8];
	struct load *load;
	int i, n;

	ASSERT_OK(swap_make_workers(&map, 2));
	ASSERT_OK(vdev_attach_worker(map.fd, vscsi_vq(self->dev, 1), map.workers[1]));
	n = threads_list(getpid(), list, 8);
	ASSERT_EQ(2, n);
	for (i = 0; i < n; i++)
		ASSERT_OK(pin(list[i].tid));
	ASSERT_OK(pin(0));	/* the load's threads inherit it; LIO works where it was called */
	ASSERT_OK(load_start(&opts, &load));
	/* Sleeping pings: polling would take the CPU from the worker. */
	for (i = 0; i < 4000 && p.max_ns < LATENCY_MS * 1000000ULL; i++) {
		uint64_t start_ns = guest_now_ns(), ns;

		ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
		ns = guest_now_ns() - start_ns;
		p.max_ns = ns > p.max_ns ? ns : p.max_ns;
		if (i % 16 == 15)
			guest_sleep_ms(10);
	}
	EXPECT_OK(load_wait(load, &total));
	load_free(load);
	TH_LOG("%d pings, longest %llu us; load: %llu requests, longest %llu us", i,
	       (unsigned long long)p.max_ns / 1000, (unsigned long long)total.completed,
	       (unsigned long long)total.latency_max_ns / 1000);
	EXPECT_GT(LATENCY_MS * 1000000ULL, p.max_ns);
	EXPECT_GT(LATENCY_MS * 1000000ULL, total.latency_max_ns);
}

TEST_HARNESS_MAIN
