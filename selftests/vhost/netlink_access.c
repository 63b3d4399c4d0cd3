// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_access.c - the family serves the administrator of the host and nobody else
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/vctl.h"

#define NOBODY	65534

FIXTURE(access) {
	struct vctl v;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_SETUP(access)
{
	proc_watch("a test of permissions", 40);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(access)
{
	struct vctl_worker worker;

	/* Nobody has changed anything. */
	EXPECT_EQ(1, vctl_workers(&self->v, self->dev.id, &worker, 1));
	EXPECT_STREQ("0-129", worker.vqs);
	EXPECT_STREQ("0-1", worker.cpus);
	proc_free(self->proc);
	vctl_close(&self->v);
}

static int expect_eperm(struct vctl *v, struct genl_msg *msg, const char *what)
{
	if (vctl_refused(v, msg, -EPERM, VCTL_ANY, "CAP_SYS_ADMIN"))
		return guest_fail(EPROTO, "%s: %s", what, guest_error());
	return 0;
}

/* Every operation, each with arguments that would do something. */
static int every_operation_is_refused(struct vctl *v, uint32_t dev)
{
	static const struct {
		const char *name;
		uint8_t command;
		bool id, cpus, dump;
	} ops[] = {
		{ "dev-get", VHOST_CMD_DEV_GET },
		{ "dev-get dump", VHOST_CMD_DEV_GET, .dump = true },
		{ "worker-get", VHOST_CMD_WORKER_GET, .id = true },
		{ "worker-get dump", VHOST_CMD_WORKER_GET, .dump = true },
		{ "worker-new", VHOST_CMD_WORKER_NEW },
		{ "worker-set", VHOST_CMD_WORKER_SET, .id = true, .cpus = true },
		{ "worker-del", VHOST_CMD_WORKER_DEL, .id = true },
		{ "vq-get", VHOST_CMD_VQ_GET, .id = true },
		{ "vq-get dump", VHOST_CMD_VQ_GET, .dump = true },
	};
	static const struct vctl_entry entry = { 2, 0, true };
	struct genl_msg msg;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(ops) && !err; i++) {
		genl_begin(&v->genl, &msg, ops[i].command, ops[i].dump ? NLM_F_DUMP : 0);
		if (!ops[i].dump)
			genl_put_u32(&msg, VHOST_A_WORKER_DEV_ID, dev);
		if (ops[i].id)
			genl_put_u32(&msg, VHOST_A_WORKER_ID, 0);
		if (ops[i].cpus)
			genl_put_string(&msg, VHOST_A_WORKER_CPUS, "1");
		err = expect_eperm(v, &msg, ops[i].name);
	}
	if (err)
		return err;
	genl_begin(&v->genl, &msg, VHOST_CMD_VQ_SET, 0);
	genl_put_u32(&msg, VHOST_A_VQ_DEV_ID, dev);
	genl_put_u32(&msg, VHOST_A_VQ_INDEX, 2);
	genl_put_u32(&msg, VHOST_A_VQ_WORKER_ID, 0);
	err = expect_eperm(v, &msg, "vq-set");
	genl_begin(&v->genl, &msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&msg, VHOST_A_MAP_DEV_ID, dev);
	vctl_put_entry(&msg, &entry);
	err = err ?: expect_eperm(v, &msg, "map-set");
	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_GET, 0);
	err = err ?: expect_eperm(v, &msg, "policy-get");
	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_SET, 0);
	genl_put_u32(&msg, VHOST_A_POLICY_KIND, VHOST_POLICY_KIND_PER_VQ);
	return err ?: expect_eperm(v, &msg, "policy-set");
}

static int all_is_refused(struct vctl *v, uint32_t dev)
{
	int err = every_operation_is_refused(v, dev);

	if (!err && genl_join(&v->genl, VHOST_MCGRP_EVENTS) != -EPERM)
		err = guest_fail(EPROTO, "joining the group is not refused");
	return err;
}

static int become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return guest_fail(errno, "change of user");
	return 0;
}

static int is_nobody(struct proc *me, void *arg)
{
	struct vctl v;

	proc_step(me, "operations of an unprivileged user");
	return become_nobody() ?: vctl_open(&v) ?: all_is_refused(&v, *(uint32_t *)arg);
}

TEST_F(access, unprivileged_user_is_refused_everything)
{
	EXPECT_OK(proc_call(is_nobody, &self->dev.id, CALL_MS));
}

static int is_root_of_a_user_namespace(struct proc *me, void *arg)
{
	struct vctl v;
	int err;

	proc_step(me, "operations of the root of a user namespace");
	if (unshare(CLONE_NEWUSER))
		return guest_fail(errno, "unshare");
	err = put_text("/proc/self/uid_map", "0 0 1") ?: vctl_open(&v);
	if (!err && geteuid())
		err = guest_fail(EPROTO, "not root");
	return err ?: all_is_refused(&v, *(uint32_t *)arg);
}

TEST_F(access, root_of_a_user_namespace_is_refused_everything)
{
	EXPECT_OK(proc_call(is_root_of_a_user_namespace, &self->dev.id, CALL_MS));
}

static int drops_privileges_with_a_socket_in_hands(struct proc *me, void *arg)
{
	struct vctl v;

	proc_step(me, "operations on a socket that root opened");
	return vctl_open(&v) ?: become_nobody() ?:
	       every_operation_is_refused(&v, *(uint32_t *)arg);
}

TEST_F(access, socket_of_the_administrator_is_no_use_to_others)
{
	EXPECT_OK(proc_call(drops_privileges_with_a_socket_in_hands, &self->dev.id, CALL_MS));
}

static int lends_its_socket(struct proc *me, void *arg)
{
	struct vctl v;
	int err = become_nobody() ?: vctl_open(&v);

	(void)arg;
	if (err)
		return err;
	me->page->word[OWNER_WORDS] = v.genl.sock;
	proc_pause(me);
}

/* Somebody who makes a privileged program write into a socket gains nothing. */
TEST_F(access, administrator_is_refused_on_a_socket_of_somebody_else)
{
	struct vctl lent = self->v;
	struct proc *proc;

	ASSERT_OK(proc_start(lends_its_socket, NULL, &proc));
	ASSERT_OK(proc_wait_ready(proc, CALL_MS));
	lent.genl.sock = proc_take_fd(proc, proc->page->word[OWNER_WORDS]);
	ASSERT_VALID(lent.genl.sock);
	EXPECT_OK(every_operation_is_refused(&lent, self->dev.id));
	vctl_close(&lent);
	proc_free(proc);
}

static int is_in_another_network_namespace(struct proc *me, void *arg)
{
	struct vctl *before = arg, v;
	struct genl_msg msg;
	int err;

	proc_step(me, "a look at another network namespace");
	if (unshare(CLONE_NEWNET))
		return guest_fail(errno, "unshare");
	err = vctl_open(&v);
	if (err != -ENOENT)
		return guest_fail(EPROTO, "the family is there: %d", err);
	/* Nor by its number. */
	v = *before;
	v.genl.sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	genl_begin(&v.genl, &msg, VHOST_CMD_DEV_GET, NLM_F_DUMP);
	err = genl_transact(&v.genl, &msg, NULL);
	return err == -ENOENT ? 0 : guest_fail(EPROTO, "a dump by number answers %d", err);
}

TEST_F(access, family_is_not_in_other_network_namespaces)
{
	EXPECT_OK(proc_call(is_in_another_network_namespace, &self->v, CALL_MS));
}

/* An owner in a pid namespace of its own: its init is another process than the host sees. */
static int owns_in_a_pid_namespace(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct proc *child;
	int err;

	if (unshare(CLONE_NEWPID))
		return guest_fail(errno, "unshare");
	err = proc_start(owner_holds, owner, &child) ?: proc_wait_ready(child, OWNER_MS);
	if (err)
		return err;
	me->page->word[OWNER_WORDS] = child->pid;
	proc_pause(me);
}

/* What it sees of devices when it looks itself. */
static int sees_devices(struct proc *me, void *arg)
{
	struct vctl_dev devs[2];
	struct vctl_worker worker;
	struct vctl v;
	int err = vctl_open(&v);

	proc_step(me, "a look from a pid namespace");
	if (!err && vctl_devs(&v, devs, 2) != 1)
		err = guest_fail(EPROTO, "not one device");
	if (!err && devs[0].owner_pid)
		err = guest_fail(EPROTO, "owner %u is seen", devs[0].owner_pid);
	if (!err && vctl_workers(&v, devs[0].id, &worker, 1) != 1)
		err = guest_fail(EPROTO, "not one worker");
	if (!err && worker.tid)
		err = guest_fail(EPROTO, "thread %u is seen", worker.tid);
	(void)arg;
	return err;
}

static int looks_from_a_pid_namespace(struct proc *me, void *arg)
{
	proc_step(me, "a pid namespace is made");
	if (unshare(CLONE_NEWPID))
		return guest_fail(errno, "unshare");
	return proc_call(sees_devices, arg, CALL_MS);
}

TEST_F(access, pids_are_those_of_the_callers_namespace)
{
	struct vctl_worker worker;
	struct vctl_dev dev;
	struct proc *proc;

	EXPECT_OK(proc_call(looks_from_a_pid_namespace, NULL, 2 * CALL_MS));
	ASSERT_OK(proc_start(owns_in_a_pid_namespace, &self->owner, &proc));
	ASSERT_OK(proc_wait_ready(proc, OWNER_MS));
	ASSERT_OK(vctl_dev_of(&self->v, proc->page->word[OWNER_WORDS], &dev));
	ASSERT_EQ(1, vctl_workers(&self->v, dev.id, &worker, 1));
	EXPECT_LT(dev.owner_pid, worker.tid);
	EXPECT_OK(threads_wait_count(dev.owner_pid, 1, GONE_MS));
	proc_free(proc);
}

TEST_HARNESS_MAIN
