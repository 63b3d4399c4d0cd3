// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_dead.c - devices whose owner is gone while somebody holds the file, and workers that were killed
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/vctl.h"

#define NVQS	130

#define REFUSED(v, msg, err, blame, word) \
	EXPECT_OK(vctl_refused(v, msg, err, blame, word))

/* The owner is gone, and we hold a copy of its descriptor. Workers 0 to 2 were there. */
FIXTURE(orphan) {
	struct vctl v;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
	struct genl_msg msg;
	int fd;
};

FIXTURE_THREADS(orphan);

FIXTURE_SETUP(orphan)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of a device without an owner", 40);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 2, NULL, NULL));
	self->fd = proc_take_fd(self->proc, self->proc->page->word[OWNER_FD]);
	ASSERT_VALID(self->fd);
	ASSERT_OK(proc_kill(self->proc, GONE_MS));
}

FIXTURE_TEARDOWN(orphan)
{
	struct vctl_dev dev;

	close(self->fd);
	EXPECT_THREADS(self->proc->pid, 0);
	EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, self->dev.id, &dev));
	proc_free(self->proc);
	vctl_close(&self->v);
}

TEST_F(orphan, it_is_told_that_the_owner_is_gone)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	struct vctl_worker list[3];
	struct vctl_vq vq;
	struct vctl_dev dev;
	int i;

	ASSERT_OK(vctl_dev_get(&self->v, self->dev.id, &dev));
	EXPECT_EQ(0, dev.owner_pid);
	EXPECT_STREQ("", dev.owner_comm);
	EXPECT_STREQ("scsi", dev.backend);
	EXPECT_EQ(3, dev.workers);
	ASSERT_EQ(3, vctl_workers(&self->v, self->dev.id, list, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(task, list[i].killed);
		EXPECT_EQ(task, !list[i].tid);
	}
	EXPECT_STREQ(task ? "" : "0-129", list[0].vqs);
	ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, 5, &vq));
	EXPECT_EQ(task ? VCTL_NONE : 0, vq.worker_id);
}

TEST_F(orphan, no_worker_can_be_made)
{
	const struct vctl_entry entry = { 4, 0, true };
	int at;

	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_WORKER_NEW, 0);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	REFUSED(&self->v, &self->msg, -EOWNERDEAD, at, "killed");
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	at = vctl_put_entry(&self->msg, &entry);
	/* Attribute new-worker, which comes second. */
	at += NLA_HDRLEN + NLA_HDRLEN + sizeof(uint32_t);
	REFUSED(&self->v, &self->msg, -EOWNERDEAD, at, "killed");
	EXPECT_EQ(3, vctl_workers(&self->v, self->dev.id, NULL, 0));
}

TEST_F(orphan, kernel_threads_can_still_be_attached_pinned_and_ended)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	const struct vctl_entry map[] = { { 2, 2, false }, { 3, 1, false } };
	struct vctl_worker worker;

	EXPECT_EQ(task ? -EOWNERDEAD : 0, vctl_vq_set(&self->v, self->dev.id, 3, 1));
	EXPECT_EQ(task ? -EOWNERDEAD : 0, vctl_map_set(&self->v, self->dev.id, map, 2, NULL));
	EXPECT_EQ(task ? -EOWNERDEAD : 0, vctl_worker_set(&self->v, self->dev.id, 1, "1"));
	if (!task) {
		ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 1, &worker));
		EXPECT_STREQ("1", worker.cpus);
		EXPECT_STREQ("3", worker.vqs);
		EXPECT_OK(vctl_vq_set(&self->v, self->dev.id, 2, 0));
	}
	EXPECT_OK(vctl_worker_del(&self->v, self->dev.id, 2));
	EXPECT_EQ(2, vctl_workers(&self->v, self->dev.id, NULL, 0));
}

/* Worker 1 was made by another process that shares the owner's memory, and which was killed. */
FIXTURE(killed) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
	struct genl_msg msg;
};

struct maker {
	int fd, err;
};

static void makes_worker(void *arg)
{
	struct maker *maker = arg;
	uint32_t id;

	maker->err = vdev_new_worker(maker->fd, &id);
}

static int loses_a_worker(struct proc *me, void *arg)
{
	const struct owner *owner = arg;
	struct maker maker;
	struct vscsi *dev;
	pid_t sibling;
	int err = owner_open(me, owner, &dev) ?: vscsi_set_endpoint(dev, owner->wwpn);

	if (err)
		return err;
	proc_step(me, "a worker is made by somebody else, and killed");
	maker.fd = dev->fd;
	sibling = proc_sibling(makes_worker, &maker, CALL_MS);
	if (sibling < 0 || maker.err)
		return guest_fail(EPROTO, "sibling: %s", guest_error());
	err = vdev_attach_worker(dev->fd, VDEV_SCSI_VQ_IO, 1) ?:
	      vscsi_test_unit_ready(dev, 0, 0) ?: proc_sibling_kill(sibling, GONE_MS) ?:
	      threads_wait_count(sibling, 0, GONE_MS);
	if (err)
		return err;
	proc_await(me);
	err = vscsi_test_unit_ready(dev, 0, 0);
	vscsi_stop(dev);
	return err;
}

FIXTURE_SETUP(killed)
{
	struct lio_opts lio = { .size = 4 << 20 };

	SKIP_WITHOUT(VDEV_THREAD_TASK);
	proc_watch("a test of a killed worker", 40);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){ .thread = VDEV_THREAD_TASK, .wwpn = self->target->wwpn };
	ASSERT_OK(owner_start(loses_a_worker, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(killed)
{
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

/* covers: D3 */
TEST_F(killed, it_is_told_and_gets_nothing_any_more)
{
	const struct vctl_entry good = { 3, 0, false }, bad = { 4, 1, false };
	struct vctl_worker worker;
	struct vctl_vq vq;
	int at;

	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 1, &worker));
	EXPECT_TRUE(worker.killed);
	EXPECT_STREQ("", worker.vqs);
	EXPECT_LT(0, worker.works);
	ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, VDEV_SCSI_VQ_IO, &vq));
	EXPECT_EQ(VCTL_NONE, vq.worker_id);
	EXPECT_TRUE(vq.used);

	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_VQ_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, VDEV_SCSI_VQ_IO);
	at = genl_put_u32(&self->msg, VHOST_A_VQ_WORKER_ID, 1);
	REFUSED(&self->v, &self->msg, -EOWNERDEAD, at, "killed");
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_WORKER_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
	genl_put_string(&self->msg, VHOST_A_WORKER_CPUS, "0");
	REFUSED(&self->v, &self->msg, -EOWNERDEAD, at, "killed");
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	vctl_put_entry(&self->msg, &good);
	at = vctl_put_entry(&self->msg, &bad);
	at += NLA_HDRLEN + NLA_HDRLEN + sizeof(uint32_t);
	REFUSED(&self->v, &self->msg, -EOWNERDEAD, at, "killed");
}

/* covers: D4 W7 */
TEST_F(killed, its_queue_works_again_on_another_worker)
{
	const struct vctl_entry entry = { VDEV_SCSI_VQ_IO, 0, true };
	uint32_t id;

	ASSERT_OK(vctl_map_set(&self->v, self->dev.id, &entry, 1, &id));
	EXPECT_EQ(2, id);
	EXPECT_OK(vctl_worker_del(&self->v, self->dev.id, 1));
	EXPECT_EQ(-ENODEV, vctl_worker_del(&self->v, self->dev.id, 1));
	/* The owner does I/O on it, and ends well. */
	EXPECT_OK(proc_next(self->proc, OWNER_MS));
	EXPECT_OK(proc_wait(self->proc, OWNER_MS));
}

TEST_HARNESS_MAIN
