// SPDX-License-Identifier: GPL-2.0
/*
 * Between the rings and libfuse: a request goes in as one piece of memory, the
 * answer comes out of the session's writev and goes to the buffers of the
 * thread that asked.
 */
#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "daemon.h"

#define MAX_REQUEST (2 << 20)	/* libfuse asks for writes of at most 1 MiB */

static struct fuse_session *session;
/* Held for writing while the session is made anew, which each mount needs. */
static pthread_rwlock_t session_lock = PTHREAD_RWLOCK_INITIALIZER;

/* The request that the thread is at. */
static __thread const struct iovec *reply;
static __thread int nr_reply;
static __thread size_t replied;
static __thread char *request_buf;

/* Copy between two lists of buffers as much as fits. */
static size_t copy(const struct iovec *to, int nr_to, const struct iovec *from, int nr_from)
{
	size_t done = 0, to_at = 0, from_at = 0;

	while (nr_to && nr_from) {
		size_t left = to->iov_len - to_at, here = from->iov_len - from_at;
		size_t len = left < here ? left : here;

		memcpy((char *)to->iov_base + to_at, (char *)from->iov_base + from_at, len);
		done += len;
		to_at += len;
		from_at += len;
		if (to_at == to->iov_len)
			to++, nr_to--, to_at = 0;
		if (from_at == from->iov_len)
			from++, nr_from--, from_at = 0;
	}
	return done;
}

static ssize_t take_reply(int fd, struct iovec *iov, int count, void *userdata)
{
	(void)fd;
	(void)userdata;
	replied = copy(reply, nr_reply, iov, count);
	return replied;
}

/* libfuse wants one, but only its own loop would call it. */
static ssize_t no_read(int fd, void *buf, size_t len, void *userdata)
{
	(void)fd;
	(void)buf;
	(void)len;
	(void)userdata;
	return 0;
}

static void new_session(void)
{
	static const struct fuse_custom_io io = { .writev = take_reply, .read = no_read };
	char *argv[] = { "virtiofs-daemon", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);

	pthread_rwlock_wrlock(&session_lock);
	if (session)
		fuse_session_destroy(session);
	session = fuse_session_new(&args, &files_ops, sizeof(files_ops), NULL);
	/* It wants a descriptor, and closes it. */
	if (!session || fuse_session_custom_io(session, &io, eventfd(0, EFD_CLOEXEC)))
		die("libfuse gives no session");
	pthread_rwlock_unlock(&session_lock);
}

size_t fuse_request(const struct iovec *request, int nr_request, const struct iovec *to, int nr_to)
{
	struct fuse_in_header head;
	struct fuse_buf buf = { 0 };

	if (!request_buf)
		request_buf = malloc(MAX_REQUEST);
	if (!request_buf)
		die("no memory");
	buf.mem = request_buf;
	buf.size = copy(&(struct iovec){ buf.mem, MAX_REQUEST }, 1, request, nr_request);
	memcpy(&head, buf.mem, sizeof(head));
	if (buf.size < sizeof(head) || buf.size != head.len)
		die("a request of %zu bytes that says %u", buf.size, head.len);
	if (head.opcode == FUSE_INIT)
		new_session();

	reply = to;
	nr_reply = nr_to;
	replied = 0;
	pthread_rwlock_rdlock(&session_lock);
	fuse_session_process_buf(session, &buf);
	pthread_rwlock_unlock(&session_lock);
	return replied;
}
