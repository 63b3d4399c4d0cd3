// SPDX-License-Identifier: GPL-2.0
/*
 * scsi.c - requests that cannot be served get an answer, and a queue that is broken harms no other
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define QUEUES		4
#define RING		32
#define ANSWER_MS	guest_patience(5000)
#define MIN_PINGS	20
#define STARVED_MS	guest_patience(1500)	/* no answer takes as long beside a busy queue */
#define PAGE		4096
#define MAX_PAGES	2048	/* of data in one command, fixed in vhost-scsi */
#define ABSENT_LUN	9
#define ABSENT_TARGET	9
#define REQ_BYTES	sizeof(struct virtio_scsi_cmd_req)
#define RESP_BYTES	sizeof(struct virtio_scsi_cmd_resp)
#define TASK_SET_FULL	0x28
#define CHECK_CONDITION	0x02

FIXTURE(scsi) {
	struct lio *target;
	struct gmem *mem;
	void *unmapped, *unreadable, *readonly, *hole, *stuck;
	struct vscsi *dev;
};

FIXTURE_THREADS(scsi);

FIXTURE_SETUP(scsi)
{
	struct lio_opts lio = { .size = 32 << 20 };
	struct vscsi_opts opts = { .queues = QUEUES, .ring_size = RING, .indirect = true,
				   .thread = variant->thread };

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(gmem_create(64 << 20, &self->mem));
	ASSERT_OK(gmem_alloc_special(self->mem, 1, GMEM_UNMAPPED, &self->unmapped));
	ASSERT_OK(gmem_alloc_special(self->mem, 1, GMEM_UNREADABLE, &self->unreadable));
	ASSERT_OK(gmem_alloc_special(self->mem, 1, GMEM_READONLY, &self->readonly));
	ASSERT_OK(gmem_alloc_special(self->mem, 1, GMEM_HOLE, &self->hole));
	ASSERT_OK(gmem_alloc_special(self->mem, 1, GMEM_STUCK, &self->stuck));
	opts.wwpn = self->target->wwpn;
	opts.mem = self->mem;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
}

FIXTURE_TEARDOWN(scsi)
{
	vscsi_stop(self->dev);
	gmem_destroy(self->mem);
	EXPECT_OK(lio_destroy(self->target));
}

static void rw_cmd(struct vscsi_cmd *cmd, bool write, uint64_t gpa, uint32_t bytes)
{
	memset(cmd, 0, sizeof(*cmd));
	vscsi_lun(cmd->lun, VSCSI_TARGET, 0);
	vscsi_rw_cdb(cmd->cdb, write, 10, 0, bytes / 512);
	cmd->data_gpa = gpa;
	cmd->data_in = !write;
	cmd->len = bytes;
	cmd->timeout_ms = ANSWER_MS;
}

/* covers: D9 */
TEST_F(scsi, data_on_a_page_that_cannot_be_used_is_answered)
{
	const struct {
		const char *what;
		void *page;
		bool write;
	} cases[] = {
		{ "write from an unmapped page", self->unmapped, true },
		{ "read into an unmapped page", self->unmapped, false },
		{ "write from an unreadable page", self->unreadable, true },
		{ "read into a read-only page", self->readonly, false },
	};
	struct vscsi_cmd cmd;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rw_cmd(&cmd, cases[i].write, gmem_gpa(self->mem, cases[i].page), PAGE);
		ASSERT_EQ(0, vscsi_exec(self->dev, 0, &cmd))
			TH_LOG("%s: %s", cases[i].what, guest_error());
		EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, cmd.response) TH_LOG("%s", cases[i].what);
		ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	}
}

/* covers: D9 */
TEST_F(scsi, command_of_too_many_pages_is_answered)
{
	uint64_t gpa = gmem_gpa(self->mem, gmem_alloc(self->mem, (MAX_PAGES + 1) * PAGE, PAGE));
	struct vscsi_cmd cmd;
	int write;

	ASSERT_NE(0, gpa);
	for (write = 0; write < 2; write++) {
		rw_cmd(&cmd, write, gpa, MAX_PAGES * PAGE);
		ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
		EXPECT_EQ(VIRTIO_SCSI_S_OK, cmd.response);
		EXPECT_EQ(0, cmd.status);
		rw_cmd(&cmd, write, gpa, (MAX_PAGES + 1) * PAGE);
		ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
		EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, cmd.response);
		ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	}
}

/* covers: S6 */
TEST_F(scsi, absent_lun_and_target_are_answered)
{
	struct vscsi_cmd cmd = { .timeout_ms = ANSWER_MS };

	vscsi_lun(cmd.lun, VSCSI_TARGET, ABSENT_LUN);
	ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
	EXPECT_EQ(VIRTIO_SCSI_S_OK, cmd.response);
	EXPECT_EQ(CHECK_CONDITION, cmd.status);
	EXPECT_EQ(0x25, cmd.sense[12]);	/* LOGICAL UNIT NOT SUPPORTED */
	vscsi_lun(cmd.lun, ABSENT_TARGET, 0);
	ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
	EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, cmd.response);
	vscsi_lun(cmd.lun, VSCSI_TARGET, 0);
	cmd.lun[0] = 0;
	ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
	EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, cmd.response);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

/* covers: S7 */
TEST_F(scsi, scan_of_absent_targets_does_not_flood_the_log)
{
	struct vscsi_cmd cmd = { .cdb = { 0x12, 0, 0, 0, 36 }, .timeout_ms = ANSWER_MS };
	unsigned int target, bad = 0;
	int log = storm_log_open(), lines;

	ASSERT_LE(0, log);
	for (target = 0; target < 256; target++) {
		if (target == VSCSI_TARGET)
			continue;
		vscsi_lun(cmd.lun, target, 0);
		ASSERT_OK(vscsi_exec(self->dev, 0, &cmd));
		bad += cmd.response == VIRTIO_SCSI_S_BAD_TARGET;
	}
	EXPECT_EQ(255, bad);
	lines = storm_log_lines(log);
	EXPECT_GT(10, lines);
	close(log);
}

/* Requests in raw form: descriptor pairs 2i, 2i+1 of a queue that nothing else uses. */
struct raw {
	struct gvq *vq;
	char *req, *resp;	/* of RING requests each */
};

static int raw_init(struct raw *raw, struct gmem *mem, struct gvq *vq)
{
	raw->vq = vq;
	raw->req = gmem_alloc(mem, RING * REQ_BYTES, 64);
	raw->resp = gmem_alloc(mem, RING * RESP_BYTES, 64);
	return raw->req && raw->resp ? 0 : -ENOMEM;
}

static struct virtio_scsi_cmd_resp *raw_resp(const struct raw *raw, unsigned int i)
{
	return (struct virtio_scsi_cmd_resp *)(raw->resp + i * RESP_BYTES);
}

/* TEST UNIT READY number @i at head 2 * @slot, with request header @req (NULL: its own). */
static void raw_post(const struct raw *raw, unsigned int slot, unsigned int i, void *req)
{
	struct virtio_scsi_cmd_req *own = (void *)(raw->req + i * REQ_BYTES);
	const struct gmem *mem = raw->vq->mem;

	memset(own, 0, sizeof(*own));
	vscsi_lun(own->lun, VSCSI_TARGET, 0);
	raw_resp(raw, i)->response = 0xee;
	gvq_write_desc(raw->vq, 2 * slot, gmem_gpa(mem, req ?: own), REQ_BYTES, VRING_DESC_F_NEXT,
		       2 * slot + 1);
	gvq_write_desc(raw->vq, 2 * slot + 1, gmem_gpa(mem, raw_resp(raw, i)), RESP_BYTES,
		       VRING_DESC_F_WRITE, 0);
	gvq_add_raw(raw->vq, 2 * slot);
}

static int raw_await(const struct raw *raw, unsigned int count)
{
	uint64_t start_ns = guest_now_ns();
	unsigned int i;

	for (i = 0; i < count; i++) {
		int err = gvq_wait(raw->vq, guest_left_ms(start_ns, ANSWER_MS));

		if (err)
			return guest_fail(-err, "%u of %u answers", i, count);
		gvq_pop_raw(raw->vq, NULL, NULL);
	}
	return 0;
}

/*
 * Nearly as many commands as there are tags, then one whose header comes late. Meanwhile the guest
 * uses the same heads for more: the worker meets them before it has completed anything.
 */
/* covers: S6 */
TEST_F(scsi, more_commands_than_tags_are_all_answered)
{
	const unsigned int heads = RING / 2 - 1, tags_left = RING - 2 * heads;
	unsigned int i, full = 0, answered = 0;
	struct raw first, late, more;

	ASSERT_OK(raw_init(&first, self->mem, self->dev->io[0].vq));
	ASSERT_OK(raw_init(&late, self->mem, self->dev->io[0].vq));
	ASSERT_OK(raw_init(&more, self->mem, self->dev->io[0].vq));
	for (i = 0; i < heads; i++)
		raw_post(&first, i, i, NULL);
	for (i = 0; i < heads; i++)
		gvq_add_raw(first.vq, 2 * i);
	raw_post(&late, heads, 0, self->stuck);
	ASSERT_OK(gvq_kick_force(first.vq));
	ASSERT_OK(gmem_stuck_wait(self->mem, ANSWER_MS, NULL));
	for (i = 0; i < heads; i++)
		raw_post(&more, i, i, NULL);
	ASSERT_OK(gmem_stuck_resolve(self->mem, self->stuck, 1));
	ASSERT_OK(raw_await(&first, 3 * heads + 1));
	EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, raw_resp(&late, 0)->response);
	for (i = 0; i < heads; i++) {
		answered += raw_resp(&more, i)->response == VIRTIO_SCSI_S_OK;
		full += raw_resp(&more, i)->status == TASK_SET_FULL;
	}
	EXPECT_EQ(heads, answered);
	EXPECT_EQ(heads - tags_left, full);
	/* The tags come back. */
	for (i = 0; i < heads; i++)
		raw_post(&more, i, i, NULL);
	ASSERT_OK(gvq_kick_force(more.vq));
	ASSERT_OK(raw_await(&more, heads));
	for (i = 0; i < heads; i++)
		EXPECT_EQ(0, raw_resp(&more, i)->status);
}

enum malformed { LOOP, NEXT_OUTSIDE, HEAD_OUTSIDE, INDIRECT_ODD, INDIRECT_EMPTY, INDIRECT_NEXT,
		 INDIRECT_NESTED, ADDRESS_OUTSIDE, IN_A_HOLE, ZERO_LENGTH, NR_MALFORMED };

static const char * const malformed_names[] = {
	"descriptor that follows itself", "next outside of the table", "head outside of the table",
	"indirect table of odd size", "empty indirect table", "indirect and next at once",
	"indirect within indirect", "address outside of memory", "address in a hole", "zero length",
};

/* Publish head 0 (or a wrong one) with the fault of kind @kind. */
static void break_queue(struct gmem *mem, struct gvq *vq, enum malformed kind, void *hole)
{
	struct vring_desc *table = gmem_alloc(mem, 4 * sizeof(*table), 64);
	uint64_t gpa = gmem_gpa(mem, gmem_alloc(mem, PAGE, 64)), in = gmem_gpa(mem, table);
	const uint16_t indirect = VRING_DESC_F_INDIRECT;

	gvq_write_desc(vq, 1, gpa + 512, RESP_BYTES, VRING_DESC_F_WRITE, 0);
	switch (kind) {
	case LOOP:
		gvq_write_desc(vq, 0, gpa, REQ_BYTES, VRING_DESC_F_NEXT, 0);
		break;
	case NEXT_OUTSIDE:
		gvq_write_desc(vq, 0, gpa, REQ_BYTES, VRING_DESC_F_NEXT, vq->num);
		break;
	case INDIRECT_ODD:
		gvq_write_desc(vq, 0, in, sizeof(*table) + 3, indirect, 0);
		break;
	case INDIRECT_EMPTY:
		gvq_write_desc(vq, 0, in, 0, indirect, 0);
		break;
	case INDIRECT_NEXT:
		table[0] = (struct vring_desc){ gpa, REQ_BYTES, VRING_DESC_F_NEXT, 77 };
		gvq_write_desc(vq, 0, in, 2 * sizeof(*table), indirect | VRING_DESC_F_NEXT, 1);
		break;
	case INDIRECT_NESTED:
		table[0] = (struct vring_desc){ in, sizeof(*table), indirect, 0 };
		gvq_write_desc(vq, 0, in, sizeof(*table), indirect, 0);
		break;
	case ADDRESS_OUTSIDE:
		gvq_write_desc(vq, 0, gmem_bad_gpa(mem), REQ_BYTES, VRING_DESC_F_NEXT, 1);
		break;
	case IN_A_HOLE:
		gvq_write_desc(vq, 0, gmem_gpa(mem, hole), REQ_BYTES, VRING_DESC_F_NEXT, 1);
		break;
	default:
		gvq_write_desc(vq, 0, gpa, 0, 0, 0);
		break;
	}
	gvq_add_raw(vq, kind == HEAD_OUTSIDE ? vq->num + 5 : 0);
}

/* CPU time that all worker threads have used. */
static int64_t workers_cpu_ns(void)
{
	struct vthread list[8];
	int i, n = threads_list(getpid(), list, 8);
	int64_t sum = 0;

	for (i = 0; i < n; i++)
		sum += storm_cpu_ns(list[i].tid);
	return sum;
}

/* covers: S19 */
TEST_F_TIMEOUT(scsi, malformed_chain_does_not_stop_another_queue_of_the_worker, 60)
{
	struct vscsi_opts opts = { .wwpn = self->target->wwpn, .queues = 2, .ring_size = RING,
				   .indirect = true, .thread = variant->thread, .mem = self->mem };
	struct load_opts load = { .first_queue = 1, .queues = 1, .depth = 4, .count = 150 };
	int64_t cpu_ns;
	int kind;

	vscsi_stop(self->dev);
	self->dev = NULL;
	for (kind = 0; kind < NR_MALFORMED; kind++) {
		ASSERT_OK(vscsi_start(&opts, &load.dev));
		break_queue(self->mem, load.dev->io[0].vq, kind, self->hole);
		EXPECT_OK(gvq_kick_force(load.dev->io[0].vq));
		EXPECT_OK(load_run(&load, NULL));
		EXPECT_OK(gvq_kick_force(load.dev->io[0].vq));
		EXPECT_OK(load_run(&load, NULL));
		/* Nor does the worker try for ever. */
		guest_sleep_ms(50);
		cpu_ns = workers_cpu_ns();
		guest_sleep_ms(150);
		cpu_ns = workers_cpu_ns() - cpu_ns;
		EXPECT_GT(20000000, cpu_ns)
			TH_LOG("%s: %lld ns", malformed_names[kind], (long long)cpu_ns);
		vscsi_stop(load.dev);
	}
}

/* covers: S13 */
TEST_F(scsi, avail_index_that_jumps_stops_that_queue_only)
{
	struct load_opts load = { .dev = self->dev, .first_queue = 1, .depth = 8, .count = 300 };
	struct gvq *vq = self->dev->io[0].vq;
	uint16_t jumps[] = { RING + 1, 1000, 0x8000, 0xffff };
	unsigned int i;

	ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		gvq_set_avail_idx(vq, vq->used_idx + jumps[i]);
		ASSERT_OK(gvq_kick_force(vq));
		EXPECT_OK(load_run(&load, NULL));
		EXPECT_FALSE(gvq_has_used(vq));
	}
}

/* covers: S13 */
TEST_F(scsi, queue_that_its_guest_broke_works_after_a_restart)
{
	struct gvq *vq = self->dev->io[0].vq;

	ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	gvq_set_avail_idx(vq, vq->used_idx + 1000);
	ASSERT_OK(gvq_kick_force(vq));
	guest_sleep_ms(100);
	ASSERT_OK(vscsi_clear_endpoint(self->dev));
	gvq_reset(vq);
	ASSERT_OK(gvq_setup(vq, self->dev->fd));
	ASSERT_OK(vscsi_set_endpoint(self->dev, self->target->wwpn));
	/* The device must want to be kicked again. */
	EXPECT_EQ(0, vq->used->flags);
	gvq_kick_force(vq);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

static int hammer_round(struct storm *s)
{
	return gvq_kick_force(s->arg);
}

/* covers: S18 */
TEST_F(scsi, busy_queue_does_not_starve_another_of_the_worker)
{
	struct load_opts opts = { .dev = self->dev, .queues = 1, .depth = RING, .batch = 4,
				  .poll = true, .check = LOAD_CHECK_STAMP };
	struct gvq kicks = *self->dev->io[0].vq;	/* a copy: it only counts kicks */
	struct storm hammer = { .name = "kicks", .round = hammer_round, .arg = &kicks };
	uint64_t end_ns = guest_now_ns() + 4000000000ULL, start_ns, ns, max_ns = 0;
	unsigned int pings = 0;
	struct load *load;

	ASSERT_OK(load_start(&opts, &load));
	ASSERT_OK(storm_start(&hammer));
	while (guest_now_ns() < end_ns || pings < MIN_PINGS) {
		start_ns = guest_now_ns();
		ASSERT_OK(vscsi_test_unit_ready(self->dev, 1, 0));
		ns = guest_now_ns() - start_ns;
		max_ns = ns > max_ns ? ns : max_ns;
		pings++;
	}
	EXPECT_OK(storm_stop(&hammer, 1, ANSWER_MS));
	load_stop(load);
	EXPECT_OK(load_wait(load, NULL));
	TH_LOG("%u pings beside %llu requests, longest %llu us", pings,
	       (unsigned long long)load_completed(load), (unsigned long long)max_ns / 1000);
	load_free(load);
	EXPECT_GT(STARVED_MS * 1000000ULL, max_ns);
}

/* covers: S2 */
TEST_F(scsi, flushes_with_full_queues_lose_nothing)
{
	struct load_opts opts = { .dev = self->dev, .depth = RING, .batch = 8, .threads = 2,
				  .check = LOAD_CHECK_STAMP };
	struct storm flush = { .name = "flush", .round = flush_round, .arg = self->dev,
			       .least = 20 };
	struct swap_map map = { .fd = self->dev->fd };
	struct load_stats total;
	struct load *load;
	unsigned int i;

	ASSERT_OK(swap_make_workers(&map, QUEUES));
	for (i = 0; i < QUEUES; i++)
		ASSERT_OK(vdev_attach_worker(map.fd, vscsi_vq(self->dev, i), map.workers[i]));
	ASSERT_OK(load_start(&opts, &load));
	EXPECT_OK(storm_run(&flush, 1, 5000, ANSWER_MS, load));
	EXPECT_OK(load_finish(load, &total));
	TH_LOG("%llu flushes, %llu requests", (unsigned long long)storm_rounds(&flush),
	       (unsigned long long)total.completed);
}

TEST_HARNESS_MAIN
