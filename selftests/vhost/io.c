// SPDX-License-Identifier: GPL-2.0
/*
 * io.c - I/O through vhost-scsi works at all: commands, ring formats, queue numbers, many queues
 */
#include <string.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"

#define LUN_BYTES	(16 << 20)
#define BLOCK		512

FIXTURE(ring) {
	struct lio *target;
	struct vscsi *dev;
};

FIXTURE_VARIANT(ring) {
	bool indirect, event_idx;
	enum vdev_thread thread;
};

FIXTURE_VARIANT_ADD(ring, plain) { false, false, VDEV_THREAD_KTHREAD };
FIXTURE_VARIANT_ADD(ring, indirect) { true, false, VDEV_THREAD_KTHREAD };
FIXTURE_VARIANT_ADD(ring, event_index) { false, true, VDEV_THREAD_KTHREAD };
FIXTURE_VARIANT_ADD(ring, indirect_event_index) { true, true, VDEV_THREAD_KTHREAD };
FIXTURE_VARIANT_ADD(ring, task) { false, false, VDEV_THREAD_TASK };
FIXTURE_VARIANT_ADD(ring, task_indirect_event_index) { true, true, VDEV_THREAD_TASK };

FIXTURE_SETUP(ring)
{
	struct lio_opts lio = { .size = LUN_BYTES };
	struct vscsi_opts opts = {
		.queues = 2,
		.ring_size = 64,
		.indirect = variant->indirect,
		.event_idx = variant->event_idx,
		.thread = variant->thread,
	};

	SKIP_WITHOUT(variant->thread);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
}

FIXTURE_TEARDOWN(ring)
{
	vscsi_stop(self->dev);
	EXPECT_OK(lio_destroy(self->target));
}

TEST_F(ring, inquiry_answers)
{
	uint8_t buf[36] = { 0 };

	ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	ASSERT_OK(vscsi_inquiry(self->dev, 0, 0, buf, sizeof(buf)));
	EXPECT_EQ(0, buf[0] & 0x1f);
	EXPECT_EQ(0, memcmp(buf + 8, "LIO-ORG ", 8));
}

TEST_F(ring, read_capacity_matches_backstore)
{
	uint32_t size = 0;
	uint64_t blocks = 0;

	ASSERT_OK(vscsi_read_capacity(self->dev, 1, 0, &blocks, &size));
	EXPECT_EQ(BLOCK, size);
	EXPECT_EQ(LUN_BYTES / BLOCK, blocks);
}

TEST_F(ring, write_then_read_returns_same_data)
{
	static uint8_t out[16 * BLOCK], in[16 * BLOCK];

	load_pattern_fill(out, sizeof(out), 100, 7);
	ASSERT_OK(vscsi_write(self->dev, 0, 0, 100, 16, out));
	ASSERT_OK(vscsi_read(self->dev, 1, 0, 100, 16, in));
	EXPECT_OK(load_pattern_check(in, sizeof(in), 100, 7, LOAD_CHECK_FULL));
	load_pattern_fill(out, sizeof(out), 116, 8);
	ASSERT_OK(vscsi_write16(self->dev, 1, 0, 116, 16, out));
	ASSERT_OK(vscsi_read16(self->dev, 0, 0, 116, 16, in));
	EXPECT_OK(load_pattern_check(in, sizeof(in), 116, 8, LOAD_CHECK_FULL));
	ASSERT_OK(vscsi_read(self->dev, 0, 0, 100, 16, in));
	EXPECT_OK(load_pattern_check(in, sizeof(in), 100, 7, LOAD_CHECK_FULL));
}

TEST_F(ring, ring_may_wrap_many_times)
{
	struct load_opts opts = { .dev = self->dev, .depth = 16, .batch = 4, .count = 2000 };
	struct load_stats total;

	ASSERT_OK(load_run(&opts, &total));
	EXPECT_EQ(4000, total.completed);
	EXPECT_EQ(total.completed, total.reads + total.writes);
	EXPECT_LT(500, total.verified);
}

TEST_F(ring, lun_that_does_not_exist_is_refused)
{
	EXPECT_EQ(-EIO, vscsi_test_unit_ready(self->dev, 0, 5));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

TEST_F(ring, lun_reset_succeeds)
{
	uint8_t response = 0xff;

	ASSERT_OK(vscsi_tmf(self->dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, 0, 1, 0,
			    &response));
	EXPECT_EQ(VIRTIO_SCSI_S_FUNCTION_SUCCEEDED, response);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

TEST_F(ring, new_lun_makes_an_event)
{
	struct virtio_scsi_event event;

	ASSERT_OK(vscsi_evt_post(self->dev, 4));
	ASSERT_OK(lio_add_lun(self->target, 1));
	ASSERT_OK(vscsi_evt_wait(self->dev, guest_patience(5000), &event));
	EXPECT_EQ(VIRTIO_SCSI_T_TRANSPORT_RESET, event.event);
	EXPECT_EQ(VIRTIO_SCSI_EVT_RESET_RESCAN, event.reason);
	EXPECT_EQ(1, event.lun[3]);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 1));
}

FIXTURE(queues) {
	struct lio *target;
};

FIXTURE_SETUP(queues)
{
	struct lio_opts lio = { .size = LUN_BYTES };

	ASSERT_OK(lio_create(&lio, &self->target));
}

FIXTURE_TEARDOWN(queues)
{
	EXPECT_OK(lio_destroy(self->target));
}

TEST_F(queues, queue_index_up_to_129_can_be_used)
{
	static const unsigned int indices[] = { 2, 3, 64, 128, 129, 0 };
	struct vscsi_opts opts = { .wwpn = self->target->wwpn, .ring_size = 16 };
	unsigned int i;

	for (i = 0; indices[i]; i++) {
		struct load_opts load = { .count = 50, .depth = 4 };

		opts.first_vq = indices[i];
		ASSERT_OK(vscsi_start(&opts, &load.dev));
		EXPECT_OK(vscsi_test_unit_ready(load.dev, 0, 0));
		EXPECT_OK(load_run(&load, NULL));
		vscsi_stop(load.dev);
	}
}

TEST_F(queues, queue_index_130_is_refused)
{
	struct vscsi_opts opts = { .first_vq = 130, .ring_size = 16 };
	struct vscsi *dev;

	EXPECT_EQ(-ENOBUFS, vscsi_start(&opts, &dev));
}

TEST_F(queues, many_queues_return_what_was_written)
{
	struct vscsi_opts opts = { .wwpn = self->target->wwpn, .queues = 16, .ring_size = 32 };
	struct load_opts load = { .depth = 8, .batch = 2, .count = 300, .threads = 4 };
	struct load_stats total;
	unsigned int i;

	ASSERT_OK(vscsi_start(&opts, &load.dev));
	EXPECT_OK(load_run(&load, &total));
	EXPECT_EQ(16 * 300, total.completed);
	/* The same rings and buffers again, a thread per queue, other block size. */
	load.threads = 0;
	load.blocks = 1;
	EXPECT_OK(load_run(&load, &total));
	EXPECT_EQ(16 * 300, total.completed);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(0, load.dev->io[i].vq->in_flight);
	vscsi_stop(load.dev);
}

TEST_F(queues, file_backed_lun_returns_what_was_written)
{
	struct lio_opts lio = { .backend = LIO_FILEIO, .size = LUN_BYTES, .luns = 2 };
	struct load_opts load = { .depth = 4, .count = 100, .lun = 1 };
	struct vscsi_opts opts = { .queues = 2, .ring_size = 32 };
	struct lio *target;

	ASSERT_OK(lio_create(&lio, &target));
	opts.wwpn = target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &load.dev));
	EXPECT_OK(load_run(&load, NULL));
	vscsi_stop(load.dev);
	EXPECT_OK(lio_destroy(target));
}

TEST_HARNESS_MAIN
