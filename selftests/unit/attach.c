// SPDX-License-Identifier: GPL-2.0
/* Moving virtqueues between workers. */
#include "unit.h"

TEST_BOTH(attach_on_dead_virtqueues_needs_no_grace_period)
{
	const struct vhost_vring_worker map[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	struct device *d = device_open(3);
	unsigned long before;

	device_kill_live(d);
	CHECK_EQ(new_worker(d), 1);
	before = shim_grace_periods();
	CHECK_EQ(attach(d, 0, 1), 0);
	CHECK_EQ(attach_map(d, map, 3), 0);
	CHECK_EQ(shim_grace_periods(), before);
	CHECK_EQ(get_worker(d, 2), 1);
	device_close(d);
}

TEST_BOTH(attach_of_any_number_of_virtqueues_is_one_grace_period)
{
	const struct vhost_vring_worker map[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 1 },
	};
	struct device *d = device_open(5);
	unsigned long before;
	int i;

	/* Either of the two makes a virtqueue live. */
	d->vqs[1]->kick = NULL;
	d->vqs[1]->private_data = d;
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(new_worker(d), 2);
	before = shim_grace_periods();
	CHECK_EQ(attach(d, 1, 2), 0);
	CHECK_EQ(shim_grace_periods(), before + 1);
	CHECK_EQ(attach_map(d, map, 5), 0);
	CHECK_EQ(shim_grace_periods(), before + 2);
	for (i = 0; i < 5; i++)
		CHECK_EQ(get_worker(d, i), map[i].worker_id);
	device_close(d);
}

TEST(attach_of_the_present_worker_needs_no_grace_period)
{
	struct device *d = device_open(2);
	unsigned long before = shim_grace_periods();

	CHECK_EQ(attach(d, 0, 0), 0);
	CHECK_EQ(shim_grace_periods(), before);
	CHECK_EQ(worker_says(d, 0, WORKER_ATTACHED), 2);
	device_close(d);
}

TEST(attach_is_all_or_nothing)
{
	const struct vhost_vring_worker bad_id[] = { { 0, 1 }, { 1, 1 }, { 2, 9 } };
	const struct vhost_vring_worker bad_vq[] = { { 0, 1 }, { 9, 1 } };
	struct device *d = device_open(3);
	unsigned long before;
	int i;

	CHECK_EQ(new_worker(d), 1);
	before = shim_grace_periods();
	CHECK_EQ(attach_map(d, bad_id, 3), -ENODEV);
	CHECK_EQ(attach_map(d, bad_vq, 2), -ENOBUFS);
	for (i = 0; i < 3; i++)
		CHECK_EQ(get_worker(d, i), 0);
	CHECK_EQ(shim_grace_periods(), before);
	CHECK_EQ(free_worker(d, 1), 0);
	device_close(d);
}

TEST_TASK(attach_with_one_killed_worker_changes_nothing)
{
	const struct vhost_vring_worker map[] = { { 0, 1 }, { 1, 2 } };
	struct device *d = device_open(3);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(new_worker(d), 2);
	kill_worker(d, 2);
	CHECK_EQ(attach_map(d, map, 2), -EOWNERDEAD);
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(get_worker(d, 1), 0);
	device_close(d);
}

TEST(a_map_may_name_a_virtqueue_twice)
{
	const struct vhost_vring_worker map[] = { { 0, 1 }, { 0, 2 }, { 0, 1 } };
	struct device *d = device_open(3);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(new_worker(d), 2);
	CHECK_EQ(attach_map(d, map, 3), 0);
	CHECK_EQ(get_worker(d, 0), 1);
	CHECK_EQ(free_worker(d, 2), 0);
	device_close(d);
}

TEST(an_empty_map_changes_nothing)
{
	struct device *d = device_open(1);

	CHECK_EQ(attach_map(d, NULL, 0), 0);
	CHECK_EQ(get_worker(d, 0), 0);
	device_close(d);
}

TEST_BOTH(work_queued_before_attach_has_run_when_it_returns)
{
	struct device *d = device_open(2);
	struct job blocker, before, after;
	struct page page;
	struct call call = { .d = d, .vq = 1, .id = 1 };
	struct task_struct *caller;

	CHECK_EQ(new_worker(d), 1);
	job_block(&blocker, d->vqs[0], &page);
	job_init(&before, d->vqs[1]);
	CHECK(job_queue(&before));

	caller = run("attach", call_attach, &call);
	/* The virtqueue keeps running meanwhile, on its new worker. */
	job_init(&after, d->vqs[1]);
	wait_until(READ_ONCE(d->vqs[1]->worker) == worker_of(d, 1));
	CHECK(job_queue(&after));
	wait_until(job_runs(&after));
	CHECK(READ_ONCE(after.ran_on) == worker_task(worker_of(d, 1)));
	settle();
	CHECK(!READ_ONCE(call.done));
	CHECK_EQ(job_runs(&before), 0);

	page_come(&page);
	CHECK_EQ(shim_join(caller), 0);
	CHECK_EQ(job_runs(&before), 1);
	CHECK(READ_ONCE(before.ran_on) == worker_task(worker_of(d, 0)));
	device_close(d);
}

/* A reader that has the pointer to the old worker, and takes its time. */
static struct {
	struct task_struct *task;
	bool stopped;
	bool go;
} slow;

static void stop_slow_reader(enum shim_point point)
{
	if (point != SHIM_DEREFERENCE || current != READ_ONCE(slow.task))
		return;
	WRITE_ONCE(slow.stopped, true);
	while (!READ_ONCE(slow.go))
		shim_sleep_us(50);
}

static int queue_fn(void *data)
{
	struct job *job = data;

	WRITE_ONCE(slow.task, current);
	return job_queue(job);
}

static struct task_struct *start_slow_reader(struct job *job,
					     struct vhost_virtqueue *vq)
{
	struct task_struct *reader;

	job_init(job, vq);
	shim_set_hook(stop_slow_reader);
	reader = run("reader", queue_fn, job);
	wait_until(READ_ONCE(slow.stopped));
	return reader;
}

TEST_BOTH(attach_waits_for_who_is_queueing_on_the_old_worker)
{
	struct device *d = device_open(2);
	struct call call = { .d = d, .vq = 1, .id = 1 };
	struct task_struct *reader, *caller;
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	reader = start_slow_reader(&job, d->vqs[1]);
	caller = run("attach", call_attach, &call);
	wait_until(READ_ONCE(d->vqs[1]->worker) == worker_of(d, 1));
	settle();
	CHECK(!READ_ONCE(call.done));
	CHECK_EQ(job_runs(&job), 0);

	WRITE_ONCE(slow.go, true);
	CHECK_EQ(shim_join(caller), 0);
	CHECK_EQ(shim_join(reader), true);
	CHECK_EQ(job_runs(&job), 1);
	device_close(d);
}

TEST_BOTH(free_waits_for_who_is_queueing_on_the_worker)
{
	struct device *d = device_open(2);
	struct call call = { .d = d, .id = 1 };
	struct task_struct *reader, *caller;
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	/* A dead virtqueue: attach itself does not wait. */
	d->vqs[1]->kick = NULL;
	reader = start_slow_reader(&job, d->vqs[1]);
	CHECK_EQ(attach(d, 1, 0), 0);
	caller = call_start(&call, call_free);
	settle();
	CHECK(!READ_ONCE(call.done));
	/* Nobody can attach to it or free it meanwhile. */
	CHECK(!mutex_trylock(&d->dev.mutex));

	WRITE_ONCE(slow.go, true);
	CHECK_EQ(shim_join(caller), 0);
	CHECK_EQ(shim_join(reader), true);
	CHECK_EQ(job_runs(&job), 1);
	device_close(d);
}

TEST_BOTH(stop_waits_for_who_is_queueing)
{
	struct device *d = device_open(2);
	struct call call = { .d = d };
	struct task_struct *reader, *caller;
	struct job job;

	reader = start_slow_reader(&job, d->vqs[1]);
	caller = run("stop", call_stop, &call);
	wait_until(!READ_ONCE(d->vqs[1]->worker));
	settle();
	CHECK(!READ_ONCE(call.done));

	WRITE_ONCE(slow.go, true);
	CHECK_EQ(shim_join(caller), 0);
	CHECK_EQ(shim_join(reader), true);
	CHECK_EQ(job_runs(&job), 1);
	device_free(d);
}

TEST_TASK(a_killed_worker_runs_what_a_slow_reader_still_queues)
{
	struct device *d = device_open(2);
	struct task_struct *reader;
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	reader = start_slow_reader(&job, d->vqs[1]);
	shim_kill(worker_task(worker_of(d, 1)));
	wait_until(!READ_ONCE(d->vqs[1]->worker));
	settle();
	WRITE_ONCE(slow.go, true);
	CHECK_EQ(shim_join(reader), true);
	wait_until(job_runs(&job));
	CHECK_EQ(free_worker(d, 1), 0);
	device_close(d);
}

TEST_BOTH(free_runs_what_was_queued_before_the_last_detach)
{
	struct device *d = device_open(2);
	struct call call = { .d = d, .id = 1 };
	struct task_struct *caller;
	struct job blocker, job;
	struct page page;

	CHECK_EQ(new_worker(d), 1);
	d->vqs[1]->kick = NULL;
	CHECK_EQ(attach(d, 1, 1), 0);
	job_block(&blocker, d->vqs[1], &page);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	CHECK_EQ(attach(d, 1, 0), 0);
	CHECK_EQ(job_runs(&job), 0);

	caller = call_start(&call, call_free);
	page_come(&page);
	CHECK_EQ(shim_join(caller), 0);
	CHECK_EQ(job_runs(&job), 1);
	device_close(d);
}

static struct vhost_virtqueue *kicked;

static void note_kick(struct vhost_work *work)
{
	WRITE_ONCE(kicked, container_of(work, struct vhost_virtqueue, poll.work));
}

TEST_TASK(attach_after_a_kill_looks_for_dropped_kicks)
{
	struct device *d = device_open(2);

	d->vqs[1]->handle_kick = note_kick;
	vhost_work_init(&d->vqs[1]->poll.work, note_kick);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(new_worker(d), -ENOSPC);
	kill_worker(d, 0);
	CHECK(!vhost_vq_work_queue(d->vqs[1], &d->vqs[1]->poll.work));
	CHECK_EQ(attach(d, 1, 1), 0);
	wait_until(READ_ONCE(kicked) == d->vqs[1]);
	device_close(d);
}
