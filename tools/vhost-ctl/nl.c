// SPDX-License-Identifier: GPL-2.0
/*
 * Talking to the netlink family "vhost".
 *
 * A socket whose last exchange did not come to its proper end may hold parts of
 * answers that nobody asked for any more: it is closed, and the next exchange
 * opens another one.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/vhost_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "args.h"
#include "kmods.h"
#include "nl.h"
#include "refusal.h"

#define REQUEST_SIZE	65536	/* the map of all the virtqueues that a device can have fits */
#define REPLY_SIZE	65536
#define EVENTS_BUFFER	(4 << 20)
#define DUMP_TRIES	20
#define DUMP_PAUSE_NS	10000000

/* What became of a request. */
struct exchange {
	int (*data)(const struct nlmsghdr *nlh, void *arg);
	void *arg;
	struct refusal refusal;
};

static int on_data(const struct nlmsghdr *nlh, void *data)
{
	struct exchange *exchange = data;

	return exchange->data(nlh, exchange->arg);
}

static int on_end(const struct nlmsghdr *nlh, void *data)
{
	struct exchange *exchange = data;

	if (refusal_parse(&exchange->refusal, nlh))
		return MNL_CB_STOP;
	errno = EBADMSG;
	return MNL_CB_ERROR;
}

static void drop_socket(struct nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

static int need_socket(struct nl *nl)
{
	int on = 1;

	if (nl->sock)
		return 0;
	nl->sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sock)
		return -errno;
	if (mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &on, sizeof(on))) {
		int err = -errno;

		drop_socket(nl);
		return err;
	}
	return 0;
}

/* Receive until the exchange is over: 0 or -errno, -EINTR for a dump that was overtaken. */
static int receive(struct nl *nl, struct exchange *exchange)
{
	mnl_cb_t controls[NLMSG_MIN_TYPE] = {
		[NLMSG_ERROR] = on_end,
		[NLMSG_DONE] = on_end,
	};
	char *buf = xrealloc(NULL, 1, REPLY_SIZE);
	int ret = MNL_CB_OK, err = 0;
	ssize_t len;

	while (ret > MNL_CB_STOP) {
		len = mnl_socket_recvfrom(nl->sock, buf, REPLY_SIZE);
		if (len < 0 && errno == EINTR)
			continue;
		ret = len < 0 ? MNL_CB_ERROR :
		      mnl_cb_run2(buf, len, nl->seq, mnl_socket_get_portid(nl->sock), on_data,
				  exchange, controls, NLMSG_MIN_TYPE);
		err = ret < 0 ? -errno : 0;
	}
	free(buf);
	return err;
}

/* Send @nlh and receive all that it leads to: 0 or -errno. */
static int talk(struct nl *nl, struct nlmsghdr *nlh, struct exchange *exchange)
{
	int err = need_socket(nl);

	if (err)
		return err;
	memset(&exchange->refusal, 0, sizeof(exchange->refusal));
	nlh->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->sock, nlh, nlh->nlmsg_len) < 0)
		err = -errno;
	else
		err = receive(nl, exchange);
	if (err)
		drop_socket(nl);
	return err;
}

/* The outcome of talk() as an exit code, told unless all is well. */
static int outcome(int err, const struct exchange *exchange, const struct nlmsghdr *nlh)
{
	if (err)
		return fail_errno(EXIT_REFUSED, err, "netlink");
	if (exchange->refusal.err)
		return refusal_tell(&exchange->refusal, nlh);
	if (exchange->refusal.text[0])
		warn("the kernel says: %s", exchange->refusal.text);
	return 0;
}

static struct nlmsghdr *start_message(struct nl *nl, uint16_t type, uint8_t cmd, uint8_t version)
{
	struct genlmsghdr *genl;
	struct nlmsghdr *nlh;

	/* libmnl leaves the padding behind an attribute as it is. */
	memset(nl->request, 0, REQUEST_SIZE);
	nlh = mnl_nlmsg_put_header(nl->request);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

/* --- requests */

struct nlmsghdr *nl_request(struct nl *nl, uint8_t cmd)
{
	return start_message(nl, nl->family, cmd, VHOST_FAMILY_VERSION);
}

/* Larger than any request can be that the kernel would accept. */
static void too_large(void)
{
	exit(fail(EXIT_USAGE, "the request is longer than a message may be"));
}

void nl_put_u32(struct nlmsghdr *nlh, uint16_t attr, uint32_t value)
{
	if (!mnl_attr_put_u32_check(nlh, REQUEST_SIZE, attr, value))
		too_large();
}

void nl_put_text(struct nlmsghdr *nlh, uint16_t attr, const char *text)
{
	if (!mnl_attr_put_strz_check(nlh, REQUEST_SIZE, attr, text))
		too_large();
}

struct nlattr *nl_nest_start(struct nlmsghdr *nlh, uint16_t attr)
{
	struct nlattr *nest = mnl_attr_nest_start_check(nlh, REQUEST_SIZE, attr);

	if (!nest)
		too_large();
	return nest;
}

void nl_nest_end(struct nlmsghdr *nlh, struct nlattr *nest)
{
	mnl_attr_nest_end(nlh, nest);
}

static int add_row(const struct nlmsghdr *nlh, void *arg)
{
	if (!arg || rows_decode(arg, nlh))
		return MNL_CB_OK;
	errno = EBADMSG;
	return MNL_CB_ERROR;
}

int nl_do(struct nl *nl, struct nlmsghdr *nlh, struct rows *reply)
{
	struct exchange exchange = { .data = add_row, .arg = reply };

	return outcome(talk(nl, nlh, &exchange), &exchange, nlh);
}

int nl_dump(struct nl *nl, struct nlmsghdr *nlh, struct rows *reply)
{
	struct exchange exchange = { .data = add_row, .arg = reply };
	int err;

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	for (int i = 0; i < DUMP_TRIES; i++) {
		rows_free(reply);
		err = talk(nl, nlh, &exchange);
		if (err != -EINTR)
			return outcome(err, &exchange, nlh);
		nanosleep(&(struct timespec){ .tv_nsec = DUMP_PAUSE_NS }, NULL);
	}
	rows_free(reply);
	return fail(EXIT_REFUSED, "the kernel's list changed while it was read, %d times in a row",
		    DUMP_TRIES);
}

/* --- the family */

static int take_group(const struct nlattr *attr, void *data)
{
	const struct nlattr **table = data;

	if (mnl_attr_get_type(attr) <= CTRL_ATTR_MCAST_GRP_MAX)
		table[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void take_groups(struct nl *nl, const struct nlattr *groups)
{
	const struct nlattr *group;

	mnl_attr_for_each_nested(group, groups) {
		const struct nlattr *table[CTRL_ATTR_MCAST_GRP_MAX + 1] = { NULL };
		const struct nlattr *name, *id;

		mnl_attr_parse_nested(group, take_group, table);
		name = table[CTRL_ATTR_MCAST_GRP_NAME];
		id = table[CTRL_ATTR_MCAST_GRP_ID];
		if (name && id && !strcmp(mnl_attr_get_str(name), VHOST_MCGRP_EVENTS))
			nl->events = mnl_attr_get_u32(id);
	}
}

static int take_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;
	struct nl *nl = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			nl->family = mnl_attr_get_u16(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			take_groups(nl, attr);
	}
	return MNL_CB_OK;
}

int nl_probe(struct nl *nl)
{
	struct exchange exchange = { .data = take_family, .arg = nl };
	struct nlmsghdr *nlh;
	int err;

	*nl = (struct nl){ .request = xrealloc(NULL, 1, REQUEST_SIZE) };
	nlh = start_message(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	nl_put_text(nlh, CTRL_ATTR_FAMILY_NAME, VHOST_FAMILY_NAME);
	err = talk(nl, nlh, &exchange);
	if (!err && !exchange.refusal.err && nl->family)
		return 0;
	nl_close(nl);
	if (!err && exchange.refusal.err == ENOENT)
		return EXIT_LACKING;
	return fail_errno(EXIT_REFUSED, err ? err : exchange.refusal.err,
			  "cannot look up the netlink family '%s'", VHOST_FAMILY_NAME);
}

int nl_open(struct nl *nl)
{
	int code = nl_probe(nl);

	return code == EXIT_LACKING ? kmods_lacking() : code;
}

void nl_close(struct nl *nl)
{
	drop_socket(nl);
	free(nl->request);
	nl->request = NULL;
}

static int use(struct nl *nl, int code, nl_user *fn, void *arg)
{
	if (code)
		return code;
	code = fn(nl, arg);
	nl_close(nl);
	return code;
}

int nl_with(nl_user *fn, void *arg)
{
	struct nl nl;

	return use(&nl, nl_open(&nl), fn, arg);
}

int nl_with_or_without(nl_user *fn, void *arg)
{
	struct nl nl;
	int code = nl_probe(&nl);

	return code == EXIT_LACKING ? fn(NULL, arg) : use(&nl, code, fn, arg);
}

/* --- events */

int nl_join(struct nl *nl)
{
	uint32_t families = GENL_ID_CTRL;	/* the group that tells of families */
	int size = EVENTS_BUFFER, err = need_socket(nl);

	if (err)
		return fail_errno(EXIT_REFUSED, err, "netlink");
	if (!nl->events)
		return fail(EXIT_LACKING, "the kernel's vhost module has no events");
	/* More than the default, if we may; a burst that is too long for it is told. */
	setsockopt(mnl_socket_get_fd(nl->sock), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &nl->events,
				  sizeof(nl->events)) ||
	    mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &families, sizeof(families)))
		return fail_errno(EXIT_REFUSED, errno, "cannot listen to events%s",
				  errno == EPERM ? ", this needs CAP_SYS_ADMIN" : "");
	return 0;
}

struct listener {
	uint16_t family;
	nl_event *event;
	void *arg;
	int result;
};

/* Is it news of the end of our family? Its groups end in silence. */
static bool family_is_gone(const struct nlmsghdr *nlh, uint16_t family)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct nl gone = { .family = 0 };

	if (nlh->nlmsg_type != GENL_ID_CTRL || genl->cmd != CTRL_CMD_DELFAMILY)
		return false;
	take_family(nlh, &gone);
	return gone.family == family;
}

static int on_event(const struct nlmsghdr *nlh, void *data)
{
	struct listener *listener = data;

	if (nlh->nlmsg_type == listener->family)
		listener->result = listener->event(nlh, listener->arg);
	else if (family_is_gone(nlh, listener->family))
		listener->result = fail(EXIT_LACKING, "the kernel's vhost module was unloaded");
	return listener->result ? MNL_CB_STOP : MNL_CB_OK;
}

int nl_listen(struct nl *nl, nl_event *event, void *arg)
{
	struct listener listener = { nl->family, event, arg, 0 };
	char *buf = xrealloc(NULL, 1, REPLY_SIZE);
	ssize_t len;

	while (!listener.result) {
		len = mnl_socket_recvfrom(nl->sock, buf, REPLY_SIZE);
		if (len < 0 && errno == ENOBUFS)
			listener.result = event(NULL, arg);
		else if (len < 0 && errno != EINTR)
			listener.result = fail_errno(EXIT_REFUSED, errno, "netlink");
		else if (len >= 0 && mnl_cb_run(buf, len, 0, 0, on_event, &listener) < 0)
			listener.result = fail_errno(EXIT_REFUSED, errno, "netlink");
	}
	free(buf);
	return listener.result;
}
