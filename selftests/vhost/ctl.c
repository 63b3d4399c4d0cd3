// SPDX-License-Identifier: GPL-2.0
/*
 * ctl.c - vhost-ctl itself, against real devices of another process that does I/O all the time
 *
 * What its output looks like is tested elsewhere, against recordings; here it is what it does, as the
 * kernel tells it to another client.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/kicks.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/shell.h"
#include "lib/vctl.h"

#define FIRST_VQ	2	/* of the I/O queues */
#define ONLY_CPU	"0"
#define SAVED		"/tmp/saved-map"

enum { DONE, USAGE, REFUSED, LACKING };	/* its exit codes */

FIXTURE(ctl) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
	char out[SHELL_OUTPUT];
};

FIXTURE_THREADS(ctl);

FIXTURE_SETUP(ctl)
{
	struct lio_opts lio = { .size = 8 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of vhost-ctl", 90);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){ .thread = variant->thread, .wwpn = self->target->wwpn };
	ASSERT_OK(owner_start(owner_does_io, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(ctl)
{
	unlink(SAVED);
	EXPECT_OK(owner_stop_io(self->proc));
	EXPECT_LT(0, self->proc->page->word[OWNER_VERIFIED]);
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

#define EXPECT_RUN(code, ...) \
	EXPECT_EQ(code, shell_run(self->out, sizeof(self->out), __VA_ARGS__)) { \
		TH_LOG("%s", self->out); \
	}

/* busybox's su needs a user of that number. The first argument is PATH. */
#define AS_NOBODY(command) \
	"grep -q ^nobody: /etc/passwd 2>/dev/null || " \
	"echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd; " \
	"su nobody -c 'PATH=%s " command "' 2>&1"

/* The worker of virtqueue @vq, as the kernel tells it to us. */
static uint32_t worker_of(struct vctl *v, uint32_t dev, uint32_t vq)
{
	struct vctl_vq now;

	return vctl_vq_get(v, dev, vq, &now) ? VCTL_NONE : now.worker_id;
}

/* covers: T5 */
TEST_F(ctl, queues_of_a_guest_move_to_a_worker_each_and_back)
{
	const char *wwpn = self->target->wwpn;
	uint32_t seen[OWNER_QUEUES];
	unsigned int q, other;

	EXPECT_RUN(DONE, "vhost-ctl attach %s 2-5=new 2>&1", wwpn);
	EXPECT_STREQ("", self->out);
	for (q = 0; q < OWNER_QUEUES; q++) {
		seen[q] = worker_of(&self->v, self->dev.id, FIRST_VQ + q);
		EXPECT_NE(VCTL_NONE, seen[q]);
		EXPECT_NE(0, seen[q]);
		for (other = 0; other < q; other++)
			EXPECT_NE(seen[other], seen[q]);
	}
	EXPECT_OK(proc_wait_progress(self->proc, 50, OWNER_MS));
	EXPECT_RUN(DONE, "vhost-ctl attach pid:%d all=w0 2>&1", self->proc->pid);
	for (q = 0; q < OWNER_QUEUES; q++)
		EXPECT_EQ(0, worker_of(&self->v, self->dev.id, FIRST_VQ + q));
	EXPECT_RUN(DONE, "vhost-ctl worker del %u unused 2>&1", self->dev.id);
	ASSERT_OK(vctl_dev_get(&self->v, self->dev.id, &self->dev));
	EXPECT_EQ(1, self->dev.workers);
	EXPECT_OK(proc_wait_progress(self->proc, 50, OWNER_MS));
}

TEST_F(ctl, spread_and_single_moves_do_what_they_say)
{
	uint32_t id = self->dev.id, first;

	EXPECT_RUN(DONE, "vhost-ctl attach id:%u spread 2 --dry-run", id);
	EXPECT_EQ(0, worker_of(&self->v, id, FIRST_VQ + 1));
	EXPECT_RUN(DONE, "vhost-ctl attach id:%u spread 2 2>&1", id);
	first = worker_of(&self->v, id, FIRST_VQ);
	EXPECT_NE(first, worker_of(&self->v, id, FIRST_VQ + 1));
	EXPECT_EQ(first, worker_of(&self->v, id, FIRST_VQ + 2));
	EXPECT_RUN(DONE, "vhost-ctl vq set %u 2 %u 2>&1", id,
		   worker_of(&self->v, id, FIRST_VQ + 1));
	EXPECT_EQ(worker_of(&self->v, id, FIRST_VQ + 1), worker_of(&self->v, id, FIRST_VQ));
	EXPECT_OK(proc_wait_progress(self->proc, 50, OWNER_MS));
}

/* covers: T2 */
TEST_F(ctl, workers_are_made_pinned_and_ended)
{
	struct vctl_worker worker;
	uint32_t id = self->dev.id;
	unsigned int made;

	EXPECT_RUN(DONE, "vhost-ctl worker add %u cpus %s 2>&1", id, ONLY_CPU);
	ASSERT_EQ(1, sscanf(self->out, "%u", &made)) {
		TH_LOG("%s", self->out);
	}
	ASSERT_OK(vctl_worker_get(&self->v, id, made, &worker));
	EXPECT_STREQ(ONLY_CPU, worker.cpus);
	EXPECT_RUN(DONE, "vhost-ctl worker set %u 0 cpus %s 2>&1", id, ONLY_CPU);
	ASSERT_OK(vctl_worker_get(&self->v, id, 0, &worker));
	EXPECT_STREQ(ONLY_CPU, worker.cpus);
	EXPECT_RUN(DONE, "vhost-ctl worker del %u %u 2>&1", id, made);
	EXPECT_EQ(-ENODEV, vctl_worker_get(&self->v, id, made, &worker));
	EXPECT_RUN(REFUSED, "vhost-ctl worker del %u 0 2>&1", id);
	EXPECT_NE(NULL, strstr(self->out, "EBUSY"));
	EXPECT_OK(proc_wait_progress(self->proc, 50, OWNER_MS));
}

TEST_F(ctl, saved_map_is_restored)
{
	const char *wwpn = self->target->wwpn;
	uint32_t id = self->dev.id;

	EXPECT_RUN(DONE, "vhost-ctl attach %s 2-3=new1,4=new2 2>&1", wwpn);
	EXPECT_RUN(DONE, "vhost-ctl worker set %s %u cpus %s 2>&1", wwpn,
		   worker_of(&self->v, id, 4), ONLY_CPU);
	EXPECT_RUN(DONE, "vhost-ctl save %s >" SAVED, wwpn);
	EXPECT_RUN(DONE, "vhost-ctl attach %s all=w0 && vhost-ctl worker del %s unused", wwpn, wwpn);
	EXPECT_EQ(0, worker_of(&self->v, id, 4));
	EXPECT_RUN(DONE, "vhost-ctl restore " SAVED " 2>&1");
	EXPECT_NE(0, worker_of(&self->v, id, 4));
	EXPECT_NE(worker_of(&self->v, id, 3), worker_of(&self->v, id, 4));
	EXPECT_EQ(worker_of(&self->v, id, 2), worker_of(&self->v, id, 3));
	EXPECT_EQ(0, worker_of(&self->v, id, 5));
	EXPECT_OK(proc_wait_progress(self->proc, 50, OWNER_MS));
}

/* covers: T1 */
TEST_F(ctl, what_is_shown_is_of_this_device)
{
	static const char *const objects[] = { "dev", "worker", "vq", "stats" };
	uint32_t id = self->dev.id;
	unsigned int i;

	for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		EXPECT_RUN(DONE, "vhost-ctl %s show %u", objects[i], id);
		EXPECT_LT(1, strlen(self->out));
		EXPECT_RUN(DONE, "vhost-ctl -j %s show %u", objects[i], id);
		EXPECT_EQ('{', self->out[0]);
	}
	EXPECT_RUN(DONE, "vhost-ctl -n -o OWNER_PID dev show %u", id);
	EXPECT_EQ(self->proc->pid, atoi(self->out));
	EXPECT_RUN(DONE, "vhost-ctl stats show %u interval 1 count 2", id);
	EXPECT_RUN(DONE, "vhost-ctl module show");
}

TEST_F(ctl, mistakes_and_strangers_change_nothing)
{
	uint32_t id = self->dev.id;

	EXPECT_RUN(USAGE, "vhost-ctl attach %u 2-5 2>&1", id);
	EXPECT_RUN(USAGE, "vhost-ctl attach %u 2=w0,2=w0 2>&1", id);
	EXPECT_RUN(USAGE, "vhost-ctl attach id:%u 2=w0 2>&1", id + 1000);
	EXPECT_RUN(USAGE, "vhost-ctl worker set %u 0 cpus 4095 2>&1", id);
	EXPECT_RUN(REFUSED, "vhost-ctl worker add %u count 1000 2>&1", id);
	EXPECT_NE(NULL, strstr(self->out, "ENOSPC"));
	EXPECT_RUN(REFUSED, AS_NOBODY("vhost-ctl attach id:%u 2=new"), getenv("PATH"), id);
	ASSERT_OK(vctl_dev_get(&self->v, id, &self->dev));
	EXPECT_EQ(1, self->dev.workers);
}

TEST_F(ctl, monitor_tells_what_happens)
{
	uint32_t id = self->dev.id;

	EXPECT_RUN(DONE, "vhost-ctl -j monitor >/tmp/events & sleep 1; "
		   "vhost-ctl attach id:%u 2=new; sleep 1; kill $!; wait; "
		   "cat /tmp/events; rm /tmp/events", id);
	EXPECT_NE(NULL, strstr(self->out, "worker-add")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "map"));
}

/* The default policy of the host, and a device that has not chosen its workers. */
FIXTURE(ctl_policy) {
	struct vctl v;
	int fd;
	char out[SHELL_OUTPUT];
};

FIXTURE_THREADS(ctl_policy);

FIXTURE_SETUP(ctl_policy)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of vhost-ctl policy", 60);
	ASSERT_OK(vctl_open(&self->v));
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(self->fd);
	ASSERT_OK(vdev_set_owner(self->fd));
}

FIXTURE_TEARDOWN(ctl_policy)
{
	EXPECT_OK(put_text(PUT_DEFAULT_WORKERS, "single"));
	close(self->fd);
	vctl_close(&self->v);
}

static int expect_policy(struct vctl *v, uint32_t kind, uint32_t count)
{
	struct vctl_policy now;
	int err = vctl_policy_get(v, &now);

	if (!err && (now.kind != kind || now.count != count))
		err = guest_fail(EPROTO, "policy %u, %u", now.kind, now.count);
	return err;
}

TEST_F(ctl_policy, each_policy_is_set_and_shown)
{
	static const struct {
		const char *word, *line, *json;
		uint32_t kind, count;
	} policies[] = {
		{ "per-vq", "per-vq -", "{\"kind\":\"per-vq\",\"count\":null}", VHOST_POLICY_KIND_PER_VQ },
		{ "per-cpu", "per-cpu -", "{\"kind\":\"per-cpu\",\"count\":null}",
		  VHOST_POLICY_KIND_PER_CPU },
		{ "3", "count 3", "{\"kind\":\"count\",\"count\":3}", VHOST_POLICY_KIND_COUNT, 3 },
		{ "4294967295", "count 4294967295", "{\"kind\":\"count\",\"count\":4294967295}",
		  VHOST_POLICY_KIND_COUNT, UINT32_MAX },
		{ "single", "single -", "{\"kind\":\"single\",\"count\":null}",
		  VHOST_POLICY_KIND_SINGLE },
	};
	char json[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		EXPECT_RUN(DONE, "vhost-ctl policy set %s 2>&1", policies[i].word);
		EXPECT_STREQ("", self->out);
		EXPECT_OK(expect_policy(&self->v, policies[i].kind, policies[i].count));
		EXPECT_RUN(DONE, "set -- $(vhost-ctl -n policy show) && echo -n $*");
		EXPECT_STREQ(policies[i].line, self->out);
		snprintf(json, sizeof(json), "{\"policies\":[%s]}", policies[i].json);
		EXPECT_RUN(DONE, "vhost-ctl -j policy show | tr -d ' \n'");
		EXPECT_STREQ(json, self->out);
	}
}

TEST_F(ctl_policy, queues_that_come_into_use_follow_what_was_set)
{
	static const uint32_t map[] = { 0, 0, 0, 1, 0, 1 };
	struct vctl_dev dev;

	ASSERT_OK(vctl_dev_of(&self->v, getpid(), &dev));
	EXPECT_RUN(DONE, "vhost-ctl policy set 2 2>&1");
	EXPECT_OK(kicks_give_range(self->fd, 0, ARRAY_SIZE(map) - 1));
	EXPECT_OK(kicks_expect_map(self->fd, 0, map, ARRAY_SIZE(map)));
	EXPECT_RUN(DONE, "set -- $(vhost-ctl -n -o workers,policy,policy_failed dev show %u) && echo -n $*",
		   dev.id);
	EXPECT_STREQ("2 2 0", self->out);
	EXPECT_RUN(DONE, "vhost-ctl attach id:%u 2=new && vhost-ctl -n -o policy dev show %u", dev.id, dev.id);
	EXPECT_STREQ("explicit\n", self->out);
}

TEST_F(ctl_policy, mistakes_and_strangers_leave_it_as_it_is)
{
	static const char *const words[] = { "", "0", "-1", "4294967296", "2x", "per-disk", "per-vq 2", "count 2" };
	unsigned int i;

	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "3"));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		EXPECT_RUN(USAGE, "vhost-ctl policy set %s 2>&1", words[i]);
	EXPECT_RUN(USAGE, "vhost-ctl policy show all 2>&1");
	EXPECT_RUN(REFUSED, AS_NOBODY("vhost-ctl policy set per-vq"), getenv("PATH"));
	EXPECT_NE(NULL, strstr(self->out, "EPERM"));
	EXPECT_RUN(REFUSED, AS_NOBODY("vhost-ctl policy show"), getenv("PATH"));
	EXPECT_OK(expect_policy(&self->v, VHOST_POLICY_KIND_COUNT, 3));
}

/* covers: T6 */
TEST(name_that_target_tools_load_leads_to_our_module)
{
	char out[SHELL_OUTPUT];

	EXPECT_EQ(0, shell_run(out, sizeof(out), "modprobe -D tcm_vhost 2>&1")) {
		TH_LOG("%s", out);
	}
	EXPECT_NE(NULL, strstr(out, "vhost_scsi.ko"));
	EXPECT_EQ(0, shell_run(out, sizeof(out),
			       "vhost-ctl -n -o NAME,STATE,BUILD module show | grep vhost_scsi"));
	EXPECT_NE(NULL, strstr(out, "loaded")) {
		TH_LOG("%s", out);
	}
}

TEST_HARNESS_MAIN
