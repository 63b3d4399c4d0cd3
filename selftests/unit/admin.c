// SPDX-License-Identifier: GPL-2.0
/* An administrator: a task of another process than the owner's. */
#include "unit.h"

/* Find the device and lock it, or an error; it may have lost its number since. */
static long find(struct request *r, struct vhost_dev **dev)
{
	*dev = vhost_dev_get(r->dev);
	if (!*dev)
		return -ENODEV;
	mutex_lock(&(*dev)->mutex);
	if ((*dev)->workers.dev_id == r->dev)
		return 0;
	mutex_unlock(&(*dev)->mutex);
	vhost_dev_put(*dev);
	return -ENODEV;
}

static void leave(struct vhost_dev *dev)
{
	mutex_unlock(&dev->mutex);
	vhost_dev_put(dev);
}

static long new_of(struct vhost_dev *dev, long timeout)
{
	struct task_struct *owner = vhost_dev_owner_task(dev);
	struct vhost_worker *worker;

	if (!owner)
		return -EOWNERDEAD;
	worker = vhost_worker_create(dev, owner, timeout);
	put_task_struct(owner);
	if (IS_ERR(worker))
		return PTR_ERR(worker);

	mutex_lock(&dev->workers.lock);
	vhost_worker_publish(worker);
	mutex_unlock(&dev->workers.lock);
	return worker->id;
}

long request_new(struct request *r)
{
	struct vhost_dev *dev;
	long ret = find(r, &dev);

	if (ret)
		return ret;
	ret = new_of(dev, r->timeout);
	leave(dev);
	return ret;
}

long request_free(struct request *r)
{
	struct vhost_dev *dev;
	long ret = find(r, &dev);

	if (ret)
		return ret;
	ret = vhost_worker_free(dev, r->id, r->timeout);
	leave(dev);
	return ret;
}

long request_attach(struct request *r)
{
	const struct vhost_vring_worker map = { r->vq, r->id };
	struct vhost_dev *dev;
	long ret = find(r, &dev);

	if (ret)
		return ret;
	ret = vhost_workers_attach(dev, &map, 1, r->timeout);
	leave(dev);
	return ret;
}

struct stranger {
	struct request *r;
	long (*op)(struct request *r);
};

static int stranger_fn(void *data)
{
	struct stranger s = *(struct stranger *)data;
	long ret;

	free(data);
	WRITE_ONCE(s.r->begun, true);
	ret = s.op(s.r);
	__atomic_store_n(&s.r->done, true, __ATOMIC_RELEASE);
	return ret;
}

struct task_struct *request(struct request *r, long (*op)(struct request *r))
{
	struct stranger *s = malloc(sizeof(*s));
	struct task_struct *task;

	s->r = r;
	s->op = op;
	task = shim_run(&unit_stranger, "stranger", stranger_fn, s);
	wait_until(READ_ONCE(r->begun));
	return task;
}

long answer(struct task_struct *task)
{
	return shim_join(task);
}

long ask(struct device *d, long (*op)(struct request *r), struct request r)
{
	r.dev = number_of(d);
	return answer(request(&r, op));
}
