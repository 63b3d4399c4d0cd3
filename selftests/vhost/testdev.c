// SPDX-License-Identifier: GPL-2.0
/*
 * testdev.c - the vhost test module (/dev/vhost-test): one queue that uses whatever it is given
 *
 * The only user of vhost without a backend of its own, and besides vhost-net the only one with
 * VHOST_RESET_OWNER.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"

#define VHOST_TEST_RUN	_IOW(VHOST_VIRTIO, 0x31, int)
#define REQUESTS	1000

FIXTURE(testdev) {
	int fd;
	struct gmem *mem;
	struct gvq *vq;
	struct gvq_sg buf;
};

FIXTURE_SETUP(testdev)
{
	struct gvq_opts opts = { .num = 64 };
	void *buf;

	self->fd = open("/dev/vhost-test", O_RDWR | O_CLOEXEC);
	ASSERT_VALID(self->fd);
	ASSERT_OK(gmem_create(1 << 20, &self->mem));
	buf = gmem_alloc(self->mem, 64, 0);
	ASSERT_NE(NULL, buf);
	self->buf.gpa = gmem_gpa(self->mem, buf);
	self->buf.len = 64;
	ASSERT_OK(gvq_create(self->mem, 0, &opts, &self->vq));
}

FIXTURE_TEARDOWN(testdev)
{
	close(self->fd);
	gvq_destroy(self->vq);
	gmem_destroy(self->mem);
}

static int own_and_run(int fd, struct gmem *mem, struct gvq *vq)
{
	int on = 1, err;

	err = vdev_set_owner(fd) ?: vdev_set_mem(fd, mem) ?: gvq_setup(vq, fd);
	if (!err && ioctl(fd, VHOST_TEST_RUN, &on))
		err = -errno;
	return err;
}

/* Requests that came back out of REQUESTS, one at a time. */
static int pass_requests(struct gvq *vq, const struct gvq_sg *buf)
{
	int i;

	for (i = 0; i < REQUESTS; i++) {
		if (gvq_add(vq, buf, 1, 0, vq) < 0 || gvq_kick_force(vq) < 0 ||
		    gvq_wait(vq, guest_patience(2000)) || gvq_pop(vq, NULL, NULL) < 0)
			break;
	}
	return i;
}

/* covers: W1 */
TEST_F(testdev, requests_come_back)
{
	ASSERT_OK(own_and_run(self->fd, self->mem, self->vq));
	EXPECT_EQ(REQUESTS, pass_requests(self->vq, &self->buf));
}

/* covers: W12 */
TEST_F(testdev, requests_come_back_after_reset_owner)
{
	for (int round = 0; round < 5; round++) {
		ASSERT_OK(own_and_run(self->fd, self->mem, self->vq));
		EXPECT_EQ(REQUESTS, pass_requests(self->vq, &self->buf));
		ASSERT_OK(vdev_reset_owner(self->fd));
		EXPECT_THREADS(getpid(), 0);
		gvq_reset(self->vq);
	}
}

TEST_F(testdev, has_one_worker_only)
{
	uint32_t id;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_THREADS(getpid(), 1);
	EXPECT_EQ(-ENOTTY, vdev_new_worker(self->fd, &id));
}

TEST_HARNESS_MAIN
