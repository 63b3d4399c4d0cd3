// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_owner.c - workers made from outside live in their owner's context, whoever asked for them
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/cgroup.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/vctl.h"

#define MANY		64	/* workers whose memory is counted */
#define MOST_WORKERS	129	/* that a device can get more */
#define MEMORY_MAX	"128M"
#define STACK_BYTES	8192	/* less than the stack of any thread of the kernel */
#define SOME_USER	12345

/* Owner and administrator, each in a group of its own. */
FIXTURE(context) {
	struct vctl v;
	struct cgroup owners, admins;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(context);

static int holds_in_a_group(struct proc *me, void *arg)
{
	struct owner *owner = arg;

	return cgroup_enter(owner->arg, getpid()) ?: owner_holds(me, owner);
}

FIXTURE_SETUP(context)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of the owner's context", 40);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(cgroup_make(&self->owners));
	ASSERT_OK(cgroup_make(&self->admins));
	self->owner = (struct owner){ .thread = variant->thread, .arg = &self->owners };
	ASSERT_OK(owner_start(holds_in_a_group, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(context)
{
	if (self->proc)
		EXPECT_OK(proc_kill(self->proc, GONE_MS));
	EXPECT_THREADS(self->proc->pid, 0);
	proc_free(self->proc);
	EXPECT_OK(cgroup_remove(&self->owners));
	EXPECT_OK(cgroup_remove(&self->admins));
	vctl_close(&self->v);
}

/* The administrator is a program that does one thing and exits. */
struct command {
	const struct cgroup *group;
	uint32_t dev, count;
	int want;
};

static int makes_workers(struct proc *me, void *arg)
{
	const struct command *c = arg;
	struct vctl v;
	int err = cgroup_enter(c->group, getpid()) ?: vctl_open(&v);

	proc_step(me, "the administrator makes workers");
	if (err)
		return err;
	err = vctl_worker_new(&v, c->dev, c->count, NULL, NULL);
	if (err != c->want)
		return guest_fail(EPROTO, "worker-new answers %d and not %d", err, c->want);
	if (cgroup_read(c->group, "pids.current", NULL) != 1)
		return guest_fail(EPROTO, "a thread is in the administrator's group");
	return 0;
}

/* covers: T1 */
TEST_F(context, threads_are_in_the_owners_group_and_survive_who_made_them)
{
	struct command c = { &self->admins, self->dev.id, 3, 0 };
	struct vctl_worker list[4];
	long long before = cgroup_read(&self->owners, "pids.current", NULL);
	int i;

	ASSERT_OK(proc_call(makes_workers, &c, CALL_MS));
	ASSERT_EQ(4, vctl_workers(&self->v, self->dev.id, list, 4));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(1, cgroup_contains(&self->owners, list[i].tid));
		EXPECT_FALSE(list[i].killed);
	}
	EXPECT_EQ(4, threads_list(self->proc->pid, NULL, 0));
	EXPECT_EQ(before + 3, cgroup_read(&self->owners, "pids.current", NULL));
	EXPECT_EQ(0, cgroup_read(&self->admins, "pids.current", NULL));
	/* And they serve: the last of them gets everything there is, and ends again. */
	EXPECT_OK(vctl_vq_set(&self->v, self->dev.id, 2, 3));
	EXPECT_OK(vctl_vq_set(&self->v, self->dev.id, 2, 0));
	EXPECT_OK(vctl_worker_del(&self->v, self->dev.id, 3));
}

/* covers: W8 */
TEST_F(context, pids_max_of_the_owner_counts)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	struct command c = { &self->admins, self->dev.id, 4, task ? -EAGAIN : 0 };
	const struct vctl_entry map[] = { { 2, 0, true }, { 3, 1, true }, { 4, 2, true } };
	uint32_t workers = task ? 1 : 5;
	struct vctl_vq vq;

	/* The owner, its worker and two more. */
	ASSERT_OK(cgroup_set(&self->owners, "pids.max", "4"));
	ASSERT_OK(proc_call(makes_workers, &c, CALL_MS));
	/* Kernel threads are none that the limit is about. */
	ASSERT_OK(vctl_dev_get(&self->v, self->dev.id, &self->dev));
	EXPECT_EQ(workers, self->dev.workers);
	EXPECT_THREADS(self->proc->pid, workers);
	if (task) {
		EXPECT_EQ(-EAGAIN, vctl_map_set(&self->v, self->dev.id, map, 3, NULL));
		EXPECT_NE(NULL, strstr(self->v.genl.text, "threads"));
		ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, 2, &vq));
		EXPECT_EQ(0, vq.worker_id);
		EXPECT_THREADS(self->proc->pid, 1);
		EXPECT_OK(vctl_map_set(&self->v, self->dev.id, map, 2, NULL));
		EXPECT_THREADS(self->proc->pid, 3);
	}
	ASSERT_OK(cgroup_set(&self->owners, "pids.max", "max"));
	c.want = 0;
	EXPECT_OK(proc_call(makes_workers, &c, CALL_MS));
}

/* At the limit of its memory a worker more is an error of who asks, and not the end of the owner. */
TEST_F(context, memory_limit_of_the_owner_does_not_kill_it)
{
	long long now = cgroup_read(&self->owners, "memory.current", NULL);
	char max[24];
	int err = 0, n;

	snprintf(max, sizeof(max), "%lld", now);
	ASSERT_OK(cgroup_set(&self->owners, "memory.max", max));
	for (n = 1; n < MOST_WORKERS && !err; n++)
		err = vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL);
	/* A kernel thread takes next to nothing from the owner. */
	if (err || variant->thread == VDEV_THREAD_TASK)
		EXPECT_EQ(-ENOMEM, err);
	EXPECT_EQ(0, cgroup_read(&self->owners, "memory.events", "oom_kill"));
	EXPECT_EQ(-ETIMEDOUT, proc_wait(self->proc, 0));
	ASSERT_OK(cgroup_set(&self->owners, "memory.max", "max"));
	EXPECT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
}

/* Statistics of memory are up to date after some seconds. */
static int wait_for_stacks(const struct cgroup *group, long long bytes)
{
	uint64_t start = guest_now_ns();
	long long now;

	for (;;) {
		now = cgroup_read(group, "memory.stat", "kernel_stack");
		if (now < 0 || now >= bytes)
			return now < 0 ? now : 0;
		if (!guest_left_ms(start, GONE_MS))
			return guest_fail(ETIMEDOUT, "%lld bytes of stacks, not %lld", now, bytes);
		guest_sleep_ms(100);
	}
}

TEST_F(context, memory_is_charged_to_the_owner)
{
	struct command c = { &self->admins, self->dev.id, MANY, 0 };
	long long admins = cgroup_read(&self->admins, "memory.stat", "slab");
	long long owners = cgroup_read(&self->owners, "memory.stat", "kernel_stack");
	char limit[128];

	ASSERT_LE(0, owners);
	/* Room for all of it, and a limit is in force. */
	snprintf(limit, sizeof(limit), "%s/memory.max", self->owners.path);
	ASSERT_EQ(0, put_text(limit, MEMORY_MAX));
	ASSERT_OK(proc_call(makes_workers, &c, CALL_MS));
	/* The stack of a kernel thread is nobody's. */
	if (variant->thread == VDEV_THREAD_TASK)
		EXPECT_OK(wait_for_stacks(&self->owners, owners + MANY * STACK_BYTES));
	EXPECT_GT(STACK_BYTES, cgroup_read(&self->admins, "memory.stat", "kernel_stack"));
	EXPECT_GT(admins + 64 * 1024, cgroup_read(&self->admins, "memory.stat", "slab"));
}

static int holds_as_a_user_of_few_threads(struct proc *me, void *arg)
{
	struct rlimit limit = { 3, 3 };
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread);

	if (fd < 0 || setrlimit(RLIMIT_NPROC, &limit) ||
	    setresuid(SOME_USER, SOME_USER, SOME_USER))
		return guest_fail(errno, "an owner without privileges");
	if (vdev_set_owner(fd))
		return guest_fail(errno, "SET_OWNER");
	proc_pause(me);
}

/* covers: W8 */
TEST_F(context, limit_of_threads_of_the_owners_user_counts)
{
	struct proc *proc;
	int want = variant->thread == VDEV_THREAD_TASK ? -EAGAIN : 0;
	struct vctl_dev dev;

	ASSERT_OK(owner_start(holds_as_a_user_of_few_threads, &self->owner, &self->v, &proc, &dev));
	EXPECT_OK(vctl_worker_new(&self->v, dev.id, 1, NULL, NULL));
	EXPECT_EQ(want, vctl_worker_new(&self->v, dev.id, 1, NULL, NULL));
	EXPECT_OK(proc_kill(proc, GONE_MS));
	EXPECT_THREADS(proc->pid, 0);
	proc_free(proc);
}

/* covers: T3 */
TEST_F(context, cpus_are_those_that_the_owners_own_workers_get)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	struct vctl_worker worker;
	cpu_set_t cpus;
	uint32_t id;

	/* Not those of the worker that makes it, which somebody has pinned. */
	ASSERT_OK(vctl_worker_set(&self->v, self->dev.id, 0, "1"));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, &id));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, id, &worker));
	EXPECT_STREQ("0-1", worker.cpus);
	/* A thread of the owner may run where the owner may, a kernel thread anywhere. */
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	ASSERT_EQ(0, sched_setaffinity(self->proc->pid, sizeof(cpus), &cpus));
	ASSERT_OK(vctl_worker_set(&self->v, self->dev.id, 0, "0"));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, &id));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, id, &worker));
	EXPECT_STREQ(task ? "1" : "0-1", worker.cpus);
	/* The administrator's CPUs are of no account. */
	ASSERT_EQ(0, sched_setaffinity(self->proc->pid, sizeof(cpus), &cpus));
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, &id));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, id, &worker));
	EXPECT_STREQ(task ? "1" : "0-1", worker.cpus);
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, "0", &id));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, id, &worker));
	EXPECT_STREQ("0", worker.cpus);
}

/* covers: T2 */
TEST_F(context, cpus_are_set_in_full_or_not_at_all)
{
	struct vctl_worker worker;
	cpu_set_t cpus;
	int err;

	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 0, &worker));
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	ASSERT_EQ(0, sched_setaffinity(worker.tid, sizeof(cpus), &cpus));
	/* Newer kernels keep it within what sched_setaffinity() said. */
	err = vctl_worker_set(&self->v, self->dev.id, 0, "0-1");
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 0, &worker));
	if (err)
		EXPECT_EQ(-EBUSY, err);
	EXPECT_STREQ(err ? "1" : "0-1", worker.cpus);
}

struct stopper {
	pid_t pid;
	unsigned int threads;	/* with so many it is stopped */
};

/* As fast as can be, or all workers are there before. */
static int stops_the_owner(struct proc *me, void *arg)
{
	const struct stopper *s = arg;
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	proc_ready(me);
	do {	/* each thread is a directory in there, and links to it */
		if (stat(path, &st))
			return guest_fail(errno, "%s", path);
	} while (st.st_nlink < 2 + s->threads);
	return kill(s->pid, SIGSTOP) ? guest_fail(errno, "SIGSTOP") : 0;
}

/* covers: T11 */
TEST_F(context, owner_that_is_stopped_halfway_gets_none_and_holds_up_nobody_for_long)
{
	bool task = variant->thread == VDEV_THREAD_TASK;
	struct stopper s = { self->proc->pid, task ? 8 : 1 };
	uint64_t start;
	struct proc *proc;
	int err;

	ASSERT_OK(proc_start(stops_the_owner, &s, &proc));
	ASSERT_OK(proc_wait_ready(proc, CALL_MS));
	start = guest_now_ns();
	err = vctl_worker_new(&self->v, self->dev.id, 2 * MANY, NULL, NULL);
	/* 5 s for the worker that does not come, and 5 s for those that are there to end. */
	EXPECT_LT(0, guest_left_ms(start, 2 * 5000 + 4000));
	ASSERT_OK(proc_wait(proc, CALL_MS));
	EXPECT_EQ(task ? -ETIMEDOUT : 0, err);
	ASSERT_OK(vctl_dev_get(&self->v, self->dev.id, &self->dev));
	EXPECT_EQ(task ? 1 : 1 + 2 * MANY, self->dev.workers);
	kill(self->proc->pid, SIGCONT);
	EXPECT_THREADS(self->proc->pid, self->dev.workers);
	proc_free(proc);
}

static void *pauses(void *arg)
{
	proc_pause(arg);
	return NULL;
}

static int goes_on_without_its_first_thread(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread);
	pthread_t thread;

	if (fd < 0 || vdev_set_owner(fd) || pthread_create(&thread, NULL, pauses, me))
		return guest_fail(errno, "an owner with two threads");
	syscall(SYS_exit, 0);
	return 0;
}

TEST_F(context, owner_whose_first_thread_has_ended_gets_workers)
{
	struct vctl_dev dev;
	struct proc *proc;

	ASSERT_OK(owner_start(goes_on_without_its_first_thread, &self->owner, &self->v, &proc, &dev));
	EXPECT_OK(threads_wait_gone(proc->pid, GONE_MS));
	EXPECT_EQ(proc->pid, dev.owner_pid);
	EXPECT_OK(vctl_worker_new(&self->v, dev.id, 2, NULL, NULL));
	EXPECT_EQ(3, vctl_workers(&self->v, dev.id, NULL, 0));
	EXPECT_OK(proc_kill(proc, GONE_MS));
	proc_free(proc);
}

TEST_HARNESS_MAIN
