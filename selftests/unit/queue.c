// SPDX-License-Identifier: GPL-2.0
/* Queueing work, running it, waking the thread that does. */
#include <sched.h>
#include "unit.h"

#define ROUNDS	40000

TEST_BOTH(work_runs_once_however_often_it_was_queued)
{
	struct device *d = device_open(1);
	struct job blocker, job;
	struct page page;
	int i;

	job_block(&blocker, d->vqs[0], &page);
	job_init(&job, d->vqs[0]);
	for (i = 0; i < 10; i++)
		CHECK(job_queue(&job));
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(job_runs(&job), 1);
	CHECK(job_queue(&job));
	vhost_dev_flush(&d->dev);
	CHECK_EQ(job_runs(&job), 2);
	device_close(d);
}

TEST_BOTH(work_may_queue_itself_again)
{
	struct device *d = device_open(1);
	struct job job;

	job_init(&job, d->vqs[0]);
	job.requeue = true;
	CHECK(job_queue(&job));
	wait_until(job_runs(&job) == 2);
	device_close(d);
}

static int order[16], ordered;

struct numbered {
	struct vhost_work work;
	int number;
};

static void note_order(struct vhost_work *work)
{
	order[ordered++] = container_of(work, struct numbered, work)->number;
}

TEST_BOTH(work_runs_in_the_order_of_queueing)
{
	struct device *d = device_open(1);
	struct numbered works[16];
	struct page page;
	struct job blocker;
	int i;

	job_block(&blocker, d->vqs[0], &page);
	for (i = 0; i < 16; i++) {
		works[i].number = i;
		vhost_work_init(&works[i].work, note_order);
		CHECK(vhost_vq_work_queue(d->vqs[0], &works[i].work));
	}
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK_EQ(ordered, 16);
	for (i = 0; i < ordered; i++)
		CHECK_EQ(order[i], i);
	device_close(d);
}

TEST_BOTH(only_who_finds_the_list_empty_wakes)
{
	struct device *d = device_open(1);
	struct page page;
	struct job blocker, jobs[10];
	unsigned long before;
	int i;

	job_block(&blocker, d->vqs[0], &page);
	before = shim_wakeups();
	for (i = 0; i < 10; i++) {
		job_init(&jobs[i], d->vqs[0]);
		CHECK(job_queue(&jobs[i]));
	}
	CHECK_EQ(shim_wakeups() - before, 1);
	page_come(&page);
	device_close(d);
	CHECK_EQ(job_runs(&jobs[9]), 1);
}

TEST_BOTH(queueing_takes_no_lock)
{
	struct device *d = device_open(2);
	struct job job;

	job_init(&job, d->vqs[0]);
	mutex_lock(&d->dev.workers.lock);
	current->no_sleep++;
	CHECK(job_queue(&job));
	vhost_vq_has_work(d->vqs[0]);
	current->no_sleep--;
	mutex_unlock(&d->dev.workers.lock);
	wait_until(job_runs(&job));
	device_close(d);
}

TEST_BOTH(without_a_worker_nothing_is_queued)
{
	struct device *d = device_new(1);
	struct job job;

	job_init(&job, d->vqs[0]);
	CHECK(!job_queue(&job));
	CHECK(!vhost_vq_has_work(d->vqs[0]));
	CHECK_EQ(device_start(d), 0);
	CHECK(job_queue(&job));
	device_stop(d);
	CHECK_EQ(job_runs(&job), 1);
	CHECK(!job_queue(&job));
	device_free(d);
	CHECK_EQ(job_runs(&job), 1);
}

TEST_BOTH(has_work_tells_what_is_on_the_list)
{
	struct device *d = device_open(1);
	struct job blocker, job;
	struct page page;

	CHECK(!vhost_vq_has_work(d->vqs[0]));
	job_block(&blocker, d->vqs[0], &page);
	CHECK(!vhost_vq_has_work(d->vqs[0]));
	job_init(&job, d->vqs[0]);
	CHECK(job_queue(&job));
	CHECK(vhost_vq_has_work(d->vqs[0]));
	page_come(&page);
	vhost_dev_flush(&d->dev);
	CHECK(!vhost_vq_has_work(d->vqs[0]));
	device_close(d);
}

static unsigned int freed;

static void free_self(struct vhost_work *work)
{
	free(work);
	__atomic_fetch_add(&freed, 1, __ATOMIC_RELEASE);
}

TEST_BOTH(work_may_free_itself)
{
	struct device *d = device_open(1);
	int i;

	for (i = 0; i < 1000; i++) {
		struct vhost_work *work = malloc(sizeof(*work));

		vhost_work_init(work, free_self);
		CHECK(vhost_vq_work_queue(d->vqs[0], work));
	}
	vhost_dev_flush(&d->dev);
	CHECK_EQ(READ_ONCE(freed), 1000);
	device_close(d);
}

/* What a queuer wrote, who found the work queued already. */
static struct {
	struct vhost_work work;
	bool taken, go;
	int payload, seen;
} late;

static void stop_before_clear(enum shim_point point)
{
	if (point != SHIM_CLEAR_BIT || READ_ONCE(late.taken) ||
	    !READ_ONCE(late.work.fn))
		return;
	WRITE_ONCE(late.taken, true);
	while (!READ_ONCE(late.go))
		sched_yield();
}

static void read_payload(struct vhost_work *work)
{
	late.seen = late.payload;
}

TEST_BOTH(a_run_sees_what_was_written_before_a_queueing_it_covers)
{
	struct device *d = device_open(1);

	vhost_work_init(&late.work, read_payload);
	shim_set_hook(stop_before_clear);
	CHECK(vhost_vq_work_queue(d->vqs[0], &late.work));
	wait_until(READ_ONCE(late.taken));
	late.payload = 42;
	CHECK(vhost_vq_work_queue(d->vqs[0], &late.work));
	shim_set_hook(NULL);
	WRITE_ONCE(late.go, true);
	device_close(d);
	CHECK_EQ(late.seen, 42);
}

/* Work that moves to another list as soon as it may. */
static struct device *twice_dev;
static struct vhost_work first, second;
static unsigned int first_runs, second_runs;
static bool requeued;

static void requeue_first(enum shim_point point)
{
	if (point != SHIM_RESCHED || READ_ONCE(requeued))
		return;
	WRITE_ONCE(requeued, true);
	vhost_vq_work_queue(twice_dev->vqs[1], &first);
}

static void run_first(struct vhost_work *work)
{
	__atomic_fetch_add(&first_runs, 1, __ATOMIC_RELEASE);
}

static void run_second(struct vhost_work *work)
{
	__atomic_fetch_add(&second_runs, 1, __ATOMIC_RELEASE);
}

TEST_BOTH(work_queued_elsewhere_while_it_runs_does_not_lose_its_neighbour)
{
	struct page page;
	struct job blocker;

	twice_dev = device_open(2);
	CHECK_EQ(new_worker(twice_dev), 1);
	CHECK_EQ(attach(twice_dev, 1, 1), 0);
	vhost_work_init(&first, run_first);
	vhost_work_init(&second, run_second);
	job_block(&blocker, twice_dev->vqs[0], &page);
	CHECK(vhost_vq_work_queue(twice_dev->vqs[0], &first));
	CHECK(vhost_vq_work_queue(twice_dev->vqs[0], &second));
	WRITE_ONCE(requeued, true);
	shim_set_hook(requeue_first);
	page_come(&page);
	wait_until(READ_ONCE(blocker.runs));
	WRITE_ONCE(requeued, false);
	device_close(twice_dev);
	CHECK(READ_ONCE(first_runs) >= 1);
	CHECK_EQ(READ_ONCE(second_runs), 1);
}

/* One kick at a time: a wake-up that is missed is never made up for. */
static int swap_fn(void *data)
{
	struct device *d = data;
	int i;

	for (i = 0; i < 300; i++) {
		CHECK_EQ(attach(d, 0, i & 1), 0);
		shim_sleep_us(200);
	}
	return 0;
}

static void ping_pong(struct device *d, unsigned int rounds)
{
	struct job job;
	unsigned int i;

	job_init(&job, d->vqs[0]);
	for (i = 1; i <= rounds; i++) {
		CHECK(job_queue(&job));
		while (job_runs(&job) != i)
			sched_yield();
		if (i % 64 == 0)
			unit_progress();
	}
}

TEST_BOTH(no_wakeup_is_missed)
{
	struct device *d = device_open(1);

	ping_pong(d, ROUNDS);
	device_close(d);
}

TEST_BOTH(no_wakeup_is_missed_however_slow_each_step_is)
{
	struct device *d = device_open(1);

	WRITE_ONCE(shim_perturb, 300);
	ping_pong(d, 2000);
	device_close(d);
}

TEST_BOTH(no_wakeup_is_missed_while_workers_are_swapped)
{
	struct device *d = device_open(2);
	struct task_struct *swapper;

	CHECK_EQ(new_worker(d), 1);
	WRITE_ONCE(shim_perturb, 20);
	swapper = run("swap", swap_fn, d);
	ping_pong(d, 10000);
	shim_join(swapper);
	device_close(d);
}

static struct job in_between;
static enum shim_point between;

static void queue_in_between(enum shim_point point)
{
	if (point != between || strncmp(current->comm, "vhost-", 6))
		return;
	shim_set_hook(NULL);
	job_queue(&in_between);
}

static void arm(struct vhost_work *work)
{
	shim_set_hook(queue_in_between);
}

/* Queue work when the worker's thread passes a point on its way to sleep. */
static void queue_at(enum shim_point point)
{
	struct device *d = device_open(1);
	struct vhost_work work;

	job_init(&in_between, d->vqs[0]);
	between = point;
	vhost_work_init(&work, arm);
	CHECK(vhost_vq_work_queue(d->vqs[0], &work));
	wait_until(job_runs(&in_between));
	device_close(d);
}

TEST_BOTH(work_queued_right_after_the_look_at_the_list_runs)
{
	queue_at(SHIM_LLIST_EMPTY);
}

TEST_BOTH(work_queued_right_before_the_sleep_runs)
{
	queue_at(SHIM_SCHEDULE);
}
