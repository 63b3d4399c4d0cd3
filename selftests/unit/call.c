// SPDX-License-Identifier: GPL-2.0
/* Calls into the worker code that a test makes in another thread. */
#include "unit.h"

static struct call *begin(void *data)
{
	struct call *call = data;

	WRITE_ONCE(current->flags, current->flags | call->flags);
	WRITE_ONCE(call->begun, true);
	return call;
}

static int end(struct call *call, long ret)
{
	__atomic_store_n(&call->done, true, __ATOMIC_RELEASE);
	return ret;
}

int call_attach(void *data)
{
	struct call *call = begin(data);

	return end(call, attach(call->d, call->vq, call->id));
}

int call_free(void *data)
{
	struct call *call = begin(data);

	return end(call, free_worker(call->d, call->id));
}

int call_flush(void *data)
{
	struct call *call = begin(data);

	vhost_dev_flush(&call->d->dev);
	return end(call, 0);
}

int call_vq_lock(void *data)
{
	struct call *call = begin(data);

	vhost_vq_lock(call->d->vqs[call->vq]);
	mutex_unlock(&call->d->vqs[call->vq]->mutex);
	return end(call, 0);
}

int call_stop(void *data)
{
	struct call *call = begin(data);

	device_stop(call->d);
	return end(call, 0);
}

int call_release(void *data)
{
	struct call *call = data;

	vhost_workers_closing(&call->d->dev);
	return call_stop(call);
}

struct task_struct *call_start(struct call *call, int (*fn)(void *))
{
	struct task_struct *task = run("caller", fn, call);

	wait_until(READ_ONCE(call->begun));
	settle();
	CHECK(!READ_ONCE(call->done));
	return task;
}
