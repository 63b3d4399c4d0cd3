// SPDX-License-Identifier: GPL-2.0
/*
 * Each operation with its first, second, third... step failing, until there is
 * no step left to fail. What fails must change nothing.
 */
#include "unit.h"

#define NVQS	3

struct picture {
	long workers[NVQS];
	unsigned int count;
	unsigned int tasks;
	long allocated;
};

static void wait_for_tails(unsigned int tasks)
{
	unsigned int tries;

	for (tries = 0; shim_tasks() > tasks && tries < 1000; tries++)
		shim_sleep_us(1000);
}

static struct picture take_picture(struct device *d)
{
	struct picture p = {
		.count = d->dev.workers.count,
		.allocated = shim_allocated(),
		.tasks = shim_tasks(),
	};
	int i;

	mutex_lock(&d->dev.workers.lock);
	for (i = 0; i < NVQS; i++) {
		struct vhost_worker *worker = vhost_vq_worker(d->vqs[i]);

		p.workers[i] = worker ? (long)worker->id : -1;
	}
	mutex_unlock(&d->dev.workers.lock);
	return p;
}

/* Returns how many steps of op() can fail. */
static long sweep(struct device *d, long (*op)(struct device *))
{
	struct picture before, after;
	long n, err;

	for (n = 1;; n++) {
		before = take_picture(d);
		shim_fail_nth(n);
		err = op(d);
		if (!shim_fail_fired())
			break;
		shim_fail_nth(0);
		CHECK(err < 0);
		wait_for_tails(before.tasks);
		after = take_picture(d);
		CHECK(!memcmp(&before, &after, sizeof(before)));
		vhost_dev_flush(&d->dev);
	}
	shim_fail_nth(0);
	CHECK(err >= 0);
	return n - 1;
}

static long do_free(struct device *d)
{
	return free_worker(d, 1);
}

static long do_attach(struct device *d)
{
	return attach(d, 1, 1);
}

static long do_get(struct device *d)
{
	return get_worker(d, 1);
}

static long do_detach(struct device *d)
{
	return attach(d, 1, 0);
}

TEST_BOTH(set_owner_that_fails_changes_nothing)
{
	struct device *d = device_new(NVQS);

	/* number, id, worker, thread, and the cgroup or the vhost_task */
	CHECK_EQ(sweep(d, device_start), 5);
	CHECK_EQ(get_worker(d, 0), 0);
	device_close(d);
}

TEST_BOTH(new_worker_that_fails_changes_nothing)
{
	struct device *d = device_open(NVQS);

	CHECK_EQ(sweep(d, new_worker), 5);
	CHECK_EQ(count_workers(d), 2);
	device_close(d);
}

TEST_BOTH(attach_and_free_that_fail_change_nothing)
{
	struct device *d = device_open(NVQS);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(sweep(d, do_attach), 2);
	CHECK_EQ(get_worker(d, 1), 1);
	CHECK_EQ(sweep(d, do_get), 2);
	CHECK_EQ(sweep(d, do_detach), 2);
	CHECK_EQ(sweep(d, do_free), 2);
	CHECK_EQ(free_worker(d, 1), -ENODEV);
	device_close(d);
}
