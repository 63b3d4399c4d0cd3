// SPDX-License-Identifier: GPL-2.0
/*
 * policy_set.c - the default policy is set and told, by parameter and by netlink, alone and in a storm
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/kicks.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/storm.h"
#include "lib/vctl.h"

#define EVENT_MS	guest_patience(5000)
#define SILENCE_MS	200
#define STORM_MS	3000
#define OPENERS		3
#define VQS		12
#define NOBODY		65534

FIXTURE(set) {
	struct vctl v;
};

FIXTURE_SETUP(set)
{
	proc_watch("a test of the default policy", 60);
	ASSERT_OK(vctl_open(&self->v));
}

FIXTURE_TEARDOWN(set)
{
	EXPECT_OK(put_text(PUT_DEFAULT_WORKERS, "single"));
	vctl_close(&self->v);
}

static int expect_param(const char *text)
{
	char found[64];
	int err = put_read(PUT_DEFAULT_WORKERS, found, sizeof(found));

	if (!err && strcmp(found, text))
		err = guest_fail(EPROTO, "the parameter reads '%s' and not '%s'", found, text);
	return err;
}

static int expect_policy(struct vctl *v, uint32_t kind, uint32_t count)
{
	struct vctl_policy policy;
	int err = vctl_policy_get(v, &policy);

	if (!err && (policy.kind != kind || policy.count != count))
		err = guest_fail(EPROTO, "policy %u, %u", policy.kind, policy.count);
	return err;
}

TEST_F(set, parameter_and_netlink_are_one)
{
	static const struct {
		const char *text, *reads;
		struct vctl_policy policy;
	} words[] = {
		{ "per-vq", "per-vq", { VHOST_POLICY_KIND_PER_VQ, 0 } },
		{ "per-cpu\n", "per-cpu", { VHOST_POLICY_KIND_PER_CPU, 0 } },
		{ "1", "1", { VHOST_POLICY_KIND_COUNT, 1 } },
		{ "4294967295\n", "4294967295", { VHOST_POLICY_KIND_COUNT, UINT32_MAX } },
		{ "single", "single", { VHOST_POLICY_KIND_SINGLE, 0 } },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		EXPECT_OK(put_text(PUT_DEFAULT_WORKERS, words[i].text));
		EXPECT_OK(expect_policy(&self->v, words[i].policy.kind, words[i].policy.count));
		EXPECT_OK(expect_param(words[i].reads));
	}
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		EXPECT_OK(vctl_policy_set(&self->v, &words[i].policy));
		EXPECT_OK(expect_param(words[i].reads));
	}
}

static int expect_einval(const char *text)
{
	int err = put_text(PUT_DEFAULT_WORKERS, text);

	return err == -EINVAL ? 0 : guest_fail(EPROTO, "'%s' answers %d", text, err);
}

TEST_F(set, what_is_no_policy_is_refused_and_changes_nothing)
{
	static const char *const words[] = {
		"0", "-1", "+1", " 1", "1 ", "0x4", "4294967296", "99999999999999999999", "1,2",
		"per_vq", "PER-VQ", "per-v", "per-vqs", "per-vq\n\n", "count", "\n", "single ",
		"all", "N",
	};
	unsigned int i;

	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "3"));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		EXPECT_OK(expect_einval(words[i]));
	EXPECT_OK(expect_policy(&self->v, VHOST_POLICY_KIND_COUNT, 3));
}

static int refused(struct vctl *v, const uint32_t *kind, const uint32_t *count, int blame,
		   const char *word)
{
	int at_kind = 0, at_count = 0;
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_SET, 0);
	if (kind)
		at_kind = genl_put_u32(&msg, VHOST_A_POLICY_KIND, *kind);
	if (count)
		at_count = genl_put_u32(&msg, VHOST_A_POLICY_COUNT, *count);
	if (blame == VHOST_A_POLICY_KIND)
		blame = at_kind;
	else if (blame == VHOST_A_POLICY_COUNT)
		blame = at_count;
	return vctl_refused(v, &msg, kind && *kind > VHOST_POLICY_KIND_COUNT ? -ERANGE :
			    count && !*count ? -ERANGE : -EINVAL, blame, word);
}

TEST_F(set, requests_that_make_no_sense_are_refused_with_a_reason)
{
	static const uint32_t per_vq = VHOST_POLICY_KIND_PER_VQ, some = VHOST_POLICY_KIND_COUNT,
			      unknown = VHOST_POLICY_KIND_COUNT + 1, none = 0, two = 2;
	struct genl_msg msg;
	struct vctl *v = &self->v;

	EXPECT_OK(refused(v, NULL, NULL, VCTL_MISSING(VHOST_A_POLICY_KIND), "missing"));
	EXPECT_OK(refused(v, NULL, &two, VCTL_MISSING(VHOST_A_POLICY_KIND), "missing"));
	EXPECT_OK(refused(v, &unknown, NULL, VHOST_A_POLICY_KIND, "range"));
	EXPECT_OK(refused(v, &some, NULL, VCTL_MISSING(VHOST_A_POLICY_COUNT), "missing"));
	EXPECT_OK(refused(v, &some, &none, VHOST_A_POLICY_COUNT, "range"));
	EXPECT_OK(refused(v, &per_vq, &two, VHOST_A_POLICY_COUNT, "number"));
	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_GET, 0);
	genl_put_u32(&msg, VHOST_A_POLICY_KIND, 0);
	EXPECT_OK(vctl_refused(v, &msg, -EINVAL, VCTL_ANY, ""));
	EXPECT_OK(expect_policy(v, VHOST_POLICY_KIND_SINGLE, 0));
}

static int sets_as_nobody(struct proc *me, void *arg)
{
	int err;

	(void)arg;
	proc_step(me, "somebody writes the parameter");
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return guest_fail(errno, "change of user");
	err = put_text(PUT_DEFAULT_WORKERS, "per-vq");
	return err == -EACCES ? expect_param("single") : guest_fail(EPROTO, "it answers %d", err);
}

TEST_F(set, parameter_is_the_administrators)
{
	EXPECT_OK(proc_call(sets_as_nobody, NULL, CALL_MS));
}

static int hear(struct vctl *ear, uint32_t kind, uint32_t count)
{
	struct vctl_policy policy;
	struct genl_msg msg;
	int err = genl_event(&ear->genl, &msg, EVENT_MS);

	if (err)
		return err;
	vctl_parse_policy(&msg, &policy);
	if (msg.genl.cmd != VHOST_CMD_POLICY_NTF || policy.kind != kind || policy.count != count)
		err = guest_fail(EPROTO, "event %u: policy %u, %u", msg.genl.cmd, policy.kind,
				 policy.count);
	return err;
}

TEST_F(set, listeners_hear_each_change_and_nothing_else)
{
	static const struct vctl_policy five = { VHOST_POLICY_KIND_COUNT, 5 };
	struct genl_msg msg;
	struct vctl ear;

	ASSERT_OK(vctl_open(&ear));
	ASSERT_OK(genl_join(&ear.genl, VHOST_MCGRP_EVENTS));
	ASSERT_OK(vctl_policy_set(&self->v, &five));
	EXPECT_OK(hear(&ear, VHOST_POLICY_KIND_COUNT, 5));
	ASSERT_OK(vctl_policy_set(&self->v, &five));
	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "5"));
	EXPECT_EQ(-EINVAL, put_text(PUT_DEFAULT_WORKERS, "per-disk"));
	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "per-cpu"));
	EXPECT_OK(hear(&ear, VHOST_POLICY_KIND_PER_CPU, 0));
	EXPECT_EQ(-ETIMEDOUT, genl_event(&ear.genl, &msg, SILENCE_MS));
	vctl_close(&ear);
}

/* A storm ------------------------------------------------------------------- */

static bool goes_on(struct proc *me)
{
	proc_progress(me);
	return !__atomic_load_n(&me->page->word[OWNER_STOP], __ATOMIC_ACQUIRE);
}

/* Whatever the policy, the queues before the second with data are with the first worker. */
static int opens_and_closes(struct proc *me, void *arg)
{
	static const uint32_t first[VDEV_SCSI_VQ_IO + 1];
	const struct owner *owner = arg;
	uint32_t vq;
	int fd, err = 0;

	proc_ready(me);
	while (!err && goes_on(me)) {
		fd = vdev_open_thread(VDEV_SCSI, owner->thread);
		err = fd < 0 ? fd : vdev_set_owner(fd) ?: kicks_give_range(fd, 0, VQS - 1) ?:
		      kicks_expect_map(fd, 0, first, VDEV_SCSI_VQ_IO + 1);
		for (vq = VDEV_SCSI_VQ_IO; !err && vq < VQS; vq++)
			err = kicks_take(fd, vq) ?: kicks_give(fd, vq);
		if (fd >= 0)
			close(fd);
	}
	return err;
}

static int sets(struct proc *me, void *arg)
{
	static const struct vctl_policy policies[] = {
		{ VHOST_POLICY_KIND_PER_VQ, 0 }, { VHOST_POLICY_KIND_COUNT, 2 },
		{ VHOST_POLICY_KIND_SINGLE, 0 }, { VHOST_POLICY_KIND_PER_CPU, 0 },
		{ VHOST_POLICY_KIND_COUNT, 7 },
	};
	unsigned int i = *(unsigned int *)arg;
	struct vctl v;
	int err = vctl_open(&v);

	proc_ready(me);
	for (; !err && goes_on(me); i++)
		err = i % 7 ? vctl_policy_set(&v, &policies[i % ARRAY_SIZE(policies)]) :
			      put_text(PUT_DEFAULT_WORKERS, "per-vq");
	return err;
}

/* An administrator chooses here and there; what is told makes sense. */
static int looks(struct proc *me, void *arg)
{
	struct vctl_dev devs[OPENERS];
	struct vctl v;
	int err = vctl_open(&v), n, i;

	(void)arg;
	proc_ready(me);
	while (!err && goes_on(me)) {
		n = vctl_devs(&v, devs, OPENERS);
		err = n < 0 ? n : 0;
		for (i = 0; i < n && i < OPENERS && !err; i++)
			if (devs[i].policy_failed || devs[i].workers > devs[i].max_workers)
				err = guest_fail(EPROTO, "device %u: %u workers, %u failed",
						 devs[i].id, devs[i].workers, devs[i].policy_failed);
		/* Room is left for what the policies make. */
		if (n > 0 && !err && me->page->progress % 5 == 0 &&
		    devs[0].workers < devs[0].max_workers / 2)
			vctl_worker_new(&v, devs[0].id, 1, NULL, NULL);
	}
	return err;
}

FIXTURE(storm) {
	struct vctl v;
	struct owner owner;
	struct proc *openers[OPENERS], *setters[2], *looker;
};

FIXTURE_THREADS(storm);

FIXTURE_SETUP(storm)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a storm of policies", 90);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
}

FIXTURE_TEARDOWN(storm)
{
	EXPECT_OK(put_text(PUT_DEFAULT_WORKERS, "single"));
	vctl_close(&self->v);
}

static int end(struct proc *proc)
{
	int err;

	__atomic_store_n(&proc->page->word[OWNER_STOP], 1, __ATOMIC_RELEASE);
	err = proc_wait(proc, 2 * CALL_MS);
	proc_free(proc);
	return err;
}

TEST_F_TIMEOUT(storm, policies_change_while_queues_come_and_go, 90)
{
	static unsigned int begin[] = { 1, 3 };
	uint64_t start;
	int i;

	for (i = 0; i < OPENERS; i++)
		ASSERT_OK(proc_start(opens_and_closes, &self->owner, &self->openers[i]));
	for (i = 0; i < 2; i++)
		ASSERT_OK(proc_start(sets, &begin[i], &self->setters[i]));
	ASSERT_OK(proc_start(looks, NULL, &self->looker));
	start = guest_now_ns();
	while (guest_left_ms(start, STORM_MS)) {
		for (i = 0; i < OPENERS; i++)
			EXPECT_OK(proc_wait_progress(self->openers[i], 1, OWNER_MS));
		/* An owner that dies in the middle of it. */
		ASSERT_OK(proc_kill(self->openers[0], GONE_MS));
		EXPECT_THREADS(self->openers[0]->pid, 0);
		proc_free(self->openers[0]);
		ASSERT_OK(proc_start(opens_and_closes, &self->owner, &self->openers[0]));
	}
	EXPECT_OK(end(self->looker));
	for (i = 0; i < 2; i++)
		EXPECT_OK(end(self->setters[i]));
	for (i = 0; i < OPENERS; i++)
		EXPECT_OK(end(self->openers[i]));
	EXPECT_EQ(0, vctl_devs(&self->v, NULL, 0));
}

TEST_HARNESS_MAIN
