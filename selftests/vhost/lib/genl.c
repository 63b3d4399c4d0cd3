// SPDX-License-Identifier: GPL-2.0
/*
 * genl.c - a small client of generic netlink
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "error.h"
#include "genl.h"

#define HEADERS		NLMSG_LENGTH(GENL_HDRLEN)

/* Building ------------------------------------------------------------------ */

void genl_begin(const struct genl *g, struct genl_msg *msg, uint8_t command, uint16_t flags)
{
	memset(msg, 0, sizeof(*msg));
	msg->nl.nlmsg_len = HEADERS;
	msg->nl.nlmsg_type = g->family;
	msg->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	msg->genl.cmd = command;
	msg->genl.version = g->version;
}

int genl_put(struct genl_msg *msg, uint16_t type, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(msg->nl.nlmsg_len);
	struct nlattr *attr = (struct nlattr *)((char *)msg + at);

	if (at + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(*msg))
		return guest_fail(EMSGSIZE, "netlink message");
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->nl.nlmsg_len = at + NLA_ALIGN(attr->nla_len);
	return at;
}

int genl_put_u32(struct genl_msg *msg, uint16_t type, uint32_t value)
{
	return genl_put(msg, type, &value, sizeof(value));
}

int genl_put_string(struct genl_msg *msg, uint16_t type, const char *text)
{
	return genl_put(msg, type, text, strlen(text) + 1);
}

int genl_put_flag(struct genl_msg *msg, uint16_t type)
{
	return genl_put(msg, type, NULL, 0);
}

int genl_nest(struct genl_msg *msg, uint16_t type)
{
	return genl_put(msg, type | NLA_F_NESTED, NULL, 0);
}

void genl_nest_end(struct genl_msg *msg, int offset)
{
	if (offset >= 0)
		((struct nlattr *)((char *)msg + offset))->nla_len = msg->nl.nlmsg_len - offset;
}

/* Reading ------------------------------------------------------------------- */

static const struct nlattr *attr_at(const char *at, const char *end)
{
	const struct nlattr *attr = (const struct nlattr *)at;

	if (at + NLA_HDRLEN > end || attr->nla_len < NLA_HDRLEN || at + attr->nla_len > end)
		return NULL;
	return attr;
}

const struct nlattr *genl_next(const struct genl_msg *msg, const struct nlattr *nest,
			       const struct nlattr *attr)
{
	const char *end = nest ? (const char *)nest + nest->nla_len :
				 (const char *)msg + msg->nl.nlmsg_len;

	if (attr)
		return attr_at((const char *)attr + NLA_ALIGN(attr->nla_len), end);
	return attr_at(nest ? genl_data(nest) : msg->attrs, end);
}

const struct nlattr *genl_find(const struct genl_msg *msg, const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr = NULL;

	while ((attr = genl_next(msg, nest, attr)))
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			break;
	return attr;
}

static void copy_number(const struct genl_msg *msg, uint16_t type, void *value, size_t size)
{
	const struct nlattr *attr = genl_find(msg, NULL, type);

	memset(value, 0, size);
	if (attr && genl_len(attr) == size)
		memcpy(value, genl_data(attr), size);
}

uint32_t genl_u32(const struct genl_msg *msg, uint16_t type)
{
	uint32_t value;

	copy_number(msg, type, &value, sizeof(value));
	return value;
}

uint64_t genl_u64(const struct genl_msg *msg, uint16_t type)
{
	uint64_t value;

	copy_number(msg, type, &value, sizeof(value));
	return value;
}

const char *genl_string(const struct genl_msg *msg, uint16_t type)
{
	const struct nlattr *attr = genl_find(msg, NULL, type);

	return attr && memchr(genl_data(attr), 0, genl_len(attr)) ? genl_data(attr) : "";
}

/* Talking ------------------------------------------------------------------- */

static void forget(struct genl *g)
{
	g->text[0] = '\0';
	g->offset = -1;
	g->missing = -1;
}

/* What stands behind the errno (and, if there is one, the request that it is about). */
static void take_details(struct genl *g, const struct nlmsghdr *nl, size_t fixed)
{
	const char *end = (const char *)nl + nl->nlmsg_len;
	const struct nlattr *attr;
	uint32_t number;

	if (!(nl->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	for (attr = attr_at((const char *)NLMSG_DATA(nl) + fixed, end); attr;
	     attr = attr_at((const char *)attr + NLA_ALIGN(attr->nla_len), end)) {
		memcpy(&number, genl_data(attr), genl_len(attr) >= 4 ? 4 : 0);
		if (attr->nla_type == NLMSGERR_ATTR_MSG)
			snprintf(g->text, sizeof(g->text), "%.*s", (int)genl_len(attr),
				 (const char *)genl_data(attr));
		else if (attr->nla_type == NLMSGERR_ATTR_OFFS)
			g->offset = number;
		else if (attr->nla_type == NLMSGERR_ATTR_MISS_TYPE)
			g->missing = number;
	}
}

static int take_result(struct genl *g, const struct nlmsghdr *nl)
{
	const struct nlmsgerr *result = NLMSG_DATA(nl);
	size_t fixed = sizeof(*result);

	if (!(nl->nlmsg_flags & NLM_F_CAPPED))
		fixed += NLMSG_ALIGN(result->msg.nlmsg_len) - sizeof(result->msg);
	take_details(g, nl, fixed);
	return result->error;
}

static int fail(struct genl *g, int err)
{
	return guest_fail(err, "netlink%s%s", g->text[0] ? ": " : "", g->text);
}

static int send_msg(struct genl *g, struct genl_msg *msg)
{
	forget(g);
	msg->nl.nlmsg_seq = ++g->seq;
	if (send(g->sock, msg, msg->nl.nlmsg_len, 0) < 0)
		return guest_fail(errno, "send to netlink");
	return 0;
}

static int receive(struct genl *g, void *buf, size_t size)
{
	ssize_t n;

	do {
		n = recv(g->sock, buf, size, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return guest_fail(ETIMEDOUT, "netlink does not answer");
	return n < 0 ? guest_fail(errno, "receive from netlink") : (int)n;
}

static void copy_msg(struct genl_msg *msg, const struct nlmsghdr *nl)
{
	size_t len = nl->nlmsg_len < sizeof(*msg) ? nl->nlmsg_len : sizeof(*msg);

	memcpy(msg, nl, len);
	msg->nl.nlmsg_len = len;
}

/*
 * Take one datagram. Each message in it that answers our last request goes to @each; *done tells that
 * the errno which ends the answers has come.
 */
static int take_datagram(struct genl *g, genl_each each, void *arg, bool *done)
{
	static _Thread_local char buf[GENL_DATAGRAM] __attribute__((aligned(8)));
	static _Thread_local struct genl_msg part;
	struct nlmsghdr *nl = (struct nlmsghdr *)buf;
	int len = receive(g, buf, g->room), err = 0;

	if (len < 0)
		return len;
	for (; NLMSG_OK(nl, (unsigned int)len) && !err && !*done; nl = NLMSG_NEXT(nl, len)) {
		if (nl->nlmsg_seq != g->seq)
			continue;	/* left over from a request that was given up, or an event */
		g->interrupted |= !!(nl->nlmsg_flags & NLM_F_DUMP_INTR);
		if (nl->nlmsg_type == NLMSG_ERROR) {
			*done = true;
			err = take_result(g, nl);
		} else if (nl->nlmsg_type == NLMSG_DONE) {
			*done = true;
			memcpy(&err, NLMSG_DATA(nl), sizeof(err));
			take_details(g, nl, sizeof(err));
		} else {
			copy_msg(&part, nl);
			err = each(&part, arg);
		}
	}
	return err ? fail(g, err) : 0;
}

static int keep_last(const struct genl_msg *part, void *arg)
{
	struct genl_msg *answer = arg;

	if (answer)
		memcpy(answer, part, part->nl.nlmsg_len);
	return 0;
}

int genl_transact(struct genl *g, struct genl_msg *msg, struct genl_msg *answer)
{
	bool done = false;
	int err;

	if (answer)
		memset(answer, 0, sizeof(*answer));
	msg->nl.nlmsg_flags |= NLM_F_ACK;
	err = send_msg(g, msg);
	while (!err && !done)
		err = take_datagram(g, keep_last, answer, &done);
	return err;
}

int genl_dump_start(struct genl *g, struct genl_msg *msg)
{
	g->interrupted = false;
	msg->nl.nlmsg_flags |= NLM_F_DUMP;
	return send_msg(g, msg);
}

int genl_dump_step(struct genl *g, genl_each each, void *arg, bool *done)
{
	return take_datagram(g, each, arg, done);
}

int genl_dump(struct genl *g, struct genl_msg *msg, genl_each each, void *arg)
{
	bool done = false;
	int err = genl_dump_start(g, msg);

	while (!err && !done)
		err = genl_dump_step(g, each, arg, &done);
	return err;
}

/* Family and group ---------------------------------------------------------- */

static int ask_controller(struct genl *g, const char *family, struct genl_msg *answer)
{
	struct genl controller = {
		.sock = g->sock, .family = GENL_ID_CTRL, .version = 1, .room = g->room,
	};
	struct genl_msg msg;
	int err;

	genl_begin(&controller, &msg, CTRL_CMD_GETFAMILY, 0);
	if (family)
		genl_put_string(&msg, CTRL_ATTR_FAMILY_NAME, family);
	else
		genl_put(&msg, CTRL_ATTR_FAMILY_ID, &g->family, sizeof(g->family));
	controller.seq = g->seq;
	err = genl_transact(&controller, &msg, answer);
	g->seq = controller.seq;
	return err;
}

static int find_family(struct genl *g, const char *name)
{
	struct genl_msg answer;
	const struct nlattr *id;
	int err = ask_controller(g, name, &answer);

	if (err)
		return guest_fail(err, "netlink family %s", name);
	id = genl_find(&answer, NULL, CTRL_ATTR_FAMILY_ID);
	if (!id)
		return guest_fail(EBADMSG, "netlink family %s", name);
	memcpy(&g->family, genl_data(id), sizeof(g->family));
	return 0;
}

static int open_socket(struct genl *g, size_t room)
{
	struct timeval limit = { .tv_sec = GENL_ANSWER_MS / 1000 };
	int on = 1;

	g->room = room;
	forget(g);
	g->sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (g->sock < 0)
		return guest_fail(errno, "generic netlink");
	if (setsockopt(g->sock, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    setsockopt(g->sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		return guest_fail(errno, "options of a netlink socket");
	return 0;
}

int genl_open(const char *family, uint8_t version, struct genl *g)
{
	int err;

	*g = (struct genl){ .version = version };
	err = open_socket(g, GENL_DATAGRAM) ?: find_family(g, family);
	if (err)
		genl_close(g);
	return err;
}

int genl_reopen(struct genl *g, size_t room)
{
	genl_close(g);
	return open_socket(g, room);
}

void genl_close(struct genl *g)
{
	if (g->sock >= 0)
		close(g->sock);
	g->sock = -1;
}

static bool is_group(const struct genl_msg *msg, const struct nlattr *group, const char *name)
{
	const struct nlattr *attr = genl_find(msg, group, CTRL_ATTR_MCAST_GRP_NAME);

	return attr && !strncmp(genl_data(attr), name, genl_len(attr));
}

int genl_join(struct genl *g, const char *name)
{
	const struct nlattr *groups, *group = NULL, *id = NULL;
	struct genl_msg answer;
	uint32_t number;
	int err = ask_controller(g, NULL, &answer);

	if (err)
		return err;
	groups = genl_find(&answer, NULL, CTRL_ATTR_MCAST_GROUPS);
	while (groups && !id && (group = genl_next(&answer, groups, group)))
		if (is_group(&answer, group, name))
			id = genl_find(&answer, group, CTRL_ATTR_MCAST_GRP_ID);
	if (!id)
		return guest_fail(ENOENT, "netlink group %s", name);
	memcpy(&number, genl_data(id), sizeof(number));
	if (setsockopt(g->sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof(number)))
		return guest_fail(errno, "join netlink group %s", name);
	return 0;
}

int genl_event(struct genl *g, struct genl_msg *msg, int timeout_ms)
{
	struct pollfd pfd = { .fd = g->sock, .events = POLLIN };
	int len;

	memset(msg, 0, sizeof(*msg));
	if (poll(&pfd, 1, timeout_ms) <= 0)
		return guest_fail(ETIMEDOUT, "no netlink event");
	len = receive(g, msg, sizeof(*msg));
	return len < 0 ? len : 0;
}
