// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_fuzz.c - messages without rhyme or reason get nothing worse than an errno
 *
 * What is sent follows from a seed, which is printed: netlink_fuzz with VHOST_SEED=N sends the same again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/storm.h"
#include "lib/vctl.h"

#define NVQS		130
#define MESSAGES	20000
#define FUZZ_MS		20000	/* or fewer messages, if it takes longer, */
#define FEWEST		100	/* but so many that shares of them mean something */
#define ATTRS		6	/* most of a message, or of a nest */
#define LONG_BYTES	1200	/* more than the longest attribute that is taken */

FIXTURE(fuzz) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *io, *idle;
	struct vctl_dev io_dev, idle_dev;
	uint32_t seed, begun;
	struct genl_msg msg;
	unsigned int outcomes[256];
};

FIXTURE_THREADS(fuzz);

FIXTURE_SETUP(fuzz)
{
	struct lio_opts lio = { .size = 8 << 20 };
	const char *seed = getenv("VHOST_SEED");

	SKIP_WITHOUT(variant->thread);
	proc_watch("messages without rhyme or reason", 100);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(storm_expedite(true));
	self->owner = (struct owner){ .thread = variant->thread, .wwpn = self->target->wwpn };
	ASSERT_OK(owner_start(owner_does_io, &self->owner, &self->v, &self->io, &self->io_dev));
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->idle, &self->idle_dev));
	if (seed)
		self->seed = strtoul(seed, NULL, 0);
	else
		ASSERT_EQ(4, getrandom(&self->seed, 4, 0));
	self->seed = self->seed ?: 1;
	self->begun = self->seed;
	TH_LOG("VHOST_SEED=%u", self->begun);
}

FIXTURE_TEARDOWN(fuzz)
{
	static const struct vctl_policy single = { .kind = VHOST_POLICY_KIND_SINGLE };

	storm_expedite(false);
	EXPECT_OK(vctl_policy_set(&self->v, &single));
	proc_free(self->io);
	proc_free(self->idle);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

static uint32_t roll(FIXTURE_DATA(fuzz) *self, uint32_t below)
{
	self->seed ^= self->seed << 13;
	self->seed ^= self->seed >> 17;
	self->seed ^= self->seed << 5;
	return self->seed % below;
}

/* Numbers that mean something, now and then one that does not. */
static uint32_t number(FIXTURE_DATA(fuzz) *self)
{
	static const uint32_t odd[] = { 0, 129, 130, 0x7fffffff, 0x80000000, UINT32_MAX };

	switch (roll(self, 8)) {
	case 0: return odd[roll(self, ARRAY_SIZE(odd))];
	case 1: return self->seed;
	case 2: return roll(self, NVQS);
	default: return roll(self, 6);
	}
}

static uint32_t device(FIXTURE_DATA(fuzz) *self)
{
	switch (roll(self, 8)) {
	case 0: return number(self);
	case 1:
	case 2: return self->idle_dev.id;
	default: return self->io_dev.id;
	}
}

static void put_string(FIXTURE_DATA(fuzz) *self, uint16_t type)
{
	static const char *const lists[] = { "0", "1", "0-1", "", "77", "0-", "all", "1,0", "%n", "N" };
	static char text[LONG_BYTES];

	if (roll(self, 4)) {
		genl_put_string(&self->msg, type, lists[roll(self, ARRAY_SIZE(lists))]);
		return;
	}
	memset(text, "0,x-\0"[roll(self, 5)], sizeof(text));
	genl_put(&self->msg, type, text, roll(self, sizeof(text)));
}

static void put_bytes(FIXTURE_DATA(fuzz) *self, uint16_t type)
{
	char bytes[64];
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = roll(self, 256);
	genl_put(&self->msg, type, bytes, roll(self, sizeof(bytes)));
}

static uint16_t type(FIXTURE_DATA(fuzz) *self)
{
	static const uint16_t bits[] = { 0, 0, 0, NLA_F_NESTED, NLA_F_NET_BYTEORDER, 0xff00 };
	uint16_t small = roll(self, 10) ? 1 + roll(self, 4) : roll(self, 20);

	return small | (roll(self, 10) ? 0 : bits[roll(self, ARRAY_SIZE(bits))]);
}

static void put_attr(FIXTURE_DATA(fuzz) *self, unsigned int depth);

static void put_nest(FIXTURE_DATA(fuzz) *self, uint16_t type, unsigned int depth)
{
	int nest = genl_nest(&self->msg, type);
	unsigned int n = roll(self, ATTRS);

	while (n--)
		put_attr(self, depth + 1);
	genl_nest_end(&self->msg, nest);
}

static void put_entry(FIXTURE_DATA(fuzz) *self)
{
	const struct vctl_entry entry = {
		roll(self, 8) ? roll(self, NVQS) : number(self), roll(self, 3), roll(self, 2),
	};

	vctl_put_entry(&self->msg, &entry);
}

/* What could be an attribute of the message, or an entry of a map. */
static void put_attr(FIXTURE_DATA(fuzz) *self, unsigned int depth)
{
	uint16_t what = type(self);

	switch (roll(self, 10)) {
	case 0: put_bytes(self, what); break;
	case 1: put_string(self, roll(self, 2) ? VHOST_A_WORKER_CPUS : what); break;
	case 2: genl_put_flag(&self->msg, what); break;
	case 3:
		if (depth < 4)
			put_nest(self, what, depth);
		break;
	case 4:
	case 5: put_entry(self); break;
	default: genl_put_u32(&self->msg, what, number(self));
	}
}

/* Somewhere a byte is wrong, or an end. */
static void spoil(FIXTURE_DATA(fuzz) *self)
{
	uint32_t len = self->msg.nl.nlmsg_len, at = NLMSG_HDRLEN + roll(self, len - NLMSG_HDRLEN + 1);

	switch (roll(self, 3)) {
	case 0:
		((uint8_t *)&self->msg)[at] ^= 1 << roll(self, 8);
		break;
	case 1:
		self->msg.nl.nlmsg_len = at;
		break;
	default:
		self->msg.genl.version = roll(self, 256);
		self->msg.genl.reserved = roll(self, 3) ? 0 : roll(self, 65536);
	}
}

/* The attributes that the command takes, each of them nearly always. */
static void put_wanted(FIXTURE_DATA(fuzz) *self, uint8_t command)
{
	unsigned int n;

	if (command == VHOST_CMD_POLICY_SET) {
		genl_put_u32(&self->msg, VHOST_A_POLICY_KIND, roll(self, 5));
		if (roll(self, 2))
			genl_put_u32(&self->msg, VHOST_A_POLICY_COUNT, number(self));
		return;
	}
	if (command == VHOST_CMD_POLICY_GET)
		return;
	if (roll(self, 20))
		genl_put_u32(&self->msg, 1, device(self));
	if (command == VHOST_CMD_MAP_SET) {
		for (n = roll(self, ATTRS); n; n--)
			put_entry(self);
		return;
	}
	if (command != VHOST_CMD_DEV_GET && command != VHOST_CMD_WORKER_NEW && roll(self, 20))
		genl_put_u32(&self->msg, 2, number(self));
	if (command == VHOST_CMD_VQ_SET && roll(self, 20))
		genl_put_u32(&self->msg, VHOST_A_VQ_WORKER_ID, number(self));
	if (command == VHOST_CMD_WORKER_NEW && roll(self, 3))
		genl_put_u32(&self->msg, VHOST_A_WORKER_COUNT, number(self));
	if (command == VHOST_CMD_WORKER_SET || (command == VHOST_CMD_WORKER_NEW && roll(self, 2)))
		put_string(self, VHOST_A_WORKER_CPUS);
}

/* Half of them are what a program could send; the others have something wrong. */
static void make_message(FIXTURE_DATA(fuzz) *self)
{
	static const uint8_t commands[] = {
		VHOST_CMD_DEV_GET, VHOST_CMD_WORKER_GET, VHOST_CMD_WORKER_NEW, VHOST_CMD_WORKER_SET,
		VHOST_CMD_WORKER_DEL, VHOST_CMD_VQ_GET, VHOST_CMD_VQ_SET, VHOST_CMD_MAP_SET,
		VHOST_CMD_POLICY_GET, VHOST_CMD_POLICY_SET,
	};
	static const uint16_t flags[] = { NLM_F_DUMP, NLM_F_DUMP, NLM_F_ROOT, NLM_F_MATCH,
					  NLM_F_ATOMIC, NLM_F_CREATE, NLM_F_ECHO };
	uint8_t command = roll(self, 50) ? commands[roll(self, ARRAY_SIZE(commands))] :
					   roll(self, 256);
	unsigned int n = roll(self, 2) ? 0 : roll(self, ATTRS);

	genl_begin(&self->v.genl, &self->msg, command,
		   roll(self, 4) ? 0 : flags[roll(self, ARRAY_SIZE(flags))]);
	put_wanted(self, command);
	while (n--)
		put_attr(self, 0);
	if (!roll(self, 8))
		spoil(self);
}

static int ignore(const struct genl_msg *part, void *arg)
{
	(void)part;
	(void)arg;
	return 0;
}

static int send_message(FIXTURE_DATA(fuzz) *self)
{
	if ((self->msg.nl.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return genl_dump(&self->v.genl, &self->msg, ignore, NULL);
	return genl_transact(&self->v.genl, &self->msg, NULL);
}

/* An answer that no request gets that is served in peace: it took too long, or something is broken. */
static bool is_bad(int err)
{
	return err > 0 || err < -255 || err == -ETIMEDOUT || err == -EINTR || err == -EFAULT ||
	       err == -EBADMSG || err == -EMSGSIZE;
}

static void say_outcomes(struct __test_metadata *_metadata, FIXTURE_DATA(fuzz) *self)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(self->outcomes); i++)
		if (self->outcomes[i])
			TH_LOG("%5u %s", self->outcomes[i], i ? strerror(i) : "done");
}

/* covers: T12 */
TEST_F_TIMEOUT(fuzz, messages_without_reason_do_no_harm, 120)
{
	struct vctl_entry all[NVQS];
	uint64_t start = guest_now_ns();
	unsigned int i, sent;
	uint32_t id;
	int err;

	for (sent = 0; sent < FEWEST || (sent < MESSAGES && guest_left_ms(start, FUZZ_MS));
	     sent++) {
		make_message(self);
		err = send_message(self);
		ASSERT_FALSE(is_bad(err)) {
			TH_LOG("message %u of VHOST_SEED=%u answers %d", sent, self->begun, err);
		}
		self->outcomes[-err]++;
	}
	say_outcomes(_metadata, self);
	/* Not all of it was refused, nor done. */
	EXPECT_LT(sent / 20, self->outcomes[0]);
	EXPECT_LT(sent / 10, self->outcomes[EINVAL]);
	/* Both devices are as good as new. */
	for (i = 0; i < NVQS; i++)
		all[i] = (struct vctl_entry){ i, 0, true };
	err = vctl_map_set(&self->v, self->idle_dev.id, all, NVQS, &id);
	EXPECT_TRUE(!err || err == -ENOSPC);
	EXPECT_OK(proc_wait_progress(self->io, 50, OWNER_MS));
	EXPECT_OK(owner_stop_io(self->io));
	EXPECT_THREADS(self->io->pid, 0);
	EXPECT_OK(proc_kill(self->idle, GONE_MS));
	EXPECT_THREADS(self->idle->pid, 0);
	EXPECT_EQ(0, vctl_devs(&self->v, NULL, 0));
}

TEST_HARNESS_MAIN
