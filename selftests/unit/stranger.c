// SPDX-License-Identifier: GPL-2.0
/* Workers that another process than the owner asks for, and what it waits for. */
#include <linux/jiffies.h>
#include "unit.h"

#define LONG_TIME	60000	/* more than a test may take */
#define SHORT_TIME	50

static bool is_worker(struct task_struct *task)
{
	return !strncmp(task->comm, "vhost-", 6);
}

/* New workers ------------------------------------------------------------- */

TEST_TASK(a_worker_that_a_stranger_asks_for_is_a_thread_of_the_owner)
{
	struct device *d = device_open(2);
	struct task_struct *task;
	struct job job;

	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 1);
	task = worker_task(worker_of(d, 1));
	CHECK(task->process == &unit_owner);
	CHECK(task->mm == &unit_owner);
	CHECK(vhost_worker_thread(worker_of(d, 1)) == task);
	CHECK_EQ(attach(d, 1, 1), 0);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	wait_until(job_runs(&job));
	CHECK(READ_ONCE(job.ran_on) == task);
	device_close(d);
}

TEST_KTHREAD(a_kernel_thread_that_a_stranger_asks_for_joins_the_owner)
{
	struct device *d = device_open(2);
	struct task_struct *task;

	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 1);
	task = worker_task(worker_of(d, 1));
	CHECK(READ_ONCE(task->cgroups_of) == &unit_owner);
	CHECK(READ_ONCE(task->mm) == &unit_owner);
	CHECK(vhost_worker_thread(worker_of(d, 1)) == task);
	CHECK_EQ(attach(d, 1, 1), 0);
	device_close(d);
}

TEST_BOTH(the_memory_of_a_worker_is_the_owners_whoever_asks_for_it)
{
	struct device *d = device_open(3);
	unsigned long before = READ_ONCE(unit_owner.charged);

	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 1);
	CHECK_EQ(new_worker(d), 2);
	CHECK_EQ(READ_ONCE(unit_owner.charged), before + 2);
	CHECK_EQ(READ_ONCE(unit_stranger.charged), 0);
	device_close(d);
}

TEST_TASK(a_sibling_gets_the_cpus_of_the_owner_not_of_who_made_it)
{
	struct device *d = device_open(2);

	WRITE_ONCE(current->cpus_mask.bits, 6);
	WRITE_ONCE(worker_task(worker_of(d, 0))->cpus_mask.bits, 1);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 1);
	CHECK_EQ(READ_ONCE(worker_task(worker_of(d, 1))->cpus_mask.bits), 6);
	device_close(d);
}

TEST_BOTH(the_cap_and_the_errors_of_the_owner_hold_for_strangers)
{
	struct device *d = device_open(2);

	shim_fail_thread(-EAGAIN);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), -EAGAIN);
	CHECK_EQ(count_workers(d), 1);
	shim_fail_thread(0);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 2);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), -ENOSPC);
	device_close(d);
}

TEST_TASK(whoever_is_not_stuck_makes_the_worker)
{
	struct device *d = device_open(3);
	struct job blocker;
	struct page page;

	CHECK_EQ(new_worker(d), 1);
	job_block(&blocker, d->vqs[0], &page);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 2);
	CHECK(READ_ONCE(blocker.waiting));
	page_come(&page);
	device_close(d);
}

/* Nothing of a request that was given up may happen afterwards. */
static void check_nothing_follows(struct device *d, unsigned int tasks, long allocated)
{
	vhost_dev_flush(&d->dev);
	settle();
	CHECK_EQ(count_workers(d), 1);
	CHECK_EQ(shim_tasks(), tasks);
	CHECK_EQ(shim_allocated(), allocated);
	CHECK(!worker_of(d, 1));
}

TEST_TASK(a_stranger_gives_up_in_time_and_nothing_is_made_later)
{
	struct device *d = device_open(2);
	unsigned int tasks = shim_tasks();
	long allocated = shim_allocated();
	struct job blocker;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = SHORT_TIME }), -ETIMEDOUT);
	CHECK(READ_ONCE(blocker.waiting));
	CHECK_EQ(count_workers(d), 1);
	page_come(&page);
	check_nothing_follows(d, tasks, allocated);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 2);
	device_close(d);
}

TEST_TASK(a_stranger_that_is_killed_gives_up)
{
	struct device *d = device_open(2);
	struct request r = { .dev = number_of(d), .timeout = LONG_TIME };
	unsigned int tasks = shim_tasks();
	long allocated = shim_allocated();
	struct task_struct *stranger;
	struct job blocker;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	stranger = request(&r, request_new);
	settle();
	CHECK(!READ_ONCE(r.done));
	shim_kill(stranger);
	CHECK_EQ(answer(stranger), -EINTR);
	page_come(&page);
	check_nothing_follows(d, tasks, allocated);
	device_close(d);
}

/* The last moment: the sibling comes to it when the stranger has waited enough. */
static struct {
	struct page page;
	bool sibling_is_there;
	bool stranger_is_gone;
} moment;

static void begin_when_time_is_up(enum shim_point point)
{
	if (point == SHIM_WAIT_ENDED && !is_worker(current)) {
		page_come(&moment.page);
		wait_until(READ_ONCE(moment.sibling_is_there));
	} else if (point == SHIM_THREAD_CREATE && is_worker(current)) {
		WRITE_ONCE(moment.sibling_is_there, true);
		settle();
	}
}

TEST_TASK(a_worker_begun_in_the_last_moment_is_made)
{
	struct device *d = device_open(2);
	struct job blocker;

	job_block(&blocker, d->vqs[0], &moment.page);
	shim_set_hook(begin_when_time_is_up);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = SHORT_TIME }), 1);
	shim_set_hook(NULL);
	CHECK(READ_ONCE(moment.sibling_is_there));
	CHECK_EQ(attach(d, 1, 1), 0);
	device_close(d);
}

static void begin_when_given_up(enum shim_point point)
{
	if (point != SHIM_CMPXCHG || !is_worker(current))
		return;
	WRITE_ONCE(moment.sibling_is_there, true);
	wait_until(READ_ONCE(moment.stranger_is_gone));
}

TEST_TASK(a_worker_given_up_in_the_last_moment_is_not_made)
{
	struct device *d = device_open(2);
	unsigned int tasks = shim_tasks();
	long allocated = shim_allocated();

	shim_set_hook(begin_when_given_up);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = SHORT_TIME }), -ETIMEDOUT);
	CHECK(READ_ONCE(moment.sibling_is_there));
	WRITE_ONCE(moment.stranger_is_gone, true);
	check_nothing_follows(d, tasks, allocated);
	device_close(d);
}

TEST_TASK(a_stranger_hears_that_the_owner_was_killed)
{
	struct device *d = device_open(2);
	struct request r = { .dev = number_of(d), .timeout = LONG_TIME };
	struct task_struct *stranger;
	struct job blocker;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	stranger = request(&r, request_new);
	settle();
	CHECK(!READ_ONCE(r.done));
	shim_kill_process(&unit_owner);
	CHECK_EQ(answer(stranger), -EOWNERDEAD);
	CHECK_EQ(count_workers(d), 1);
	flush_signals(current);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), -EOWNERDEAD);
	device_close(d);
}

/* A signal that does not kill, such as that of a stop, keeps from making threads. */
TEST_TASK(a_sibling_takes_its_signal_first_and_then_makes_the_worker)
{
	struct device *d = device_open(2);
	struct request r = { .dev = number_of(d), .timeout = LONG_TIME };
	struct task_struct *stranger;
	struct job blocker;
	struct page page;

	job_block(&blocker, d->vqs[0], &page);
	stranger = request(&r, request_new);
	settle();
	send_sig(SIGALRM, worker_task(worker_of(d, 0)), 0);
	page_come(&page);
	CHECK_EQ(answer(stranger), 1);
	device_close(d);
}

static unsigned int signals;

static void signal_each_time(enum shim_point point)
{
	if (point != SHIM_THREAD_CREATE || !is_worker(current))
		return;
	/* The second time its time is up. */
	if (__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED))
		shim_sleep_us(2 * SHORT_TIME * 1000);
	send_sig(SIGALRM, current, 0);
}

TEST_TASK(a_sibling_that_always_has_a_signal_is_given_up_in_time)
{
	struct device *d = device_open(2);

	shim_set_hook(signal_each_time);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = SHORT_TIME }), -ETIMEDOUT);
	shim_set_hook(NULL);
	CHECK(READ_ONCE(signals) <= 2);
	CHECK_EQ(count_workers(d), 1);
	device_close(d);
}

static bool kill_all;

static void kill_who_makes_it(enum shim_point point)
{
	if (point != SHIM_THREAD_LATE || !is_worker(current) ||
	    __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED))
		return;
	if (kill_all)
		shim_kill_process(&unit_owner);
	else
		shim_kill(current);
}

TEST_TASK(another_sibling_makes_the_worker_if_one_is_killed_over_it)
{
	struct device *d = device_open(3);

	CHECK_EQ(new_worker(d), 1);
	shim_set_hook(kill_who_makes_it);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 2);
	shim_set_hook(NULL);
	CHECK(READ_ONCE(signals));
	device_close(d);
}

/* -EINTR would be told to nobody: who asked is well, and waits. */
TEST_TASK(a_stranger_hears_that_the_owner_was_killed_while_it_made_a_worker)
{
	struct device *d = device_open(2);

	kill_all = true;
	shim_set_hook(kill_who_makes_it);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), -EOWNERDEAD);
	shim_set_hook(NULL);
	CHECK(READ_ONCE(signals));
	flush_signals(current);
	CHECK_EQ(count_workers(d), 1);
	device_close(d);
}

static void kill_before_it_runs(enum shim_point point)
{
	if (point == SHIM_SCHEDULE && strstr(current->comm, ".1"))
		shim_kill(current);
}

TEST_TASK(a_worker_killed_before_it_runs_keeps_nobody_waiting)
{
	struct device *d = device_open(2);
	unsigned long before = jiffies;

	shim_set_hook(kill_before_it_runs);
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 1);
	shim_set_hook(NULL);
	CHECK(jiffies - before < LONG_TIME / 2);
	wait_until(worker_says(d, 1, WORKER_KILLED));
	CHECK_EQ(ask(d, request_attach, (struct request){ .id = 1 }), -EOWNERDEAD);
	CHECK_EQ(ask(d, request_free, (struct request){ .id = 1, .timeout = LONG_TIME }), 0);
	device_close(d);
}

/* Or the kernel would kill somebody to get it. */
TEST_TASK(no_thread_is_asked_for_where_the_owner_has_no_memory_left)
{
	struct device *d = device_open(2);
	long allocated = shim_allocated();

	unit_owner.is_full = true;
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), -ENOMEM);
	CHECK_EQ(count_workers(d), 1);
	CHECK_EQ(shim_allocated(), allocated);
	unit_owner.is_full = false;
	CHECK_EQ(ask(d, request_new, (struct request){ .timeout = LONG_TIME }), 2);
	device_close(d);
}

/* Each step of it fails once. */
TEST_BOTH(a_request_for_a_worker_that_fails_changes_nothing)
{
	struct device *d = device_open(2);
	long allocated = shim_allocated();
	long err, n;

	for (n = 1;; n++) {
		shim_fail_nth(n);
		err = ask(d, request_new, (struct request){ .timeout = LONG_TIME });
		if (!shim_fail_fired())
			break;
		shim_fail_nth(0);
		CHECK(err < 0);
		CHECK_EQ(count_workers(d), 1);
		vhost_dev_flush(&d->dev);
		wait_until(shim_tasks() == 2);
		CHECK_EQ(shim_allocated(), allocated);
	}
	shim_fail_nth(0);
	CHECK(err > 0);
	/* id, worker, thread; the cgroup, or the request and the vhost_task */
	CHECK_EQ(n - 1, unit_kind == KIND_TASK ? 5 : 4);
	device_close(d);
}

/* Waits that end in time -------------------------------------------------- */

TEST_BOTH(attach_ends_in_time_and_the_map_is_in_force)
{
	struct request to_1 = { .vq = 1, .id = 1, .timeout = SHORT_TIME };
	struct device *d = device_open(2);
	struct job blocker, job;
	struct page page;

	CHECK_EQ(new_worker(d), 1);
	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	CHECK_EQ(ask(d, request_attach, to_1), -ETIMEDOUT);
	CHECK_EQ(get_worker(d, 1), 1);
	CHECK_EQ(job_runs(&job), 0);
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(job_runs(&job), 1);
	CHECK_EQ(blocker.fault, 0);
	device_close(d);
}

TEST_BOTH(free_ends_in_time_and_the_worker_stays)
{
	struct request in_time = { .id = 1, .timeout = SHORT_TIME };
	struct device *d = device_open(2);
	struct job blocker;
	struct page page;

	CHECK_EQ(new_worker(d), 1);
	device_kill_live(d);
	CHECK_EQ(attach(d, 1, 1), 0);
	job_block(&blocker, d->vqs[1], &page);
	CHECK_EQ(attach(d, 1, 0), 0);
	CHECK_EQ(ask(d, request_free, in_time), -ETIMEDOUT);
	CHECK(worker_of(d, 1));
	CHECK_EQ(attach(d, 1, 1), 0);
	CHECK_EQ(attach(d, 1, 0), 0);
	page_come(&page);
	in_time.timeout = LONG_TIME;
	CHECK_EQ(ask(d, request_free, in_time), 0);
	CHECK(!worker_of(d, 1));
	CHECK_EQ(blocker.fault, 0);
	device_close(d);
}

/* A thread that has run all its work and does not come to its end. */
static bool held, released, closed;

static void hold_after_its_work(enum shim_point point)
{
	if (point != SHIM_RESCHED || !strstr(current->comm, ".1"))
		return;
	WRITE_ONCE(held, true);
	wait_until(READ_ONCE(released));
}

static int close_fn(void *data)
{
	vhost_workers_closing(data);
	WRITE_ONCE(closed, true);
	return 0;
}

TEST_BOTH(free_leaves_the_end_of_the_thread_to_others_and_close_waits_for_it)
{
	/* Enough for the work, and then it is over. */
	struct request in_time = { .id = 1, .timeout = 10 * SHORT_TIME };
	struct device *d = device_open(2);
	struct task_struct *closer;

	CHECK_EQ(new_worker(d), 1);
	shim_set_hook(hold_after_its_work);
	CHECK_EQ(ask(d, request_free, in_time), 0);
	CHECK(READ_ONCE(held));
	CHECK(!worker_of(d, 1));
	CHECK_EQ(count_workers(d), 1);
	CHECK_EQ(new_worker(d), 2);

	closer = run("closer", close_fn, &d->dev);
	settle();
	CHECK(!READ_ONCE(closed));
	WRITE_ONCE(released, true);
	shim_join(closer);
	device_stop(d);
	device_free(d);
}
