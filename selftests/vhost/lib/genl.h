/* SPDX-License-Identifier: GPL-2.0 */
/*
 * genl.h - a small client of generic netlink that hides nothing: what a refusal says can be looked at
 *
 * A message is built in memory, so that a test can spoil it before it is sent. Attributes are given by
 * their type; the functions that add one return its offset in the message, as refusals name it.
 */
#ifndef GUEST_GENL_H
#define GUEST_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#define GENL_DATAGRAM	65536	/* genl.room unless a test wants less; the kernel never fills more */
#define GENL_ROOM	16384	/* bytes of attributes in a message; what is beyond is dropped */

struct genl_msg {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char attrs[GENL_ROOM];
};

struct genl {
	int sock;
	uint16_t family;
	uint8_t version;
	uint32_t seq;
	size_t room;		/* bytes that we offer for a datagram, which the kernel fills if it can */
	/* What the last answer said besides its errno. */
	char text[160];		/* extended acknowledgement, "" = none */
	int offset;		/* of the attribute to blame in our message, -1 = none named */
	int missing;		/* type of the attribute that is missing, -1 = none named */
	bool interrupted;	/* the last dump: what it showed changed meanwhile */
};

/* Open a socket for a family. -ENOENT when the kernel (or our network namespace) has none of that name. */
int genl_open(const char *family, uint8_t version, struct genl *g);
void genl_close(struct genl *g);

/* A new socket that takes parts of a dump of at most @room bytes, a page at least (the kernel's own least). */
int genl_reopen(struct genl *g, size_t room);

/* Begin a request with a command of the family, flags besides NLM_F_REQUEST. */
void genl_begin(const struct genl *g, struct genl_msg *msg, uint8_t command, uint16_t flags);
int genl_put(struct genl_msg *msg, uint16_t type, const void *data, size_t len);
int genl_put_u32(struct genl_msg *msg, uint16_t type, uint32_t value);
int genl_put_string(struct genl_msg *msg, uint16_t type, const char *text);
int genl_put_flag(struct genl_msg *msg, uint16_t type);
/* A nest is begun with genl_nest() and ended, with the offset that it gave, after its attributes. */
int genl_nest(struct genl_msg *msg, uint16_t type);
void genl_nest_end(struct genl_msg *msg, int offset);

/*
 * Send @msg and take its acknowledgement: 0 or the negative errno in it. @answer (may be NULL) gets the
 * last message before the acknowledgement; its length is 0 when there was none. -ETIMEDOUT when the
 * kernel answers nothing within GENL_ANSWER_MS.
 */
#define GENL_ANSWER_MS	guest_patience(20000)
int genl_transact(struct genl *g, struct genl_msg *msg, struct genl_msg *answer);

/* Send a dump request; @each is called with each part and ends it with an errno. */
typedef int (*genl_each)(const struct genl_msg *part, void *arg);
int genl_dump(struct genl *g, struct genl_msg *msg, genl_each each, void *arg);

/* The two halves of it, for tests that do something in between: genl_dump_step() takes one datagram. */
int genl_dump_start(struct genl *g, struct genl_msg *msg);
int genl_dump_step(struct genl *g, genl_each each, void *arg, bool *done);

/* Listen to a group of the family; then wait for one message: 0 or -ETIMEDOUT, -ENOBUFS when some are lost. */
int genl_join(struct genl *g, const char *group);
int genl_event(struct genl *g, struct genl_msg *msg, int timeout_ms);

/* Attributes of a message. @nest NULL: at the top. genl_next(NULL) is the first. */
const struct nlattr *genl_next(const struct genl_msg *msg, const struct nlattr *nest,
			       const struct nlattr *attr);
const struct nlattr *genl_find(const struct genl_msg *msg, const struct nlattr *nest,
			       uint16_t type);
static inline const void *genl_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static inline size_t genl_len(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

/* What is not there is 0 or "". */
uint32_t genl_u32(const struct genl_msg *msg, uint16_t type);
uint64_t genl_u64(const struct genl_msg *msg, uint16_t type);
const char *genl_string(const struct genl_msg *msg, uint16_t type);

#endif /* GUEST_GENL_H */
