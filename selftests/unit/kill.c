// SPDX-License-Identifier: GPL-2.0
/* Owners that are killed: their workers end, and nobody waits for them in vain. */
#include "unit.h"

TEST_TASK(a_killed_worker_leaves_its_virtqueues)
{
	struct device *d = device_open(2);
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	kill_worker(d, 1);
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(get_worker(d, 1), -EINVAL);
	job_init(&job, d->vqs[1]);
	CHECK(!job_queue(&job));
	CHECK(!vhost_vq_has_work(d->vqs[1]));
	CHECK_EQ(shim_traced("vhost_worker_kill"), 1);
	device_close(d);
	CHECK_EQ(job_runs(&job), 0);
}

TEST_TASK(attach_to_a_killed_worker_fails)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	kill_worker(d, 1);
	CHECK_EQ(attach(d, 0, 1), -EOWNERDEAD);
	CHECK_EQ(get_worker(d, 0), 0);
	device_close(d);
}

TEST_TASK(a_killed_worker_can_be_freed)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	kill_worker(d, 1);
	kill_worker(d, 0);
	CHECK_EQ(free_worker(d, 1), 0);
	CHECK_EQ(free_worker(d, 1), -ENODEV);
	CHECK_EQ(free_worker(d, 0), 0);
	CHECK_EQ(count_workers(d), 0);
	CHECK_EQ(new_worker(d), 2);
	CHECK_EQ(attach(d, 0, 2), 0);
	device_close(d);
}

TEST_TASK(a_flush_that_waits_ends_when_the_worker_is_killed)
{
	struct device *d = device_open(1);
	struct task_struct *worker = worker_task(worker_of(d, 0));
	struct job blocker, job;
	struct page page;

	/* The page never comes; the kill ends the wait for it. */
	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));
	shim_kill(worker);
	vhost_dev_flush(&d->dev);
	device_close(d);
	CHECK_EQ(blocker.fault, -EFAULT);
	CHECK_EQ(job_runs(&job), 1);
}

static struct device *to_kill;

/* Kill the first worker when somebody begins to wait for a grace period. */
static void kill_at_grace_period(enum shim_point point)
{
	if (point != SHIM_GRACE_PERIOD)
		return;
	shim_set_hook(NULL);
	kill_worker(READ_ONCE(to_kill), 0);
}

static void kill_later(struct device *d)
{
	WRITE_ONCE(to_kill, d);
	shim_set_hook(kill_at_grace_period);
}

TEST_TASK(attach_ends_when_the_old_worker_is_killed_meanwhile)
{
	struct device *d = device_open(2);
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));
	kill_later(d);
	CHECK_EQ(attach(d, 0, 1), 0);
	CHECK(!READ_ONCE(shim_hook));
	CHECK_EQ(get_worker(d, 0), 1);
	CHECK_EQ(get_worker(d, 1), -EINVAL);
	CHECK_EQ(job_runs(&job), 1);
	CHECK_EQ(free_worker(d, 0), 0);
	device_close(d);
}

TEST_TASK(free_ends_when_the_worker_is_killed_meanwhile)
{
	struct device *d = device_open(2);
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 0, 1), 0);
	d->vqs[1]->kick = NULL;
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	CHECK_EQ(attach(d, 1, 1), 0);
	kill_later(d);
	CHECK_EQ(free_worker(d, 0), 0);
	CHECK(!READ_ONCE(shim_hook));
	CHECK_EQ(job_runs(&job), 1);
	device_close(d);
}

TEST_TASK(stop_ends_when_workers_are_killed_meanwhile)
{
	struct device *d = device_open(2);
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));
	kill_later(d);
	device_close(d);
	CHECK(!READ_ONCE(shim_hook));
	CHECK_EQ(job_runs(&job), 1);
}

/* Kill a worker after its thread was started, before its maker goes on. */
static struct {
	struct task_struct *maker, *thread;
	bool made;
} newborn;

static void kill_newborn(enum shim_point point)
{
	struct task_struct *thread;

	if (current != READ_ONCE(newborn.maker)) {
		if (point == SHIM_SCHEDULE)
			WRITE_ONCE(newborn.thread, current);
		return;
	}
	if (point == SHIM_THREAD_CREATE)
		newborn.made = true;
	if (point != SHIM_LOCK || !newborn.made)
		return;
	wait_until(READ_ONCE(newborn.thread));
	shim_set_hook(NULL);
	thread = READ_ONCE(newborn.thread);
	WRITE_ONCE(newborn.thread, NULL);
	get_task_struct(thread);
	shim_kill(thread);
	shim_join(thread);
}

static void kill_next_newborn(void)
{
	newborn.made = false;
	WRITE_ONCE(newborn.maker, current);
	shim_set_hook(kill_newborn);
}

TEST_TASK(a_worker_killed_while_it_is_made_is_a_killed_worker)
{
	struct device *d = device_new(2);

	kill_next_newborn();
	CHECK_EQ(device_start(d), 0);
	CHECK(!READ_ONCE(shim_hook));
	CHECK(worker_says(d, 0, WORKER_KILLED));
	CHECK_EQ(get_worker(d, 0), -EINVAL);
	CHECK_EQ(get_worker(d, 1), -EINVAL);

	kill_next_newborn();
	CHECK_EQ(new_worker(d), 1);
	CHECK(!READ_ONCE(shim_hook));
	CHECK_EQ(attach(d, 0, 1), -EOWNERDEAD);
	CHECK_EQ(free_worker(d, 1), 0);
	device_close(d);
}

static int close_fn(void *data)
{
	struct device *d = data;

	device_close(d);
	return 0;
}

TEST_TASK(another_process_closes_the_device_of_a_killed_owner)
{
	struct mm_struct owner = { .name = "vmm" };
	struct device *d;
	struct task_struct *closer;
	struct job blocker, job;
	struct page page;

	current->mm = &owner;
	d = device_open(2);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	current->mm = &unit_owner;
	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));

	shim_kill_process(&owner);
	closer = shim_run(&unit_stranger, "closer", close_fn, d);
	shim_join(closer);
	CHECK_EQ(job_runs(&job), 1);
	CHECK_EQ(blocker.fault, -EFAULT);
}

TEST_KTHREAD(a_kernel_thread_does_not_notice_the_death_of_the_owner)
{
	struct mm_struct owner = { .name = "vmm" };
	struct device *d;
	struct job job;

	current->mm = &owner;
	d = device_open(1);
	current->mm = &unit_owner;
	shim_kill_process(&owner);
	settle();
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));
	wait_until(job_runs(&job));
	device_close(d);
}
