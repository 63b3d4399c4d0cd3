// SPDX-License-Identifier: GPL-2.0
/*
 * The device's side of vhost-user, as much as QEMU says to a vhost-user-fs
 * device that neither migrates nor reconnects.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/vhost_types.h>
#include <linux/virtio_config.h>

#include "daemon.h"

enum {
	GET_FEATURES = 1, SET_FEATURES = 2, SET_OWNER = 3, SET_MEM_TABLE = 5,
	SET_VRING_NUM = 8, SET_VRING_ADDR = 9, SET_VRING_BASE = 10, GET_VRING_BASE = 11,
	SET_VRING_KICK = 12, SET_VRING_CALL = 13, SET_VRING_ERR = 14,
	GET_PROTOCOL_FEATURES = 15, SET_PROTOCOL_FEATURES = 16, GET_QUEUE_NUM = 17,
	SET_VRING_ENABLE = 18,
};

#define F_PROTOCOL_FEATURES	30	/* a feature bit of vhost-user */
#define PROTOCOL_F_MQ		0
#define PROTOCOL_F_REPLY_ACK	3
#define FEATURES (1ULL << VIRTIO_F_VERSION_1 | 1ULL << F_PROTOCOL_FEATURES | \
		  1ULL << VIRTIO_RING_F_EVENT_IDX | 1ULL << VIRTIO_RING_F_INDIRECT_DESC)
#define PROTOCOL_FEATURES (1ULL << PROTOCOL_F_MQ | 1ULL << PROTOCOL_F_REPLY_ACK)

#define FLAG_VERSION	1
#define FLAG_REPLY	(1 << 2)
#define FLAG_NEED_REPLY	(1 << 3)
#define INDEX_MASK	0xff		/* of the number that comes with an eventfd */
#define NO_FD		(1 << 8)

struct message {
	uint32_t request, flags, size;
	union {
		uint64_t number;
		struct vhost_vring_state state;
		struct vhost_vring_addr addr;
		struct {
			uint32_t nr, padding;
			struct {
				uint64_t guest, size, user, offset;
			} regions[MAX_REGIONS];
		} memory;
	};
} __attribute__((packed));

#define HEAD_SIZE offsetof(struct message, number)

struct connection {
	int fd;
	const struct server *server;
	struct ring rings[MAX_QUEUES];
	int fds[MAX_REGIONS];		/* that came with the message */
	unsigned int nr_fds;
};

static void take_fds(struct connection *conn, struct msghdr *hdr)
{
	struct cmsghdr *cmsg;

	conn->nr_fds = 0;
	for (cmsg = CMSG_FIRSTHDR(hdr); cmsg; cmsg = CMSG_NXTHDR(hdr, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		conn->nr_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(conn->fds, CMSG_DATA(cmsg), conn->nr_fds * sizeof(int));
	}
}

static bool receive(struct connection *conn, struct message *msg)
{
	char control[CMSG_SPACE(sizeof(conn->fds))];
	struct iovec iov = { msg, HEAD_SIZE };
	struct msghdr hdr = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	if (recvmsg(conn->fd, &hdr, MSG_CMSG_CLOEXEC | MSG_WAITALL) != HEAD_SIZE)
		return false;
	take_fds(conn, &hdr);
	if (msg->size > sizeof(*msg) - HEAD_SIZE)
		die("message %u with %u bytes", msg->request, msg->size);
	return !msg->size ||
	       recv(conn->fd, &msg->number, msg->size, MSG_WAITALL) == (ssize_t)msg->size;
}

static void answer(struct connection *conn, struct message *msg, uint32_t size)
{
	msg->flags = FLAG_VERSION | FLAG_REPLY;
	msg->size = size;
	if (send(conn->fd, msg, HEAD_SIZE + size, MSG_NOSIGNAL) < 0)
		fprintf(stderr, "answer to message %u: %s\n", msg->request, strerror(errno));
}

static void answer_number(struct connection *conn, struct message *msg, uint64_t number)
{
	msg->number = number;
	answer(conn, msg, sizeof(number));
}

static struct ring *ring_of(struct connection *conn, uint32_t index)
{
	if (index >= conn->server->nr_queues)
		die("no queue %u", index);
	return &conn->rings[index];
}

static bool set_memory(struct connection *conn, const struct message *msg)
{
	bool done = msg->memory.nr == conn->nr_fds && msg->memory.nr <= MAX_REGIONS;

	memory_clear();
	for (unsigned int i = 0; i < conn->nr_fds; i++) {
		done = done && memory_add(msg->memory.regions[i].guest,
					  msg->memory.regions[i].size,
					  msg->memory.regions[i].user,
					  msg->memory.regions[i].offset, conn->fds[i]);
		close(conn->fds[i]);
	}
	return done;
}

static bool set_addr(struct connection *conn, struct vhost_vring_addr addr)
{
	struct ring *ring = ring_of(conn, addr.index);

	/* The used and avail events follow their rings. */
	ring->desc = memory_at_user(addr.desc_user_addr, ring->num * sizeof(*ring->desc));
	ring->avail = memory_at_user(addr.avail_user_addr,
				     sizeof(*ring->avail) + (ring->num + 1) * sizeof(uint16_t));
	ring->used = memory_at_user(addr.used_user_addr,
				    sizeof(*ring->used) + sizeof(uint16_t) +
				    ring->num * sizeof(struct vring_used_elem));
	return ring->desc && ring->avail && ring->used;
}

static int sent_fd(struct connection *conn, const struct message *msg)
{
	return msg->number & NO_FD || !conn->nr_fds ? -1 : conn->fds[0];
}

static bool set_kick(struct connection *conn, const struct message *msg)
{
	struct ring *ring = ring_of(conn, msg->number & INDEX_MASK);

	ring_stop(ring);
	ring->kick = sent_fd(conn, msg);
	if (conn->server->refused == (int)ring->index)
		return false;
	return ring->kick >= 0 && ring_start(ring);
}

static void set_call(struct connection *conn, const struct message *msg)
{
	struct ring *ring = ring_of(conn, msg->number & INDEX_MASK);
	int fd = sent_fd(conn, msg), old = ring->call;

	/* A thread that is in the middle of it then tells the new one. */
	if (old >= 0 && fd >= 0)
		dup3(fd, old, O_CLOEXEC);
	else
		ring->call = fd;
	if (old >= 0)
		close(fd >= 0 ? fd : old);
}

static void get_base(struct connection *conn, struct message *msg)
{
	struct ring *ring = ring_of(conn, msg->state.index);

	ring_stop(ring);
	msg->state.num = ring->last_avail;
	answer(conn, msg, sizeof(msg->state));
}

/* Returns false if what was asked for cannot be. */
static bool handle(struct connection *conn, struct message *msg)
{
	switch (msg->request) {
	case SET_MEM_TABLE:
		return set_memory(conn, msg);
	case SET_VRING_NUM:
		ring_of(conn, msg->state.index)->num = msg->state.num;
		return msg->state.num;
	case SET_VRING_ADDR:
		return set_addr(conn, msg->addr);
	case SET_VRING_BASE:
		ring_of(conn, msg->state.index)->last_avail = msg->state.num;
		return true;
	case SET_VRING_KICK:
		return set_kick(conn, msg);
	case SET_VRING_CALL:
		set_call(conn, msg);
		return true;
	case SET_VRING_ERR:
		if (conn->nr_fds)
			close(conn->fds[0]);
		return true;
	case SET_FEATURES:
		return msg->number & 1ULL << VIRTIO_RING_F_EVENT_IDX;	/* ring.c needs it */
	case SET_OWNER:
	case SET_PROTOCOL_FEATURES:
	case SET_VRING_ENABLE:
		return true;
	default:
		die("unknown message %u", msg->request);
	}
}

/* Returns false if it is none of those that have an answer of their own. */
static bool handle_question(struct connection *conn, struct message *msg)
{
	switch (msg->request) {
	case GET_FEATURES:
		answer_number(conn, msg, FEATURES);
		return true;
	case GET_PROTOCOL_FEATURES:
		answer_number(conn, msg, PROTOCOL_FEATURES);
		return true;
	case GET_QUEUE_NUM:
		answer_number(conn, msg, conn->server->nr_queues);
		return true;
	case GET_VRING_BASE:
		get_base(conn, msg);
		return true;
	}
	return false;
}

void serve(int fd, const struct server *server)
{
	struct connection conn = { .fd = fd, .server = server };
	struct message msg;

	for (unsigned int i = 0; i < server->nr_queues; i++)
		ring_init(&conn.rings[i], i);
	while (receive(&conn, &msg)) {
		bool need_reply = msg.flags & FLAG_NEED_REPLY, done;

		if (handle_question(&conn, &msg))
			continue;
		done = handle(&conn, &msg);
		if (need_reply)
			answer_number(&conn, &msg, !done);
		else if (!done)
			break;
	}
	for (unsigned int i = 0; i < server->nr_queues; i++) {
		ring_stop(&conn.rings[i]);
		if (conn.rings[i].call >= 0)
			close(conn.rings[i].call);
	}
	memory_clear();
	close(fd);
}
