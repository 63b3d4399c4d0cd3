// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_dump.c - dumps of many devices: everything once, in any size of parts, and a mark if it changed
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/vctl.h"

#define NVQS		130
#define DEVICES		64
#define SMALL		4096	/* bytes: a page, the least that the kernel uses */

FIXTURE(many) {
	struct vctl v;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev last;
};

FIXTURE_VARIANT(many) {
	size_t room;
};

FIXTURE_VARIANT_ADD(many, small_parts) { SMALL };
FIXTURE_VARIANT_ADD(many, large_parts) { GENL_DATAGRAM };

/* Many devices; each time it is told to, it closes the one in the middle of those that are left. */
static int has_many(struct proc *me, void *arg)
{
	int fds[DEVICES], n, i;
	struct owner *owner = arg;

	proc_step(me, "the owner opens many devices");
	for (n = 0; n < (int)owner->devices; n++) {
		fds[n] = vdev_open_thread(VDEV_SCSI, owner->thread);
		if (fds[n] < 0 || vdev_set_owner(fds[n]))
			return guest_fail(errno, "device %d: %s", n, guest_error());
	}
	while (n) {
		proc_await(me);
		i = n / 2;
		close(fds[i]);
		memmove(fds + i, fds + i + 1, (--n - i) * sizeof(*fds));
	}
	return 0;
}

FIXTURE_SETUP(many)
{
	proc_watch("a test of dumps", 80);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(genl_reopen(&self->v.genl, variant->room));
	self->owner.devices = DEVICES;
	ASSERT_OK(proc_start(has_many, &self->owner, &self->proc));
	ASSERT_OK(proc_wait_ready(self->proc, 3 * OWNER_MS));
	ASSERT_OK(vctl_dev_of(&self->v, self->proc->pid, &self->last));
}

FIXTURE_TEARDOWN(many)
{
	EXPECT_OK(proc_kill(self->proc, 2 * CALL_MS));
	EXPECT_EQ(0, vctl_devs(&self->v, NULL, 0));
	proc_free(self->proc);
	vctl_close(&self->v);
}

/* What a dump has shown so far: pairs of numbers that only grow. */
struct seen {
	uint32_t dev, part;
	unsigned int count, parts;
	bool has_parts;
};

static int see(const struct genl_msg *part, void *arg)
{
	uint32_t dev = genl_u32(part, VHOST_A_VQ_DEV_ID), index = 0;
	struct seen *s = arg;

	if (s->has_parts)
		index = genl_u32(part, VHOST_A_VQ_INDEX);
	if (s->count && (dev < s->dev || (dev == s->dev && index <= s->part)))
		return guest_fail(EPROTO, "%u of device %u after %u of device %u", index, dev,
				  s->part, s->dev);
	if (s->has_parts && index != (s->count && dev == s->dev ? s->part + 1 : 0))
		return guest_fail(EPROTO, "a gap before %u of device %u", index, dev);
	s->dev = dev;
	s->part = index;
	s->count++;
	return 0;
}

static int dump(struct vctl *v, uint8_t command, struct seen *s)
{
	struct genl_msg msg;
	bool done = false;
	int err;

	genl_begin(&v->genl, &msg, command, 0);
	err = genl_dump_start(&v->genl, &msg);
	while (!err && !done) {
		err = genl_dump_step(&v->genl, see, s, &done);
		s->parts++;
	}
	return err;
}

TEST_F_TIMEOUT(many, every_virtqueue_is_told_once, 90)
{
	struct seen devs = { 0 }, vqs = { .has_parts = true }, workers = { .has_parts = true };
	uint64_t start;
	uint32_t i;

	for (i = 0; i < 5; i++)
		ASSERT_OK(vctl_worker_new(&self->v, self->last.id - 10 * i, i + 1, NULL, NULL));
	ASSERT_OK(dump(&self->v, VHOST_CMD_DEV_GET, &devs));
	EXPECT_EQ(DEVICES, devs.count);
	ASSERT_OK(dump(&self->v, VHOST_CMD_WORKER_GET, &workers));
	EXPECT_EQ(DEVICES + 15, workers.count);
	start = guest_now_ns();
	ASSERT_OK(dump(&self->v, VHOST_CMD_VQ_GET, &vqs));
	TH_LOG("%u virtqueues in %u parts, %lu ms", vqs.count, vqs.parts,
	       (unsigned long)((guest_now_ns() - start) / 1000000));
	EXPECT_EQ(DEVICES * NVQS, vqs.count);
	EXPECT_LT(variant->room == SMALL ? 80 : 10, vqs.parts);
	EXPECT_FALSE(self->v.genl.interrupted);
}

static int close_one(FIXTURE_DATA(many) *self)
{
	return proc_next(self->proc, OWNER_MS);
}

static int make_worker(FIXTURE_DATA(many) *self)
{
	struct vctl other;
	int err = vctl_open(&other) ?: vctl_worker_new(&other, self->last.id, 1, NULL, NULL);

	vctl_close(&other);
	return err;
}

static int move_queue(FIXTURE_DATA(many) *self)
{
	struct vctl other;
	int err = vctl_open(&other) ?: vctl_vq_set(&other, self->last.id, 7, 1);

	vctl_close(&other);
	return err;
}

static int change_nothing(FIXTURE_DATA(many) *self)
{
	struct vctl other;
	int err = vctl_open(&other) ?: vctl_vq_set(&other, self->last.id, 7, 0);

	vctl_close(&other);
	return err;
}

TEST_F_TIMEOUT(many, change_during_a_dump_is_marked, 90)
{
	static const struct {
		const char *name;
		int (*run)(FIXTURE_DATA(many) *self);
		bool marked;
	} changes[] = {
		{ "nothing changes", change_nothing, false },
		{ "a worker comes", make_worker, true },
		{ "a virtqueue moves", move_queue, true },
		{ "a device goes", close_one, true },
	};
	struct seen s;
	struct genl_msg msg;
	unsigned int i;
	bool done;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		s = (struct seen){ .has_parts = true };
		done = false;
		genl_begin(&self->v.genl, &msg, VHOST_CMD_VQ_GET, 0);
		ASSERT_OK(genl_dump_start(&self->v.genl, &msg));
		ASSERT_OK(genl_dump_step(&self->v.genl, see, &s, &done));
		ASSERT_FALSE(done);
		ASSERT_OK(changes[i].run(self));
		while (!done)
			ASSERT_OK(genl_dump_step(&self->v.genl, see, &s, &done));
		EXPECT_EQ(changes[i].marked, self->v.genl.interrupted) {
			TH_LOG("%s", changes[i].name);
		}
	}
}

/* How many virtqueues of each device a dump has shown. */
struct tally {
	uint32_t first;
	unsigned int count[DEVICES];
};

static int count(const struct genl_msg *part, void *arg)
{
	struct tally *tally = arg;
	uint32_t dev = genl_u32(part, VHOST_A_VQ_DEV_ID) - tally->first;

	if (dev >= DEVICES || tally->count[dev]++ != genl_u32(part, VHOST_A_VQ_INDEX))
		return guest_fail(EPROTO, "a virtqueue of device %u", dev + tally->first);
	return 0;
}

/* Before, behind and at the place that the dump has come to: the others are told all the same, and once. */
TEST_F_TIMEOUT(many, dump_goes_on_while_devices_go, 90)
{
	struct tally tally = { .first = self->last.id - DEVICES + 1 };
	struct vctl_dev left[DEVICES];
	struct genl_msg msg;
	bool done = false;
	int n, i;

	genl_begin(&self->v.genl, &msg, VHOST_CMD_VQ_GET, 0);
	ASSERT_OK(genl_dump_start(&self->v.genl, &msg));
	for (i = 0; !done; i++) {
		ASSERT_OK(genl_dump_step(&self->v.genl, count, &tally, &done));
		if (i < DEVICES / 2)
			ASSERT_OK(proc_next(self->proc, OWNER_MS));
	}
	EXPECT_TRUE(self->v.genl.interrupted);
	n = vctl_devs(&self->v, left, DEVICES);
	EXPECT_LE(DEVICES / 2, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(NVQS, tally.count[left[i].id - tally.first]);
}

TEST_HARNESS_MAIN
