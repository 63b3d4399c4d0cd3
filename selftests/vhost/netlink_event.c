// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_event.c - listeners hear what happens to devices, workers and maps, in order, and of nothing else
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/vctl.h"

#define EVENT_MS	5000
#define SILENCE_MS	200	/* what does not come in that time does not come */
#define ROUNDS		50

FIXTURE(events) {
	struct vctl v, ear;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(events);

FIXTURE_SETUP(events)
{
	struct lio_opts lio = { .size = 4 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of events", 40);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(vctl_open(&self->ear));
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(genl_join(&self->ear.genl, VHOST_MCGRP_EVENTS));
	self->owner = (struct owner){ .thread = variant->thread, .wwpn = self->target->wwpn };
}

FIXTURE_TEARDOWN(events)
{
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->ear);
	vctl_close(&self->v);
}

/* The next event is @command. */
static int hear(struct vctl *ear, uint8_t command, struct genl_msg *msg)
{
	int err = genl_event(&ear->genl, msg, EVENT_MS);

	if (!err && msg->genl.cmd != command)
		err = guest_fail(EPROTO, "event %u and not %u", msg->genl.cmd, command);
	return err;
}

static int hear_dev(struct vctl *ear, uint8_t command, struct vctl_dev *dev)
{
	struct genl_msg msg;
	int err = hear(ear, command, &msg);

	if (!err)
		vctl_parse_dev(&msg, dev);
	return err;
}

/* It is about worker @id of device @dev. */
static int hear_worker(struct vctl *ear, uint8_t command, uint32_t dev, uint32_t id)
{
	struct vctl_worker worker;
	struct genl_msg msg;
	int err = hear(ear, command, &msg);

	if (err)
		return err;
	vctl_parse_worker(&msg, &worker);
	if (worker.dev_id != dev || worker.id != id)
		err = guest_fail(EPROTO, "event %u about worker %u of device %u", command,
				 worker.id, worker.dev_id);
	if (worker.killed != (command == VHOST_CMD_WORKER_KILLED_NTF))
		err = guest_fail(EPROTO, "worker %u is killed, or is not", id);
	return err;
}

static int hear_map(struct vctl *ear, uint32_t dev, const struct vctl_entry *map, int n)
{
	struct vctl_entry heard[VCTL_VQS_MAX];
	struct genl_msg msg;
	int err = hear(ear, VHOST_CMD_MAP_NTF, &msg), i;

	if (!err && (genl_u32(&msg, VHOST_A_MAP_DEV_ID) != dev ||
		     vctl_parse_map(&msg, heard, VCTL_VQS_MAX) != n))
		err = guest_fail(EPROTO, "another map");
	for (i = 0; i < n && !err; i++)
		if (heard[i].vq != map[i].vq || heard[i].worker != map[i].worker)
			err = guest_fail(EPROTO, "virtqueue %u goes to worker %u", heard[i].vq,
					 heard[i].worker);
	return err;
}

static int hear_nothing(struct vctl *ear)
{
	struct genl_msg msg;
	int err = genl_event(&ear->genl, &msg, SILENCE_MS);

	return err == -ETIMEDOUT ? 0 : err ?: guest_fail(EPROTO, "event %u", msg.genl.cmd);
}

static int lives(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	uint32_t id = 0;
	int err = owner_open(me, owner, &dev);

	proc_await(me);
	err = err ?: vscsi_set_endpoint(dev, owner->wwpn) ?: vscsi_clear_endpoint(dev);
	proc_await(me);
	err = err ?: vdev_new_worker(dev->fd, &id) ?: vdev_attach_worker(dev->fd, 2, id) ?:
	      vdev_attach_worker(dev->fd, 2, id) ?: vdev_attach_worker(dev->fd, 2, 0) ?:
	      vdev_free_worker(dev->fd, id);
	proc_await(me);
	if (!err)
		vscsi_stop(dev);
	return err;
}

TEST_F(events, life_of_a_device_is_told_in_order)
{
	struct vctl_entry entry = { 2, 1, false };
	struct vctl_dev *dev = &self->dev, heard;
	struct vctl *ear = &self->ear;

	ASSERT_OK(owner_start(lives, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_ADD_NTF, &heard));
	EXPECT_EQ(dev->id, heard.id);
	EXPECT_EQ(self->proc->pid, heard.owner_pid);
	EXPECT_STREQ("scsi", heard.backend);
	EXPECT_EQ(1, heard.workers);
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 0));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_CHANGE_NTF, &heard));
	EXPECT_STREQ(self->target->wwpn, heard.wwpn);
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_CHANGE_NTF, &heard));
	EXPECT_STREQ("", heard.wwpn);
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 1));
	EXPECT_OK(hear_map(ear, dev->id, &entry, 1));
	/* That it was given once more to whom it had was no change. */
	entry.worker = 0;
	EXPECT_OK(hear_map(ear, dev->id, &entry, 1));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_DEL_NTF, dev->id, 1));
	EXPECT_OK(hear_nothing(ear));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_DEL_NTF, &heard));
	EXPECT_EQ(dev->id, heard.id);
	EXPECT_OK(hear_nothing(ear));
}

TEST_F(events, what_an_administrator_changes_is_told_in_order)
{
	struct vctl_entry map[] = { { 2, 0, true }, { 3, 1, true }, { 4, 0, true }, { 5, 1, false } };
	struct vctl_dev *dev = &self->dev, heard;
	struct vctl *ear = &self->ear;

	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_ADD_NTF, &heard));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 0));
	ASSERT_OK(vctl_worker_new(&self->v, dev->id, 2, NULL, NULL));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 1));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 2));
	/* The workers of a map are there before it is told what they serve. */
	ASSERT_OK(vctl_map_set(&self->v, dev->id, map, 4, NULL));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 3));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 4));
	map[0].worker = 3;
	map[1].worker = 4;
	map[2].worker = 3;
	EXPECT_OK(hear_map(ear, dev->id, map, 4));
	ASSERT_OK(vctl_vq_set(&self->v, dev->id, 2, 0));
	map[0].worker = 0;
	EXPECT_OK(hear_map(ear, dev->id, map, 1));
	ASSERT_OK(vctl_worker_del(&self->v, dev->id, 2));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_DEL_NTF, dev->id, 2));
	/* What is refused, what changes nothing and what only asks is not told. */
	EXPECT_NE(0, vctl_worker_new(&self->v, dev->id, 2, "77", NULL));
	EXPECT_NE(0, vctl_worker_del(&self->v, dev->id, 1));
	EXPECT_OK(vctl_vq_set(&self->v, dev->id, 2, 0));
	EXPECT_OK(vctl_dev_get(&self->v, dev->id, &heard));
	EXPECT_OK(hear_nothing(ear));
}

TEST_F(events, killed_workers_are_told)
{
	bool seen[3] = { false };
	struct vctl_dev heard;
	struct vctl_worker worker;
	struct genl_msg msg;
	int i, fd;

	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 2, NULL, NULL));
	ASSERT_OK(hear_dev(&self->ear, VHOST_CMD_DEV_ADD_NTF, &heard));
	for (i = 0; i < 3; i++)
		ASSERT_OK(hear_worker(&self->ear, VHOST_CMD_WORKER_ADD_NTF, self->dev.id, i));
	fd = proc_take_fd(self->proc, self->proc->page->word[OWNER_FD]);
	ASSERT_VALID(fd);
	ASSERT_OK(proc_kill(self->proc, GONE_MS));
	/* In any order. Kernel threads are not killed. */
	for (i = 0; i < 3 && variant->thread == VDEV_THREAD_TASK; i++) {
		ASSERT_OK(hear(&self->ear, VHOST_CMD_WORKER_KILLED_NTF, &msg));
		vctl_parse_worker(&msg, &worker);
		EXPECT_TRUE(worker.killed);
		EXPECT_STREQ("", worker.vqs);
		ASSERT_GT(3, worker.id);
		EXPECT_FALSE(seen[worker.id]);
		seen[worker.id] = true;
	}
	EXPECT_OK(hear_nothing(&self->ear));
	close(fd);
	ASSERT_OK(hear_dev(&self->ear, VHOST_CMD_DEV_DEL_NTF, &heard));
	EXPECT_EQ(self->dev.id, heard.id);
	EXPECT_EQ(0, heard.owner_pid);
	EXPECT_OK(hear_nothing(&self->ear));
}

static int has_endpoint(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	int err = owner_open(me, owner, &dev) ?: vscsi_set_endpoint(dev, owner->wwpn);

	if (err)
		return err;
	proc_pause(me);
}

/* Its workers are killed, and its endpoint is cleared, at the same time as it goes. */
TEST_F(events, nothing_is_told_of_a_device_that_is_gone)
{
	struct genl_msg msg;
	bool gone;
	int i;

	for (i = 0; i < ROUNDS / 5; i++) {
		ASSERT_OK(owner_start(has_endpoint, &self->owner, &self->v, &self->proc, &self->dev));
		ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 4, NULL, NULL));
		ASSERT_OK(proc_kill(self->proc, GONE_MS));
		EXPECT_THREADS(self->proc->pid, 0);
		proc_free(self->proc);
		self->proc = NULL;
		gone = false;
		while (!genl_event(&self->ear.genl, &msg, gone ? 10 : EVENT_MS)) {
			EXPECT_FALSE(gone) { TH_LOG("event %u", msg.genl.cmd); }
			gone = msg.genl.cmd == VHOST_CMD_DEV_DEL_NTF;
		}
		EXPECT_TRUE(gone);
	}
}

static int resets_its_owner(struct proc *me, void *arg)
{
	const struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_NET, owner->thread), err;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	proc_await(me);
	err = err ?: vdev_reset_owner(fd);
	proc_await(me);
	err = err ?: vdev_set_owner(fd);
	proc_await(me);
	close(fd);
	return err;
}

/* covers: W12 */
TEST_F(events, device_has_another_number_after_it_changed_its_owner)
{
	struct vctl_dev *dev = &self->dev, heard, again;
	struct vctl *ear = &self->ear;

	ASSERT_OK(owner_start(resets_its_owner, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_ADD_NTF, &heard));
	EXPECT_STREQ("net", heard.backend);
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 0));
	ASSERT_OK(vctl_worker_new(&self->v, dev->id, 1, NULL, NULL));
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, dev->id, 1));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_DEL_NTF, &heard));
	EXPECT_EQ(dev->id, heard.id);
	EXPECT_OK(hear_nothing(ear));
	EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, dev->id, &again));
	EXPECT_EQ(-ENODEV, vctl_worker_new(&self->v, dev->id, 1, NULL, NULL));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_ADD_NTF, &heard));
	EXPECT_LT(dev->id, heard.id);
	EXPECT_EQ(1, heard.workers);
	EXPECT_OK(hear_worker(ear, VHOST_CMD_WORKER_ADD_NTF, heard.id, 0));
	EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, dev->id, &again));
	EXPECT_OK(vctl_dev_get(&self->v, heard.id, &again));
	EXPECT_EQ(self->proc->pid, again.owner_pid);
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(hear_dev(ear, VHOST_CMD_DEV_DEL_NTF, &again));
	EXPECT_EQ(heard.id, again.id);
}

TEST_F(events, numbers_of_devices_are_not_used_again)
{
	struct vctl_dev dev;
	uint32_t last = 0;
	int i, fd;

	for (i = 0; i < ROUNDS; i++) {
		fd = vdev_open_thread(VDEV_VSOCK, variant->thread);
		ASSERT_VALID(fd);
		ASSERT_OK(vdev_set_owner(fd));
		ASSERT_OK(hear_dev(&self->ear, VHOST_CMD_DEV_ADD_NTF, &dev));
		EXPECT_LT(last, dev.id);
		last = dev.id;
		ASSERT_OK(hear_worker(&self->ear, VHOST_CMD_WORKER_ADD_NTF, dev.id, 0));
		close(fd);
		ASSERT_OK(hear_dev(&self->ear, VHOST_CMD_DEV_DEL_NTF, &dev));
		EXPECT_EQ(last, dev.id);
	}
}

TEST_F(events, listener_that_is_too_slow_learns_of_it)
{
	struct genl_msg msg;
	int small = 4096, i, err = 0, heard = 0;

	ASSERT_EQ(0, setsockopt(self->ear.genl.sock, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	/* The administrator is not held up by it. */
	for (i = 0; i < ROUNDS; i++)
		ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, 2, 0) ?:
			  vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
	while (!err && heard <= 2 * ROUNDS) {
		err = genl_event(&self->ear.genl, &msg, SILENCE_MS);
		heard++;
	}
	EXPECT_EQ(-ENOBUFS, err);
	/* And can go on. */
	do
		err = genl_event(&self->ear.genl, &msg, SILENCE_MS);
	while (!err);
	EXPECT_EQ(-ETIMEDOUT, err);
	ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, 2, 1));
	EXPECT_OK(hear(&self->ear, VHOST_CMD_MAP_NTF, &msg));
}

TEST_HARNESS_MAIN
