// SPDX-License-Identifier: GPL-2.0
/*
 * tmf.c - the control queue: a LUN reset answers last, and no request, however odd, stops the queue
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define QUEUES		4
#define DEPTH		12
#define RESETS		60
#define ANSWER_MS	guest_patience(8000)
#define IGNORED_MS	300	/* long enough for an answer that must not come */
#define ABSENT_LUN	9
#define ABSENT_TARGET	9

FIXTURE(tmf) {
	struct lio *target;
	struct vscsi *dev;
	struct swap_map map;
};

FIXTURE_THREADS(tmf);

/* A worker for the control queue, and one for each I/O queue. */
FIXTURE_SETUP(tmf)
{
	struct lio_opts lio = { .size = 16 << 20, .luns = 2 };
	struct vscsi_opts opts = { .queues = QUEUES, .ring_size = 64, .event_idx = true,
				   .thread = variant->thread };
	unsigned int i;

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
	self->map.fd = self->dev->fd;
	ASSERT_OK(swap_make_workers(&self->map, QUEUES + 1));
	for (i = 0; i < QUEUES; i++)
		ASSERT_OK(vdev_attach_worker(self->map.fd, vscsi_vq(self->dev, i),
					     self->map.workers[i + 1]));
}

FIXTURE_TEARDOWN(tmf)
{
	vscsi_stop(self->dev);
	EXPECT_OK(lio_destroy(self->target));
}

/* A control request whose answer is waited for later. */
struct ctl {
	struct virtio_scsi_ctrl_tmf_req *req;
	uint8_t *resp;
};

static int send_reset(struct vscsi *dev, unsigned int lun, struct ctl *ctl)
{
	struct gvq_sg sg[2];
	int ret;

	if (!ctl->req) {
		ctl->req = gmem_alloc(dev->mem, sizeof(*ctl->req), 0);
		ctl->resp = gmem_alloc(dev->mem, 1, 0);
	}
	if (!ctl->req || !ctl->resp)
		return -ENOMEM;
	*ctl->req = (struct virtio_scsi_ctrl_tmf_req){
		.type = VIRTIO_SCSI_T_TMF,
		.subtype = VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET,
	};
	vscsi_lun(ctl->req->lun, VSCSI_TARGET, lun);
	*ctl->resp = 0xff;
	sg[0] = (struct gvq_sg){ gmem_gpa(dev->mem, ctl->req), sizeof(*ctl->req) };
	sg[1] = (struct gvq_sg){ gmem_gpa(dev->mem, ctl->resp), 1 };
	ret = gvq_add(dev->ctl.vq, sg, 1, 1, ctl);
	if (ret >= 0)
		ret = gvq_kick(dev->ctl.vq);
	return ret < 0 ? ret : 0;
}

static int await_reset(struct vscsi *dev, struct ctl **ctl)
{
	void *cookie;
	int ret = gvq_wait(dev->ctl.vq, ANSWER_MS);

	if (!ret)
		ret = gvq_pop(dev->ctl.vq, &cookie, NULL);
	if (ret < 0)
		return ret;
	*ctl = cookie;
	if (*(*ctl)->resp != VIRTIO_SCSI_S_FUNCTION_SUCCEEDED)
		return guest_fail(EIO, "LUN RESET answered %u", *(*ctl)->resp);
	return 0;
}

static void make_read(struct vscsi_cmd *cmd, uint64_t gpa, unsigned int lun, uint64_t lba)
{
	memset(cmd, 0, sizeof(*cmd));
	vscsi_lun(cmd->lun, VSCSI_TARGET, lun);
	vscsi_rw_cdb(cmd->cdb, false, 10, lba, 8);
	cmd->data_gpa = gpa;
	cmd->data_in = true;
	cmd->len = 8 * 512;
}

/* With the event index the device tells what it has fetched. */
static int await_fetched(const struct gvq *vq)
{
	uint64_t start_ns = guest_now_ns();
	const uint16_t *event = (const uint16_t *)&vq->used->ring[vq->num];

	while (__atomic_load_n(event, __ATOMIC_ACQUIRE) != vq->avail_idx)
		if (!guest_left_ms(start_ns, ANSWER_MS))
			return guest_fail(ETIMEDOUT, "vq %u: requests not fetched", vq->index);
	return 0;
}

static int collect_all(struct vscsi *dev, unsigned int q, unsigned int count)
{
	struct vscsi_cmd *done;
	int err = 0;

	while (count-- && !err)
		err = vscsi_collect(dev, q, ANSWER_MS, &done);
	return err;
}

/*
 * One kick, two requests: a read, then one whose header does not come. When the worker waits for
 * it, the read is with LIO, and its response comes behind. 0, or -EAGAIN if the worker was still at
 * the ring and took the read alone.
 */
static int block_behind_read(struct vscsi *dev, struct vscsi_cmd *read, void *stuck)
{
	struct virtio_scsi_cmd_resp *resp = gmem_alloc(dev->mem, sizeof(*resp), 0);
	struct gvq *vq = dev->io[0].vq;
	struct gvq_sg sg[2] = {
		{ gmem_gpa(dev->mem, stuck), 51 },
		{ gmem_gpa(dev->mem, resp), sizeof(*resp) },
	};
	int err;

	vq->kicked_idx = vq->avail_idx + 2;	/* hold the read's own kick */
	err = vscsi_send(dev, 0, read);
	if (!err && gvq_add(vq, sg, 1, 1, NULL) < 0)
		err = -ENOSPC;
	if (!err)
		err = gvq_kick_force(vq);
	vq->kicked_idx = vq->avail_idx;
	if (!err)
		err = gmem_stuck_wait(dev->mem, ANSWER_MS, NULL);
	usleep(100000);
	return err ?: gvq_has_used(vq) ? -EAGAIN : 0;
}

/* Both answers of block_behind_read(). */
static int unblock(struct vscsi *dev, void *stuck)
{
	struct gvq *vq = dev->io[0].vq;
	int err = gmem_stuck_resolve(dev->mem, stuck, 1);

	for (int i = 0; i < 2 && !err; i++) {
		err = gvq_wait(vq, ANSWER_MS);
		if (!err && gvq_pop(vq, NULL, NULL) < 0)
			err = -EBADMSG;
	}
	return err;
}

/* covers: S1 */
TEST_F(tmf, lun_reset_waits_for_the_response_of_a_blocked_worker)
{
	uint64_t buf = gmem_gpa(self->dev->mem, gmem_alloc(self->dev->mem, 4096, 4096));
	struct gvq *vq = self->dev->io[0].vq;
	struct ctl ctl = { 0 }, *answered;
	struct vscsi_cmd read;
	int err, tries = 0;
	void *stuck;

	do {
		ASSERT_OK(gmem_alloc_special(self->dev->mem, 1, GMEM_STUCK, &stuck));
		make_read(&read, buf, 0, 0);
		err = block_behind_read(self->dev, &read, stuck);
		if (err == -EAGAIN)
			ASSERT_OK(unblock(self->dev, stuck));
	} while (err == -EAGAIN && ++tries < 10);
	ASSERT_EQ(0, err);

	ASSERT_OK(send_reset(self->dev, 0, &ctl));
	EXPECT_EQ(-ETIMEDOUT, gvq_wait(self->dev->ctl.vq, 700))
		TH_LOG("LUN RESET was answered before an earlier read");
	EXPECT_FALSE(gvq_has_used(vq));
	ASSERT_OK(gmem_stuck_resolve(self->dev->mem, stuck, 1));
	EXPECT_OK(await_reset(self->dev, &answered));
	/* Both requests, and without waiting. */
	EXPECT_EQ(2, (uint16_t)(vq->used->idx - vq->used_idx));
	ASSERT_OK(gvq_wait(vq, ANSWER_MS));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 1, 0));
}

/*
 * Commands that LIO has not begun when the reset runs are not part of it and may answer later; with
 * submit_type 1 (direct) a command has begun when the worker has fetched it.
 */
static bool submits_directly(struct lio *target)
{
	return !lio_set_attrib(target, 0, "submit_type", "1");
}

/* covers: S1 */
TEST_F_TIMEOUT(tmf, lun_reset_answers_after_all_earlier_responses, 60)
{
	static struct vscsi_cmd cmds[QUEUES][DEPTH];
	bool strict = submits_directly(self->target);
	unsigned int round, q, i, early = 0;
	struct ctl ctl = { 0 }, *answered;
	uint64_t buf[QUEUES];

	for (q = 0; q < QUEUES; q++)
		buf[q] = gmem_gpa(self->dev->mem, gmem_alloc(self->dev->mem, DEPTH * 4096, 4096));
	for (round = 0; round < RESETS; round++) {
		for (q = 0; q < QUEUES; q++)
			for (i = 0; i < DEPTH; i++) {
				make_read(&cmds[q][i], buf[q] + i * 4096, 0, (q * DEPTH + i) * 8);
				ASSERT_OK(vscsi_send(self->dev, q, &cmds[q][i]));
			}
		for (q = 0; q < QUEUES; q++)
			ASSERT_OK(await_fetched(self->dev->io[q].vq));
		ASSERT_OK(send_reset(self->dev, 0, &ctl));
		ASSERT_OK(await_reset(self->dev, &answered));
		for (q = 0; q < QUEUES; q++) {
			const struct gvq *vq = self->dev->io[q].vq;

			early += (uint16_t)(vq->avail_idx -
					    __atomic_load_n(&vq->used->idx, __ATOMIC_ACQUIRE));
		}
		for (q = 0; q < QUEUES; q++)
			ASSERT_OK(collect_all(self->dev, q, DEPTH));
	}
	TH_LOG("%u of %u responses came after the reset's%s", early, RESETS * QUEUES * DEPTH,
	       strict ? "" : " (allowed: LIO begins commands later on this kernel)");
	if (strict)
		EXPECT_EQ(0, early);
}

static int set_realtime(pid_t tid, unsigned int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(tid, sizeof(one), &one) ||
	    sched_setscheduler(tid, SCHED_FIFO, &param))
		return guest_fail(errno, "real-time priority on CPU %u for thread %d", cpu, tid);
	return 0;
}

static int hog_round(struct storm *s)
{
	uint64_t end_ns = guest_now_ns() + 500000000;
	int err = set_realtime(0, *(unsigned int *)s->arg, 1);

	while (!err && guest_now_ns() < end_ns)
		;
	s->stop = true;
	return err;
}

/*
 * The commands are done, but LIO's kworker on CPU 1, which has to say so to vhost, gets no time there. The
 * workers, with a higher priority, do: whoever only flushes them answers the reset too early.
 */
/* covers: S1 */
TEST_F(tmf, lun_reset_waits_for_commands_that_lio_has_not_handed_back)
{
	static struct vscsi_cmd cmds[DEPTH];
	uint64_t buf = gmem_gpa(self->dev->mem, gmem_alloc(self->dev->mem, DEPTH * 4096, 4096));
	struct gvq *vq = self->dev->io[0].vq;
	unsigned int i, cpu = 1, early;
	struct storm hog = { .name = "hog", .round = hog_round, .arg = &cpu };
	struct ctl ctl = { 0 }, *answered;
	struct vthread list[8];
	int n, t;

	if (!submits_directly(self->target))
		SKIP(return, "LIO of this kernel does not submit directly");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs 2 CPUs");
	n = threads_list(getpid(), list, 8);
	ASSERT_EQ(QUEUES + 1, n);
	/* In the order of their making: the first has the control queue. */
	for (t = 0; t < n; t++)
		ASSERT_OK(set_realtime(list[t].tid, t ? cpu : 0, 10));
	ASSERT_OK(set_realtime(0, 0, 5));
	ASSERT_OK(storm_start(&hog));
	guest_sleep_ms(50);
	for (i = 0; i < DEPTH; i++) {
		make_read(&cmds[i], buf + i * 4096, 0, i * 8);
		ASSERT_OK(vscsi_send(self->dev, 0, &cmds[i]));
	}
	ASSERT_OK(await_fetched(vq));
	ASSERT_OK(send_reset(self->dev, 0, &ctl));
	ASSERT_OK(await_reset(self->dev, &answered));
	early = (uint16_t)(vq->avail_idx - __atomic_load_n(&vq->used->idx, __ATOMIC_ACQUIRE));
	EXPECT_EQ(0, early) TH_LOG("%u of %u responses came after the reset's", early, DEPTH);
	EXPECT_OK(storm_stop(&hog, 1, ANSWER_MS));
	EXPECT_OK(collect_all(self->dev, 0, DEPTH));
}

/* covers: S1 */
TEST_F_TIMEOUT(tmf, resets_of_two_luns_at_once_are_both_answered, 60)
{
	struct load_opts opts[2] = {
		{ .dev = self->dev, .first_queue = 0, .queues = 2, .depth = 6, .lun = 0 },
		{ .dev = self->dev, .first_queue = 2, .queues = 2, .depth = 6, .lun = 1 },
	};
	struct ctl ctls[2] = { 0 }, *first, *second;
	struct load *loads[2];
	unsigned int i, round;

	for (i = 0; i < 2; i++)
		ASSERT_OK(load_start(&opts[i], &loads[i]));
	for (round = 0; round < RESETS; round++) {
		for (i = 0; i < 2; i++)
			load_reset_begin(loads[i]);
		for (i = 0; i < 2; i++)
			ASSERT_OK(send_reset(self->dev, i, &ctls[i]));
		ASSERT_OK(await_reset(self->dev, &first));
		ASSERT_OK(await_reset(self->dev, &second));
		ASSERT_NE(first, second);
		for (i = 0; i < 2; i++)
			load_reset_end(loads[i]);
		guest_sleep_ms(5);
	}
	for (i = 0; i < 2; i++)
		EXPECT_OK(load_finish(loads[i], NULL));
}

/* The queue is well: a query of the AN kind and a reset are answered. */
static int control_works(struct vscsi *dev)
{
	uint8_t response = 0xff;
	uint32_t actual = 0xff;
	int err = vscsi_an(dev, false, VSCSI_TARGET, 0, 2, ANSWER_MS, &actual, &response);

	if (!err && (response || actual))
		err = guest_fail(EIO, "query answered %u, event %u", response, actual);
	if (!err)
		err = vscsi_tmf(dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, 0, 0,
				ANSWER_MS, &response);
	if (!err && response != VIRTIO_SCSI_S_FUNCTION_SUCCEEDED)
		err = guest_fail(EIO, "reset answered %u", response);
	return err ?: vscsi_test_unit_ready(dev, 0, 0);
}

/* covers: S4 */
TEST_F(tmf, every_subtype_is_answered)
{
	static const uint32_t subtypes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 0xffffffff };
	unsigned int i;
	uint8_t response;

	for (i = 0; i < sizeof(subtypes) / sizeof(subtypes[0]); i++) {
		response = 0xff;
		ASSERT_OK(vscsi_tmf(self->dev, subtypes[i], VSCSI_TARGET, 0, 1, ANSWER_MS, &response));
		EXPECT_EQ(subtypes[i] == VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET ?
			  VIRTIO_SCSI_S_FUNCTION_SUCCEEDED : VIRTIO_SCSI_S_FUNCTION_REJECTED, response)
			TH_LOG("subtype %u", subtypes[i]);
	}
	EXPECT_OK(control_works(self->dev));
}

/* covers: S4 */
TEST_F(tmf, reset_of_absent_lun_or_target_is_refused)
{
	uint8_t response = 0xff;

	ASSERT_OK(vscsi_tmf(self->dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, ABSENT_LUN,
			    0, ANSWER_MS, &response));
	EXPECT_TRUE(response == VIRTIO_SCSI_S_FUNCTION_REJECTED ||
		    response == VIRTIO_SCSI_S_INCORRECT_LUN) TH_LOG("LUN: %u", response);
	ASSERT_OK(vscsi_tmf(self->dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, ABSENT_TARGET, 0, 0,
			    ANSWER_MS, &response));
	EXPECT_EQ(VIRTIO_SCSI_S_BAD_TARGET, response);
	EXPECT_OK(control_works(self->dev));
}

/* covers: S4 */
TEST_F(tmf, notifications_are_queried_and_subscribed)
{
	uint8_t response;
	uint32_t actual;
	int subscribe;

	for (subscribe = 0; subscribe < 2; subscribe++) {
		response = 0xff;
		actual = 0xff;
		ASSERT_OK(vscsi_an(self->dev, subscribe, VSCSI_TARGET, 0, 0xffffffff, ANSWER_MS,
				   &actual, &response));
		EXPECT_EQ(VIRTIO_SCSI_S_OK, response);
		EXPECT_EQ(0, actual);
	}
	EXPECT_OK(control_works(self->dev));
}

struct odd {
	const char *what;
	uint32_t type, req_len, resp_len;
	uint8_t lun0;		/* first byte of the LUN field; 1 is right */
	int answer;		/* response expected, -1: ignored */
	uint32_t at;		/* where in the answer the response is */
};

static const struct odd odds[] = {
	{ "unknown type", 77, 24, 8, 1, -1, 0 },
	{ "type cut off", VIRTIO_SCSI_T_TMF, 2, 8, 1, -1, 0 },
	{ "no request", VIRTIO_SCSI_T_TMF, 0, 24, 1, -1, 0 },
	{ "TMF without LUN", VIRTIO_SCSI_T_TMF, 8, 1, 1, VIRTIO_SCSI_S_BAD_TARGET, 0 },
	{ "TMF a byte short", VIRTIO_SCSI_T_TMF, 23, 1, 1, VIRTIO_SCSI_S_BAD_TARGET, 0 },
	{ "query a byte short", VIRTIO_SCSI_T_AN_QUERY, 15, 5, 1, VIRTIO_SCSI_S_BAD_TARGET, 4 },
	{ "TMF without answer", VIRTIO_SCSI_T_TMF, 24, 0, 1, -1, 0 },
	{ "query with short answer", VIRTIO_SCSI_T_AN_QUERY, 16, 4, 1, -1, 0 },
	{ "LUN of no known format", VIRTIO_SCSI_T_TMF, 24, 1, 0, VIRTIO_SCSI_S_BAD_TARGET, 0 },
	{ "LUN of no known format", VIRTIO_SCSI_T_AN_QUERY, 16, 5, 0xc1, VIRTIO_SCSI_S_BAD_TARGET, 4 },
	{ "longer than need be", VIRTIO_SCSI_T_TMF, 4096, 4096, 1, VIRTIO_SCSI_S_FUNCTION_SUCCEEDED, 0 },
};

static int send_odd(struct vscsi *dev, const struct odd *o, uint8_t *resp)
{
	uint8_t req[4096] = { 0 };
	struct virtio_scsi_ctrl_tmf_req *tmf = (void *)req;
	struct virtio_scsi_ctrl_an_req *an = (void *)req;

	tmf->type = o->type;
	if (o->type == VIRTIO_SCSI_T_TMF) {
		tmf->subtype = VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET;
		vscsi_lun(tmf->lun, VSCSI_TARGET, 0);
		tmf->lun[0] = o->lun0;
	} else {
		vscsi_lun(an->lun, VSCSI_TARGET, 0);
		an->lun[0] = o->lun0;
	}
	return vscsi_ctl_raw(dev, req, o->req_len, resp, o->resp_len,
			     o->answer < 0 ? IGNORED_MS : ANSWER_MS);
}

/* covers: S4 */
TEST_F_TIMEOUT(tmf, odd_requests_are_refused_or_ignored_and_the_queue_goes_on, 60)
{
	static uint8_t resp[4096];
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(odds) / sizeof(odds[0]); i++) {
		const struct odd *o = &odds[i];

		err = send_odd(self->dev, o, resp);
		EXPECT_EQ(o->answer < 0 ? -ETIMEDOUT : 0, err)
			TH_LOG("%s: %s", o->what, err ? guest_error() : "was answered");
		if (!err && o->answer >= 0)
			EXPECT_EQ(o->answer, resp[o->at]) TH_LOG("%s", o->what);
		ASSERT_EQ(0, control_works(self->dev))
			TH_LOG("after %s: %s", o->what, guest_error());
	}
}

/* covers: S4 */
TEST_F(tmf, parts_in_the_wrong_order_are_ignored_and_the_queue_goes_on)
{
	struct gvq *vq = self->dev->ctl.vq;
	uint64_t gpa = gmem_gpa(self->dev->mem, gmem_alloc(self->dev->mem, 4096, 4096));
	unsigned int last = vq->num - 1;

	/* The part that the device writes comes first, the one it reads second. */
	gvq_write_desc(vq, last - 1, gpa, 1, VRING_DESC_F_NEXT | VRING_DESC_F_WRITE, last);
	gvq_write_desc(vq, last, gpa + 64, 24, 0, 0);
	gvq_add_raw(vq, last - 1);
	ASSERT_OK(gvq_kick_force(vq));
	EXPECT_EQ(-ETIMEDOUT, gvq_wait(vq, IGNORED_MS));
	/* A chain that is right at the same place: the device looks at it again. */
	gvq_write_desc(vq, last - 1, gpa + 64, 2, VRING_DESC_F_NEXT, last);
	gvq_write_desc(vq, last, gpa, 1, VRING_DESC_F_WRITE, 0);
	EXPECT_OK(control_works(self->dev));
}

TEST_HARNESS_MAIN
