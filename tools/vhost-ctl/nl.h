/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl.h - the netlink family "vhost": requests, dumps, events, and refusals in words
 *
 * Functions that return int give 0 or the exit code, after they have told why on stderr.
 */
#ifndef VHOST_CTL_NL_H
#define VHOST_CTL_NL_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct nl {
	struct mnl_socket *sock;	/* NULL while there is none, or none in a known state */
	uint16_t family;
	uint32_t events;		/* the multicast group */
	uint32_t seq;
	char *request;			/* the message that is being made */
};

/* Look the family up. Where the kernel has none: EXIT_LACKING, told by nl_open() only. */
int nl_open(struct nl *nl);
int nl_probe(struct nl *nl);
void nl_close(struct nl *nl);

/* Open, call @fn, close: what most commands are after their arguments have been read. */
typedef int nl_user(struct nl *nl, void *arg);
int nl_with(nl_user *fn, void *arg);
/* The same, but where the kernel has no such family @fn gets NULL. */
int nl_with_or_without(nl_user *fn, void *arg);

/* Begin a request. Append attributes by nl_put_u32(), nl_put_text() and the nests. */
struct nlmsghdr *nl_request(struct nl *nl, uint8_t cmd);
void nl_put_u32(struct nlmsghdr *nlh, uint16_t attr, uint32_t value);
void nl_put_text(struct nlmsghdr *nlh, uint16_t attr, const char *text);
struct nlattr *nl_nest_start(struct nlmsghdr *nlh, uint16_t attr);
void nl_nest_end(struct nlmsghdr *nlh, struct nlattr *nest);

/* Send the request and append what comes back to @reply (NULL: nothing should). */
int nl_do(struct nl *nl, struct nlmsghdr *nlh, struct rows *reply);
/* The same for a dump; one that was overtaken by a change is repeated. @reply begins empty. */
int nl_dump(struct nl *nl, struct nlmsghdr *nlh, struct rows *reply);

/* Get events from now on. */
int nl_join(struct nl *nl);
/*
 * Hand event messages to @event until it returns something other than 0, which becomes the result.
 * It gets NULL where events were lost because they came faster than they were read.
 */
typedef int nl_event(const struct nlmsghdr *nlh, void *arg);
int nl_listen(struct nl *nl, nl_event *event, void *arg);

#endif /* VHOST_CTL_NL_H */
