// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - the tracepoints tell what happened to workers, and cost nothing while they are off
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/put.h"
#include "lib/expect.h"

#define TRACING	"/sys/kernel/tracing"

static int put(const char *file, const char *text)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), TRACING "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) < 0)
		err = -1;
	close(fd);
	return err;
}

FIXTURE(trace) {
	int fd;
};

FIXTURE_SETUP(trace)
{
	ASSERT_EQ(0, access(TRACING "/events/vhost/enable", W_OK));
	ASSERT_EQ(0, put("trace", " "));
	ASSERT_OK(put_text(PUT_TRACE_COMMANDS, "0"));
	ASSERT_EQ(0, put("events/vhost/enable", "1"));
	ASSERT_VALID(self->fd = vdev_open(VDEV_SCSI));
	ASSERT_OK(vdev_set_owner(self->fd));
}

FIXTURE_TEARDOWN(trace)
{
	put("events/vhost/enable", "0");
	close(self->fd);
}

/* The lines of the trace so far that contain @event and @detail. */
static int count_lines(const char *event, const char *detail)
{
	FILE *f = fopen(TRACING "/trace", "re");
	char line[512];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		n += strstr(line, event) && strstr(line, detail);
	fclose(f);
	return n;
}

#define EXPECT_LINES(n, event, detail) \
	EXPECT_EQ(n, count_lines(event, detail)) { \
		TH_LOG("lines with %s ... %s", event, detail); \
	}

TEST_F(trace, life_of_a_worker_is_told)
{
	uint32_t id;

	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_EQ(1, id);
	ASSERT_OK(vdev_attach_worker(self->fd, 3, id));
	ASSERT_OK(vdev_attach_worker(self->fd, 3, 0));
	ASSERT_OK(vdev_free_worker(self->fd, id));

	EXPECT_LINES(1, "vhost_worker_create:", " worker=0 ");
	EXPECT_LINES(1, "vhost_worker_create:", " worker=1 attached=0");
	EXPECT_LINES(1, "vhost_vq_attach:", " vq=3 from=0 to=1");
	EXPECT_LINES(1, "vhost_vq_attach:", " vq=3 from=1 to=0");
	EXPECT_LINES(1, "vhost_worker_free:", " worker=1 attached=0");
	/* FREE flushes twice; how many runs that makes is up to the scheduler. */
	EXPECT_LE(1, count_lines("vhost_worker_run:", " worker=1 works="));
}

TEST_F(trace, close_frees_every_worker)
{
	uint32_t id;

	ASSERT_OK(vdev_new_worker(self->fd, &id));
	close(self->fd);
	self->fd = -1;
	EXPECT_LINES(1, "vhost_worker_free:", " worker=0 ");
	EXPECT_LINES(1, "vhost_worker_free:", " worker=1 ");
	EXPECT_LINES(0, "vhost_worker_kill:", "");
}

TEST_F(trace, killed_worker_is_told)
{
	pid_t child;
	int status;

	if (!vdev_has_fork_control(VDEV_SCSI))
		SKIP(return, "this kernel has no task workers");

	child = fork();
	if (child == 0) {
		int fd = vdev_open_thread(VDEV_SCSI, VDEV_THREAD_TASK);

		if (fd >= 0 && !vdev_set_owner(fd))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_LINES(1, "vhost_worker_kill:", " attached=130");
}

TEST_HARNESS_MAIN
