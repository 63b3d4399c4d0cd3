// SPDX-License-Identifier: GPL-2.0
/*
 * owner.c - who may do what: strangers with a copied descriptor, and the drivers beside vhost-scsi
 */
#include <errno.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/proc.h"
#include "lib/expect.h"

#define BAD_POINTER	((void *)8)

static const unsigned long worker_ioctls[] = {
	VHOST_NEW_WORKER, VHOST_FREE_WORKER, VHOST_ATTACH_VRING_WORKER, VHOST_GET_VRING_WORKER,
};

static int raw(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

/* All four with @arg answer @want, or the first other answer is in guest_error(). */
static int all_answer(int fd, int want, struct vhost_vring_worker arg)
{
	unsigned int i;
	int got;

	for (i = 0; i < 4; i++) {
		struct vhost_vring_worker copy = arg;

		got = raw(fd, worker_ioctls[i], &copy);
		if (got != want)
			return guest_fail(EPROTO, "ioctl %lx answers %d and not %d",
					  worker_ioctls[i], got, want);
	}
	return 0;
}

struct stranger {
	int fd;
	const char *wwpn;
	uint64_t features;
};

static int tries_worker_ioctls(struct proc *me, void *arg)
{
	struct stranger *s = arg;
	unsigned int i;
	int err;

	proc_step(me, "worker ioctls of a stranger");
	err = all_answer(s->fd, -EPERM, (struct vhost_vring_worker){ 0 });
	if (!err)
		err = all_answer(s->fd, -EPERM, (struct vhost_vring_worker){ UINT_MAX, 77 });
	/* Before the argument is looked at. */
	for (i = 0; !err && i < 4; i++)
		if (raw(s->fd, worker_ioctls[i], BAD_POINTER) != -EPERM)
			err = guest_fail(EPROTO, "ioctl %lx looks at the argument first",
					 worker_ioctls[i]);
	return err;
}

static int expect_eperm(int got, const char *what)
{
	return got == -EPERM ? 0 : guest_fail(EPROTO, "%s answers %d and not -EPERM", what, got);
}

static int tries_set_features(struct proc *me, void *arg)
{
	struct stranger *s = arg;
	uint64_t features;

	proc_step(me, "SET_FEATURES of a stranger");
	/* Reading is allowed. */
	return vdev_get_features(s->fd, &features) ?:
	       expect_eperm(vdev_set_features(s->fd, s->features), "SET_FEATURES");
}

static int tries_set_endpoint(struct proc *me, void *arg)
{
	struct stranger *s = arg;

	proc_step(me, "SET_ENDPOINT of a stranger");
	return expect_eperm(vdev_scsi_set_endpoint(s->fd, s->wwpn), "SET_ENDPOINT");
}

static int tries_clear_endpoint(struct proc *me, void *arg)
{
	struct stranger *s = arg;

	proc_step(me, "CLEAR_ENDPOINT of a stranger");
	return expect_eperm(vdev_scsi_clear_endpoint(s->fd, s->wwpn), "CLEAR_ENDPOINT");
}

FIXTURE(stranger) {
	struct lio *target;
	struct vscsi *dev;
	struct stranger arg;
};

FIXTURE_THREADS(stranger);

FIXTURE_SETUP(stranger)
{
	struct lio_opts lio = { .size = 4 << 20 };
	struct vscsi_opts opts = { .ring_size = 16, .thread = variant->thread };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of strangers", 25);
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(vscsi_open(&opts, &self->dev));
	ASSERT_OK(vscsi_setup_queues(self->dev));
	self->arg = (struct stranger){ self->dev->fd, self->target->wwpn, self->dev->features };
}

FIXTURE_TEARDOWN(stranger)
{
	vscsi_stop(self->dev);
	EXPECT_OK(lio_destroy(self->target));
}

/* covers: abi */
TEST_F(stranger, cannot_use_worker_ioctls)
{
	uint32_t id;

	EXPECT_OK(proc_call(tries_worker_ioctls, &self->arg, CALL_MS));
	EXPECT_EQ(1, threads_list(getpid(), NULL, 0));
	EXPECT_OK(vdev_new_worker(self->dev->fd, &id));
	EXPECT_EQ(1, id);
}

/* covers: D9b */
TEST_F(stranger, cannot_set_features)
{
	EXPECT_OK(proc_call(tries_set_features, &self->arg, CALL_MS));
	EXPECT_OK(vdev_set_features(self->dev->fd, self->dev->features));
}

/* covers: D9b */
TEST_F(stranger, cannot_set_endpoint)
{
	EXPECT_OK(proc_call(tries_set_endpoint, &self->arg, CALL_MS));
	ASSERT_OK(vscsi_set_endpoint(self->dev, self->target->wwpn));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

/* covers: D9b */
TEST_F(stranger, cannot_clear_endpoint)
{
	ASSERT_OK(vscsi_set_endpoint(self->dev, self->target->wwpn));
	ASSERT_OK(proc_call(tries_clear_endpoint, &self->arg, CALL_MS));
	EXPECT_OK(vscsi_test_unit_ready(self->dev, 0, 0));
}

static int tries_set_owner(struct proc *me, void *arg)
{
	struct stranger *s = arg;
	int got;

	proc_step(me, "SET_OWNER of a stranger");
	got = vdev_set_owner(s->fd);
	return got == -EBUSY ? 0 : guest_fail(EPROTO, "SET_OWNER answers %d and not -EBUSY", got);
}

/* covers: abi */
TEST_F(stranger, cannot_become_the_owner)
{
	EXPECT_OK(proc_call(tries_set_owner, &self->arg, CALL_MS));
	EXPECT_OK(proc_call(tries_worker_ioctls, &self->arg, CALL_MS));
}

FIXTURE(net) {
	int fd;
	pid_t pid;
};

FIXTURE_THREADS(net);

FIXTURE_SETUP(net)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of vhost-net", 25);
	self->pid = getpid();
	self->fd = vdev_open_thread(VDEV_NET, variant->thread);
	ASSERT_VALID(self->fd);
}

FIXTURE_TEARDOWN(net)
{
	close(self->fd);
	EXPECT_THREADS(self->pid, 0);
}

/* covers: abi */
TEST_F(net, probe_finds_workers)
{
	EXPECT_EQ(1, vdev_has_workers(self->fd));
	EXPECT_OK(all_answer(self->fd, -EINVAL, (struct vhost_vring_worker){ 0 }));
	EXPECT_EQ(0, threads_list(self->pid, NULL, 0));
	EXPECT_OK(vdev_set_owner(self->fd));
}

/* covers: abi D6 */
TEST_F(net, two_vrings_have_two_workers)
{
	uint32_t id, now;

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	EXPECT_EQ(1, id);
	EXPECT_EQ(2, threads_list(self->pid, NULL, 0));
	EXPECT_EQ(-ENOSPC, vdev_new_worker(self->fd, &now));
	ASSERT_OK(vdev_attach_worker(self->fd, VDEV_NET_VQ_TX, id));
	ASSERT_OK(vdev_get_worker(self->fd, VDEV_NET_VQ_TX, &now));
	EXPECT_EQ(id, now);
	ASSERT_OK(vdev_get_worker(self->fd, VDEV_NET_VQ_RX, &now));
	EXPECT_EQ(0, now);
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 0));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 1));
	ASSERT_OK(vdev_attach_worker(self->fd, VDEV_NET_VQ_RX, id));
	EXPECT_OK(vdev_free_worker(self->fd, 0));
	EXPECT_THREADS(self->pid, 1);
}

/* covers: abi */
TEST_F(net, errors_are_those_of_the_table)
{
	uint32_t now;
	unsigned int i;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(-ENOBUFS, vdev_get_worker(self->fd, 2, &now));
	EXPECT_EQ(-ENOBUFS, vdev_attach_worker(self->fd, 2, 0));
	EXPECT_EQ(-ENODEV, vdev_attach_worker(self->fd, 0, 7));
	EXPECT_EQ(-ENODEV, vdev_free_worker(self->fd, 7));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 0));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(-EFAULT, raw(self->fd, worker_ioctls[i], BAD_POINTER));
	EXPECT_EQ(1, threads_list(self->pid, NULL, 0));
}

/* covers: abi */
TEST_F(net, strangers_are_refused)
{
	struct stranger arg = { .fd = self->fd };

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_ack_features(self->fd, VDEV_F_VERSION_1, &arg.features));
	EXPECT_OK(proc_call(tries_worker_ioctls, &arg, CALL_MS));
}

/* covers: D9b */
TEST_F(net, strangers_cannot_set_features)
{
	struct stranger arg = { .fd = self->fd };

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_ack_features(self->fd, VDEV_F_VERSION_1, &arg.features));
	EXPECT_OK(proc_call(tries_set_features, &arg, CALL_MS));
}

/* covers: W12 */
TEST_F(net, reset_owner_leaves_no_worker)
{
	uint32_t id, vq, round;

	for (round = 0; round < 3; round++) {
		ASSERT_OK(vdev_set_owner(self->fd));
		ASSERT_OK(vdev_new_worker(self->fd, &id));
		EXPECT_EQ(1, id);
		ASSERT_OK(vdev_attach_worker(self->fd, VDEV_NET_VQ_TX, id));
		ASSERT_OK(vdev_reset_owner(self->fd));
		EXPECT_THREADS(self->pid, 0);
		EXPECT_OK(all_answer(self->fd, -EINVAL, (struct vhost_vring_worker){ 0 }));
	}
	ASSERT_OK(vdev_set_owner(self->fd));
	for (vq = 0; vq < 2; vq++) {
		ASSERT_OK(vdev_get_worker(self->fd, vq, &id));
		EXPECT_EQ(0, id);
	}
}

FIXTURE(vsock) {
	int fd;
	pid_t pid;
};

FIXTURE_THREADS(vsock);

FIXTURE_SETUP(vsock)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of vhost-vsock", 25);
	self->pid = getpid();
	self->fd = vdev_open_thread(VDEV_VSOCK, variant->thread);
	ASSERT_VALID(self->fd);
}

FIXTURE_TEARDOWN(vsock)
{
	close(self->fd);
	EXPECT_THREADS(self->pid, 0);
}

/* covers: abi probe */
TEST_F(vsock, nobody_may_ask_before_set_owner)
{
	EXPECT_EQ(0, vdev_has_workers(self->fd));
	EXPECT_OK(all_answer(self->fd, -EPERM, (struct vhost_vring_worker){ 0 }));
	EXPECT_EQ(0, threads_list(self->pid, NULL, 0));
	EXPECT_OK(vdev_set_owner(self->fd));
}

/* covers: abi */
TEST_F(vsock, owner_is_told_that_there_is_one_worker_only)
{
	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_OK(all_answer(self->fd, -ENOTTY, (struct vhost_vring_worker){ 0 }));
	EXPECT_OK(all_answer(self->fd, -ENOTTY, (struct vhost_vring_worker){ 1, 1 }));
	EXPECT_EQ(1, threads_list(self->pid, NULL, 0));
}

/* covers: abi */
TEST_F(vsock, strangers_are_refused)
{
	struct stranger arg = { .fd = self->fd };

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_OK(proc_call(tries_worker_ioctls, &arg, CALL_MS));
}

/* covers: D9b */
TEST_F(vsock, strangers_cannot_set_features)
{
	struct stranger arg = { .fd = self->fd };

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_ack_features(self->fd, VDEV_F_VERSION_1, &arg.features));
	EXPECT_OK(proc_call(tries_set_features, &arg, CALL_MS));
}

TEST_HARNESS_MAIN
