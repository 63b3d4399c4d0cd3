// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once, for a bounded time: threads that queue work on random
 * virtqueues, an owner that moves virtqueues and makes and frees workers,
 * flushes from outside, interrupts, and workers that are killed. All steps are
 * made slow at random, so that they meet in many orders.
 *
 * Each piece of work has a count of kicks and remembers up to which one it
 * saw: none that was accepted may remain unseen, as a lost kick would in a
 * driver.
 */
#include "unit.h"

#define NVQS		5
#define QUEUERS		3
#define JOBS		8
#define STRESS_MS	600

struct kick_job {
	struct vhost_work work;
	unsigned long kicks;		/* posted, before queueing */
	unsigned long accepted;		/* the last one that was accepted */
	unsigned long seen;		/* by the last run */
};

static struct device *dev;
static struct kick_job jobs[QUEUERS][JOBS];
static unsigned long total_runs, total_swaps, total_kills;
static bool stop, with_kills;

static void kick_fn(struct vhost_work *work)
{
	struct kick_job *job = container_of(work, struct kick_job, work);

	WRITE_ONCE(job->seen, READ_ONCE(job->kicks));
	__atomic_fetch_add(&total_runs, 1, __ATOMIC_RELAXED);
}

static unsigned int rnd(unsigned int n)
{
	return rand_r(&current->seed) % n;
}

/* Each has its own jobs; which virtqueue a job goes to changes all the time. */
static int queuer(void *data)
{
	struct kick_job *mine = data;

	while (!READ_ONCE(stop)) {
		struct kick_job *job = &mine[rnd(JOBS)];
		unsigned long kick = job->kicks + 1;

		WRITE_ONCE(job->kicks, kick);
		if (vhost_vq_work_queue(dev->vqs[rnd(NVQS)], &job->work))
			job->accepted = kick;
		if (!rnd(20))
			shim_sleep_us(rnd(100));
	}
	return 0;
}

static int flusher(void *data)
{
	while (!READ_ONCE(stop)) {
		vhost_dev_flush(&dev->dev);
		shim_sleep_us(rnd(500));
	}
	return 0;
}

static int interrupter(void *data)
{
	while (!READ_ONCE(stop)) {
		vhost_workers_interrupt(&dev->dev);
		shim_sleep_us(rnd(2000));
	}
	return 0;
}

/* Any worker may be killed at any time; the lock keeps it from being freed. */
static int killer(void *data)
{
	while (!READ_ONCE(stop)) {
		struct vhost_worker *worker;
		unsigned long id = 0;

		mutex_lock(&dev->dev.workers.lock);
		worker = xa_find(&dev->dev.workers.xa, &id, ULONG_MAX, XA_PRESENT);
		if (worker) {
			shim_kill(worker_task(worker));
			total_kills++;
		}
		mutex_unlock(&dev->dev.workers.lock);
		shim_sleep_us(rnd(4000));
	}
	return 0;
}

static long random_worker(void)
{
	unsigned long id = rnd(2) ? dev->dev.workers.next_id - rnd(8) : 0;

	mutex_lock(&dev->dev.workers.lock);
	if (!xa_find(&dev->dev.workers.xa, &id, ULONG_MAX, XA_PRESENT))
		id = 0;
	mutex_unlock(&dev->dev.workers.lock);
	return id;
}

/* Work queued before the move has run after it, unless the worker was killed. */
static void move_some(void)
{
	struct vhost_vring_worker map[NVQS];
	unsigned int i, n = 1 + rnd(NVQS);
	struct job probe;
	bool queued;
	long err;

	for (i = 0; i < n; i++) {
		map[i].index = rnd(NVQS);
		map[i].worker_id = random_worker();
	}
	job_init(&probe, dev->vqs[map[0].index]);
	queued = job_queue(&probe);
	if (READ_ONCE(dev->vqs[map[0].index]->worker) ==
	    worker_of(dev, map[0].worker_id))
		n = 0;
	err = attach_map(dev, map, n);
	if (!err && n && queued && !with_kills)
		CHECK_EQ(job_runs(&probe), 1);
	if (err && err != -ENODEV && !(with_kills && err == -EOWNERDEAD))
		CHECK_EQ(err, 0);
	WRITE_ONCE(total_swaps, total_swaps + (n && !err));

	/* The probe must not be on a list any more when its memory goes. */
	if (queued)
		wait_until(job_runs(&probe));
	vhost_dev_flush(&dev->dev);
}

static int owner(void *data)
{
	while (!READ_ONCE(stop)) {
		long ret;

		switch (rnd(8)) {
		case 0:
			ret = new_worker(dev);
			CHECK(ret > 0 || ret == -ENOSPC);
			break;
		case 1:
		case 2:
			ret = free_worker(dev, random_worker());
			CHECK(!ret || ret == -EBUSY || ret == -ENODEV);
			break;
		default:
			move_some();
		}
	}
	return 0;
}

static void check_no_kick_lost(void)
{
	unsigned int i, k;

	for (i = 0; i < QUEUERS; i++) {
		for (k = 0; k < JOBS; k++) {
			struct kick_job *job = &jobs[i][k];

			if (READ_ONCE(job->seen) < job->accepted)
				unit_fail(__FILE__, __LINE__,
					  "job %u.%u saw kick %lu, but %lu was accepted",
					  i, k, job->seen, job->accepted);
		}
	}
}

static void stress(int (*extra)(void *), unsigned int perturb)
{
	struct task_struct *tasks[QUEUERS + 3];
	unsigned int i, k, n = 0;

	dev = device_open(NVQS);
	WRITE_ONCE(shim_perturb, perturb);
	for (i = 0; i < QUEUERS; i++) {
		for (k = 0; k < JOBS; k++)
			vhost_work_init(&jobs[i][k].work, kick_fn);
		tasks[n++] = run("queuer", queuer, jobs[i]);
	}
	tasks[n++] = run("owner", owner, NULL);
	tasks[n++] = run("flusher", flusher, NULL);
	if (extra)
		tasks[n++] = run("extra", extra, NULL);

	/* On a busy machine it takes longer until something has moved. */
	shim_sleep_us(STRESS_MS * 1000);
	wait_until(READ_ONCE(total_swaps));
	WRITE_ONCE(stop, true);
	for (i = 0; i < n; i++)
		shim_join(tasks[i]);
	device_close(dev);
	check_no_kick_lost();
	CHECK(total_runs > 100);
}

TEST_BOTH(nothing_is_lost_under_load)
{
	stress(NULL, 0);
	CHECK(total_swaps > 0);
}

TEST_BOTH(nothing_is_lost_under_load_with_slow_steps)
{
	stress(NULL, 50);
	CHECK(total_swaps > 0);
}

TEST_KTHREAD(nothing_is_lost_while_waits_are_interrupted)
{
	stress(interrupter, 20);
}

TEST_TASK(nothing_is_lost_while_workers_are_killed)
{
	with_kills = true;
	stress(killer, 20);
	CHECK(total_kills > 0);
}

/* Devices that come and go while their owner is killed. */
static int kick_until_stopped(void *data)
{
	struct device *d = data;
	struct kick_job *job = jobs[0];

	while (!READ_ONCE(stop)) {
		vhost_vq_work_queue(d->vqs[rnd(2)], &job->work);
		shim_sleep_us(rnd(100));
	}
	return 0;
}

TEST_TASK(devices_close_while_their_owner_is_killed)
{
	struct task_struct *kicker;
	struct mm_struct vmm = { .name = "vmm" };
	int i;

	vhost_work_init(&jobs[0][0].work, kick_fn);
	WRITE_ONCE(shim_perturb, 50);
	for (i = 0; i < 150; i++) {
		current->mm = &vmm;
		dev = device_open(2);
		CHECK_EQ(new_worker(dev), 1);
		CHECK_EQ(attach(dev, 1, 1), 0);
		current->mm = &unit_owner;
		unit_progress();
		WRITE_ONCE(stop, false);
		kicker = run("kicker", kick_until_stopped, dev);
		shim_sleep_us(rnd(300));
		shim_kill_process(&vmm);
		shim_sleep_us(rnd(100));
		device_stop(dev);
		WRITE_ONCE(stop, true);
		shim_join(kicker);
		device_free(dev);
	}
}
