// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_map_error.c - wrong maps are refused as a whole, with the entry to blame
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/vctl.h"

#define NVQS		130

FIXTURE(map) {
	struct vctl v;
	struct genl_msg msg;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(map);

FIXTURE_SETUP(map)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of wrong maps", 40);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
	ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, 3, 1));
}

static int check_unchanged(struct vctl *v, uint32_t dev, pid_t owner)
{
	struct vctl_worker list[3];
	int n = vctl_workers(v, dev, list, 3);

	if (n != 2)
		return n < 0 ? n : guest_fail(EPROTO, "%d workers", n);
	if (strcmp(list[0].vqs, "0-2,4-129") || strcmp(list[1].vqs, "3"))
		return guest_fail(EPROTO, "virtqueues %s and %s", list[0].vqs, list[1].vqs);
	return threads_wait_count(owner, n, GONE_MS);
}

FIXTURE_TEARDOWN(map)
{
	put_text(PUT_MAX_WORKERS, "0");
	EXPECT_OK(check_unchanged(&self->v, self->dev.id, self->proc->pid));
	proc_free(self->proc);
	vctl_close(&self->v);
}

/* A map whose first entries are good, each of another sort: it must not be in force in part. */
static void begin(FIXTURE_DATA(map) *self)
{
	static const struct vctl_entry good[] = { { 4, 1, false }, { 5, 0, true } };

	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	vctl_put_entry(&self->msg, &good[0]);
	vctl_put_entry(&self->msg, &good[1]);
}

/* Offset of the @n-th attribute (from 0) of an entry of numbers. */
static int part_of(int entry, int n)
{
	return entry + NLA_HDRLEN + n * (NLA_HDRLEN + (int)sizeof(uint32_t));
}

static int add(FIXTURE_DATA(map) *self, uint32_t vq, uint32_t worker, bool is_new)
{
	const struct vctl_entry entry = { vq, worker, is_new };

	return vctl_put_entry(&self->msg, &entry);
}

#define REFUSED(err, blame, word) \
	EXPECT_OK(vctl_refused(&self->v, &self->msg, err, blame, word))

/* covers: T5 */
TEST_F(map, empty_map_is_refused)
{
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_MAP_ENTRY), "no entry");
}

TEST_F(map, entry_without_virtqueue_or_worker_is_refused)
{
	int at;

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_WORKER_ID, 0);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, at, "without a virtqueue");

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_VQ, 6);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, at, "needs a worker");

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_VQ, 6);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_WORKER_ID, 0);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_NEW_WORKER, 0);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, at, "one that exists or a new one");

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, at, "");
}

TEST_F(map, unknown_virtqueue_or_worker_is_refused)
{
	static const uint32_t vqs[] = { NVQS, 0x80000000, UINT32_MAX };
	static const uint32_t workers[] = { 2, 77, 0x80000000, UINT32_MAX };
	unsigned int i;
	int at;

	for (i = 0; i < ARRAY_SIZE(vqs); i++) {
		begin(self);
		at = add(self, vqs[i], 0, false);
		REFUSED(-ENOBUFS, part_of(at, 0), "no such virtqueue");
	}
	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		begin(self);
		at = add(self, 6, workers[i], false);
		REFUSED(-ENODEV, part_of(at, 1), "no such worker");
	}
}

TEST_F(map, second_entry_of_a_virtqueue_is_refused)
{
	int at;

	begin(self);
	at = add(self, 4, 1, false);
	REFUSED(-EINVAL, part_of(at, 0), "two entries");
	begin(self);
	at = add(self, 5, 1, true);
	REFUSED(-EINVAL, part_of(at, 0), "two entries");
}

TEST_F(map, gap_between_new_workers_is_refused)
{
	static const uint32_t far[] = { 2, 3, NVQS, 0x7fffffff, 0x80000000, UINT32_MAX };
	unsigned int i;
	int at;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		begin(self);
		at = add(self, 6, far[i], true);
		REFUSED(-EINVAL, part_of(at, 1), "gap");
	}
	/* Nobody has 0. */
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	add(self, 6, 1, true);
	at = add(self, 7, 2, true);
	REFUSED(-EINVAL, part_of(at, 1), "gap");
}

TEST_F(map, map_beyond_the_cap_is_refused)
{
	unsigned int i;
	int at;

	ASSERT_OK(put_text(PUT_MAX_WORKERS, "3"));
	begin(self);
	at = add(self, 6, 1, true);
	REFUSED(-ENOSPC, part_of(at, 1), "max_workers");
	ASSERT_OK(put_text(PUT_MAX_WORKERS, "0"));
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	for (i = 0; i < NVQS; i++)
		at = add(self, i, i, true);
	REFUSED(-ENOSPC, part_of(at, 1), "max_workers");
}

TEST_F(map, malformed_entry_is_refused)
{
	uint64_t number = 6;
	int at, in;

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	in = genl_put(&self->msg, VHOST_A_ENTRY_VQ, &number, 8);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_WORKER_ID, 0);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, in, "");

	begin(self);
	at = genl_nest(&self->msg, VHOST_A_MAP_ENTRY);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_VQ, 6);
	genl_put_u32(&self->msg, VHOST_A_ENTRY_WORKER_ID, 0);
	in = genl_put_u32(&self->msg, VHOST_A_ENTRY_MAX + 1, 0);
	genl_nest_end(&self->msg, at);
	REFUSED(-EINVAL, in, "");

	/* Not marked as a nest; longer than the message. */
	begin(self);
	at = add(self, 6, 0, false);
	((struct nlattr *)((char *)&self->msg + at))->nla_type = VHOST_A_MAP_ENTRY;
	REFUSED(-EINVAL, at, "");
	begin(self);
	at = add(self, 6, 0, false);
	((struct nlattr *)((char *)&self->msg + at))->nla_len += 400;
	REFUSED(-EINVAL, VCTL_ANY, "");
	begin(self);
	at = add(self, 6, 0, false);
	((struct nlattr *)((char *)&self->msg + part_of(at, 1)))->nla_len = 2;
	REFUSED(-EINVAL, VCTL_ANY, "");
}

/* Drivers that are made for one worker. */
FIXTURE(single) {
	struct vctl v;
	int fd;
	struct vctl_dev dev;
	struct genl_msg msg;
};

FIXTURE_VARIANT(single) {
	const char *path;
};

FIXTURE_VARIANT_ADD(single, vsock) { "/dev/vhost-vsock" };
FIXTURE_VARIANT_ADD(single, test) { "/dev/vhost-test" };

FIXTURE_SETUP(single)
{
	proc_watch("a test of a driver with one worker", 20);
	ASSERT_OK(vctl_open(&self->v));
	self->fd = open(variant->path, O_RDWR | O_CLOEXEC);
	ASSERT_VALID(self->fd);
	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vctl_dev_of(&self->v, getpid(), &self->dev));
}

FIXTURE_TEARDOWN(single)
{
	close(self->fd);
	EXPECT_THREADS(getpid(), 0);
	vctl_close(&self->v);
}

/* covers: T4 */
TEST_F(single, new_workers_are_not_supported_and_the_one_can_be_pinned)
{
	struct vctl_entry entry = { 0, 0, true };
	struct vctl_worker worker;
	int at;

	EXPECT_EQ(1, self->dev.max_workers);
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_WORKER_NEW, 0);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_COUNT, 1);
	REFUSED(-EOPNOTSUPP, at, "one worker");
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	at = vctl_put_entry(&self->msg, &entry);
	REFUSED(-EOPNOTSUPP, part_of(at, 1), "one worker");
	EXPECT_OK(vctl_vq_set(&self->v, self->dev.id, 0, 0));
	EXPECT_EQ(-EBUSY, vctl_worker_del(&self->v, self->dev.id, 0));
	EXPECT_OK(vctl_worker_set(&self->v, self->dev.id, 0, "1"));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 0, &worker));
	EXPECT_STREQ("1", worker.cpus);
	EXPECT_EQ(1, threads_list(getpid(), NULL, 0));
}

TEST_HARNESS_MAIN
