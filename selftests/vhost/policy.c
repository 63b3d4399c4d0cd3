// SPDX-License-Identifier: GPL-2.0
/*
 * policy.c - the default policy gives queues to workers where nobody else does
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/cgroup.h"
#include "lib/expect.h"
#include "lib/kicks.h"
#include "lib/owner.h"
#include "lib/put.h"
#include "lib/storm.h"
#include "lib/vctl.h"

#define VQS		9	/* that a test uses, control and events included */
#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"
#define LEAST_WORKS	3	/* of each worker of a load */
#define ALARM_US	1000
#define ALARMED_MS	1500
#define LEAST_ALARMS	10

#define SINGLE	((struct vctl_policy){ VHOST_POLICY_KIND_SINGLE, 0 })
#define PER_VQ	((struct vctl_policy){ VHOST_POLICY_KIND_PER_VQ, 0 })
#define PER_CPU	((struct vctl_policy){ VHOST_POLICY_KIND_PER_CPU, 0 })
#define COUNT(n) ((struct vctl_policy){ VHOST_POLICY_KIND_COUNT, n })

FIXTURE(policy) {
	struct vctl v;
	int fd, log;
	struct cgroup group;
	bool has_group;
};

FIXTURE_THREADS(policy);

FIXTURE_SETUP(policy)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of the default policy", 40);
	ASSERT_OK(vctl_open(&self->v));
	self->log = storm_log_open();
	ASSERT_VALID(self->log);
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(self->fd);
	ASSERT_OK(vdev_set_owner(self->fd));
}

FIXTURE_TEARDOWN(policy)
{
	EXPECT_OK(vctl_policy_set(&self->v, &SINGLE));
	EXPECT_OK(put_text(PUT_MAX_WORKERS, "0"));
	if (self->has_group)
		EXPECT_OK(cgroup_remove(&self->group));
	close(self->fd);
	close(self->log);
	vctl_close(&self->v);
}

/* The policy is set, all queues come into use in their order: which workers they have then. */
static int expect_workers(FIXTURE_DATA(policy) *self, struct vctl_policy policy,
			  const uint32_t map[VQS])
{
	return vctl_policy_set(&self->v, &policy) ?: kicks_give_range(self->fd, 0, VQS - 1) ?:
	       kicks_expect_map(self->fd, 0, map, VQS);
}

static int expect_told(FIXTURE_DATA(policy) *self, const char *policy, uint32_t failed)
{
	struct vctl_dev dev;
	int err = vctl_dev_of(&self->v, getpid(), &dev);

	if (!err && (strcmp(dev.policy, policy) || dev.policy_failed != failed))
		err = guest_fail(EPROTO, "policy '%s', %u failed", dev.policy, dev.policy_failed);
	return err;
}

static const uint32_t on_first[VQS];
static const uint32_t on_own[VQS] = { 0, 0, 0, 1, 2, 3, 4, 5, 6 };
static const uint32_t on_two[VQS] = { 0, 0, 0, 1, 0, 1, 0, 1, 0 };
static const uint32_t on_three[VQS] = { 0, 0, 0, 1, 2, 0, 1, 2, 0 };

TEST_F(policy, single_is_the_default_and_leaves_all_with_the_first_worker)
{
	struct vctl_policy policy;

	ASSERT_OK(vctl_policy_get(&self->v, &policy));
	EXPECT_EQ(VHOST_POLICY_KIND_SINGLE, policy.kind);
	EXPECT_OK(expect_told(self, "", 0));
	EXPECT_OK(expect_workers(self, SINGLE, on_first));
	EXPECT_OK(expect_told(self, "single", 0));
	EXPECT_THREADS(getpid(), 1);
}

/* As QEMU has it with worker_per_virtqueue. */
TEST_F(policy, per_vq_gives_each_queue_behind_the_first_with_data_its_own)
{
	EXPECT_OK(expect_workers(self, PER_VQ, on_own));
	EXPECT_OK(expect_told(self, "per-vq", 0));
	EXPECT_THREADS(getpid(), 7);
}

TEST_F(policy, a_number_is_how_many_workers_share_the_queues_evenly)
{
	EXPECT_OK(expect_workers(self, COUNT(3), on_three));
	EXPECT_OK(expect_told(self, "3", 0));
	EXPECT_THREADS(getpid(), 3);
}

TEST_F(policy, number_one_is_single)
{
	EXPECT_OK(expect_workers(self, COUNT(1), on_first));
	EXPECT_OK(expect_told(self, "1", 0));
}

TEST_F(policy, per_cpu_counts_the_cpus_that_are_online)
{
	ASSERT_EQ(2, sysconf(_SC_NPROCESSORS_ONLN));
	EXPECT_OK(expect_workers(self, PER_CPU, on_two));
	EXPECT_OK(expect_told(self, "per-cpu", 0));
	/* The device of a host with one CPU. */
	close(self->fd);
	ASSERT_OK(put_text(CPU1_ONLINE, "0"));
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	EXPECT_OK(vdev_set_owner(self->fd));
	EXPECT_OK(expect_workers(self, PER_CPU, on_first));
	EXPECT_OK(put_text(CPU1_ONLINE, "1"));
}

/* The order in which a guest sets up its queues makes no difference to who is left alone. */
TEST_F(policy, queues_may_come_into_use_in_any_order)
{
	static const uint32_t map[] = { 0, 0, 0, 2, 0, 1 };

	ASSERT_OK(vctl_policy_set(&self->v, &PER_VQ));
	EXPECT_OK(kicks_give(self->fd, 5));
	EXPECT_OK(kicks_give(self->fd, 3));
	EXPECT_OK(kicks_give(self->fd, 2));
	EXPECT_OK(kicks_give(self->fd, 0));
	EXPECT_OK(kicks_expect_map(self->fd, 0, map, 6));
}

static int choose_new(FIXTURE_DATA(policy) *self, uint32_t dev)
{
	uint32_t id;

	(void)dev;
	return vdev_new_worker(self->fd, &id);
}

static int choose_attach(FIXTURE_DATA(policy) *self, uint32_t dev)
{
	(void)dev;
	return vdev_attach_worker(self->fd, 2, 0);
}

static int choose_worker_new(FIXTURE_DATA(policy) *self, uint32_t dev)
{
	return vctl_worker_new(&self->v, dev, 1, NULL, NULL);
}

static int choose_vq_set(FIXTURE_DATA(policy) *self, uint32_t dev)
{
	return vctl_vq_set(&self->v, dev, 2, 0);
}

static int choose_map_set(FIXTURE_DATA(policy) *self, uint32_t dev)
{
	static const struct vctl_entry entry = { 2, 0, false };

	return vctl_map_set(&self->v, dev, &entry, 1, NULL);
}

TEST_F(policy, an_explicit_choice_wins)
{
	static int (*const choices[])(FIXTURE_DATA(policy) *self, uint32_t dev) = {
		choose_new, choose_attach, choose_worker_new, choose_vq_set, choose_map_set,
	};
	struct vctl_dev dev;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		close(self->fd);
		self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
		ASSERT_OK(vdev_set_owner(self->fd));
		ASSERT_OK(vctl_dev_of(&self->v, getpid(), &dev));
		EXPECT_OK(choices[i](self, dev.id));
		EXPECT_OK(expect_workers(self, PER_VQ, on_first)) { TH_LOG("choice %u", i); }
		EXPECT_OK(expect_told(self, "explicit", 0));
	}
}

/* What was placed before stays, too; what was refused, or only looked, is no choice. */
TEST_F(policy, a_choice_counts_from_when_it_is_made)
{
	static const uint32_t before[] = { 1, 0, 0 }, after[] = { 1, 2, 0 };
	uint32_t id;

	ASSERT_OK(vctl_policy_set(&self->v, &PER_VQ));
	EXPECT_OK(kicks_give(self->fd, 3));
	EXPECT_EQ(-ENODEV, vdev_attach_worker(self->fd, 3, 77));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 0));
	EXPECT_OK(kicks_expect_map(self->fd, 3, before, 3));
	EXPECT_OK(kicks_give(self->fd, 4));
	EXPECT_OK(vdev_new_worker(self->fd, &id));
	EXPECT_OK(kicks_give(self->fd, 5));
	EXPECT_OK(kicks_expect_map(self->fd, 3, after, 3));
}

/* A guest that boots again: the eventfds are others, or they go and come. */
TEST_F(policy, a_queue_that_was_placed_stays)
{
	EXPECT_OK(expect_workers(self, COUNT(3), on_three));
	EXPECT_OK(kicks_give_range(self->fd, 0, VQS - 1));
	EXPECT_OK(kicks_take(self->fd, 4));
	EXPECT_OK(kicks_take(self->fd, 3));
	EXPECT_OK(kicks_give(self->fd, 3));
	EXPECT_OK(kicks_give(self->fd, 4));
	EXPECT_OK(kicks_expect_map(self->fd, 0, on_three, VQS));
	EXPECT_THREADS(getpid(), 3);
}

TEST_F(policy, a_change_is_for_queues_that_come_into_use_later)
{
	static const uint32_t map[VQS] = { 0, 0, 0, 0, 0, 1, 0, 0, 0 };

	EXPECT_OK(kicks_give_range(self->fd, 0, 4));
	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "per-vq\n"));
	EXPECT_OK(kicks_give(self->fd, 4));
	EXPECT_OK(kicks_give(self->fd, 5));
	EXPECT_OK(kicks_expect_map(self->fd, 0, map, VQS));
	ASSERT_OK(put_text(PUT_DEFAULT_WORKERS, "single"));
	EXPECT_OK(kicks_give(self->fd, 6));
	EXPECT_OK(kicks_expect_map(self->fd, 0, map, VQS));
	EXPECT_OK(expect_told(self, "single", 0));
}

TEST_F(policy, what_cannot_be_made_is_told_and_fails_nothing)
{
	static const uint32_t map[VQS] = { 0, 0, 0, 1, 0, 0, 2, 0, 0 };

	ASSERT_OK(put_text(PUT_MAX_WORKERS, "2"));
	ASSERT_OK(vctl_policy_set(&self->v, &PER_VQ));
	EXPECT_OK(kicks_give_range(self->fd, 0, 5));
	EXPECT_OK(expect_told(self, "per-vq", 2));
	ASSERT_OK(put_text(PUT_MAX_WORKERS, "0"));
	EXPECT_OK(kicks_give(self->fd, 6));
	EXPECT_OK(kicks_expect_map(self->fd, 0, map, VQS));
	EXPECT_OK(expect_told(self, "per-vq", 2));
	/* Device, owner and queue are named, and the errno. */
	EXPECT_EQ(2, storm_log_count(self->log, "stays with the first worker"));
}

static int beyond_pids_max(struct proc *me, void *data)
{
	static const uint32_t map[] = { 0, 0 };
	const struct cgroup *group = data;
	char words[96];
	int log = storm_log_open(), fd, err;

	proc_step(me, "queues come into use with pids.max reached");
	fd = vdev_open_thread(VDEV_SCSI, VDEV_THREAD_TASK);
	err = fd < 0 ? fd : vdev_set_owner(fd) ?: cgroup_enter(group, getpid()) ?:
	      cgroup_set(group, "pids.max", "2") ?: kicks_give_range(fd, 0, 4) ?:
	      kicks_expect_map(fd, 3, map, 2);
	if (err)
		return err;
	snprintf(words, sizeof(words), "process %d: virtqueue 4 stays", getpid());
	if (storm_log_count(log, words) != 1)
		return guest_fail(EPROTO, "the log has no line with '%s'", words);
	return cgroup_set(group, "pids.max", "max") ?: kicks_give(fd, 5) ?:
	       kicks_expect_own(fd, 5, 5);
}

TEST(threads_beyond_pids_max_are_told_and_fail_nothing)
{
	struct cgroup group;
	struct vctl v;

	if (!vdev_has_fork_control(VDEV_SCSI))
		SKIP(return, "this kernel has no task workers");
	ASSERT_OK(vctl_open(&v));
	ASSERT_OK(cgroup_make(&group));
	ASSERT_OK(vctl_policy_set(&v, &PER_VQ));
	EXPECT_OK(proc_call(beyond_pids_max, &group, CALL_MS));
	EXPECT_OK(vctl_policy_set(&v, &SINGLE));
	EXPECT_OK(cgroup_remove(&group));
	vctl_close(&v);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* No SA_RESTART: who lets a signal through to the caller is found out. */
static int alarm_every(unsigned int us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };
	struct sigaction action = { .sa_handler = on_alarm };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
		return guest_fail(errno, "alarms");
	return 0;
}

TEST_F(policy, kicks_are_set_under_a_storm_of_signals)
{
	uint64_t start = guest_now_ns();
	int err = 0, rounds = 0;

	ASSERT_OK(vctl_policy_set(&self->v, &PER_VQ));
	/* On a busy machine alarms are few. */
	while (!err && (guest_left_ms(start, ALARMED_MS) ||
			(alarms <= LEAST_ALARMS && guest_left_ms(start, 10 * ALARMED_MS)))) {
		close(self->fd);
		self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
		ASSERT_OK(vdev_set_owner(self->fd));
		ASSERT_OK(alarm_every(ALARM_US));
		err = kicks_give_range(self->fd, 0, VQS - 1);
		ASSERT_OK(alarm_every(0));
		/* Each attempt that a signal ended has taken a number. */
		err = err ?: kicks_expect_map(self->fd, 0, on_first, 3) ?:
		      kicks_expect_own(self->fd, 3, VQS - 1) ?: expect_told(self, "per-vq", 0);
		rounds++;
	}
	EXPECT_OK(err);
	EXPECT_LT(LEAST_ALARMS, alarms);
	TH_LOG("%d alarms in %d devices", (int)alarms, rounds);
}

static int opens(struct vctl_policy policy, enum vdev_type type, enum vdev_thread thread,
		 struct vctl *v)
{
	int fd = vdev_open_thread(type, thread), err;

	if (fd < 0)
		return fd;
	err = vdev_set_owner(fd) ?: vctl_policy_set(v, &policy);
	if (err)
		close(fd);
	return err ?: fd;
}

TEST_F(policy, another_owner_of_the_device_starts_anew)
{
	static const uint32_t own[] = { 0, 1 };
	int fd = opens(PER_VQ, VDEV_NET, variant->thread, &self->v);
	uint32_t id;

	ASSERT_VALID(fd);
	EXPECT_OK(vdev_new_worker(fd, &id));
	EXPECT_OK(kicks_give_range(fd, 0, 1));
	EXPECT_OK(kicks_expect_map(fd, 0, on_first, 2));
	EXPECT_OK(vdev_reset_owner(fd));
	EXPECT_OK(vdev_set_owner(fd));
	/* Its first queue has data, the second gets a worker. */
	EXPECT_OK(kicks_give_range(fd, 0, 1));
	EXPECT_OK(kicks_expect_map(fd, 0, own, 2));
	close(fd);
}

TEST_F(policy, a_driver_for_one_worker_is_left_alone)
{
	int fd = opens(PER_VQ, VDEV_VSOCK, variant->thread, &self->v);

	ASSERT_VALID(fd);
	EXPECT_OK(kicks_give_range(fd, 0, 1));
	EXPECT_OK(expect_told(self, "", 0));
	EXPECT_THREADS(getpid(), 2);
	close(fd);
}

/* Wait until each worker of the device ran some works: which one runs first is the guest's choice. */
static int wait_for_io_of_all(struct vctl *v, uint32_t dev)
{
	struct vctl_worker workers[OWNER_QUEUES + 1];
	uint64_t start = guest_now_ns();
	int idle, n, i;

	do {
		guest_sleep_ms(5);
		n = vctl_workers(v, dev, workers, OWNER_QUEUES + 1);
		if (n != OWNER_QUEUES)
			return guest_fail(EPROTO, "%d workers", n);
		for (i = 0, idle = -1; i < n; i++)
			if (workers[i].works < LEAST_WORKS)
				idle = i;
		if (idle >= 0 && !guest_left_ms(start, OWNER_MS))
			return guest_fail(ETIMEDOUT, "worker %d ran %lu works", idle,
					  (unsigned long)workers[idle].works);
	} while (idle >= 0);
	return 0;
}

TEST_F(policy, io_runs_on_all_workers_of_a_vmm_that_knows_none)
{
	struct lio_opts lio = { .size = 8 << 20 };
	struct owner owner = { .thread = variant->thread };
	struct lio *target;
	struct vctl_dev dev;
	struct proc *proc;

	ASSERT_OK(lio_create(&lio, &target));
	owner.wwpn = target->wwpn;
	ASSERT_OK(vctl_policy_set(&self->v, &PER_VQ));
	ASSERT_OK(owner_start(owner_does_io, &owner, &self->v, &proc, &dev));
	EXPECT_STREQ("per-vq", dev.policy);
	EXPECT_OK(proc_wait_progress(proc, 400, OWNER_MS));
	EXPECT_OK(wait_for_io_of_all(&self->v, dev.id));
	EXPECT_OK(owner_stop_io(proc));
	EXPECT_LT(20, proc->page->word[OWNER_VERIFIED]);
	proc_free(proc);
	EXPECT_OK(lio_destroy(target));
}

TEST_HARNESS_MAIN
