// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_error.c - wrong requests are refused: errno, a text, the attribute to blame, and nothing changed
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/vctl.h"

#define NVQS		130
#define NO_DEV		0x7ffffff0
#define NO_WORKER	77
#define CPU1		"/sys/devices/system/cpu/cpu1/online"

FIXTURE(request) {
	struct vctl v;
	struct genl_msg msg;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(request);

FIXTURE_SETUP(request)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of refusals", 40);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	/* Workers 1 and 2; virtqueue 3 is on the first of them. */
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 2, NULL, NULL));
	ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, 3, 1));
}

/* Whatever was refused, it is all as it was. */
static int check_unchanged(struct vctl *v, uint32_t dev, pid_t owner)
{
	static const char *const vqs[] = { "0-2,4-129", "3", "" };
	struct vctl_worker list[4];
	int n = vctl_workers(v, dev, list, 4), i;

	if (n != 3)
		return n < 0 ? n : guest_fail(EPROTO, "%d workers", n);
	for (i = 0; i < n; i++)
		if (list[i].id != (uint32_t)i || strcmp(list[i].vqs, vqs[i]) ||
		    strcmp(list[i].cpus, "0-1"))
			return guest_fail(EPROTO, "worker %u has virtqueues %s, CPUs %s",
					  list[i].id, list[i].vqs, list[i].cpus);
	return threads_wait_count(owner, n, GONE_MS);
}

FIXTURE_TEARDOWN(request)
{
	put_text(PUT_MAX_WORKERS, "0");
	put_text(CPU1, "1");
	EXPECT_OK(check_unchanged(&self->v, self->dev.id, self->proc->pid));
	proc_free(self->proc);
	vctl_close(&self->v);
}

static void begin(FIXTURE_DATA(request) *self, uint8_t command)
{
	genl_begin(&self->v.genl, &self->msg, command, 0);
}

#define REFUSED(err, blame, word) \
	EXPECT_OK(vctl_refused(&self->v, &self->msg, err, blame, word))

/* Operations on a part of a device, or a new one: all begin with the device. */
static const uint8_t commands[] = {
	VHOST_CMD_DEV_GET, VHOST_CMD_WORKER_GET, VHOST_CMD_WORKER_NEW, VHOST_CMD_WORKER_SET,
	VHOST_CMD_WORKER_DEL, VHOST_CMD_VQ_GET, VHOST_CMD_VQ_SET, VHOST_CMD_MAP_SET,
};

#define A_DEV	1	/* attribute type, in all of them */

TEST_F(request, missing_or_unknown_device_is_refused)
{
	static const uint32_t ids[] = { 0, NO_DEV, UINT32_MAX };
	unsigned int i, j;
	int at;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		begin(self, commands[i]);
		REFUSED(-EINVAL, VCTL_MISSING(A_DEV), "missing");
		for (j = 0; j < ARRAY_SIZE(ids); j++) {
			begin(self, commands[i]);
			at = genl_put_u32(&self->msg, A_DEV, ids[j]);
			REFUSED(-ENODEV, at, "no such device");
		}
	}
}

TEST_F(request, attribute_of_wrong_length_or_kind_is_refused)
{
	uint64_t number = self->dev.id;
	unsigned int i;
	int at;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		begin(self, commands[i]);
		at = genl_put(&self->msg, A_DEV, &number, 2);
		REFUSED(-EINVAL, at, "");
		begin(self, commands[i]);
		at = genl_put(&self->msg, A_DEV, &number, 8);
		REFUSED(-EINVAL, at, "");
		begin(self, commands[i]);
		at = genl_put_flag(&self->msg, A_DEV);
		REFUSED(-EINVAL, at, "");
		begin(self, commands[i]);
		genl_put_u32(&self->msg, A_DEV, self->dev.id);
		at = genl_put_u32(&self->msg, 200, 0);
		REFUSED(-EINVAL, at, "");
		begin(self, commands[i]);
		genl_put_u32(&self->msg, A_DEV, self->dev.id);
		at = genl_put_u32(&self->msg, 0, 0);
		REFUSED(-EINVAL, VCTL_ANY, "");
		/* What is left behind the last attribute. */
		begin(self, commands[i]);
		genl_put_u32(&self->msg, A_DEV, self->dev.id);
		self->msg.nl.nlmsg_len += 3;
		REFUSED(-EINVAL, VCTL_ANY, "");
	}
}

TEST_F(request, attributes_of_answers_are_refused)
{
	int at;

	begin(self, VHOST_CMD_WORKER_NEW);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_TID, 1);
	REFUSED(-EINVAL, at, "");
	begin(self, VHOST_CMD_WORKER_SET);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
	at = genl_put_string(&self->msg, VHOST_A_WORKER_VQS, "2");
	REFUSED(-EINVAL, at, "");
	begin(self, VHOST_CMD_MAP_SET);
	genl_put_u32(&self->msg, VHOST_A_MAP_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_MAP_NEW_ID, 1);
	REFUSED(-EINVAL, at, "");
}

TEST_F(request, commands_that_are_none_are_refused)
{
	static const uint8_t none[] = {
		0, VHOST_CMD_DEV_ADD_NTF, VHOST_CMD_WORKER_KILLED_NTF, VHOST_CMD_MAP_NTF,
		VHOST_CMD_MAX + 1, 255,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(none); i++) {
		begin(self, none[i]);
		EXPECT_EQ(-EOPNOTSUPP, genl_transact(&self->v.genl, &self->msg, NULL));
	}
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_WORKER_DEL, NLM_F_DUMP);
	EXPECT_EQ(-EOPNOTSUPP, genl_transact(&self->v.genl, &self->msg, NULL));
}

TEST_F(request, missing_or_unknown_worker_is_refused)
{
	static const uint8_t own[] = {
		VHOST_CMD_WORKER_GET, VHOST_CMD_WORKER_SET, VHOST_CMD_WORKER_DEL,
	};
	static const uint32_t ids[] = { 3, NO_WORKER, 0x80000000, UINT32_MAX };
	unsigned int i, j;
	int at;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		begin(self, own[i]);
		genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
		REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_WORKER_ID), "missing");
		for (j = 0; j < ARRAY_SIZE(ids); j++) {
			begin(self, own[i]);
			genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
			at = genl_put_u32(&self->msg, VHOST_A_WORKER_ID, ids[j]);
			if (own[i] == VHOST_CMD_WORKER_SET)
				genl_put_string(&self->msg, VHOST_A_WORKER_CPUS, "0");
			REFUSED(-ENODEV, at, "no such worker");
		}
	}
	begin(self, VHOST_CMD_WORKER_DEL);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
	REFUSED(-EBUSY, at, "attached");
}

TEST_F(request, missing_or_unknown_virtqueue_is_refused)
{
	int at;

	begin(self, VHOST_CMD_VQ_GET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_VQ_INDEX), "missing");
	begin(self, VHOST_CMD_VQ_GET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, NVQS);
	REFUSED(-ENOBUFS, at, "no such virtqueue");

	begin(self, VHOST_CMD_VQ_SET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_VQ_WORKER_ID, 0);
	REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_VQ_INDEX), "missing");
	begin(self, VHOST_CMD_VQ_SET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, 4);
	REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_VQ_WORKER_ID), "missing");
	begin(self, VHOST_CMD_VQ_SET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, UINT32_MAX);
	genl_put_u32(&self->msg, VHOST_A_VQ_WORKER_ID, 1);
	REFUSED(-ENOBUFS, at, "no such virtqueue");
	begin(self, VHOST_CMD_VQ_SET);
	genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, 4);
	at = genl_put_u32(&self->msg, VHOST_A_VQ_WORKER_ID, NO_WORKER);
	REFUSED(-ENODEV, at, "no such worker");
}

/* covers: T2 */
TEST_F(request, cpus_that_are_bad_offline_or_none_are_refused)
{
	static const char *const bad[] = {
		"", "-", "x", "1-0", "0-", "0x1", "0;1", "5", "0-5", "1024", "99999999999",
	};
	char longest[VHOST_CPUS_MAX + 2];
	unsigned int i;
	int at;

	for (i = 0; i <= ARRAY_SIZE(bad); i++) {
		if (i == ARRAY_SIZE(bad) && put_text(CPU1, "0"))
			break;	/* this kernel cannot */
		begin(self, VHOST_CMD_WORKER_SET);
		genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
		genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
		at = genl_put_string(&self->msg, VHOST_A_WORKER_CPUS,
				     i < ARRAY_SIZE(bad) ? bad[i] : "0-1");
		REFUSED(-EINVAL, at, "CPUs");
		begin(self, VHOST_CMD_WORKER_NEW);
		genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
		genl_put_u32(&self->msg, VHOST_A_WORKER_COUNT, 3);
		at = genl_put_string(&self->msg, VHOST_A_WORKER_CPUS,
				     i < ARRAY_SIZE(bad) ? bad[i] : "1");
		REFUSED(-EINVAL, at, "CPUs");
	}
	put_text(CPU1, "1");
	begin(self, VHOST_CMD_WORKER_SET);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
	REFUSED(-EINVAL, VCTL_MISSING(VHOST_A_WORKER_CPUS), "CPUs");
	/* As long as it may be, longer, and without an end. */
	memset(longest, ',', sizeof(longest));
	memcpy(longest, "0-1", 3);
	longest[VHOST_CPUS_MAX] = '\0';
	EXPECT_OK(vctl_worker_set(&self->v, self->dev.id, 1, longest));
	longest[VHOST_CPUS_MAX] = ',';
	for (i = 0; i < 2; i++) {
		longest[VHOST_CPUS_MAX + 1] = i ? '\0' : ',';
		begin(self, VHOST_CMD_WORKER_SET);
		genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
		genl_put_u32(&self->msg, VHOST_A_WORKER_ID, 1);
		at = genl_put(&self->msg, VHOST_A_WORKER_CPUS, longest, sizeof(longest));
		REFUSED(-EINVAL, at, "");
	}
}

TEST_F(request, too_many_workers_are_refused)
{
	static const uint32_t counts[] = { 2, NVQS, UINT32_MAX };
	unsigned int i;
	int at;

	begin(self, VHOST_CMD_WORKER_NEW);
	genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_COUNT, 0);
	REFUSED(-ERANGE, at, "");
	ASSERT_OK(put_text(PUT_MAX_WORKERS, "4"));
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		begin(self, VHOST_CMD_WORKER_NEW);
		genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
		at = genl_put_u32(&self->msg, VHOST_A_WORKER_COUNT, counts[i]);
		REFUSED(-ENOSPC, at, "max_workers");
	}
	ASSERT_OK(put_text(PUT_MAX_WORKERS, "3"));
	begin(self, VHOST_CMD_WORKER_NEW);
	at = genl_put_u32(&self->msg, VHOST_A_WORKER_DEV_ID, self->dev.id);
	REFUSED(-ENOSPC, at, "max_workers");
}

TEST_F(request, dump_of_an_unknown_device_or_of_a_part_is_refused)
{
	static const uint8_t parts[] = { VHOST_CMD_WORKER_GET, VHOST_CMD_VQ_GET };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		genl_begin(&self->v.genl, &self->msg, parts[i], NLM_F_DUMP);
		genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, NO_DEV);
		REFUSED(-ENODEV, VCTL_ANY, "no such device");
		genl_begin(&self->v.genl, &self->msg, parts[i], NLM_F_DUMP);
		genl_put_u32(&self->msg, VHOST_A_VQ_DEV_ID, self->dev.id);
		genl_put_u32(&self->msg, VHOST_A_VQ_INDEX, 0);
		REFUSED(-EINVAL, VCTL_ANY, "about a device");
		genl_begin(&self->v.genl, &self->msg, parts[i], NLM_F_DUMP);
		genl_put(&self->msg, VHOST_A_VQ_DEV_ID, "xy", 2);
		REFUSED(-EINVAL, VCTL_ANY, "");
	}
	genl_begin(&self->v.genl, &self->msg, VHOST_CMD_DEV_GET, NLM_F_DUMP);
	genl_put_u32(&self->msg, VHOST_A_DEV_ID, self->dev.id);
	REFUSED(-EINVAL, VCTL_ANY, "about all");
}

TEST_HARNESS_MAIN
