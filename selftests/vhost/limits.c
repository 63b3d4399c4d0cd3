// SPDX-License-Identifier: GPL-2.0
/*
 * limits.c - what a worker inherits, and what happens when it cannot be made
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/capability.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/cgroup.h"
#include "lib/fault.h"
#include "lib/proc.h"
#include "lib/expect.h"

#define SOME_USER	12345
#define DEVICES		101
#define WORKERS		4
#define MOST_SCSI	30	/* of them, at 10 MB each; the others are vhost-vsock */

FIXTURE(limits) {
	struct proc *proc;
	struct cgroup group;
	bool has_group;
};

FIXTURE_THREADS(limits);

FIXTURE_SETUP(limits)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of limits", 28);
}

FIXTURE_TEARDOWN(limits)
{
	proc_free(self->proc);
	if (self->has_group)
		EXPECT_OK(cgroup_remove(&self->group));
}

/* What the children of this program get. */
struct limited {
	enum vdev_thread thread;
	const struct cgroup *group;
	int rounds;
};

static int expect_answer(int got, int want, const char *what)
{
	return got == want ? 0 : guest_fail(EPROTO, "%s answers %d and not %d", what, got, want);
}

static int set_nproc(rlim_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NPROC, &limit))
		return guest_fail(errno, "getrlimit");
	limit.rlim_cur = count;
	return setrlimit(RLIMIT_NPROC, &limit) ? guest_fail(errno, "setrlimit") : 0;
}

/* NEW until it fails: the error, *made is how many there were. */
static int new_until_it_fails(int fd, int max, int *made)
{
	uint32_t id;
	int err = 0;

	for (*made = 0; *made < max; (*made)++) {
		err = vdev_new_worker(fd, &id);
		if (err)
			break;
	}
	return err;
}

static int limit_stops_set_owner(const struct limited *arg, int fd)
{
	int want = arg->thread == VDEV_THREAD_TASK ? -EAGAIN : 0, err;

	err = expect_answer(vdev_set_owner(fd), want, "SET_OWNER beyond the limit");
	if (err || !want)
		return err;
	return threads_wait_count(getpid(), 0, GONE_MS);
}

static int limit_stops_new(const struct limited *arg, int fd)
{
	int want = arg->thread == VDEV_THREAD_TASK ? 2 : 8, made, err;

	err = new_until_it_fails(fd, 8, &made);
	if (made != want)
		return guest_fail(EPROTO, "%d workers made and not %d", made, want);
	err = expect_answer(err, want == 8 ? 0 : -EAGAIN, "NEW beyond the limit");
	return err ?: threads_wait_count(getpid(), made + 1, GONE_MS);
}

/* Limits do not hold for root; what is left of it lets us look into /proc. */
static int become_some_user(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {
		{ .effective = 1 << CAP_DAC_READ_SEARCH, .permitted = 1 << CAP_DAC_READ_SEARCH },
	};

	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(SOME_USER, SOME_USER, SOME_USER) ||
	    syscall(SYS_capset, &head, caps))
		return guest_fail(errno, "change of user");
	return 0;
}

static int nproc_of_set_owner(struct proc *me, void *data)
{
	struct limited *arg = data;
	int fd = vdev_open_thread(VDEV_SCSI, arg->thread), err;

	if (fd < 0)
		return fd;
	err = become_some_user();
	if (err)
		return err;
	proc_step(me, "SET_OWNER with RLIMIT_NPROC exhausted");
	err = set_nproc(1) ?: limit_stops_set_owner(arg, fd);
	if (err || arg->thread != VDEV_THREAD_TASK)
		return err;
	proc_step(me, "SET_OWNER after the limit was raised");
	return set_nproc(100) ?: vdev_set_owner(fd);
}

/* covers: W8 */
TEST_F(limits, set_owner_beyond_rlimit_nproc_is_eagain)
{
	struct limited arg = { .thread = variant->thread };

	EXPECT_OK(proc_call(nproc_of_set_owner, &arg, CALL_MS));
}

static int nproc_of_new(struct proc *me, void *data)
{
	struct limited *arg = data;
	int fd = vdev_open_thread(VDEV_SCSI, arg->thread), err;
	uint32_t id;

	if (fd < 0)
		return fd;
	err = become_some_user();
	if (err)
		return err;
	proc_step(me, "NEW until RLIMIT_NPROC is exhausted");
	/* We and three workers, one of them made by SET_OWNER. */
	err = vdev_set_owner(fd) ?: set_nproc(4) ?: limit_stops_new(arg, fd);
	proc_step(me, "NEW after the limit was raised");
	return err ?: set_nproc(100) ?: vdev_new_worker(fd, &id);
}

/* covers: W8 */
TEST_F(limits, new_beyond_rlimit_nproc_is_eagain)
{
	struct limited arg = { .thread = variant->thread };

	EXPECT_OK(proc_call(nproc_of_new, &arg, CALL_MS));
}

static int pids_of_new(struct proc *me, void *data)
{
	struct limited *arg = data;
	int fd = vdev_open_thread(VDEV_SCSI, arg->thread), err;
	uint32_t id;

	if (fd < 0)
		return fd;
	proc_step(me, "NEW until pids.max is reached");
	err = cgroup_enter(arg->group, getpid()) ?: cgroup_set(arg->group, "pids.max", "4") ?:
	      vdev_set_owner(fd) ?: limit_stops_new(arg, fd);
	proc_step(me, "NEW after pids.max was raised");
	return err ?: cgroup_set(arg->group, "pids.max", "max") ?: vdev_new_worker(fd, &id);
}

/* covers: W8 */
TEST_F(limits, new_beyond_pids_max_is_eagain)
{
	struct limited arg = { .thread = variant->thread, .group = &self->group };

	ASSERT_OK(cgroup_make(&self->group));
	self->has_group = true;
	EXPECT_OK(proc_call(pids_of_new, &arg, CALL_MS));
}

static int pids_of_set_owner(struct proc *me, void *data)
{
	struct limited *arg = data;
	int fd = vdev_open_thread(VDEV_SCSI, arg->thread);

	if (fd < 0)
		return fd;
	proc_step(me, "SET_OWNER with pids.max reached");
	return cgroup_enter(arg->group, getpid()) ?: cgroup_set(arg->group, "pids.max", "1") ?:
	       limit_stops_set_owner(arg, fd);
}

/* covers: W8 */
TEST_F(limits, set_owner_beyond_pids_max_is_eagain)
{
	struct limited arg = { .thread = variant->thread, .group = &self->group };

	ASSERT_OK(cgroup_make(&self->group));
	self->has_group = true;
	EXPECT_OK(proc_call(pids_of_set_owner, &arg, CALL_MS));
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static int start_storm(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = on_alarm };	/* no SA_RESTART */

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
		return guest_fail(errno, "alarms");
	return 0;
}

static int end_storm(void)
{
	struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
	return alarms > 20 ? 0 : guest_fail(EPROTO, "only %d alarms came", (int)alarms);
}

static int owns_in_a_storm(struct proc *me, void *data)
{
	struct limited *arg = data;
	uint64_t start = guest_now_ns();
	int err = start_storm(), fd, i;

	proc_step(me, "SET_OWNER under a storm of signals");
	for (i = 0; !err && (i < arg->rounds || guest_left_ms(start, 1000)); i++) {
		fd = vdev_open_thread(VDEV_VSOCK, arg->thread);
		err = fd < 0 ? fd : vdev_set_owner(fd);
		if (fd >= 0)
			close(fd);
	}
	proc_step(me, "threads end");
	return err ?: end_storm() ?: threads_wait_count(getpid(), 0, GONE_MS);
}

/* covers: W8 */
TEST_F(limits, set_owner_succeeds_under_a_storm_of_signals)
{
	struct limited arg = { .thread = variant->thread, .rounds = 20 };

	EXPECT_OK(proc_call(owns_in_a_storm, &arg, 2 * CALL_MS));
}

static int makes_workers_in_a_storm(struct proc *me, void *data)
{
	struct limited *arg = data;
	int fd = vdev_open_thread(VDEV_SCSI, arg->thread), err, i;
	uint64_t start = guest_now_ns();
	uint32_t id = 0;

	if (fd < 0)
		return fd;
	err = vdev_set_owner(fd) ?: start_storm();
	for (i = 0; !err && (i < arg->rounds || guest_left_ms(start, 1000)); i++) {
		proc_step(me, "NEW under a storm of signals");
		err = vdev_new_worker(fd, &id);
		proc_step(me, "ATTACH under a storm of signals");
		err = err ?: vdev_attach_worker(fd, 2, id);
		err = err ?: vdev_attach_worker(fd, 2, 0);
		proc_step(me, "FREE under a storm of signals");
		err = err ?: vdev_free_worker(fd, id);
	}
	proc_step(me, "threads end");
	return err ?: end_storm() ?: threads_wait_count(getpid(), 1, GONE_MS);
}

/* covers: W8 */
TEST_F(limits, new_succeeds_under_a_storm_of_signals)
{
	struct limited arg = { .thread = variant->thread, .rounds = 20 };

	EXPECT_OK(proc_call(makes_workers_in_a_storm, &arg, 2 * CALL_MS));
}

/* Run @request with its @nth allocation failing: its errno; *fired tells whether there was one. */
static int with_fault(int fd, unsigned int nth, unsigned long request, void *arg, bool *fired)
{
	int err = fault_begin(nth), answer;

	if (err)
		return err;
	answer = ioctl(fd, request, arg) < 0 ? -errno : 0;
	err = fault_end(fired);
	return err ?: answer;
}

struct sweep {
	int fd;
	unsigned long request;
	struct vhost_vring_worker arg;	/* begins like vhost_worker_state, too */
};

/*
 * Fail the first allocation, then the second, until it works without a fault. Each failure leaves the threads
 * as they were. -EPROTO for an errno that says something else.
 */
static int sweep(struct proc *me, struct sweep *s, unsigned int *faults)
{
	int before = threads_list(getpid(), NULL, 0), err;
	bool fired = false;
	unsigned int nth;

	for (nth = 1; nth < FAULT_MAX; nth++) {
		struct vhost_vring_worker arg = s->arg;

		snprintf(me->page->step, sizeof(me->page->step), "ioctl %lx, fault %u", s->request,
			 nth);
		err = with_fault(s->fd, nth, s->request, &arg, &fired);
		if (!err && fired && s->request == VHOST_NEW_WORKER) {
			/* It got the memory in another way; the next one may matter more. */
			err = vdev_free_worker(s->fd, arg.index);
			if (err)
				return err;
			continue;
		}
		if (!err) {
			s->arg = arg;
			*faults = nth - 1 + fired;
			return 0;
		}
		if (err != -ENOMEM && err != -EAGAIN)
			return guest_fail(EPROTO, "fault %u gives errno %d", nth, -err);
		err = threads_wait_count(getpid(), before, GONE_MS);
		if (err)
			return err;
	}
	return guest_fail(EPROTO, "ioctl %lx never succeeds", s->request);
}

static int sweeps(struct proc *me, void *data)
{
	struct limited *arg = data;
	struct sweep s = { .fd = vdev_open_thread(VDEV_SCSI, arg->thread) };
	struct sweep move = s, unmake = s;
	unsigned int faults[4] = { 0 };
	int err = s.fd < 0 ? s.fd : 0;

	s.request = VHOST_SET_OWNER;
	err = err ?: sweep(me, &s, &faults[0]);
	s.request = VHOST_NEW_WORKER;
	err = err ?: sweep(me, &s, &faults[1]);
	move.request = VHOST_ATTACH_VRING_WORKER;
	move.arg = (struct vhost_vring_worker){ 2, s.arg.index };
	err = err ?: sweep(me, &move, &faults[2]);
	move.arg.worker_id = 0;
	err = err ?: sweep(me, &move, &faults[2]);
	unmake.request = VHOST_FREE_WORKER;
	unmake.arg.index = s.arg.index;
	err = err ?: sweep(me, &unmake, &faults[3]);
	if (!err && (!faults[0] || !faults[1]))
		err = guest_fail(EPROTO, "no fault was injected");
	return err ?: threads_wait_count(getpid(), 1, GONE_MS);
}

/* covers: W8 */
TEST_F(limits, every_failed_allocation_is_an_error_without_leak)
{
	struct limited arg = { .thread = variant->thread };

	if (!fault_is_possible())
		SKIP(return, "this kernel has no fault injection");
	ASSERT_OK(fault_spare_sleepers(false));
	EXPECT_OK(proc_call(sweeps, &arg, 2 * CALL_MS));
	EXPECT_OK(fault_spare_sleepers(true));
}

static int owns_in_a_setting(struct proc *me, void *data)
{
	struct limited *arg = data;
	struct rlimit files = { 777, 777 };
	cpu_set_t cpus;
	uint32_t id;
	int fd, err;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || setpriority(PRIO_PROCESS, 0, 5) ||
	    setrlimit(RLIMIT_NOFILE, &files) || unshare(CLONE_NEWUTS))
		return guest_fail(errno, "settings");
	fd = vdev_open_thread(VDEV_SCSI, arg->thread);
	err = fd < 0 ? fd : cgroup_enter(arg->group, getpid());
	err = err ?: vdev_set_owner(fd);
	err = err ?: vdev_new_worker(fd, &id);
	if (err)
		return err;
	proc_pause(me);
}

/* Does /proc/@tid/@file of the two lead to the same? */
static bool same_link(pid_t a, pid_t b, const char *file)
{
	char path[64], one[64] = "", two[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/%s", a, file);
	if (readlink(path, one, sizeof(one) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/%s", b, file);
	return readlink(path, two, sizeof(two) - 1) > 0 && !strcmp(one, two);
}

/* covers: T3, docs/uapi.md "What a worker inherits" */
TEST_F(limits, worker_inherits_what_the_page_says)
{
	struct limited arg = { .thread = variant->thread, .group = &self->group };
	bool task = variant->thread == VDEV_THREAD_TASK;
	struct vthread list[2];
	struct rlimit files;
	cpu_set_t cpus;
	pid_t tid;
	int i;

	ASSERT_OK(cgroup_make(&self->group));
	self->has_group = true;
	ASSERT_OK(proc_start(owns_in_a_setting, &arg, &self->proc));
	ASSERT_OK(proc_wait_ready(self->proc, CALL_MS));
	ASSERT_EQ(2, threads_list(self->proc->pid, list, 2));
	for (i = 0; i < 2; i++) {
		tid = list[i].tid;
		EXPECT_EQ(1, cgroup_contains(&self->group, tid));
		ASSERT_EQ(0, sched_getaffinity(tid, sizeof(cpus), &cpus));
		EXPECT_TRUE(CPU_ISSET(1, &cpus));
		EXPECT_EQ(task, !CPU_ISSET(0, &cpus));
		errno = 0;
		EXPECT_EQ(task ? 5 : 0, getpriority(PRIO_PROCESS, tid));
		ASSERT_EQ(0, prlimit(tid, RLIMIT_NOFILE, NULL, &files));
		EXPECT_EQ(task, files.rlim_cur == 777);
		/* 2 is the parent of all kernel threads. */
		EXPECT_TRUE(same_link(tid, task ? self->proc->pid : 2, "ns/uts"));
		EXPECT_FALSE(same_link(tid, task ? 2 : self->proc->pid, "ns/uts"));
	}
	EXPECT_OK(proc_kill(self->proc, GONE_MS));
}

static int own_one(enum vdev_type type, enum vdev_thread thread, int workers)
{
	int fd = vdev_open_thread(type, thread), err;
	uint32_t id;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	while (!err && --workers > 0)
		err = vdev_new_worker(fd, &id);
	return err;
}

static int owns_many(struct proc *me, void *data)
{
	struct limited *arg = data;
	int i, err = 0;

	for (i = 0; !err && i < arg->rounds; i++) {
		snprintf(me->page->step, sizeof(me->page->step), "workers of device %d", i);
		if (i < MOST_SCSI)
			err = own_one(VDEV_SCSI, arg->thread, WORKERS);
		else
			err = own_one(VDEV_VSOCK, arg->thread, 1);
	}
	if (err)
		return err;
	proc_step(me, "exit with all devices open");
	if (arg->group)		/* end by itself */
		return threads_wait_count(getpid(), arg->rounds * WORKERS, GONE_MS);
	proc_pause(me);
}

/* covers: T9 T10 */
TEST_F(limits, hundred_devices_are_open_at_once)
{
	struct limited arg = { .thread = variant->thread, .rounds = DEVICES };
	uint64_t start = guest_now_ns();

	ASSERT_OK(proc_start(owns_many, &arg, &self->proc));
	ASSERT_OK(proc_wait_ready(self->proc, 2 * CALL_MS));
	TH_LOG("open after %d ms", (int)((guest_now_ns() - start) / 1000000));
	EXPECT_EQ(MOST_SCSI * WORKERS + DEVICES - MOST_SCSI,
		  threads_list(self->proc->pid, NULL, 0));
	start = guest_now_ns();
	EXPECT_OK(proc_kill(self->proc, CALL_MS));
	EXPECT_THREADS(self->proc->pid, 0);
	TH_LOG("closed after %d ms", (int)((guest_now_ns() - start) / 1000000));
}

/* covers: T8 T9 */
TEST_F(limits, ten_owners_start_at_once)
{
	struct limited arg = { .thread = variant->thread, .rounds = 4, .group = &self->group };
	struct proc *proc[10] = { NULL };
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_OK(proc_start(owns_many, &arg, &proc[i]));
	for (i = 0; i < 10; i++)
		EXPECT_OK(proc_wait(proc[i], CALL_MS));
	for (i = 0; i < 10; i++) {
		EXPECT_THREADS(proc[i]->pid, 0);
		proc_free(proc[i]);
	}
}

TEST_HARNESS_MAIN
