// SPDX-License-Identifier: GPL-2.0
/*
 * guest.c - the guest library notices what the other tests rely on it to notice
 *
 * A device played by a thread serves the ring from memory and does one thing wrong, once. No kernel
 * code is under test here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"

#define BLOCKS		256
#define REQUESTS	400
#define WRONG_AT	100	/* the request that is served wrongly */

enum fault { NONE, LOSE, DOUBLE, DISTORT, FORGET_WRITE, REFUSE, NO_ANSWER, UNKNOWN_ID };

struct fake {
	struct gvq *vq;
	char *disk;
	enum fault fault;
	uint16_t seen;		/* avail entries served */
	uint16_t used;		/* used entries written */
	unsigned int served;
	bool armed;		/* the fault is still to come */
	bool stop;
	pthread_t thread;
};

FIXTURE(load) {
	struct vscsi dev;
	struct vscsi_queue queue;
	struct fake fake;
};

FIXTURE_VARIANT(load) {
	bool event_idx;
};

FIXTURE_VARIANT_ADD(load, flags) { false };
FIXTURE_VARIANT_ADD(load, event_index) { true };

static void *part(struct fake *fake, uint16_t slot)
{
	return gmem_va(fake->vq->mem, fake->vq->desc[slot].addr);
}

static void push_used(struct fake *fake, uint32_t id)
{
	struct vring_used *used = fake->vq->used;
	static const uint64_t one = 1;

	used->ring[fake->used % fake->vq->num].id = id;
	__atomic_store_n(&used->idx, ++fake->used, __ATOMIC_RELEASE);
	if (write(fake->vq->call_fd, &one, sizeof(one)) < 0)
		abort();
}

/* READ(10) is request, response, data; WRITE(10) is request, data, response. */
static void serve(struct fake *fake, uint16_t head, enum fault fault)
{
	uint16_t second = fake->vq->desc[head].next, third = fake->vq->desc[second].next;
	bool is_write = !(fake->vq->desc[second].flags & VRING_DESC_F_WRITE);
	struct virtio_scsi_cmd_req *req = part(fake, head);
	struct virtio_scsi_cmd_resp *resp = part(fake, is_write ? third : second);
	uint16_t data_slot = is_write ? second : third;
	uint32_t bytes = fake->vq->desc[data_slot].len;
	char *data = part(fake, data_slot);
	char *store = fake->disk + (req->cdb[4] << 8 | req->cdb[5]) * 512;

	if (is_write && fault != FORGET_WRITE)
		memcpy(store, data, bytes);
	if (!is_write)
		memcpy(data, store, bytes);
	if (!is_write && fault == DISTORT)
		data[bytes - 13] ^= 4;
	if (fault != NO_ANSWER)
		memset(resp, 0, sizeof(*resp));
	if (fault == REFUSE)
		resp->response = VIRTIO_SCSI_S_BUSY;
	if (fault == LOSE)
		return;
	push_used(fake, head);
	if (fault == DOUBLE)
		push_used(fake, head);
	if (fault == UNKNOWN_ID)
		push_used(fake, fake->vq->num + 3);
}

/* A fault waits for a request of the kind that can show it. */
static enum fault choose_fault(struct fake *fake, uint16_t head)
{
	uint16_t second = fake->vq->desc[head].next;
	bool is_write = !(fake->vq->desc[second].flags & VRING_DESC_F_WRITE);

	if (!fake->armed || fake->served < WRONG_AT || (fake->fault == DISTORT && is_write) ||
	    (fake->fault == FORGET_WRITE && !is_write))
		return NONE;
	fake->armed = false;
	return fake->fault;
}

static void *device(void *arg)
{
	struct fake *fake = arg;
	struct vring_avail *avail = fake->vq->avail;
	uint16_t head;

	while (!__atomic_load_n(&fake->stop, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&avail->idx, __ATOMIC_ACQUIRE) == fake->seen) {
			sched_yield();
			continue;
		}
		head = avail->ring[fake->seen++ % fake->vq->num];
		serve(fake, head, choose_fault(fake, head));
		fake->served++;
	}
	return NULL;
}

FIXTURE_SETUP(load)
{
	struct gvq_opts opts = { .num = 32, .event_idx = variant->event_idx };

	ASSERT_OK(gmem_create(4 << 20, &self->dev.mem));
	ASSERT_OK(gvq_create(self->dev.mem, 2, &opts, &self->queue.vq));
	self->dev.io = &self->queue;
	self->dev.queues = 1;
	self->fake.vq = self->queue.vq;
	self->fake.disk = calloc(BLOCKS, 512);
	ASSERT_NE(NULL, self->fake.disk);
	ASSERT_EQ(0, pthread_create(&self->fake.thread, NULL, device, &self->fake));
}

FIXTURE_TEARDOWN(load)
{
	__atomic_store_n(&self->fake.stop, true, __ATOMIC_RELAXED);
	pthread_join(self->fake.thread, NULL);
	gvq_destroy(self->queue.vq);
	gmem_destroy(self->dev.mem);
	free(self->fake.disk);
}

static int run(struct vscsi *dev, struct fake *fake, enum fault fault, struct load_stats *total)
{
	struct load_opts opts = {
		.dev = dev,
		.depth = 8,
		.blocks = 2,
		.lba_count = BLOCKS,
		.count = REQUESTS,
		.stall_ms = 500,
	};

	fake->fault = fault;
	fake->armed = fault != NONE;
	return load_run(&opts, total);
}

TEST_F(load, of_a_right_device_is_clean)
{
	struct load_stats total;

	ASSERT_OK(run(&self->dev, &self->fake, NONE, &total));
	EXPECT_EQ(REQUESTS, total.completed);
	EXPECT_EQ(REQUESTS, total.verified + total.writes);
	EXPECT_LT(REQUESTS / 4, total.verified);
}

TEST_F(load, notices_a_lost_answer)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, LOSE, &total));
	EXPECT_EQ(1, total.lost);
	EXPECT_EQ(0, total.doubled + total.corrupt + total.failed);
}

TEST_F(load, notices_an_answer_given_twice)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, DOUBLE, &total));
	EXPECT_LE(1, total.doubled);
}

TEST_F(load, notices_a_used_id_that_does_not_exist)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, UNKNOWN_ID, &total));
	EXPECT_EQ(1, total.doubled);
	EXPECT_EQ(0, total.lost + total.corrupt + total.failed);
}

TEST_F(load, notices_a_used_request_without_answer)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, NO_ANSWER, &total));
	EXPECT_EQ(1, total.doubled);
}

TEST_F(load, notices_one_wrong_bit)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, DISTORT, &total));
	EXPECT_EQ(1, total.corrupt);
	EXPECT_EQ(0, total.lost + total.doubled + total.failed);
}

TEST_F(load, notices_a_write_that_was_not_done)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, FORGET_WRITE, &total));
	EXPECT_EQ(1, total.corrupt);
	EXPECT_EQ(0, total.lost + total.doubled + total.failed);
}

TEST_F(load, notices_a_refused_request)
{
	struct load_stats total;

	EXPECT_EQ(-EIO, run(&self->dev, &self->fake, REFUSE, &total));
	EXPECT_EQ(1, total.failed);
	EXPECT_EQ(0, total.lost + total.doubled + total.corrupt);
}

TEST_HARNESS_MAIN
