// SPDX-License-Identifier: GPL-2.0
/*
 * close.c - the end of a device that has many workers
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/kicks.h"
#include "lib/proc.h"

#define WORKERS	128

FIXTURE(close) {
	int fd;
};

FIXTURE_THREADS(close);

FIXTURE_SETUP(close)
{
	unsigned int i;
	uint32_t id;

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of close", 60);
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(self->fd);
	ASSERT_OK(vdev_set_owner(self->fd));
	for (i = 1; i < WORKERS; i++)
		ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(kicks_give(self->fd, VDEV_SCSI_VQ_IO));
}

FIXTURE_TEARDOWN(close)
{
	EXPECT_THREADS(getpid(), 0);
}

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

/* One after the other, each of them costs a sleep or more, unless it preempts who wakes it. */
TEST_F(close, waits_for_all_workers_together)
{
	uint64_t start = guest_now_ns();
	long before = sleeps(), slept;

	close(self->fd);
	slept = sleeps() - before;
	TH_LOG("%d workers: %ld sleeps, %.1f ms", WORKERS, slept, (guest_now_ns() - start) / 1e6);
	EXPECT_GT(WORKERS / 3, slept);
}

TEST_HARNESS_MAIN
