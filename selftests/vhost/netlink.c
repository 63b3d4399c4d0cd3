// SPDX-License-Identifier: GPL-2.0
/*
 * netlink.c - what the netlink family tells about another process's devices is true
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/vctl.h"

#define NVQS	130
#define OWNER_COMM	"some-vmm"

FIXTURE(dev) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(dev);

/* A device that is set up, gets its endpoint and loses it. */
static int has_endpoint_for_a_while(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	int err;

	prctl(PR_SET_NAME, OWNER_COMM);
	err = owner_open(me, owner, &dev);
	if (err)
		return err;
	proc_await(me);
	err = vscsi_set_endpoint(dev, owner->wwpn) ?: vscsi_test_unit_ready(dev, 0, 0);
	if (err)
		return err;
	proc_await(me);
	err = vscsi_clear_endpoint(dev);
	proc_await(me);
	vscsi_stop(dev);
	return err;
}

FIXTURE_SETUP(dev)
{
	struct lio_opts lio = { .size = 8 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of the netlink family", 60);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){ .thread = variant->thread, .wwpn = self->target->wwpn };
}

FIXTURE_TEARDOWN(dev)
{
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

static uint32_t kind_of(enum vdev_thread thread)
{
	return thread == VDEV_THREAD_TASK ? VHOST_THREAD_KIND_TASK : VHOST_THREAD_KIND_KTHREAD;
}

/* Two telling the same. */
static bool same_dev(const struct vctl_dev *a, const struct vctl_dev *b)
{
	return a->id == b->id && !strcmp(a->backend, b->backend) && a->owner_pid == b->owner_pid &&
	       !strcmp(a->owner_comm, b->owner_comm) && a->thread_kind == b->thread_kind &&
	       a->vqs == b->vqs && a->vqs_used == b->vqs_used && a->workers == b->workers &&
	       a->max_workers == b->max_workers && !strcmp(a->wwpn, b->wwpn);
}

/* covers: T1 */
TEST_F(dev, device_is_told_as_it_is)
{
	struct vctl_dev *dev = &self->dev, again;

	ASSERT_OK(owner_start(has_endpoint_for_a_while, &self->owner, &self->v, &self->proc, dev));
	EXPECT_STREQ("scsi", dev->backend);
	EXPECT_EQ(self->proc->pid, dev->owner_pid);
	EXPECT_STREQ(OWNER_COMM, dev->owner_comm);
	EXPECT_EQ(kind_of(variant->thread), dev->thread_kind);
	EXPECT_EQ(NVQS, dev->vqs);
	EXPECT_EQ(OWNER_VQS, dev->vqs_used);
	EXPECT_EQ(1, dev->workers);
	EXPECT_EQ(NVQS, dev->max_workers);
	EXPECT_STREQ("", dev->wwpn);
	ASSERT_OK(vctl_dev_get(&self->v, dev->id, &again));
	EXPECT_TRUE(same_dev(dev, &again));
}

TEST_F(dev, wwpn_is_told_while_the_endpoint_is_set)
{
	struct vctl_dev *dev = &self->dev;

	ASSERT_OK(owner_start(has_endpoint_for_a_while, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(vctl_dev_get(&self->v, dev->id, dev));
	EXPECT_STREQ(self->target->wwpn, dev->wwpn);
	/* That is no use of virtqueues that the guest has not set up. */
	EXPECT_EQ(OWNER_VQS, dev->vqs_used);
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(vctl_dev_get(&self->v, dev->id, dev));
	EXPECT_STREQ("", dev->wwpn);
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, dev->id, dev));
}

/* Is @tid the thread of that worker, by its name and its place in /proc? */
static int check_thread(const struct vctl_worker *w, pid_t owner, enum vdev_thread kind)
{
	struct vthread list[16];
	char name[64];
	int n = threads_list(owner, list, 16), i;

	threads_name(owner, w->dev_id, w->id, kind, name, sizeof(name));
	for (i = 0; i < n; i++)
		if (list[i].tid == (pid_t)w->tid)
			return list[i].kind == kind && !strcmp(list[i].comm, name) ? 0 :
			       guest_fail(EPROTO, "thread %d is %s and not %s", w->tid,
					  list[i].comm, name);
	return guest_fail(ESRCH, "worker %u has no thread %u", w->id, w->tid);
}

/* The CPUs of the list are those of the thread. */
static int check_cpus(const struct vctl_worker *w)
{
	cpu_set_t told, real;
	const char *at = w->cpus;
	char *end;

	CPU_ZERO(&told);
	while (*at) {
		long cpu = strtol(at, &end, 10), last = cpu;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		while (cpu <= last)
			CPU_SET(cpu++, &told);
		at = *end ? end + 1 : end;
	}
	if (sched_getaffinity(w->tid, sizeof(real), &real))
		return guest_fail(errno, "CPUs of thread %u", w->tid);
	return CPU_EQUAL(&told, &real) ? 0 : guest_fail(EPROTO, "CPUs are not %s", w->cpus);
}

/* covers: T1 T2 T3 */
TEST_F(dev, workers_are_told_as_they_are)
{
	struct vctl_dev *dev = &self->dev;
	struct vctl_worker list[4], one;
	uint32_t ids[2];
	int i;

	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, dev));
	ASSERT_EQ(1, vctl_workers(&self->v, dev->id, list, 4));
	EXPECT_STREQ("0-129", list[0].vqs);
	ASSERT_OK(vctl_worker_new(&self->v, dev->id, 2, NULL, ids));
	ASSERT_OK(vctl_vq_set(&self->v, dev->id, 3, ids[0]));
	ASSERT_OK(vctl_vq_set(&self->v, dev->id, 5, ids[0]));
	ASSERT_OK(vctl_vq_set(&self->v, dev->id, 6, ids[0]));
	ASSERT_EQ(3, vctl_workers(&self->v, dev->id, list, 4));
	EXPECT_STREQ("0-2,4,7-129", list[0].vqs);
	EXPECT_STREQ("3,5-6", list[1].vqs);
	EXPECT_STREQ("", list[2].vqs);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(dev->id, list[i].dev_id);
		EXPECT_EQ(i, list[i].id);
		EXPECT_EQ(kind_of(variant->thread), list[i].thread_kind);
		EXPECT_FALSE(list[i].killed);
		EXPECT_OK(check_thread(&list[i], self->proc->pid, variant->thread));
		EXPECT_STREQ("0-1", list[i].cpus);
		EXPECT_OK(check_cpus(&list[i]));
		ASSERT_OK(vctl_worker_get(&self->v, dev->id, i, &one));
		EXPECT_EQ(list[i].tid, one.tid);
		EXPECT_STREQ(list[i].vqs, one.vqs);
	}
	/* Somebody else pins one: no cache of ours hides it. */
	{
		cpu_set_t one_cpu;

		CPU_ZERO(&one_cpu);
		CPU_SET(1, &one_cpu);
		ASSERT_EQ(0, sched_setaffinity(list[1].tid, sizeof(one_cpu), &one_cpu));
	}
	ASSERT_OK(vctl_worker_get(&self->v, dev->id, 1, &one));
	EXPECT_STREQ("1", one.cpus);
	ASSERT_OK(vctl_dev_get(&self->v, dev->id, dev));
	EXPECT_EQ(3, dev->workers);
}

/* covers: T1 */
TEST_F(dev, virtqueues_are_told_as_they_are)
{
	struct vctl_dev *dev = &self->dev;
	struct vctl_vq list[NVQS], one;
	uint32_t id, i;

	ASSERT_OK(owner_start(has_endpoint_for_a_while, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(vctl_worker_new(&self->v, dev->id, 0, NULL, &id));
	ASSERT_OK(vctl_vq_set(&self->v, dev->id, NVQS - 1, id));
	ASSERT_EQ(NVQS, vctl_vqs(&self->v, dev->id, list, NVQS));
	for (i = 0; i < NVQS; i++) {
		EXPECT_EQ(dev->id, list[i].dev_id);
		EXPECT_EQ(i, list[i].index);
		EXPECT_EQ(i == NVQS - 1 ? id : 0, list[i].worker_id);
		EXPECT_EQ(i < OWNER_VQS, list[i].used);
	}
	ASSERT_OK(vctl_vq_get(&self->v, dev->id, NVQS - 1, &one));
	EXPECT_EQ(NVQS - 1, one.index);
	EXPECT_EQ(id, one.worker_id);
}

TEST_F(dev, dumps_of_one_device_leave_the_others_out)
{
	struct vctl_dev list[8];
	struct vctl_worker workers[8];
	static struct vctl_vq vqs[4 * NVQS];
	uint32_t first;
	int i;

	self->owner.devices = 3;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_EQ(3, vctl_devs(&self->v, list, 8));
	first = list[0].id;
	EXPECT_LT(0, first);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(first + i, list[i].id);
	ASSERT_OK(vctl_worker_new(&self->v, first + 1, 2, NULL, NULL));
	ASSERT_EQ(5, vctl_workers(&self->v, 0, workers, 8));
	EXPECT_EQ(first, workers[0].dev_id);
	EXPECT_EQ(first + 1, workers[3].dev_id);
	EXPECT_EQ(first + 2, workers[4].dev_id);
	EXPECT_EQ(3, vctl_workers(&self->v, first + 1, workers, 8));
	EXPECT_EQ(first + 1, workers[0].dev_id);
	EXPECT_EQ(3 * NVQS, vctl_vqs(&self->v, 0, vqs, 4 * NVQS));
	EXPECT_EQ(NVQS, vctl_vqs(&self->v, first + 2, vqs, 4 * NVQS));
	EXPECT_EQ(first + 2, vqs[0].dev_id);
}

/* Work done since @before; times are not looked at. */
static bool has_grown(const struct vctl_worker *before, const struct vctl_worker *now)
{
	return now->works > before->works && now->runs > before->runs &&
	       now->busy_ns > before->busy_ns && now->longest_run_ns >= before->longest_run_ns;
}

static bool same_counts(const struct vctl_worker *before, const struct vctl_worker *now)
{
	return now->works == before->works && now->runs == before->runs &&
	       now->wakeups == before->wakeups && now->busy_ns == before->busy_ns;
}

TEST_F(dev, counters_count_what_happens)
{
	struct vctl_worker before[2], now[2];
	struct vctl_vq vq_before, vq_now, idle;
	struct vctl *v = &self->v;
	struct vctl_dev *dev = &self->dev;
	uint64_t begun = guest_now_ns();
	uint32_t id, q;

	ASSERT_OK(owner_start(owner_does_io, &self->owner, v, &self->proc, dev));
	ASSERT_OK(vctl_worker_new(v, dev->id, 1, NULL, &id));
	ASSERT_OK(proc_wait_progress(self->proc, 100, OWNER_MS));
	ASSERT_EQ(2, vctl_workers(v, dev->id, before, 2));
	ASSERT_OK(vctl_vq_get(v, dev->id, VDEV_SCSI_VQ_IO, &vq_before));
	ASSERT_OK(proc_wait_progress(self->proc, 200, OWNER_MS));
	ASSERT_EQ(2, vctl_workers(v, dev->id, now, 2));
	ASSERT_OK(vctl_vq_get(v, dev->id, VDEV_SCSI_VQ_IO, &vq_now));
	EXPECT_TRUE(has_grown(&before[0], &now[0]));
	EXPECT_TRUE(same_counts(&before[1], &now[1]));
	EXPECT_LT(vq_before.kicks, vq_now.kicks);
	EXPECT_LT(vq_before.works, vq_now.works);
	EXPECT_LE(now[0].runs, now[0].works);
	EXPECT_LE(now[0].wakeups, now[0].runs);
	EXPECT_LE(now[0].longest_run_ns, now[0].busy_ns);
	EXPECT_GT(guest_now_ns() - begun, now[0].busy_ns);
	/* A queue that moves takes its counters along; its worker's count for the worker. */
	for (q = 0; q < OWNER_VQS; q++)
		ASSERT_OK(vctl_vq_set(v, dev->id, q, id));
	/* A run is counted at its end, and the move waited for a work in it. */
	guest_sleep_ms(guest_patience(200));
	ASSERT_OK(vctl_worker_get(v, dev->id, 0, &before[0]));
	ASSERT_OK(vctl_worker_get(v, dev->id, id, &before[1]));
	ASSERT_OK(proc_wait_progress(self->proc, 200, OWNER_MS));
	ASSERT_EQ(2, vctl_workers(v, dev->id, now, 2));
	EXPECT_TRUE(same_counts(&before[0], &now[0]));
	EXPECT_TRUE(has_grown(&before[1], &now[1]));
	vq_before = vq_now;
	ASSERT_OK(vctl_vq_get(v, dev->id, VDEV_SCSI_VQ_IO, &vq_now));
	EXPECT_LT(vq_before.kicks, vq_now.kicks);
	ASSERT_OK(vctl_vq_get(v, dev->id, NVQS - 1, &idle));
	EXPECT_EQ(0, idle.kicks);
	EXPECT_EQ(0, idle.works);
	EXPECT_OK(owner_stop_io(self->proc));
}

/* The owner kicks one queue once, and waits for the answer, at each turn. */
static int does_one_request(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	int err = owner_open(me, owner, &dev) ?: vscsi_set_endpoint(dev, owner->wwpn);

	while (!err) {
		proc_await(me);
		err = vscsi_test_unit_ready(dev, 1, 0);
	}
	return err;
}

TEST_F(dev, kicks_are_counted_one_by_one)
{
	struct vctl_vq before, now;
	struct vctl_worker worker, later;
	uint32_t vq = VDEV_SCSI_VQ_IO + 1;
	int i;

	ASSERT_OK(owner_start(does_one_request, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, vq, &before));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 0, &worker));
	for (i = 0; i < 10; i++)
		ASSERT_OK(proc_next(self->proc, OWNER_MS));
	ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, vq, &now));
	ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, 0, &later));
	EXPECT_EQ(before.kicks + 10, now.kicks);
	/* The kick and the completion of each, unless they met. */
	EXPECT_LE(before.works + 10, now.works);
	EXPECT_GE(before.works + 20, now.works);
	/* Each found it asleep. */
	EXPECT_LE(worker.wakeups + 10, later.wakeups);
}

/* A device of a driver, which its owner may have left or not. */
static int owns(struct proc *me, void *arg)
{
	const enum vdev_type *type = arg;
	int fd = vdev_open_thread(*type, VDEV_THREAD_DEFAULT);

	if (fd < 0)
		return fd;
	proc_await(me);
	if (vdev_set_owner(fd))
		return -EIO;
	proc_await(me);
	close(fd);
	return 0;
}

TEST(devices_of_each_driver_are_told_while_they_have_an_owner)
{
	static const struct {
		enum vdev_type type;
		uint32_t vqs, max_workers;
	} kinds[] = {
		{ VDEV_SCSI, NVQS, NVQS }, { VDEV_NET, 2, 2 }, { VDEV_VSOCK, 2, 1 },
	};
	struct vctl_dev dev;
	struct proc *proc;
	enum vdev_type type;
	struct vctl v;
	unsigned int i;
	uint32_t last = 0;

	ASSERT_OK(vctl_open(&v));
	for (i = 0; i < 3; i++) {
		type = kinds[i].type;
		ASSERT_OK(proc_start(owns, &type, &proc));
		ASSERT_OK(proc_wait_ready(proc, OWNER_MS));
		EXPECT_EQ(-ENODEV, vctl_dev_of(&v, proc->pid, &dev));
		ASSERT_OK(proc_next(proc, OWNER_MS));
		ASSERT_OK(vctl_dev_of(&v, proc->pid, &dev));
		EXPECT_STREQ(vdev_type_name(type), dev.backend);
		EXPECT_EQ(kinds[i].vqs, dev.vqs);
		EXPECT_EQ(0, dev.vqs_used);
		EXPECT_EQ(kinds[i].max_workers, dev.max_workers);
		EXPECT_LT(last, dev.id);
		last = dev.id;
		ASSERT_OK(proc_next(proc, OWNER_MS));
		EXPECT_EQ(-ENODEV, vctl_dev_get(&v, dev.id, &dev));
		EXPECT_EQ(0, vctl_devs(&v, NULL, 0));
		proc_free(proc);
	}
	vctl_close(&v);
}

TEST_HARNESS_MAIN
