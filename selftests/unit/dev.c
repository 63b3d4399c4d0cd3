// SPDX-License-Identifier: GPL-2.0
/* A vhost device without a driver, its ioctls, and work for its workers. */
#include <linux/kthread.h>
#include "unit.h"

struct task_struct *shim_vhost_task(struct vhost_task *vtsk);

bool vhost_dev_has_owner(struct vhost_dev *dev)
{
	return dev->mm;
}

long vhost_dev_check_owner(struct vhost_dev *dev)
{
	return dev->mm == current->mm ? 0 : -EPERM;
}

void vhost_poll_queue(struct vhost_poll *poll)
{
	vhost_vq_work_queue(poll->vq, &poll->work);
}

static struct vhost_virtqueue *vq_new(struct vhost_dev *dev)
{
	struct vhost_virtqueue *vq = calloc(1, sizeof(*vq));

	vq->dev = dev;
	vq->kick = (struct file *)vq;
	vq->poll.vq = vq;
	mutex_init(&vq->mutex);
	return vq;
}

struct device *device_new(int nvqs)
{
	struct device *d = calloc(1, sizeof(*d));
	struct vhost_dev *dev = &d->dev;
	int i;

	mutex_init(&dev->mutex);
	d->vqs = calloc(nvqs, sizeof(*d->vqs));
	dev->vqs = d->vqs;
	dev->nvqs = nvqs;
	dev->use_worker = true;
	dev->fork_owner = unit_kind == KIND_TASK;
	for (i = 0; i < nvqs; i++)
		d->vqs[i] = vq_new(dev);
	vhost_workers_init(dev);
	vhost_dev_describe(dev, "test", true);
	return d;
}

long device_start(struct device *d)
{
	long err;

	mutex_lock(&d->dev.mutex);
	d->dev.mm = current->mm;
	err = vhost_workers_start(&d->dev);
	if (err)
		d->dev.mm = NULL;
	mutex_unlock(&d->dev.mutex);
	return err;
}

void device_stop(struct device *d)
{
	mutex_lock(&d->dev.mutex);
	vhost_workers_stop(&d->dev);
	d->dev.mm = NULL;
	mutex_unlock(&d->dev.mutex);
}

void device_free(struct device *d)
{
	int i;

	CHECK(xa_empty(&d->dev.workers.xa));
	CHECK_EQ(d->dev.workers.count, 0);
	for (i = 0; i < d->dev.nvqs; i++) {
		CHECK(!d->vqs[i]->worker);
		free(d->vqs[i]);
	}
	free(d->vqs);
	free(d);
}

struct device *device_open(int nvqs)
{
	struct device *d = device_new(nvqs);

	CHECK_EQ(device_start(d), 0);
	return d;
}

void device_close(struct device *d)
{
	vhost_workers_closing(&d->dev);
	device_stop(d);
	device_free(d);
}

void device_kill_live(struct device *d)
{
	int i;

	for (i = 0; i < d->dev.nvqs; i++)
		d->vqs[i]->kick = NULL;
}

long device_ioctl(struct device *d, unsigned int ioctl, void *arg)
{
	long ret;

	mutex_lock(&d->dev.mutex);
	ret = vhost_worker_ioctl(&d->dev, ioctl, arg);
	mutex_unlock(&d->dev.mutex);
	return ret;
}

long new_worker(struct device *d)
{
	struct vhost_worker_state state = { 0 };
	long err = device_ioctl(d, VHOST_NEW_WORKER, &state);

	return err ? err : (long)state.worker_id;
}

long free_worker(struct device *d, unsigned int id)
{
	struct vhost_worker_state state = { id };

	return device_ioctl(d, VHOST_FREE_WORKER, &state);
}

long attach(struct device *d, unsigned int vq, unsigned int id)
{
	struct vhost_vring_worker map = { vq, id };

	return device_ioctl(d, VHOST_ATTACH_VRING_WORKER, &map);
}

long get_worker(struct device *d, unsigned int vq)
{
	struct vhost_vring_worker map = { .index = vq };
	long err = device_ioctl(d, VHOST_GET_VRING_WORKER, &map);

	return err ? err : (long)map.worker_id;
}

long attach_map(struct device *d, const struct vhost_vring_worker *map,
		unsigned int n)
{
	long err;

	mutex_lock(&d->dev.mutex);
	err = vhost_workers_attach(&d->dev, map, n, MAX_SCHEDULE_TIMEOUT);
	mutex_unlock(&d->dev.mutex);
	return err;
}

/* Looking inside ---------------------------------------------------------- */

unsigned int number_of(struct device *d)
{
	unsigned int number;

	mutex_lock(&d->dev.workers.lock);
	number = d->dev.workers.dev_id;
	mutex_unlock(&d->dev.workers.lock);
	return number;
}

struct vhost_worker *worker_of(struct device *d, unsigned int id)
{
	return xa_load(&d->dev.workers.xa, id);
}

struct task_struct *worker_task(struct vhost_worker *worker)
{
	return worker->dev->fork_owner ? shim_vhost_task(worker->vtsk) :
					 worker->task;
}

unsigned int worker_says(struct device *d, unsigned int id, enum worker_fact fact)
{
	struct vhost_worker *worker;
	unsigned int says;

	mutex_lock(&d->dev.workers.lock);
	worker = worker_of(d, id);
	if (fact == WORKER_ATTACHED)
		says = worker->attached;
	else
		says = worker->killed;
	mutex_unlock(&d->dev.workers.lock);
	return says;
}

unsigned int count_workers(struct device *d)
{
	return d->dev.workers.count;
}

void kill_worker(struct device *d, unsigned int id)
{
	struct task_struct *task = worker_task(worker_of(d, id));

	get_task_struct(task);
	shim_kill(task);
	shim_join(task);
}

/* Work -------------------------------------------------------------------- */

void page_init(struct page *page)
{
	shim_wait_init(&page->wait);
	page->present = false;
}

void page_come(struct page *page)
{
	shim_spin_lock(&page->wait.lock);
	page->present = true;
	shim_wake_all(&page->wait);
	shim_spin_unlock(&page->wait.lock);
}

static bool page_is_present(void *obj)
{
	return ((struct page *)obj)->present;
}

int page_access(struct page *page)
{
	shim_might_sleep("an access to guest memory");
	shim_acquire(shim_class("guest memory"));
	return shim_wait_for(&page->wait, page_is_present, page, TASK_KILLABLE,
			     MAX_SCHEDULE_TIMEOUT, "guest memory") ? -EFAULT : 0;
}

static void job_fn(struct vhost_work *work)
{
	struct job *job = container_of(work, struct job, work);

	if (job->lock)
		mutex_lock(&job->vq->mutex);
	if (job->page) {
		WRITE_ONCE(job->waiting, true);
		WRITE_ONCE(job->fault, page_access(job->page));
		WRITE_ONCE(job->waiting, false);
	}
	if (job->lock)
		mutex_unlock(&job->vq->mutex);
	WRITE_ONCE(job->ran_on, current);
	if (job->requeue && !job->runs)
		vhost_vq_work_queue(job->vq, work);
	__atomic_fetch_add(&job->runs, 1, __ATOMIC_RELEASE);
}

void job_init(struct job *job, struct vhost_virtqueue *vq)
{
	memset(job, 0, sizeof(*job));
	vhost_work_init(&job->work, job_fn);
	job->vq = vq;
}

bool job_queue(struct job *job)
{
	return vhost_vq_work_queue(job->vq, &job->work);
}

static void queue_and_wait(struct job *job, struct page *page, bool lock)
{
	page_init(page);
	job->page = page;
	job->lock = lock;
	CHECK(job_queue(job));
	wait_until(READ_ONCE(job->waiting));
}

void job_block(struct job *job, struct vhost_virtqueue *vq, struct page *page)
{
	job_init(job, vq);
	queue_and_wait(job, page, false);
}

void job_block_locked(struct job *job, struct vhost_virtqueue *vq,
		      struct page *page)
{
	job_init(job, vq);
	queue_and_wait(job, page, true);
}

struct device *device_open_blocked(struct job *blocker, struct page *page)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	device_kill_live(d);
	CHECK_EQ(attach(d, 1, 1), 0);
	job_block(blocker, d->vqs[1], page);
	return d;
}

unsigned int job_runs(struct job *job)
{
	return __atomic_load_n(&job->runs, __ATOMIC_ACQUIRE);
}

void settle(void)
{
	shim_sleep_us(30000);
}

struct task_struct *run(const char *name, int (*fn)(void *), void *data)
{
	return shim_run(&unit_owner, name, fn, data);
}
