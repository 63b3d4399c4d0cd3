// SPDX-License-Identifier: GPL-2.0
/*
 * vdpa.c - vhost-vdpa has no workers and works: a VDUSE block device under it, a guest on top
 *
 * The driver's source is the distribution's, unchanged, but what it stands on is ours: kicks, IOTLB
 * messages and the end of the owner all come to it through the vhost core.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "lib/shell.h"
#include "lib/vblk.h"
#include "lib/vduse.h"

#define REQUESTS	1000	/* writes, and as many reads */
#define DEPTH		16	/* requests in flight per queue */
#define ROUNDS		5
#define ANSWER_MS	guest_patience(5000)
#define SILENCE_MS	300	/* what does not come in that time does not come */
#define PAGE		4096

FIXTURE(vdpa) {
	struct vduse *disk;
	struct vblk *guest;
};

FIXTURE_SETUP(vdpa)
{
	if (!vduse_present())
		SKIP(return, "this kernel has no VDUSE");
	ASSERT_OK(vduse_create(&self->disk));
	ASSERT_OK(vblk_open(vduse_path(self->disk), &self->guest));
}

FIXTURE_TEARDOWN(vdpa)
{
	vblk_close(self->guest);
	EXPECT_OK(vduse_destroy(self->disk));
}

/* The requests of a queue, and those of them that are not in flight. */
struct lane {
	struct vblk_req *idle[DEPTH];
	unsigned int nr_idle, sent, done;
};

static int alloc_lane(struct vblk *guest, struct lane *lane)
{
	lane->sent = 0;
	lane->done = 0;
	for (lane->nr_idle = 0; lane->nr_idle < DEPTH; lane->nr_idle++) {
		lane->idle[lane->nr_idle] = vblk_req_alloc(guest);
		if (!lane->idle[lane->nr_idle])
			return -ENOMEM;
	}
	return 0;
}

static int send_one(struct vblk *guest, unsigned int q, struct lane *lane, uint32_t type,
		    uint32_t generation)
{
	struct vblk_req *req = lane->idle[--lane->nr_idle];
	uint64_t sector = lane->sent++ * VBLK_QUEUES + q;

	if (type == VIRTIO_BLK_T_OUT)
		load_pattern_fill(req->data, VBLK_SECTOR, sector, generation);
	else
		memset(req->data, 0, VBLK_SECTOR);
	return vblk_send(guest, q, req, type, sector, 0);
}

static int take_one(struct vblk *guest, unsigned int q, struct lane *lane, uint32_t type,
		    uint32_t generation)
{
	const uint32_t want = type == VIRTIO_BLK_T_OUT ? 1 : 1 + VBLK_SECTOR;
	struct vblk_req *req;
	uint32_t len;
	int err = vblk_collect(guest, q, ANSWER_MS, &req, &len);

	if (err)
		return err;
	lane->done++;
	lane->idle[lane->nr_idle++] = req;
	if (req->status != VIRTIO_BLK_S_OK || len != want)
		return guest_fail(EIO, "sector %llu of vq %u: status %#x, %u bytes", req->hdr.sector,
				  q, req->status, len);
	if (type == VIRTIO_BLK_T_OUT)
		return 0;
	return load_pattern_check(req->data, VBLK_SECTOR, req->hdr.sector, generation,
				  LOAD_CHECK_FULL);
}

/* REQUESTS of @type, spread over the queues, many in flight on all of them. */
static int transfer(struct vblk *guest, struct lane *lanes, uint32_t type, uint32_t generation)
{
	unsigned int q, left = REQUESTS;
	int err = 0;

	for (q = 0; q < VBLK_QUEUES; q++)
		lanes[q].sent = lanes[q].done = 0;
	while (left && !err) {
		for (q = 0; q < VBLK_QUEUES && !err; q++)
			while (!err && lanes[q].nr_idle && lanes[q].sent < REQUESTS / VBLK_QUEUES)
				err = send_one(guest, q, &lanes[q], type, generation);
		for (q = 0; q < VBLK_QUEUES && !err; q++) {
			if (lanes[q].done == lanes[q].sent)
				continue;
			err = take_one(guest, q, &lanes[q], type, generation);
			left--;
		}
	}
	return err;
}

static int write_and_read(struct vblk *guest, struct lane *lanes, uint32_t generation)
{
	return transfer(guest, lanes, VIRTIO_BLK_T_OUT, generation) ?:
	       transfer(guest, lanes, VIRTIO_BLK_T_IN, generation);
}

/* From the start: queues, then all requests once. */
static int start_and_use(struct vblk *guest, uint32_t generation)
{
	struct lane lanes[VBLK_QUEUES];
	unsigned int q;
	int err = vblk_start(guest);

	for (q = 0; q < VBLK_QUEUES && !err; q++)
		err = alloc_lane(guest, &lanes[q]);
	return err ?: write_and_read(guest, lanes, generation);
}

/* One sector, and its answer. */
static int read_one(struct vblk *guest, unsigned int q, struct vblk_req *req, uint64_t data_gpa,
		    uint8_t *status)
{
	int err = vblk_send(guest, q, req, VIRTIO_BLK_T_IN, 0, data_gpa);

	if (!err)
		err = vblk_collect(guest, q, ANSWER_MS, NULL, NULL);
	*status = req->status;
	return err;
}

TEST_F(vdpa, requests_on_two_queues_return_what_was_written)
{
	struct vduse_counts counts;
	uint64_t sectors;
	uint32_t queues;

	ASSERT_OK(vblk_get_queues(self->guest->fd, &queues));
	EXPECT_EQ(VDUSE_QUEUES, queues);
	ASSERT_OK(vblk_get_capacity(self->guest->fd, &sectors));
	EXPECT_EQ(VDUSE_SECTORS, sectors);
	ASSERT_OK(start_and_use(self->guest, 1));
	vduse_count(self->disk, &counts);
	EXPECT_EQ(2 * REQUESTS, counts.requests);
	EXPECT_EQ(0, counts.unmapped);
	for (unsigned int q = 0; q < VBLK_QUEUES; q++)
		EXPECT_EQ(0, self->guest->vq[q]->doubled);
	EXPECT_THREADS(getpid(), 0);
}

TEST_F(vdpa, requests_are_answered_without_a_workqueue_in_between)
{
	char out[200];

	ASSERT_EQ(0, shell_run(out, sizeof(out), "for file in /sys/class/vduse/*/vq*/enable_irq_wq; do "
			       "echo 0 >$file || exit; done 2>&1")) {
		TH_LOG("%s", out);
	}
	EXPECT_OK(start_and_use(self->guest, 1));
}

TEST_F(vdpa, device_works_again_after_each_reset)
{
	struct vduse_counts before, after;
	struct lane lanes[VBLK_QUEUES];

	vduse_count(self->disk, &before);
	for (unsigned int q = 0; q < VBLK_QUEUES; q++)
		ASSERT_OK(alloc_lane(self->guest, &lanes[q]));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_OK(vblk_start(self->guest));
		ASSERT_OK(write_and_read(self->guest, lanes, round));
		ASSERT_OK(vblk_reset(self->guest));
	}
	vduse_count(self->disk, &after);
	EXPECT_EQ(ROUNDS, after.resets - before.resets);
}

TEST_F(vdpa, device_works_again_after_each_close)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_OK(start_and_use(self->guest, round));
		vblk_close(self->guest);
		self->guest = NULL;
		ASSERT_OK(vblk_open(vduse_path(self->disk), &self->guest));
	}
}

TEST_F(vdpa, device_can_be_open_once_only)
{
	struct vblk *second;

	EXPECT_EQ(-EBUSY, vblk_open(vduse_path(self->disk), &second));
}

TEST_F(vdpa, data_that_is_not_mapped_is_an_error_until_it_is)
{
	struct vblk *guest = self->guest;
	struct gmem *mem = guest->mem;
	uint64_t last = GMEM_BASE + mem->size - PAGE;
	struct vblk_req *req = vblk_req_alloc(guest);
	struct vduse_counts counts;
	uint8_t status;

	ASSERT_NE(NULL, req);
	ASSERT_OK(vblk_start(guest));
	ASSERT_OK(read_one(guest, 0, req, gmem_bad_gpa(mem), &status));
	EXPECT_EQ(VIRTIO_BLK_S_IOERR, status);

	ASSERT_OK(vblk_unmap(guest->fd, GMEM_BASE, mem->size));
	ASSERT_OK(vblk_map(guest->fd, mem, GMEM_BASE, mem->size - PAGE));
	ASSERT_OK(read_one(guest, 0, req, last, &status));
	EXPECT_EQ(VIRTIO_BLK_S_IOERR, status);
	ASSERT_OK(read_one(guest, 1, req, 0, &status));
	EXPECT_EQ(VIRTIO_BLK_S_OK, status);

	ASSERT_OK(vblk_map(guest->fd, mem, last, PAGE));
	ASSERT_OK(read_one(guest, 0, req, last, &status));
	EXPECT_EQ(VIRTIO_BLK_S_OK, status);
	vduse_count(self->disk, &counts);
	EXPECT_EQ(2, counts.unmapped);
}

TEST_F(vdpa, queue_whose_ring_is_not_mapped_rests_until_it_is)
{
	struct vblk *guest = self->guest;
	struct vblk_req *req = vblk_req_alloc(guest), *answered;
	struct vduse_counts counts;
	uint8_t status;

	ASSERT_NE(NULL, req);
	ASSERT_OK(vblk_start(guest));
	ASSERT_OK(read_one(guest, 0, req, 0, &status));
	ASSERT_OK(vblk_unmap(guest->fd, GMEM_BASE, guest->mem->size));
	ASSERT_OK(vblk_send(guest, 0, req, VIRTIO_BLK_T_IN, 1, 0));
	EXPECT_EQ(-ETIMEDOUT, vblk_collect(guest, 0, SILENCE_MS, NULL, NULL));
	vduse_count(self->disk, &counts);
	EXPECT_LT(0, counts.unmapped);

	ASSERT_OK(vblk_map(guest->fd, guest->mem, GMEM_BASE, guest->mem->size));
	ASSERT_VALID(gvq_kick_force(guest->vq[0]));
	ASSERT_OK(vblk_collect(guest, 0, ANSWER_MS, &answered, NULL));
	EXPECT_EQ(req, answered);
	EXPECT_EQ(VIRTIO_BLK_S_OK, req->status);
}

TEST_F(vdpa, overlapping_and_empty_mappings_are_refused)
{
	struct vblk *guest = self->guest;

	EXPECT_GT(0, vblk_map(guest->fd, guest->mem, GMEM_BASE + PAGE, PAGE));
	EXPECT_OK(vblk_unmap(guest->fd, GMEM_BASE, guest->mem->size));
	EXPECT_GT(0, vblk_map(guest->fd, guest->mem, GMEM_BASE, 0));
	EXPECT_OK(vblk_map(guest->fd, guest->mem, GMEM_BASE, guest->mem->size));
	EXPECT_OK(start_and_use(guest, 1));
}

/* ATTACH, FREE and GET with @vq where an index, or the id of a worker, is expected: all answer the same. */
static int worker_ioctls(int fd, unsigned int vq)
{
	uint32_t id;
	int err = vdev_attach_worker(fd, vq, 0);

	if (vdev_free_worker(fd, vq) != err || vdev_get_worker(fd, vq, &id) != err)
		return guest_fail(EPROTO, "FREE or GET answers other than ATTACH");
	return err;
}

static int stranger(struct proc *me, void *arg)
{
	struct vblk *guest = arg;
	uint32_t id;
	int err;

	proc_step(me, "worker ioctls");
	err = worker_ioctls(guest->fd, 0);
	if (err != -EPERM || vdev_new_worker(guest->fd, &id) != -EPERM)
		return guest_fail(EPROTO, "a stranger's worker ioctl gives %d", err);
	proc_step(me, "IOTLB message");
	if (vblk_unmap(guest->fd, GMEM_BASE, guest->mem->size) >= 0)
		return guest_fail(EPROTO, "a stranger may unmap the guest's memory");
	return 0;
}

/* covers: abi */
TEST_F(vdpa, device_has_no_workers_and_says_so)
{
	uint32_t id;
	int fd = self->guest->fd;

	EXPECT_THREADS(getpid(), 0);
	EXPECT_EQ(-ENOTTY, vdev_new_worker(fd, &id));
	EXPECT_EQ(-ENOTTY, worker_ioctls(fd, 0));
	EXPECT_EQ(-ENOTTY, worker_ioctls(fd, VBLK_QUEUES - 1));
	EXPECT_EQ(-ENOBUFS, worker_ioctls(fd, VBLK_QUEUES));
	EXPECT_EQ(-1, ioctl(fd, VHOST_NEW_WORKER, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_OK(proc_call(stranger, self->guest, CALL_MS));
	EXPECT_OK(start_and_use(self->guest, 1));
}

/* covers: abi */
TEST_F(vdpa, probe_before_set_owner_finds_no_workers)
{
	uint32_t id;
	int fd;

	vblk_close(self->guest);
	self->guest = NULL;
	fd = open(vduse_path(self->disk), O_RDWR | O_CLOEXEC);
	ASSERT_VALID(fd);
	EXPECT_EQ(0, vdev_has_workers(fd));
	EXPECT_EQ(-EPERM, worker_ioctls(fd, 0));
	EXPECT_EQ(-EPERM, vdev_new_worker(fd, &id));
	close(fd);
}

TEST_F(vdpa, neither_kind_of_thread_is_made)
{
	vblk_close(self->guest);
	self->guest = NULL;
	for (uint8_t kind = VHOST_FORK_OWNER_KTHREAD; kind <= VHOST_FORK_OWNER_TASK; kind++) {
		int fd = open(vduse_path(self->disk), O_RDWR | O_CLOEXEC);

		ASSERT_VALID(fd);
		if (vdev_has_fork_control(VDEV_SCSI))
			EXPECT_OK(vdev_set_fork(fd, kind));
		EXPECT_OK(vdev_set_owner(fd));
		EXPECT_THREADS(getpid(), 0);
		close(fd);
	}
}

/* --- an owner that is killed */

static int own_with_requests_outstanding(struct proc *me, void *path)
{
	struct vblk *guest;
	unsigned int i;
	int err;

	proc_step(me, "start");
	err = vblk_open(path, &guest) ?: vblk_start(guest);
	proc_step(me, "requests");
	for (i = 0; i < DEPTH * VBLK_QUEUES && !err; i++) {
		struct vblk_req *req = vblk_req_alloc(guest);

		err = req ? vblk_send(guest, i % VBLK_QUEUES, req, VIRTIO_BLK_T_IN, i, 0) : -ENOMEM;
	}
	if (err)
		return err;
	proc_pause(me);
}

static int own_and_work(struct proc *me, void *path)
{
	struct lane lanes[VBLK_QUEUES];
	struct vblk *guest;
	uint32_t round = 0;
	int err;

	proc_step(me, "start");
	err = vblk_open(path, &guest) ?: vblk_start(guest);
	for (unsigned int q = 0; q < VBLK_QUEUES && !err; q++)
		err = alloc_lane(guest, &lanes[q]);
	proc_step(me, "requests");
	while (!err) {
		err = write_and_read(guest, lanes, round++);
		proc_progress(me);
	}
	return err;
}

/* Kill the owner that @fn plays once it is ready. The guest of the fixture has to be closed. */
static int kill_owner(struct vduse *disk, proc_fn fn)
{
	bool waits = fn == own_with_requests_outstanding;
	struct vduse_counts before, after;
	struct proc *owner;
	int err;

	vduse_hold(disk, waits);
	vduse_count(disk, &before);
	err = proc_start(fn, (void *)vduse_path(disk), &owner);
	if (err)
		return err;
	err = waits ? proc_wait_ready(owner, CALL_MS) : proc_wait_progress(owner, 1, CALL_MS);
	if (!err)
		err = proc_kill(owner, GONE_MS);
	vduse_count(disk, &after);
	if (!err && waits != (after.requests == before.requests))
		err = guest_fail(EPROTO, "%s", waits ? "a request was not outstanding" :
						       "no request was answered");
	proc_free(owner);
	vduse_hold(disk, false);
	return err;
}

/* covers: W5 */
TEST_F(vdpa, killed_owner_is_gone_and_the_device_works_for_another)
{
	vblk_close(self->guest);
	self->guest = NULL;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_OK(kill_owner(self->disk, own_with_requests_outstanding));
		ASSERT_OK(kill_owner(self->disk, own_and_work));
	}
	ASSERT_OK(vblk_open(vduse_path(self->disk), &self->guest));
	EXPECT_OK(start_and_use(self->guest, 1));
}

/* covers: W5 */
TEST_F(vdpa, device_of_a_killed_owner_is_deleted_and_made_again)
{
	vblk_close(self->guest);
	self->guest = NULL;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_OK(kill_owner(self->disk, own_with_requests_outstanding));
		proc_watch("deletion of the device", 5);
		ASSERT_OK(vduse_destroy(self->disk));
		self->disk = NULL;
		ASSERT_OK(vduse_create(&self->disk));
		proc_watch("", 0);
	}
	ASSERT_OK(vblk_open(vduse_path(self->disk), &self->guest));
	EXPECT_OK(start_and_use(self->guest, 1));
}

TEST_HARNESS_MAIN
