// SPDX-License-Identifier: GPL-2.0
/* Flushes, stopping, and workers that leave meanwhile. */
#include "unit.h"

TEST_BOTH(flush_waits_for_the_work_of_every_worker)
{
	struct device *d = device_open(3);
	struct call call = { .d = d };
	struct task_struct *caller;
	struct job blocker, jobs[3];
	struct page page;
	int i;

	for (i = 1; i < 3; i++) {
		CHECK_EQ(new_worker(d), i);
		CHECK_EQ(attach(d, i, i), 0);
	}
	job_block(&blocker, d->vqs[2], &page);
	for (i = 0; i < 3; i++) {
		job_init(&jobs[i], d->vqs[i]);
		CHECK(job_queue(&jobs[i]));
	}
	caller = call_start(&call, call_flush);
	CHECK_EQ(job_runs(&jobs[2]), 0);
	page_come(&page);
	shim_join(caller);
	for (i = 0; i < 3; i++)
		CHECK_EQ(job_runs(&jobs[i]), 1);
	device_close(d);
}

TEST_BOTH(flush_covers_a_worker_that_no_virtqueue_has_any_more)
{
	struct task_struct *caller;
	struct job blocker, job;
	struct page page;
	struct device *d = device_open_blocked(&blocker, &page);
	struct call call = { .d = d };

	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	CHECK_EQ(attach(d, 1, 0), 0);
	CHECK_EQ(worker_says(d, 1, WORKER_ATTACHED), 0);

	caller = call_start(&call, call_flush);
	page_come(&page);
	shim_join(caller);
	CHECK_EQ(job_runs(&job), 1);
	CHECK_EQ(free_worker(d, 1), 0);
	device_close(d);
}

TEST_BOTH(flush_of_a_device_without_workers_returns)
{
	struct device *d = device_new(2);

	vhost_dev_flush(&d->dev);
	device_stop(d);
	CHECK_EQ(device_start(d), 0);
	vhost_dev_flush(&d->dev);
	device_stop(d);
	vhost_dev_flush(&d->dev);
	device_stop(d);
	device_free(d);
}

TEST_BOTH(flush_and_free_of_one_worker_both_end)
{
	struct task_struct *flusher, *releaser;
	struct job blocker;
	struct page page;
	struct device *d = device_open_blocked(&blocker, &page);
	struct call flush = { .d = d }, release = { .d = d, .id = 1 };

	CHECK_EQ(attach(d, 1, 0), 0);
	flusher = run("flush", call_flush, &flush);
	releaser = run("free", call_free, &release);
	settle();
	page_come(&page);
	CHECK_EQ(shim_join(releaser), 0);
	shim_join(flusher);
	CHECK(!worker_of(d, 1));
	device_close(d);
}

/* A flush that finds a worker in the last moment that it can be found. */
static struct device *last_dev;
static struct call last_call;
static struct task_struct *last_caller, *last_flusher;
static bool worker_waits;

static void flush_at_the_last_moment(enum shim_point point)
{
	struct vhost_worker *worker;

	if (point == SHIM_RESCHED && strstr(current->comm, ".1") &&
	    !READ_ONCE(worker_waits)) {
		/* The worker ran the flush of its release; here it stays. */
		WRITE_ONCE(worker_waits, true);
		wait_until(!worker_of(last_dev, 1));
		settle();
	} else if (point == SHIM_TRACE && current == READ_ONCE(last_caller)) {
		/* The caller is about to take the worker out of the set. */
		wait_until(READ_ONCE(worker_waits));
		shim_set_hook(NULL);
		last_call.d = last_dev;
		last_flusher = run("flush", call_flush, &last_call);
		worker = worker_of(last_dev, 1);
		wait_until(!llist_empty(&worker->work_list));
	}
}

TEST_BOTH(a_flush_that_finds_a_worker_on_its_way_out_ends)
{
	last_dev = device_open(2);
	CHECK_EQ(new_worker(last_dev), 1);
	WRITE_ONCE(last_caller, current);
	shim_set_hook(flush_at_the_last_moment);
	CHECK_EQ(free_worker(last_dev, 1), 0);
	shim_join(last_flusher);
	device_close(last_dev);
}

TEST_BOTH(flush_is_with_all_workers_before_it_waits_for_one)
{
	struct device *d = device_open(3);
	struct job blockers[3];
	struct page pages[3];
	struct call call = { .d = d };
	struct task_struct *caller;
	int i;

	for (i = 1; i < 3; i++) {
		CHECK_EQ(new_worker(d), i);
		CHECK_EQ(attach(d, i, i), 0);
	}
	for (i = 0; i < 3; i++)
		job_block(&blockers[i], d->vqs[i], &pages[i]);
	caller = call_start(&call, call_flush);
	for (i = 0; i < 3; i++)
		wait_until(!llist_empty(&worker_of(d, i)->work_list));
	for (i = 0; i < 3; i++)
		page_come(&pages[i]);
	shim_join(caller);
	device_close(d);
}

TEST_BOTH(flush_covers_more_workers_than_it_asks_at_once)
{
	enum { WORKERS = 50 };
	struct device *d = device_open(WORKERS);
	struct job jobs[WORKERS];
	int i;

	for (i = 1; i < WORKERS; i++) {
		CHECK_EQ(new_worker(d), i);
		CHECK_EQ(attach(d, i, i), 0);
	}
	for (i = 0; i < WORKERS; i++) {
		job_init(&jobs[i], d->vqs[i]);
		CHECK(job_queue(&jobs[i]));
	}
	vhost_dev_flush(&d->dev);
	for (i = 0; i < WORKERS; i++)
		CHECK_EQ(job_runs(&jobs[i]), 1);
	device_close(d);
}

/* Each thread waits in its last work for all others. */
enum { TOGETHER = 20 };
static struct vhost_worker *together[TOGETHER];
static unsigned int have_come;

static void meet(enum shim_point point)
{
	int i;

	if (point != SHIM_RESCHED)
		return;
	for (i = 0; i < TOGETHER; i++)
		if (vhost_worker_thread(together[i]) == current && together[i]->finished)
			break;
	if (i == TOGETHER)
		return;
	__atomic_fetch_add(&have_come, 1, __ATOMIC_RELAXED);
	wait_until(READ_ONCE(have_come) == TOGETHER);
}

TEST_BOTH(workers_of_a_device_end_together)
{
	struct device *d = device_open(TOGETHER);
	int i;

	for (i = 0; i < TOGETHER; i++) {
		if (i)
			CHECK_EQ(new_worker(d), i);
		together[i] = worker_of(d, i);
	}
	shim_set_hook(meet);
	device_stop(d);
	CHECK_EQ(have_come, TOGETHER);
	shim_set_hook(NULL);
	device_free(d);
}

TEST_BOTH(stop_runs_all_that_is_queued)
{
	enum { JOBS = 50 };
	struct device *d = device_open(2);
	struct job jobs[JOBS];
	int i;

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	for (i = 0; i < JOBS; i++) {
		job_init(&jobs[i], d->vqs[i & 1]);
		jobs[i].requeue = i % 3 == 0;
		CHECK(job_queue(&jobs[i]));
	}
	device_close(d);
	for (i = 0; i < JOBS; i++)
		CHECK(job_runs(&jobs[i]) >= 1);
}

TEST_BOTH(a_device_can_be_started_and_stopped_again)
{
	struct device *d = device_new(3);
	struct job job;
	int i;

	for (i = 0; i < 50; i++) {
		CHECK_EQ(device_start(d), 0);
		CHECK_EQ(new_worker(d), 1);
		CHECK_EQ(attach(d, 2, 1), 0);
		job_init(&job, d->vqs[2]);
		CHECK(job_queue(&job));
		device_stop(d);
		CHECK_EQ(job_runs(&job), 1);
	}
	device_free(d);
}
