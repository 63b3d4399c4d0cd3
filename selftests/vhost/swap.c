// SPDX-License-Identifier: GPL-2.0
/*
 * swap.c - virtqueues move between workers while they work: nothing is lost, doubled or corrupt
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define QUEUES		4
#define STALL_MS	guest_patience(8000)
#define MIN_IOS		20000
#define MIN_SWAPS	1000
#define ABSENT_TARGET	9

FIXTURE(swap) {
	struct lio *target;
	struct vscsi *dev;
	struct swap_map map;
};

FIXTURE_VARIANT(swap) {
	enum vdev_thread thread;
	bool indirect, event_idx;
};

FIXTURE_VARIANT_ADD(swap, kthread) { VDEV_THREAD_KTHREAD, false, false };
FIXTURE_VARIANT_ADD(swap, kthread_indirect_event_index) { VDEV_THREAD_KTHREAD, true, true };
FIXTURE_VARIANT_ADD(swap, task) { VDEV_THREAD_TASK, false, false };
FIXTURE_VARIANT_ADD(swap, task_indirect_event_index) { VDEV_THREAD_TASK, true, true };

FIXTURE_SETUP(swap)
{
	struct lio_opts lio = { .size = 16 << 20 };
	struct vscsi_opts opts = {
		.queues = QUEUES,
		.ring_size = 64,
		.indirect = variant->indirect,
		.event_idx = variant->event_idx,
		.thread = variant->thread,
	};
	unsigned int i;

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
	self->map.fd = self->dev->fd;
	self->map.nr_vqs = QUEUES;
	for (i = 0; i < QUEUES; i++)
		self->map.vqs[i] = vscsi_vq(self->dev, i);
}

FIXTURE_TEARDOWN(swap)
{
	storm_expedite(false);
	vscsi_stop(self->dev);
	EXPECT_OK(lio_destroy(self->target));
}

/* Let @storms rage until the load has done @ios and the first of them @rounds. */
static int rage(struct storm *storms, unsigned int n, struct load *load, uint64_t ios,
		uint64_t rounds)
{
	uint64_t start_ns = guest_now_ns();
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = storm_start(&storms[i]);
	while (!err && (load_completed(load) < ios || storm_rounds(&storms[0]) < rounds)) {
		guest_sleep_ms(20);
		err = storm_check(storms, n, STALL_MS);
		if (!err && !guest_left_ms(start_ns, guest_patience(60000)))
			err = guest_fail(ETIMEDOUT, "only %llu requests and %llu rounds",
					 (unsigned long long)load_completed(load),
					 (unsigned long long)storm_rounds(&storms[0]));
	}
	return err ?: storm_stop(storms, n, STALL_MS);
}

/* covers: W9 */
TEST_F_TIMEOUT(swap, random_maps_under_load_lose_double_and_corrupt_nothing, 90)
{
	struct load_opts opts = { .dev = self->dev, .threads = 2, .depth = 6, .batch = 3, .blocks = 2 };
	struct storm swap = { .name = "swap", .round = swap_round, .arg = &self->map };
	struct load_stats total;
	struct load *load;

	ASSERT_OK(swap_make_workers(&self->map, QUEUES));
	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(load_start(&opts, &load));
	EXPECT_OK(rage(&swap, 1, load, MIN_IOS, MIN_SWAPS));
	EXPECT_OK(load_finish(load, &total));
	TH_LOG("%llu requests, %llu swaps", (unsigned long long)total.completed,
	       (unsigned long long)storm_rounds(&swap));
	EXPECT_LE(MIN_IOS, total.completed);
	EXPECT_LE(MIN_SWAPS, storm_rounds(&swap));
}

/* covers: T5 */
TEST_F(swap, fewer_workers_than_queues_serve_them_all)
{
	struct load_opts opts = { .dev = self->dev, .depth = 8, .count = 1500 };
	struct storm swap = { .name = "swap", .round = swap_round, .arg = &self->map };
	struct load_stats total;
	struct load *load;
	unsigned int i;

	/* Ordinary grace periods here. */
	ASSERT_OK(swap_make_workers(&self->map, QUEUES - 1));
	ASSERT_OK(load_start(&opts, &load));
	ASSERT_OK(storm_start(&swap));
	EXPECT_OK(load_wait(load, &total));
	EXPECT_OK(storm_stop(&swap, 1, STALL_MS));
	for (i = 0; i < QUEUES; i++)
		EXPECT_EQ(1500, load_queue(load, i)->completed);
	EXPECT_LT(3, storm_rounds(&swap));
	load_free(load);
}

struct churn {
	struct swap_map map;	/* every virtqueue of the device that is live */
	uint32_t old;
};

/* A new worker takes over all virtqueues, and the old one is freed. */
static int churn_round(struct storm *s)
{
	struct churn *c = s->arg;
	unsigned int i;
	uint32_t new;
	int err = vdev_new_worker(c->map.fd, &new);

	for (i = 0; i < c->map.nr_vqs && !err; i++)
		err = vdev_attach_worker(c->map.fd, c->map.vqs[i], new);
	if (!err)
		err = vdev_free_worker(c->map.fd, c->old);
	c->old = new;
	return err;
}

/* covers: D1 */
TEST_F_TIMEOUT(swap, old_worker_is_freed_under_load_again_and_again, 60)
{
	struct churn churn = { .map = self->map };
	struct storm storm = { .name = "move all and free", .round = churn_round, .arg = &churn };
	struct load_opts opts = { .dev = self->dev, .depth = 8 };
	struct load *load;
	unsigned int i;
	uint32_t rest;

	churn.map.vqs[churn.map.nr_vqs++] = VDEV_SCSI_VQ_CTL;
	churn.map.vqs[churn.map.nr_vqs++] = VDEV_SCSI_VQ_EVT;
	/* Worker 0 has the queues that the guest does not use, too: out of its hands. */
	ASSERT_OK(vdev_new_worker(self->dev->fd, &rest));
	for (i = VDEV_SCSI_VQ_IO + QUEUES; i < 130; i++)
		ASSERT_OK(vdev_attach_worker(self->dev->fd, i, rest));
	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(load_start(&opts, &load));
	EXPECT_OK(rage(&storm, 1, load, 4000, 60));
	EXPECT_OK(load_finish(load, NULL));
	EXPECT_EQ(2, storm_count_threads());
}

static int control_round(struct storm *s)
{
	struct vscsi *dev = s->arg;
	uint8_t response = 0xff;
	uint32_t actual;
	int err = vscsi_an(dev, false, VSCSI_TARGET, 0, 2, STALL_MS / 2, &actual, &response);

	if (!err && response)
		err = guest_fail(EIO, "notification query answered %u", response);
	if (!err)
		err = vscsi_tmf(dev, VIRTIO_SCSI_T_TMF_ABORT_TASK, VSCSI_TARGET, 0, 1, STALL_MS / 2,
				&response);
	return err;
}

struct events {
	struct lio *target;
	struct vscsi *dev;
};

/* A LUN comes and goes: two events, each delivered, in order. */
static int event_round(struct storm *s)
{
	struct events *e = s->arg;
	struct virtio_scsi_event event = { 0 };
	int err = vscsi_evt_post(e->dev, 2);

	if (!err)
		err = lio_add_lun(e->target, 1);
	if (!err)
		err = vscsi_evt_wait(e->dev, STALL_MS / 2, &event);
	if (!err && event.reason != VIRTIO_SCSI_EVT_RESET_RESCAN)
		err = guest_fail(EIO, "event %u reason %u for a new LUN", event.event, event.reason);
	if (!err)
		err = lio_remove_lun(e->target, 1);
	if (!err)
		err = vscsi_evt_wait(e->dev, STALL_MS / 2, &event);
	if (!err && event.reason != VIRTIO_SCSI_EVT_RESET_REMOVED)
		err = guest_fail(EIO, "event %u reason %u for a LUN gone", event.event, event.reason);
	return err;
}

/* covers: W9 */
TEST_F(swap, control_and_event_queue_move_and_lose_nothing)
{
	struct load_opts opts = { .dev = self->dev, .depth = 4 };
	struct events events = { self->target, self->dev };
	struct load_stats total;
	struct storm storms[] = {
		{ .name = "swap", .round = swap_round, .arg = &self->map },
		{ .name = "control requests", .round = control_round, .arg = self->dev,
		  .least = 20 },
		{ .name = "events", .round = event_round, .arg = &events, .least = 2 },
	};
	struct load *load;

	self->map.vqs[self->map.nr_vqs++] = VDEV_SCSI_VQ_CTL;
	self->map.vqs[self->map.nr_vqs++] = VDEV_SCSI_VQ_EVT;
	ASSERT_OK(swap_make_workers(&self->map, 3));
	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(load_start(&opts, &load));
	EXPECT_OK(storm_run(storms, 3, 4000, STALL_MS, NULL));
	load_stop(load);
	/* LIO may answer BUSY while a LUN comes or goes. */
	load_wait(load, &total);
	load_free(load);
	EXPECT_EQ(0, total.lost + total.doubled + total.corrupt) TH_LOG("%s", total.text);
	EXPECT_EQ(total.submitted, total.completed);
	TH_LOG("%llu swaps, %llu control rounds, %llu event rounds",
	       (unsigned long long)storm_rounds(&storms[0]),
	       (unsigned long long)storm_rounds(&storms[1]),
	       (unsigned long long)storm_rounds(&storms[2]));
}

static int send_to_absent(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	vscsi_lun(cmd->lun, ABSENT_TARGET, 0);
	return vscsi_send(dev, q, cmd);
}

/*
 * A command to an absent target is answered by the work that the kick queues, so the used ring shows
 * whether that work has run.
 */
TEST_F(swap, work_queued_before_attach_has_run_when_it_returns)
{
	struct swap_map *map = &self->map;
	struct vscsi_cmd cmd, *done;
	unsigned int i, late = 0;

	ASSERT_OK(swap_make_workers(map, 2));
	ASSERT_OK(storm_expedite(true));
	for (i = 0; i < 400; i++) {
		ASSERT_OK(send_to_absent(self->dev, 0, &cmd));
		ASSERT_OK(vdev_attach_worker(map->fd, map->vqs[0], map->workers[(i + 1) % 2]));
		late += !gvq_has_used(self->dev->io[0].vq);
		ASSERT_OK(vscsi_collect(self->dev, 0, STALL_MS, &done));
	}
	EXPECT_EQ(0, late);
}

/* A request whose header is on a page that does not come: the worker of @q waits for it. */
static int block_worker(struct vscsi *dev, unsigned int q, void *stuck)
{
	struct virtio_scsi_cmd_resp *resp = gmem_alloc(dev->mem, sizeof(*resp), 0);
	struct gvq_sg sg[2] = {
		{ gmem_gpa(dev->mem, stuck), sizeof(struct virtio_scsi_cmd_req) },
		{ resp ? gmem_gpa(dev->mem, resp) : 0, sizeof(*resp) },
	};
	int ret = resp ? gvq_add(dev->io[q].vq, sg, 1, 1, stuck) : -ENOMEM;

	if (ret >= 0)
		ret = gvq_kick(dev->io[q].vq);
	if (ret >= 0)
		ret = gmem_stuck_wait(dev->mem, STALL_MS, NULL);
	return ret;
}

struct move {
	int fd;
	uint32_t vq, worker;
};

static int move_round(struct storm *s)
{
	const struct move *m = s->arg;

	s->stop = true;
	return vdev_attach_worker(m->fd, m->vq, m->worker);
}

/* covers: T5 */
TEST_F(swap, attach_waits_for_work_behind_a_stuck_request)
{
	struct swap_map *map = &self->map;
	struct move move = { map->fd, map->vqs[1], 0 };
	struct storm attach = { .name = "attach", .round = move_round, .arg = &move };
	struct vscsi_cmd cmd, *done;
	void *stuck;

	ASSERT_OK(gmem_alloc_special(self->dev->mem, 1, GMEM_STUCK, &stuck));
	ASSERT_OK(swap_make_workers(map, 2));
	move.worker = map->workers[1];
	ASSERT_OK(block_worker(self->dev, 0, stuck));
	/* Queue 1 has the same worker: its kick waits behind the stuck request. */
	ASSERT_OK(send_to_absent(self->dev, 1, &cmd));
	ASSERT_OK(storm_start(&attach));
	guest_sleep_ms(500);
	EXPECT_FALSE(__atomic_load_n(&attach.ended, __ATOMIC_ACQUIRE))
		TH_LOG("ATTACH returned before earlier work had run");
	EXPECT_FALSE(gvq_has_used(self->dev->io[1].vq));
	ASSERT_OK(gmem_stuck_resolve(self->dev->mem, stuck, 1));
	EXPECT_OK(storm_stop(&attach, 1, STALL_MS));
	EXPECT_TRUE(gvq_has_used(self->dev->io[1].vq));
	ASSERT_OK(vscsi_collect(self->dev, 1, STALL_MS, &done));
	EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, done->response);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 1, 0));
	EXPECT_OK(gvq_wait(self->dev->io[0].vq, STALL_MS));
}

/* covers: S18 */
TEST_F(swap, stuck_queue_does_not_stop_queues_of_other_workers)
{
	struct load_opts opts = { .dev = self->dev, .first_queue = 1, .queues = QUEUES - 1,
				  .depth = 8, .count = 300 };
	struct swap_map *map = &self->map;
	void *stuck;
	unsigned int i;

	ASSERT_OK(gmem_alloc_special(self->dev->mem, 1, GMEM_STUCK, &stuck));
	ASSERT_OK(swap_make_workers(map, 3));
	for (i = 1; i < QUEUES; i++)
		ASSERT_OK(vdev_attach_worker(map->fd, map->vqs[i], map->workers[1]));
	ASSERT_OK(block_worker(self->dev, 0, stuck));
	EXPECT_OK(load_run(&opts, NULL));
	/* They can even move meanwhile. */
	for (i = 1; i < QUEUES; i++)
		EXPECT_OK(vdev_attach_worker(map->fd, map->vqs[i], map->workers[2]));
	EXPECT_OK(load_run(&opts, NULL));
	EXPECT_FALSE(gvq_has_used(self->dev->io[0].vq));
	ASSERT_OK(gmem_stuck_resolve(self->dev->mem, stuck, 1));
	EXPECT_OK(gvq_wait(self->dev->io[0].vq, STALL_MS));
}

TEST_HARNESS_MAIN
