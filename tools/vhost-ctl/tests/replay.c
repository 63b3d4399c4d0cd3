// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, recorded or replayed: see stage.h.
 *
 * Requests must come as they were recorded, but for sequence number and port. A
 * program that follows another one goes on where that stopped: FILE.at says where.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stage.h"

#define PORT	4242		/* that we pretend to be bound to */
#define MAX	65536		/* bytes of a message */

static const char *record_path, *replay_path;
static FILE *book;		/* the recording, while it is read */
static char line[2 * MAX + 4];	/* of it, the one that comes next; "" where it ends */
static long line_at;		/* where that begins */
static uint32_t seq;		/* of the last request */
static bool listening;		/* for events, which end with the recording */
static int socket_fd = -1;

REAL(socket)
REAL(bind)
REAL(setsockopt)
REAL(getsockname)
REAL(sendto)
REAL(recvmsg)

void stage_stop(const char *what, const char *detail)
{
	fprintf(stderr, "stage: %s%s\n", what, detail);
	_exit(EXIT_STAGE);
}

__attribute__((constructor)) static void find_paths(void)
{
	record_path = getenv("VHOST_CTL_RECORD");
	replay_path = getenv("VHOST_CTL_REPLAY");
}

/* --- recording */

static void write_down(char direction, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	FILE *out = fopen(record_path, "ae");

	if (!out)
		stage_stop("cannot write ", record_path);
	fprintf(out, "%c ", direction);
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('\n', out);
	fclose(out);
}

/* --- replaying */

static void next_line(void)
{
	line_at = ftell(book);
	if (!fgets(line, sizeof(line), book))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static int digit(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* The message in the line; returns its length. */
static size_t message(unsigned char *data)
{
	const char *hex = line + 2;
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len; i++)
		data[i] = digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]);
	return len;
}

static bool is_same_request(const struct nlmsghdr *a, const struct nlmsghdr *b, size_t len)
{
	return a->nlmsg_len == b->nlmsg_len && a->nlmsg_type == b->nlmsg_type &&
	       a->nlmsg_flags == b->nlmsg_flags &&
	       !memcmp(a + 1, b + 1, len - sizeof(*a));
}

/* Go behind the recorded request, which must equal @data. */
static void expect_request(const void *data, size_t len)
{
	static unsigned char recorded[MAX];

	while (line[0] == '<')	/* events, or what a program that ended early did not want */
		next_line();
	if (line[0] != '>' || message(recorded) != len ||
	    !is_same_request(data, (struct nlmsghdr *)recorded, len))
		stage_stop("another request was recorded here", "");
	next_line();
}

/* Answers carry the numbers of the request, events none. */
static void renumber(void *data, size_t len)
{
	struct nlmsghdr *nlh = data;

	for (int left = len; NLMSG_OK(nlh, left); nlh = NLMSG_NEXT(nlh, left)) {
		if (nlh->nlmsg_seq)
			nlh->nlmsg_seq = seq;
		if (nlh->nlmsg_pid)
			nlh->nlmsg_pid = PORT;
	}
}

static char *mark_path(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.at", replay_path);
	return path;
}

static void open_book(void)
{
	FILE *mark = fopen(mark_path(), "re");
	long at = 0;

	book = fopen(replay_path, "re");
	if (!book || (mark && fscanf(mark, "%ld", &at) != 1) || fseek(book, at, SEEK_SET))
		stage_stop("cannot read ", replay_path);
	if (mark)
		fclose(mark);
	next_line();
}

__attribute__((destructor)) static void close_book(void)
{
	FILE *mark = book ? fopen(mark_path(), "we") : NULL;

	if (!mark)
		return;
	fprintf(mark, "%ld\n", line_at);
	fclose(mark);
}

static ssize_t play(struct msghdr *msg)
{
	static unsigned char data[MAX];
	size_t len;

	if (line[0] != '<') {
		if (listening) {
			close_book();
			_exit(EXIT_SUCCESS);
		}
		stage_stop("nothing more was recorded", "");
	}
	len = message(data);
	next_line();
	renumber(data, len);
	if (len > msg->msg_iov[0].iov_len)
		stage_stop("a message is longer than its buffer", "");
	memcpy(msg->msg_iov[0].iov_base, data, len);
	*(struct sockaddr_nl *)msg->msg_name = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	msg->msg_namelen = sizeof(struct sockaddr_nl);
	msg->msg_flags = 0;
	return len;
}

/* --- what libmnl calls */

int socket(int domain, int type, int protocol)
{
	if (!replay_path || domain != AF_NETLINK)
		return real_socket()(domain, type, protocol);
	if (!book)
		open_book();
	socket_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return socket_fd;
}

static bool is_played(int fd)
{
	return replay_path && fd == socket_fd;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return is_played(fd) ? 0 : real_bind()(fd, addr, len);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (!is_played(fd))
		return real_setsockopt()(fd, level, name, value, len);
	listening |= level == SOL_NETLINK && name == NETLINK_ADD_MEMBERSHIP;
	return 0;
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	if (!is_played(fd))
		return real_getsockname()(fd, addr, len);
	*(struct sockaddr_nl *)addr = (struct sockaddr_nl){
		.nl_family = AF_NETLINK, .nl_pid = PORT,
	};
	*len = sizeof(struct sockaddr_nl);
	return 0;
}

ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *addr,
	       socklen_t addr_len)
{
	if (record_path)
		write_down('>', data, len);
	if (!is_played(fd))
		return real_sendto()(fd, data, len, flags, addr, addr_len);
	seq = ((const struct nlmsghdr *)data)->nlmsg_seq;
	expect_request(data, len);
	return len;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t len;

	if (is_played(fd))
		return play(msg);
	len = real_recvmsg()(fd, msg, flags);
	if (record_path && len > 0)
		write_down('<', msg->msg_iov[0].iov_base, len);
	return len;
}
