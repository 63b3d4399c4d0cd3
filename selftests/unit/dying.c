// SPDX-License-Identifier: GPL-2.0
/* Callers that are killed while they wait for a worker which waits for memory. */
#include "unit.h"

TEST_BOTH(attach_by_a_killed_task_ends_and_leaks_nothing)
{
	struct device *d = device_open(2);
	struct call call = { .d = d, .vq = 1, .id = 1 };
	struct task_struct *caller;
	struct job blocker, job;
	struct page page;

	CHECK_EQ(new_worker(d), 1);
	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	caller = call_start(&call, call_attach);
	shim_kill(caller);
	CHECK_EQ(shim_join(caller), -EINTR);
	/* The virtqueue moved, the worker is still stuck. */
	CHECK_EQ(get_worker(d, 1), 1);
	CHECK_EQ(job_runs(&job), 0);
	page_come(&page);
	device_close(d);
	CHECK_EQ(job_runs(&job), 1);
}

TEST_BOTH(free_by_a_killed_task_leaves_the_worker_as_it_was)
{
	struct task_struct *caller;
	struct job blocker;
	struct page page;
	struct device *d = device_open_blocked(&blocker, &page);
	struct call call = { .d = d, .id = 1 };

	CHECK_EQ(attach(d, 1, 0), 0);
	caller = call_start(&call, call_free);
	shim_kill(caller);
	CHECK_EQ(shim_join(caller), -EINTR);

	CHECK(worker_of(d, 1));
	CHECK_EQ(attach(d, 1, 1), 0);
	CHECK_EQ(attach(d, 1, 0), 0);
	page_come(&page);
	CHECK_EQ(free_worker(d, 1), 0);
	CHECK_EQ(blocker.fault, 0);
	device_close(d);
}

TEST_KTHREAD(a_killed_waiter_breaks_off_the_access_that_it_waits_for)
{
	struct device *d = device_open(1);
	struct call call = { .d = d };
	struct task_struct *caller;
	struct job blocker, job;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	caller = call_start(&call, call_flush);
	CHECK_EQ(job_runs(&blocker), 0);
	shim_kill(caller);
	shim_join(caller);
	CHECK_EQ(blocker.fault, -EFAULT);

	/* And no other one. */
	job_block(&job, d->vqs[0], &page);
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(job.fault, 0);
	device_close(d);
}

/* Nobody kills it, but it has no use of its memory any more. */
TEST_KTHREAD(an_exiting_task_breaks_off_the_access_and_stops_the_device)
{
	struct device *d = device_open(2);
	struct call call = { .d = d, .flags = PF_EXITING };
	struct task_struct *caller;
	struct job blocker, job;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	caller = run("caller", call_release, &call);
	shim_join(caller);
	CHECK_EQ(blocker.fault, -EFAULT);
	CHECK_EQ(job_runs(&job), 1);
	device_free(d);
}

TEST_BOTH(a_living_waiter_breaks_off_nothing)
{
	struct device *d = device_open(1);
	struct call flush = { .d = d }, lock = { .d = d };
	struct task_struct *flusher, *locker;
	struct job blocker;
	struct page page;

	job_block_locked(&blocker, d->vqs[0], &page);
	flusher = call_start(&flush, call_flush);
	locker = call_start(&lock, call_vq_lock);
	shim_sleep_us(50000);
	CHECK(READ_ONCE(blocker.waiting));
	page_come(&page);
	shim_join(flusher);
	shim_join(locker);
	CHECK_EQ(blocker.fault, 0);
	device_close(d);
}

TEST_KTHREAD(vq_lock_by_a_killed_task_gets_the_lock)
{
	struct device *d = device_open(1);
	struct call call = { .d = d };
	struct task_struct *caller;
	struct page page;
	struct job blocker;

	job_block_locked(&blocker, d->vqs[0], &page);
	caller = call_start(&call, call_vq_lock);
	shim_kill(caller);
	shim_join(caller);
	CHECK_EQ(blocker.fault, -EFAULT);
	device_close(d);
}

TEST_KTHREAD(vq_lock_by_a_task_killed_before_gets_the_lock)
{
	struct device *d = device_open(1);
	struct page page;
	struct job blocker;

	job_block_locked(&blocker, d->vqs[0], &page);
	shim_kill(current);
	vhost_vq_lock(d->vqs[0]);
	mutex_unlock(&d->vqs[0]->mutex);
	flush_signals(current);
	CHECK_EQ(blocker.fault, -EFAULT);
	device_close(d);
}

TEST_TASK(vq_lock_gets_the_lock_when_the_owner_is_killed)
{
	struct device *d = device_open(1);
	struct call call = { .d = d };
	struct task_struct *caller;
	struct page page;
	struct job blocker;

	job_block_locked(&blocker, d->vqs[0], &page);
	caller = call_start(&call, call_vq_lock);
	shim_kill_process(&unit_owner);
	shim_join(caller);
	CHECK_EQ(blocker.fault, -EFAULT);
	flush_signals(current);
	device_close(d);
}

TEST_KTHREAD(an_interrupt_of_an_idle_worker_does_not_hurt_what_comes_next)
{
	struct device *d = device_open(1);
	struct page page;
	struct job blocker;
	int i;

	for (i = 0; i < 200; i++) {
		vhost_workers_interrupt(&d->dev);
		vhost_dev_flush(&d->dev);
		wait_until(!signal_pending(worker_task(worker_of(d, 0))) ||
			   i % 2);
	}
	wake_up_process(worker_task(worker_of(d, 0)));
	wait_until(!signal_pending(worker_task(worker_of(d, 0))));
	job_block(&blocker, d->vqs[0], &page);
	page_come(&page);
	device_close(d);
	CHECK_EQ(blocker.fault, 0);
}

TEST_KTHREAD(stop_works_with_an_interrupt_pending)
{
	struct device *d;
	int i;

	for (i = 0; i < 50; i++) {
		d = device_open(1);
		vhost_workers_interrupt(&d->dev);
		device_close(d);
	}
}

TEST_KTHREAD(an_interrupt_spares_the_work_that_was_queued_behind)
{
	struct device *d = device_open(2);
	struct page page, later;
	struct job blocker, next;

	job_block(&blocker, d->vqs[0], &page);
	page_init(&later);
	job_init(&next, d->vqs[1]);
	next.page = &later;
	CHECK(job_queue(&next));
	vhost_workers_interrupt(&d->dev);
	wait_until(job_runs(&blocker));
	settle();
	page_come(&later);
	wait_until(job_runs(&next));
	CHECK_EQ(blocker.fault, -EFAULT);
	CHECK_EQ(next.fault, 0);
	device_close(d);
}

/* Holds the handler of a killed worker where it waits for readers. */
static bool handler_waits, readers_gone;

static void hold_handler(enum shim_point point)
{
	if (point != SHIM_GRACE_PERIOD || strncmp(current->comm, "vhost-", 6))
		return;
	WRITE_ONCE(handler_waits, true);
	wait_until(READ_ONCE(readers_gone));
}

TEST_TASK(a_flush_covers_a_worker_that_is_being_killed)
{
	struct device *d = device_open(1);
	struct call call = { .d = d };
	struct task_struct *flusher;
	struct job blocker, next;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	job_init(&next, d->vqs[0]);
	CHECK(job_queue(&next));
	shim_set_hook(hold_handler);
	shim_kill(worker_task(worker_of(d, 0)));
	wait_until(READ_ONCE(handler_waits));
	/* The virtqueue has no worker any more, its work has still to run. */
	CHECK_EQ(get_worker(d, 0), -EINVAL);
	CHECK_EQ(job_runs(&next), 0);
	flusher = call_start(&call, call_flush);
	WRITE_ONCE(readers_gone, true);
	shim_join(flusher);
	CHECK_EQ(job_runs(&next), 1);
	device_close(d);
}

TEST_KTHREAD(a_killed_stranger_breaks_nothing_off)
{
	struct device *d = device_open(1);
	struct call call = { .d = d };
	struct task_struct *caller;
	struct job blocker;
	struct page page;

	job_block_locked(&blocker, d->vqs[0], &page);
	caller = shim_run(&unit_stranger, "stranger", call_vq_lock, &call);
	wait_until(READ_ONCE(call.begun));
	shim_kill(caller);
	shim_sleep_us(300000);
	CHECK(READ_ONCE(blocker.waiting));
	page_come(&page);
	shim_join(caller);
	CHECK_EQ(blocker.fault, 0);
	device_close(d);
}

TEST_KTHREAD(a_close_left_to_a_kernel_thread_breaks_the_access_off)
{
	struct device *d = device_open(1);
	struct call call = { .d = d, .flags = PF_KTHREAD };
	struct task_struct *caller;
	struct job blocker;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	caller = shim_run(&unit_stranger, "kworker", call_release, &call);
	shim_join(caller);
	CHECK_EQ(blocker.fault, -EFAULT);
	device_free(d);
}

TEST_TASK(a_killed_worker_does_not_wait_for_memory_in_what_it_still_runs)
{
	struct device *d = device_open(2);
	struct job blocker, behind;
	struct page page, never;

	job_block(&blocker, d->vqs[0], &page);
	page_init(&never);
	job_init(&behind, d->vqs[1]);
	behind.page = &never;
	CHECK(job_queue(&behind));
	shim_kill_process(&unit_owner);
	wait_until(job_runs(&behind));
	CHECK_EQ(behind.fault, -EFAULT);
	flush_signals(current);
	device_close(d);
}
