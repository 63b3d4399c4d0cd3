// SPDX-License-Identifier: GPL-2.0
/*
 * Administrators that look for devices and change what they find, while devices
 * get owners, lose them, are closed, and workers are killed. All steps are made
 * slow at random. Nobody may find what has gone, and nothing may stay behind.
 */
#include "unit.h"

#define ADMINS		3
#define NVQS		3
#define STRESS_MS	600

static bool stop;
static unsigned long changes, lookups;

static unsigned int rnd(unsigned int n)
{
	return rand_r(&current->seed) % n;
}

/* One of the latest workers, or any. */
static unsigned int some_worker(struct vhost_dev *dev)
{
	unsigned long id;

	mutex_lock(&dev->workers.lock);
	id = rnd(dev->workers.count + 2);
	if (!xa_find(&dev->workers.xa, &id, ULONG_MAX, XA_PRESENT))
		id = 0;
	mutex_unlock(&dev->workers.lock);
	return id;
}

static void read_all(struct vhost_dev *dev)
{
	struct vhost_worker_counts counts;
	struct vhost_worker *worker;
	unsigned long id;

	mutex_lock(&dev->workers.lock);
	xa_for_each(&dev->workers.xa, id, worker) {
		vhost_worker_read_counts(worker, &counts);
		vhost_worker_thread(worker);
	}
	mutex_unlock(&dev->workers.lock);
}

/* The device may have gone, or have another number, since it was seen. */
static void ask_something(unsigned int number, unsigned int worker)
{
	struct request r = {
		.dev = number,
		.vq = rnd(NVQS),
		.id = worker,
		.timeout = 1 + rnd(30),
	};
	long ret;

	switch (rnd(4)) {
	case 0:
		ret = request_new(&r);
		CHECK(ret >= 0 || ret == -ENOSPC || ret == -ENODEV ||
		      ret == -ETIMEDOUT || ret == -EOWNERDEAD);
		break;
	case 1:
		ret = request_free(&r);
		CHECK(!ret || ret == -EBUSY || ret == -ENODEV || ret == -ETIMEDOUT);
		break;
	default:
		ret = request_attach(&r);
		CHECK(!ret || ret == -ENODEV || ret == -EOWNERDEAD || ret == -ETIMEDOUT);
	}
	if (ret >= 0)
		__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
}

static int admin(void *data)
{
	struct vhost_dev *dev;
	unsigned long at = 0;
	unsigned int worker;

	while (!READ_ONCE(stop)) {
		dev = vhost_dev_get_next(&at);
		if (!dev) {
			at = 0;
			shim_sleep_us(rnd(100));
			continue;
		}
		__atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
		read_all(dev);
		worker = some_worker(dev);
		vhost_dev_put(dev);
		ask_something(at, worker);
		at += rnd(2);
	}
	return 0;
}

static void kill_some_worker(struct vhost_dev *dev)
{
	struct vhost_worker *worker;
	unsigned long id = 0;

	mutex_lock(&dev->workers.lock);
	worker = xa_find(&dev->workers.xa, &id, ULONG_MAX, XA_PRESENT);
	if (worker)
		shim_kill(worker_task(worker));
	mutex_unlock(&dev->workers.lock);
}

/* The life of a device, again and again. What it takes has run when it is closed. */
static int owner(void *data)
{
	bool with_kills = data;

	while (!READ_ONCE(stop)) {
		struct device *d = device_open(NVQS);
		unsigned int i, k, n = rnd(20);
		bool taken[NVQS] = { 0 };
		struct job jobs[NVQS];

		for (i = 0; i < NVQS; i++)
			job_init(&jobs[i], d->vqs[i]);
		for (i = 0; i < n; i++) {
			k = rnd(NVQS);
			taken[k] |= job_queue(&jobs[k]);
			shim_sleep_us(rnd(200));
		}
		if (with_kills && !rnd(3))
			kill_some_worker(&d->dev);
		if (!rnd(3)) {
			device_stop(d);
			CHECK_EQ(device_start(d), 0);
			shim_sleep_us(rnd(1000));
		}
		device_close(d);
		for (i = 0; i < NVQS; i++)
			CHECK(!taken[i] == !job_runs(&jobs[i]));
		unit_progress();
	}
	return 0;
}

static void stress(bool with_kills)
{
	struct task_struct *tasks[ADMINS + 2];
	unsigned int i, n = 0;

	WRITE_ONCE(shim_perturb, 20);
	for (i = 0; i < 2; i++)
		tasks[n++] = run("owner", owner, with_kills ? &stop : NULL);
	for (i = 0; i < ADMINS; i++)
		tasks[n++] = shim_run(&unit_stranger, "admin", admin, NULL);
	shim_sleep_us(STRESS_MS * 1000);
	wait_until(READ_ONCE(changes) > 20);
	WRITE_ONCE(stop, true);
	for (i = 0; i < n; i++)
		shim_join(tasks[i]);
	CHECK(lookups >= changes);
}

TEST_BOTH(strangers_find_no_device_that_is_gone)
{
	stress(false);
}

TEST_TASK(strangers_find_no_device_that_is_gone_while_workers_are_killed)
{
	stress(true);
}
