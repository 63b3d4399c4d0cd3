// SPDX-License-Identifier: GPL-2.0
/*
 * killed_worker.c - a worker's thread is killed while the device's address space lives on
 *
 * A process made by clone(CLONE_VM) shares the owner's memory, so it may use the owner's devices; workers of the
 * task kind are threads of the process that made them and die with it. Kernel threads do not:
 * only the last fixture has a kthread variant.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/proc.h"
#include "lib/expect.h"

#define ANSWER_MS	guest_patience(3000)

FIXTURE(worker) {
	struct lio *target;
	struct vscsi *dev;
	pid_t sibling;
	uint32_t id;		/* its worker, which serves I/O queue 0 */
	int err;
};

static void makes_worker(void *arg)
{
	FIXTURE_DATA(worker) *self = arg;

	self->err = vdev_new_worker(self->dev->fd, &self->id);
}

FIXTURE_SETUP(worker)
{
	struct lio_opts lio = { .size = 4 << 20 };
	struct vscsi_opts opts = { .queues = 2, .ring_size = 16, .thread = VDEV_THREAD_TASK };

	SKIP_WITHOUT(VDEV_THREAD_TASK);
	proc_watch("set-up of a device with a worker of another process", 20);
	ASSERT_OK(lio_create(&lio, &self->target));
	opts.wwpn = self->target->wwpn;
	ASSERT_OK(vscsi_start(&opts, &self->dev));
	self->sibling = proc_sibling(makes_worker, self, CALL_MS);
	ASSERT_VALID(self->sibling);
	ASSERT_OK(self->err);
	ASSERT_OK(vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 0), self->id));
	ASSERT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	ASSERT_EQ(1, threads_list(self->sibling, NULL, 0));
	proc_watch("a test of a killed worker", 20);
}

FIXTURE_TEARDOWN(worker)
{
	proc_watch("end of a device with a killed worker", 8);
	if (self->sibling > 0)
		EXPECT_OK(proc_sibling_kill(self->sibling, GONE_MS));
	vscsi_stop(self->dev);
	EXPECT_THREADS(getpid(), 0);
	proc_watch("the LIO target is removed", 5);
	EXPECT_OK(lio_destroy(self->target));
}

/* No ASSERT: it is called from tests by a macro that has one. */
static int kill_worker(FIXTURE_DATA(worker) *self)
{
	pid_t sibling = self->sibling;

	self->sibling = 0;
	return proc_sibling_kill(sibling, GONE_MS) ?: threads_wait_count(sibling, 0, GONE_MS);
}

/* covers: D3 */
TEST_F(worker, attach_to_killed_worker_fails)
{
	uint32_t now;

	ASSERT_OK(kill_worker(self));
	EXPECT_EQ(-EOWNERDEAD, vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 0), self->id));
	EXPECT_EQ(-EOWNERDEAD, vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 1), self->id));
	/* The other queue has kept what it had. */
	ASSERT_OK(vdev_get_worker(self->dev->fd, vscsi_vq(self->dev, 1), &now));
	EXPECT_EQ(0, now);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 1, 0));
}

/* covers: abi */
TEST_F(worker, vring_of_killed_worker_has_none)
{
	uint32_t now = 77;

	ASSERT_OK(kill_worker(self));
	EXPECT_EQ(-EINVAL, vdev_get_worker(self->dev->fd, vscsi_vq(self->dev, 0), &now));
	EXPECT_EQ(77, now);
	ASSERT_OK(vdev_get_worker(self->dev->fd, vscsi_vq(self->dev, 1), &now));
	EXPECT_EQ(0, now);
}

/* covers: D4 */
TEST_F(worker, killed_worker_can_be_freed_once)
{
	ASSERT_OK(kill_worker(self));
	EXPECT_OK(vdev_free_worker(self->dev->fd, self->id));
	EXPECT_EQ(-ENODEV, vdev_free_worker(self->dev->fd, self->id));
	EXPECT_EQ(-ENODEV, vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 0), self->id));
}

/* covers: D4 W7 */
TEST_F(worker, vring_works_again_with_a_new_worker)
{
	uint32_t id, now;

	ASSERT_OK(kill_worker(self));
	ASSERT_OK(vdev_new_worker(self->dev->fd, &id));
	EXPECT_NE(self->id, id);
	ASSERT_OK(vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 0), id));
	ASSERT_OK(vdev_get_worker(self->dev->fd, vscsi_vq(self->dev, 0), &now));
	EXPECT_EQ(id, now);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
	EXPECT_OK(vdev_free_worker(self->dev->fd, self->id));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

/* covers: D4 W1 W7 */
TEST_F(worker, kick_in_between_is_not_lost)
{
	struct vscsi_cmd cmd = { .timeout_ms = 100 };
	uint32_t id;

	ASSERT_OK(kill_worker(self));
	vscsi_lun(cmd.lun, VSCSI_TARGET, 0);
	EXPECT_EQ(-ETIMEDOUT, vscsi_exec(self->dev, 0, &cmd));
	EXPECT_FALSE(gvq_has_used(self->dev->io[0].vq));
	ASSERT_OK(vdev_new_worker(self->dev->fd, &id));
	ASSERT_OK(vdev_attach_worker(self->dev->fd, vscsi_vq(self->dev, 0), id));
	/* No kick of ours since. */
	EXPECT_OK(gvq_wait(self->dev->io[0].vq, ANSWER_MS));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

/* covers: W4 W5 */
TEST_F(worker, endpoint_can_be_cleared_and_set_after_the_kill)
{
	uint8_t response = 0xff;

	ASSERT_OK(kill_worker(self));
	proc_watch("LUN reset after the kill", 8);
	EXPECT_OK(vscsi_tmf(self->dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, 0, 1,
			    ANSWER_MS, &response));
	EXPECT_EQ(VIRTIO_SCSI_S_FUNCTION_SUCCEEDED, response);
	proc_watch("CLEAR_ENDPOINT after the kill", 8);
	EXPECT_OK(vscsi_clear_endpoint(self->dev));
	proc_watch("SET_ENDPOINT after the kill", 8);
	EXPECT_OK(vscsi_set_endpoint(self->dev, self->target->wwpn));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 1, 0));
}

/* covers: S1 S20 W4 */
TEST_F(worker, kill_under_io_holds_up_nobody)
{
	struct load_opts opts = { .dev = self->dev, .depth = 4,
				  .stall_ms = guest_patience(1500) };
	struct load_opts other = opts;
	struct load *load, *beside;
	struct load_stats stats;
	uint64_t before;

	opts.queues = 1;
	other.first_queue = 1;
	other.lba = 4096;
	opts.lba_count = 4096;
	other.lba_count = 4096;
	ASSERT_OK(load_start(&opts, &load));
	ASSERT_OK(load_start(&other, &beside));
	while (load_completed(load) < 50)
		guest_sleep_ms(1);
	ASSERT_OK(kill_worker(self));
	before = load_completed(beside);
	guest_sleep_ms(300);
	EXPECT_LT(before, load_completed(beside));
	load_stop(beside);
	EXPECT_OK(load_wait(beside, NULL));
	load_stop(load);
	load_wait(load, &stats);	/* whether it lost some is a matter of luck */
	EXPECT_EQ(0, stats.corrupt + stats.doubled + stats.failed);
	load_free(load);
	load_free(beside);
	proc_watch("CLEAR_ENDPOINT after a kill under I/O", 8);
	EXPECT_OK(vscsi_clear_endpoint(self->dev));
}

/* covers: D6 */
TEST_F(worker, killed_worker_counts_against_the_cap_until_freed)
{
	unsigned int made = 0;
	uint32_t id;
	int err;

	ASSERT_OK(kill_worker(self));
	while (!(err = vdev_new_worker(self->dev->fd, &id)) && made < 200)
		made++;
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_EQ(128, made);
	EXPECT_OK(vdev_free_worker(self->dev->fd, self->id));
	EXPECT_OK(vdev_new_worker(self->dev->fd, &id));
}

struct attach {
	struct vscsi *dev;
	unsigned int q;
	uint32_t id;
	int err;
	bool done;
};

static void *attaches(void *data)
{
	struct attach *attach = data;

	attach->err = vdev_attach_worker(attach->dev->fd, vscsi_vq(attach->dev, attach->q),
					 attach->id);
	__atomic_store_n(&attach->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* TEST UNIT READY whose request is never answered by our memory. */
static int stick(struct vscsi *dev, unsigned int q, void **pagep)
{
	struct virtio_scsi_cmd_resp *resp = gmem_alloc(dev->mem, sizeof(*resp), 64);
	struct gvq_sg sg[2];
	void *page;
	int err = gmem_alloc_special(dev->mem, 1, GMEM_STUCK, &page);

	if (err || !resp)
		return err ?: -ENOMEM;
	*pagep = page;
	sg[0] = (struct gvq_sg){ gmem_gpa(dev->mem, page), sizeof(struct virtio_scsi_cmd_req) };
	sg[1] = (struct gvq_sg){ gmem_gpa(dev->mem, resp), sizeof(*resp) };
	err = gvq_add(dev->io[q].vq, sg, 1, 1, NULL);
	if (err >= 0)
		err = gvq_kick_force(dev->io[q].vq);
	return err < 0 ? err : gmem_stuck_wait(dev->mem, CALL_MS, NULL);
}

/* covers: W5 D8 (the wait for a worker ends with the worker) */
TEST_F(worker, attach_that_waits_for_a_worker_ends_when_it_is_killed)
{
	struct attach attach = { .dev = self->dev, .q = 0, .id = 0 };
	pthread_t thread;
	uint32_t now;
	void *page;
	int i;

	ASSERT_OK(stick(self->dev, 0, &page));
	ASSERT_EQ(0, pthread_create(&thread, NULL, attaches, &attach));
	guest_sleep_ms(300);
	EXPECT_FALSE(__atomic_load_n(&attach.done, __ATOMIC_ACQUIRE));
	ASSERT_OK(kill_worker(self));
	for (i = 0; i < 300 && !__atomic_load_n(&attach.done, __ATOMIC_ACQUIRE); i++)
		guest_sleep_ms(10);
	ASSERT_TRUE(__atomic_load_n(&attach.done, __ATOMIC_ACQUIRE));
	EXPECT_EQ(0, attach.err);
	pthread_join(thread, NULL);
	ASSERT_OK(vdev_get_worker(self->dev->fd, vscsi_vq(self->dev, 0), &now));
	EXPECT_EQ(0, now);
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

/* covers: D8 (the end of a worker needs no virtqueue's mutex) */
TEST_F(worker, kill_does_not_wait_for_the_stuck_vring_of_another_worker)
{
	void *page;

	ASSERT_OK(stick(self->dev, 1, &page));
	EXPECT_OK(kill_worker(self));
	EXPECT_OK(gmem_stuck_resolve(self->dev->mem, page, 1));
}

/* The whole device made by a sibling: its worker 0 dies, the owner's memory lives. */
FIXTURE(first) {
	int fd;
	pid_t sibling;
	int err;
};

FIXTURE_THREADS(first);

static void sets_owner(void *arg)
{
	FIXTURE_DATA(first) *self = arg;

	self->err = vdev_set_owner(self->fd);
}

FIXTURE_SETUP(first)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of a killed first worker", 20);
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(self->fd);
	self->sibling = proc_sibling(sets_owner, self, CALL_MS);
	ASSERT_VALID(self->sibling);
	ASSERT_OK(self->err);
	ASSERT_EQ(1, threads_list(self->sibling, NULL, 0));
}

FIXTURE_TEARDOWN(first)
{
	close(self->fd);
	EXPECT_THREADS(self->sibling, 0);
	EXPECT_THREADS(getpid(), 0);
}

/* covers: D3 D4 W9 */
TEST_F(first, device_goes_on_after_its_maker_died)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	uint32_t vq, id, now;

	ASSERT_OK(proc_sibling_kill(self->sibling, GONE_MS));
	EXPECT_THREADS(self->sibling, task ? 0 : 1);
	for (vq = 0; vq < 130; vq++)
		EXPECT_EQ(task ? -EINVAL : 0, vdev_get_worker(self->fd, vq, &now));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	if (task) {
		EXPECT_EQ(-EOWNERDEAD, vdev_attach_worker(self->fd, 2, 0));
		EXPECT_OK(vdev_free_worker(self->fd, 0));
	}
	for (vq = 0; vq < 130; vq++)
		ASSERT_OK(vdev_attach_worker(self->fd, vq, id));
	if (!task)
		EXPECT_OK(vdev_free_worker(self->fd, 0));
	/* A kernel thread has the owner's name, a task is of the process that asked for it. */
	EXPECT_THREADS(self->sibling, task ? 0 : 1);
	EXPECT_THREADS(getpid(), task ? 1 : 0);
}

TEST_HARNESS_MAIN
