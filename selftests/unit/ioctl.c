// SPDX-License-Identifier: GPL-2.0
/* The error table of the worker ioctls, cell by cell, and the ids. */
#include "unit.h"

extern unsigned int *shim_param_max_workers(void);

static const unsigned int ioctls[] = {
	VHOST_NEW_WORKER,
	VHOST_FREE_WORKER,
	VHOST_ATTACH_VRING_WORKER,
	VHOST_GET_VRING_WORKER,
};

#define N_IOCTLS	(sizeof(ioctls) / sizeof(*ioctls))

/* All four ioctls fail with err, and leave n workers. */
static void all_fail_with(struct device *d, void *arg, long err, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < N_IOCTLS; i++)
		CHECK_EQ(device_ioctl(d, ioctls[i], arg), err);
	CHECK_EQ(count_workers(d), n);
}

TEST(without_an_owner_every_ioctl_is_invalid)
{
	struct vhost_vring_worker arg = { 0 };
	struct device *d = device_new(2);

	all_fail_with(d, &arg, -EINVAL, 0);
	all_fail_with(d, SHIM_BAD_USER, -EINVAL, 0);
	current->mm = &unit_stranger;
	all_fail_with(d, &arg, -EINVAL, 0);
	device_free(d);
}

TEST(without_workers_every_ioctl_is_invalid)
{
	struct vhost_vring_worker arg = { 0 };
	struct device *d = device_new(2);

	d->dev.use_worker = false;
	d->dev.mm = &unit_owner;
	all_fail_with(d, &arg, -EINVAL, 0);
	current->mm = &unit_stranger;
	all_fail_with(d, &arg, -EINVAL, 0);
	device_free(d);
}

TEST_BOTH(a_stranger_is_refused_before_the_argument_is_read)
{
	struct vhost_vring_worker arg = { .index = 99, .worker_id = 99 };
	struct device *d = device_open(2);

	current->mm = &unit_stranger;
	all_fail_with(d, &arg, -EPERM, 1);
	all_fail_with(d, SHIM_BAD_USER, -EPERM, 1);
	CHECK_EQ(vhost_dev_check_caller(&d->dev), -EPERM);
	current->mm = &unit_owner;
	CHECK_EQ(vhost_dev_check_caller(&d->dev), 0);
	device_stop(d);
	current->mm = &unit_stranger;
	CHECK_EQ(vhost_dev_check_caller(&d->dev), 0);
	device_free(d);
}

TEST_BOTH(a_bad_pointer_faults_and_leaves_nothing)
{
	struct device *d = device_open(2);

	all_fail_with(d, SHIM_BAD_USER, -EFAULT, 1);
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(get_worker(d, 1), 0);
	device_close(d);
}

static int copies_to_user;

static void fail_copy_to_user(enum shim_point point)
{
	if (point == SHIM_COPY_TO_USER && copies_to_user++ == 0)
		shim_fail_nth(1);
}

TEST(get_faults_if_the_answer_cannot_be_written)
{
	struct vhost_vring_worker arg = { .index = 1 };
	struct device *d = device_open(2);

	shim_set_hook(fail_copy_to_user);
	CHECK_EQ(device_ioctl(d, VHOST_GET_VRING_WORKER, &arg), -EFAULT);
	CHECK_EQ(device_ioctl(d, VHOST_GET_VRING_WORKER, &arg), 0);
	device_close(d);
}

TEST(an_unknown_ioctl_is_not_ours)
{
	struct device *d = device_open(1);

	CHECK_EQ(device_ioctl(d, VHOST_SET_OWNER, NULL), -ENOIOCTLCMD);
	CHECK_EQ(device_ioctl(d, VHOST_SET_FORK_FROM_OWNER, NULL), -ENOIOCTLCMD);
	device_close(d);
}

TEST_BOTH(as_many_workers_as_virtqueues)
{
	struct device *d = device_open(4);
	int i;

	for (i = 1; i < 4; i++)
		CHECK_EQ(new_worker(d), i);
	CHECK_EQ(new_worker(d), -ENOSPC);
	CHECK_EQ(free_worker(d, 2), 0);
	CHECK_EQ(new_worker(d), 4);
	CHECK_EQ(new_worker(d), -ENOSPC);
	device_close(d);
}

TEST(the_cap_can_be_set)
{
	struct device *d;

	*shim_param_max_workers() = 2;
	d = device_open(4);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(new_worker(d), -ENOSPC);
	*shim_param_max_workers() = 6;
	while (count_workers(d) < 6)
		CHECK(new_worker(d) > 0);
	CHECK_EQ(new_worker(d), -ENOSPC);
	*shim_param_max_workers() = 1;
	CHECK_EQ(free_worker(d, 1), 0);
	CHECK_EQ(new_worker(d), -ENOSPC);
	device_close(d);
}

TEST_BOTH(making_a_thread_fails_with_its_own_errno)
{
	static const int errs[] = {
		-EAGAIN, -ERESTARTNOINTR, -EINTR, -ENOMEM, -EPERM
	};
	struct device *d = device_open(4);
	unsigned int i;

	for (i = 0; i < sizeof(errs) / sizeof(*errs); i++) {
		shim_fail_thread(errs[i]);
		CHECK_EQ(new_worker(d), errs[i]);
		CHECK_EQ(count_workers(d), 1);
	}
	shim_fail_thread(0);
	CHECK(new_worker(d) > 0);
	device_close(d);
}

TEST_BOTH(set_owner_fails_with_the_errno_of_its_thread)
{
	struct device *d = device_new(2);

	shim_fail_thread(-EAGAIN);
	CHECK_EQ(device_start(d), -EAGAIN);
	CHECK_EQ(count_workers(d), 0);
	CHECK(!job_queue(&(struct job){ .vq = d->vqs[0] }));
	shim_fail_thread(0);
	CHECK_EQ(device_start(d), 0);
	CHECK_EQ(get_worker(d, 1), 0);
	device_close(d);
}

TEST_TASK(a_pending_signal_restarts_new_worker)
{
	struct device *d = device_open(2);

	send_sig(SIGALRM, current, 0);
	CHECK_EQ(new_worker(d), -ERESTARTNOINTR);
	flush_signals(current);
	CHECK_EQ(new_worker(d), 2);
	device_close(d);
}

TEST_KTHREAD(new_worker_of_a_dying_task_is_interrupted)
{
	struct device *d = device_open(2);

	shim_kill(current);
	CHECK_EQ(new_worker(d), -EINTR);
	CHECK_EQ(count_workers(d), 1);
	flush_signals(current);
	device_close(d);
}

TEST_KTHREAD(a_worker_that_cannot_join_the_cgroup_does_not_stay)
{
	struct device *d = device_open(2);

	shim_fail_cgroup(-EAGAIN);
	CHECK_EQ(new_worker(d), -EAGAIN);
	CHECK_EQ(count_workers(d), 1);
	device_stop(d);
	CHECK_EQ(device_start(d), -EAGAIN);
	device_free(d);
}

TEST_BOTH(free_refuses_what_it_must)
{
	struct device *d = device_open(2);

	CHECK_EQ(free_worker(d, 7), -ENODEV);
	CHECK_EQ(free_worker(d, -1U), -ENODEV);
	CHECK_EQ(free_worker(d, 0), -EBUSY);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	CHECK_EQ(free_worker(d, 1), -EBUSY);
	CHECK_EQ(attach(d, 1, 0), 0);
	CHECK_EQ(free_worker(d, 1), 0);
	CHECK_EQ(free_worker(d, 1), -ENODEV);
	CHECK_EQ(attach(d, 1, 1), -ENODEV);
	device_close(d);
}

TEST_BOTH(the_first_worker_can_be_freed)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 0, 1), 0);
	CHECK_EQ(free_worker(d, 0), -EBUSY);
	CHECK_EQ(attach(d, 1, 1), 0);
	CHECK_EQ(free_worker(d, 0), 0);
	CHECK_EQ(free_worker(d, 0), -ENODEV);
	CHECK_EQ(get_worker(d, 0), 1);
	CHECK_EQ(new_worker(d), 2);
	device_close(d);
}

TEST_BOTH(attach_refuses_what_it_must)
{
	struct device *d = device_open(2);

	CHECK_EQ(attach(d, 2, 0), -ENOBUFS);
	CHECK_EQ(attach(d, -1U, 0), -ENOBUFS);
	CHECK_EQ(attach(d, 2, 9), -ENOBUFS);
	CHECK_EQ(attach(d, 0, 9), -ENODEV);
	CHECK_EQ(attach(d, 0, 0), 0);
	device_close(d);
}

TEST_BOTH(get_tells_the_worker_of_a_virtqueue)
{
	struct device *d = device_open(2);

	CHECK_EQ(get_worker(d, 2), -ENOBUFS);
	CHECK_EQ(get_worker(d, 1), 0);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 1, 1), 0);
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(get_worker(d, 1), 1);
	device_close(d);
}

TEST(ids_are_not_used_again_soon)
{
	struct device *d = device_open(2);
	int i;

	for (i = 1; i < 300; i++) {
		CHECK_EQ(new_worker(d), i);
		CHECK_EQ(free_worker(d, i), 0);
	}
	CHECK_EQ(attach(d, 0, 1), -ENODEV);
	device_close(d);
}

TEST(ids_wrap_to_the_lowest_that_is_free)
{
	struct device *d = device_open(4);

	CHECK_EQ(new_worker(d), 1);
	d->dev.workers.next_id = INT_MAX;
	CHECK_EQ(new_worker(d), INT_MAX);
	CHECK_EQ(new_worker(d), 2);
	CHECK_EQ(attach(d, 0, INT_MAX), 0);
	CHECK_EQ(get_worker(d, 0), INT_MAX);
	CHECK_EQ(new_worker(d), -ENOSPC);
	device_close(d);
}

TEST(the_first_worker_of_a_new_owner_is_0_again)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 0, 1), 0);
	device_stop(d);
	CHECK_EQ(get_worker(d, 0), -EINVAL);
	CHECK_EQ(device_start(d), 0);
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(get_worker(d, 1), 0);
	device_close(d);
}

static struct device *half_made;

static void use_half_made(enum shim_point point)
{
	const struct vhost_vring_worker map = { 0, 1 };

	if (point != SHIM_COPY_TO_USER)
		return;
	shim_set_hook(NULL);
	CHECK_EQ(vhost_worker_free(&half_made->dev, 1, MAX_SCHEDULE_TIMEOUT), -ENODEV);
	CHECK_EQ(vhost_workers_attach(&half_made->dev, &map, 1, MAX_SCHEDULE_TIMEOUT),
		 -ENODEV);
	vhost_dev_flush(&half_made->dev);
	vhost_workers_interrupt(&half_made->dev);
}

TEST_BOTH(a_worker_in_the_making_cannot_be_found)
{
	half_made = device_open(2);
	shim_set_hook(use_half_made);
	CHECK_EQ(new_worker(half_made), 1);
	CHECK(!READ_ONCE(shim_hook));
	CHECK_EQ(attach(half_made, 0, 1), 0);
	device_close(half_made);
}

TEST_BOTH(workers_are_named_after_owner_and_id)
{
	struct device *d = device_open(2);
	char name[32];

	CHECK_EQ(new_worker(d), 1);
	snprintf(name, sizeof(name), "vhost-%d-%u.0", current->pid, d->dev.workers.dev_id);
	CHECK(!strcmp(worker_task(worker_of(d, 0))->comm, name));
	snprintf(name, sizeof(name), "vhost-%d-%u.1", current->pid, d->dev.workers.dev_id);
	CHECK(!strcmp(worker_task(worker_of(d, 1))->comm, name));
	device_close(d);
}

TEST_BOTH(tracepoints_tell_the_life_of_workers)
{
	struct device *d = device_open(2);

	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(attach(d, 0, 1), 0);
	CHECK_EQ(attach(d, 0, 0), 0);
	CHECK_EQ(free_worker(d, 1), 0);
	device_close(d);
	CHECK_EQ(shim_traced("vhost_worker_create"), 2);
	CHECK_EQ(shim_traced("vhost_worker_free"), 2);
	CHECK_EQ(shim_traced("vhost_worker_kill"), 0);
	CHECK_EQ(shim_traced("vhost_vq_attach"), 2);
}
