// SPDX-License-Identifier: GPL-2.0
/* What workers and virtqueues count. */
#include "unit.h"

#define MS	1000000ULL

static struct vhost_worker_counts read_counts(struct device *d, unsigned int id)
{
	struct vhost_worker_counts counts;

	vhost_worker_read_counts(worker_of(d, id), &counts);
	return counts;
}

static unsigned long works_of(struct device *d, unsigned int vq)
{
	return atomic64_read(&d->vqs[vq]->counts.works);
}

static unsigned long kicks_of(struct device *d, unsigned int vq)
{
	return atomic64_read(&d->vqs[vq]->counts.kicks);
}

static struct task_struct *sleeper;
static bool asleep;

static void note_sleep(enum shim_point point)
{
	if (point == SHIM_SCHEDULE && current == READ_ONCE(sleeper))
		WRITE_ONCE(asleep, true);
}

/* When this returns the worker has looked at its list and found nothing. */
static void let_sleep(struct device *d, unsigned int id)
{
	/* Before, it may sleep until it is started. */
	wait_until(vhost_worker_thread(worker_of(d, id)));
	WRITE_ONCE(asleep, false);
	WRITE_ONCE(sleeper, worker_task(worker_of(d, id)));
	shim_set_hook(note_sleep);
	while (!READ_ONCE(asleep)) {
		wake_up_process(sleeper);
		shim_sleep_us(100);
	}
	shim_set_hook(NULL);
}

TEST_BOTH(works_runs_and_wakeups_add_up)
{
	enum { JOBS = 5 };
	struct device *d = device_open(2);
	struct job blocker, jobs[JOBS];
	struct vhost_worker_counts c;
	struct page page;
	int i;

	let_sleep(d, 0);
	c = read_counts(d, 0);
	CHECK_EQ(c.works | c.runs | c.wakeups | c.busy_ns | c.longest_run_ns, 0);

	/* A run of one, and right after it, without a sleep, a run of five. */
	job_block(&blocker, d->vqs[0], &page);
	for (i = 0; i < JOBS; i++) {
		job_init(&jobs[i], d->vqs[1]);
		CHECK(job_queue(&jobs[i]));
		CHECK(job_queue(&jobs[i]));
	}
	settle();
	page_come(&page);
	wait_until(read_counts(d, 0).works == 1 + JOBS);
	c = read_counts(d, 0);
	CHECK_EQ(c.runs, 2);
	CHECK_EQ(c.wakeups, 1);
	CHECK(c.longest_run_ns >= 20 * MS);
	CHECK(c.busy_ns >= c.longest_run_ns);

	/* One that comes after a sleep. */
	let_sleep(d, 0);
	job_init(&jobs[0], d->vqs[0]);
	CHECK(job_queue(&jobs[0]));
	wait_until(read_counts(d, 0).works == 2 + JOBS);
	CHECK_EQ(read_counts(d, 0).runs, 3);
	CHECK_EQ(read_counts(d, 0).wakeups, 2);
	CHECK(read_counts(d, 0).longest_run_ns == c.longest_run_ns);

	/* What was queued already is not counted again. */
	CHECK_EQ(works_of(d, 0), 2);
	CHECK_EQ(works_of(d, 1), JOBS);
	device_close(d);
}

TEST_BOTH(each_worker_counts_its_own)
{
	struct device *d = device_open(2);
	struct job job;

	CHECK_EQ(new_worker(d), 1);
	d->vqs[1]->kick = NULL;
	CHECK_EQ(attach(d, 1, 1), 0);
	job_init(&job, d->vqs[1]);
	CHECK(job_queue(&job));
	wait_until(read_counts(d, 1).works == 1);
	CHECK_EQ(read_counts(d, 0).works, 0);
	CHECK_EQ(works_of(d, 0), 0);
	CHECK_EQ(works_of(d, 1), 1);
	/* Those of a virtqueue do not leave with the worker. */
	CHECK_EQ(attach(d, 1, 0), 0);
	CHECK_EQ(free_worker(d, 1), 0);
	CHECK_EQ(works_of(d, 1), 1);
	device_close(d);
}

static unsigned int handled;

static void handle_kick(struct vhost_work *work)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}

TEST_BOTH(kicks_count_and_what_else_is_polled_does_not)
{
	struct device *d = device_open(2);
	struct vhost_poll other = { .vq = d->vqs[1] };
	struct job blocker;
	struct page page;
	int i;

	vhost_work_init(&d->vqs[1]->poll.work, handle_kick);
	vhost_work_init(&other.work, handle_kick);
	job_block(&blocker, d->vqs[0], &page);
	for (i = 0; i < 10; i++)
		vhost_poll_kicked(&d->vqs[1]->poll);
	vhost_poll_kicked(&other);
	CHECK_EQ(kicks_of(d, 1), 10);
	CHECK_EQ(works_of(d, 1), 2);
	CHECK_EQ(kicks_of(d, 0), 0);
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(READ_ONCE(handled), 2);

	/* Who has no worker hears the guest all the same. */
	device_stop(d);
	vhost_poll_kicked(&d->vqs[1]->poll);
	CHECK_EQ(kicks_of(d, 1), 11);
	CHECK_EQ(works_of(d, 1), 2);
	CHECK_EQ(READ_ONCE(handled), 2);
	device_free(d);
}

static bool stop;

static int reader(void *data)
{
	struct device *d = data;
	struct vhost_worker_counts c, last = { 0 };

	while (!READ_ONCE(stop)) {
		c = read_counts(d, 0);
		CHECK(c.wakeups <= c.runs && c.runs <= c.works);
		CHECK(c.longest_run_ns <= c.busy_ns);
		CHECK(c.works >= last.works && c.busy_ns >= last.busy_ns);
		last = c;
	}
	return 0;
}

TEST_BOTH(counts_are_read_as_a_whole)
{
	struct device *d = device_open(1);
	struct task_struct *readers[2];
	struct job job;
	int i;

	job_init(&job, d->vqs[0]);
	for (i = 0; i < 2; i++)
		readers[i] = run("reader", reader, d);
	for (i = 1; i <= 5000; i++) {
		CHECK(job_queue(&job));
		if (i % 4 == 0)
			vhost_dev_flush(&d->dev);
		if (i % 100 == 0)
			unit_progress();
	}
	WRITE_ONCE(stop, true);
	for (i = 0; i < 2; i++)
		shim_join(readers[i]);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(works_of(d, 0), job_runs(&job));
	device_close(d);
}
