// SPDX-License-Identifier: GPL-2.0
/* Devices by number: who finds them, until when, and what is told of them. */
#include "unit.h"

static bool can_be_found(unsigned int number)
{
	struct vhost_dev *dev = vhost_dev_get(number);

	if (dev)
		vhost_dev_put(dev);
	return dev;
}

static bool closed;

static int close_fn(void *data)
{
	device_close(data);
	WRITE_ONCE(closed, true);
	return 0;
}

TEST_BOTH(close_waits_for_who_has_found_the_device)
{
	struct device *d = device_open(2), *other = device_open(1);
	unsigned int number = number_of(d);
	unsigned long from = 0;
	struct task_struct *closer;
	struct vhost_dev *dev;

	dev = vhost_dev_get(number);
	CHECK(dev == &d->dev);
	closer = run("closer", close_fn, d);
	wait_until(!can_be_found(number));
	/* Nobody finds it in any way, and the rest of the close has to wait. */
	CHECK(vhost_dev_get_next(&from) == &other->dev);
	vhost_dev_put(&other->dev);
	settle();
	CHECK(!READ_ONCE(closed));
	CHECK_EQ(get_worker(d, 0), 0);
	CHECK_EQ(dev->workers.dev_id, number);
	vhost_dev_put(dev);
	shim_join(closer);
	device_close(other);
}

TEST_BOTH(close_waits_for_the_last_of_many)
{
	struct device *d = device_open(1);
	unsigned long at = 0;
	struct task_struct *closer;

	CHECK(vhost_dev_get(number_of(d)) == &d->dev);
	CHECK(vhost_dev_get_next(&at) == &d->dev);
	CHECK_EQ(at, number_of(d));
	closer = run("closer", close_fn, d);
	wait_until(!can_be_found(at));
	vhost_dev_put(&d->dev);
	settle();
	CHECK(!READ_ONCE(closed));
	vhost_dev_put(&d->dev);
	shim_join(closer);
}

/* A close that begins as soon as who looks for the device lets go of the lock. */
static struct {
	struct device *d;
	struct task_struct *finder, *closer;
} found;

static void close_it_now(enum shim_point point)
{
	if (point != SHIM_UNLOCKED || current != found.finder)
		return;
	shim_set_hook(NULL);
	found.closer = run("closer", close_fn, found.d);
	settle();
	CHECK(!READ_ONCE(closed));
}

static void prepare_close(void)
{
	WRITE_ONCE(closed, false);
	found.d = device_open(1);
	found.finder = current;
	shim_set_hook(close_it_now);
}

TEST_BOTH(who_has_found_the_device_keeps_it_from_that_moment_on)
{
	struct vhost_dev *dev;
	unsigned long at = 0;

	prepare_close();
	dev = vhost_dev_get(1);
	CHECK(dev == &found.d->dev);
	vhost_dev_put(dev);
	shim_join(found.closer);

	prepare_close();
	dev = vhost_dev_get_next(&at);
	CHECK(dev == &found.d->dev);
	vhost_dev_put(dev);
	shim_join(found.closer);
}

TEST(numbers_are_never_given_out_again)
{
	struct device *d, *first = device_open(1);
	unsigned int last = number_of(first);
	int i;

	CHECK_EQ(last, 1);
	for (i = 0; i < 100; i++) {
		d = device_open(1);
		CHECK_EQ(number_of(d), last + 1);
		last = number_of(d);
		device_close(d);
		CHECK(!can_be_found(last));
	}
	device_close(first);
}

TEST_BOTH(another_owner_means_another_number)
{
	struct device *d = device_open(2);
	unsigned int number = number_of(d);
	struct vhost_dev *held;
	int i;

	for (i = 0; i < 3; i++) {
		/* A reference keeps the memory, not the number. */
		held = vhost_dev_get(number);
		CHECK(held == &d->dev);
		device_stop(d);
		CHECK_EQ(number_of(d), 0);
		CHECK(!can_be_found(number));
		CHECK_EQ(device_start(d), 0);
		vhost_dev_put(held);
		CHECK(!can_be_found(number));
		CHECK_EQ(number_of(d), number + 1);
		number = number_of(d);
		CHECK(can_be_found(number));
	}
	device_close(d);
}

TEST_BOTH(a_device_without_an_owner_cannot_be_found)
{
	struct device *d = device_new(2);
	unsigned long at = 0;

	CHECK_EQ(number_of(d), 0);
	CHECK(!can_be_found(0));
	CHECK(!vhost_dev_get_next(&at));
	shim_fail_thread(-EAGAIN);
	CHECK_EQ(device_start(d), -EAGAIN);
	shim_fail_thread(0);
	CHECK_EQ(number_of(d), 0);
	CHECK(!vhost_dev_get_next(&at));
	CHECK_EQ(shim_event(VHOST_CMD_DEV_ADD_NTF).nth, 0);
	CHECK_EQ(shim_event(VHOST_CMD_DEV_DEL_NTF).nth, 0);
	vhost_workers_closing(&d->dev);
	device_free(d);
}

static void look_for_half_made(enum shim_point point)
{
	unsigned long at = 0;

	if (point != SHIM_THREAD_CREATE)
		return;
	shim_set_hook(NULL);
	CHECK(!vhost_dev_get_next(&at));
	CHECK(!can_be_found(1));
}

TEST_BOTH(a_device_in_the_making_cannot_be_found)
{
	struct device *d = device_new(2);

	shim_set_hook(look_for_half_made);
	CHECK_EQ(device_start(d), 0);
	CHECK(!READ_ONCE(shim_hook));
	CHECK(can_be_found(1));
	device_close(d);
}

TEST(all_devices_are_found_in_order)
{
	struct device *d[5];
	struct vhost_dev *dev;
	unsigned long at = 0;
	int i;

	for (i = 0; i < 5; i++)
		d[i] = device_open(1);
	device_close(d[2]);
	for (i = 0; (dev = vhost_dev_get_next(&at)); at++, i++) {
		i += i == 2;
		CHECK(dev == &d[i]->dev);
		CHECK_EQ(at, number_of(d[i]));
		vhost_dev_put(dev);
	}
	CHECK_EQ(i, 5);
	for (i = 0; i < 5; i++)
		if (i != 2)
			device_close(d[i]);
}

TEST(the_owner_is_a_thread_that_has_its_memory_still)
{
	struct device *d = device_open(1);
	struct task_struct *owner;

	mutex_lock(&d->dev.mutex);
	owner = vhost_dev_owner_task(&d->dev);
	CHECK(owner == current);
	put_task_struct(owner);

	/* It executed another program. */
	current->mm = &unit_stranger;
	CHECK(!vhost_dev_owner_task(&d->dev));
	current->mm = &unit_owner;

	WRITE_ONCE(current->flags, PF_EXITING);
	CHECK(!vhost_dev_owner_task(&d->dev));
	WRITE_ONCE(current->flags, 0);
	mutex_unlock(&d->dev.mutex);
	device_close(d);
}

static int open_fn(void *data)
{
	*(struct device **)data = device_open(1);
	return 0;
}

TEST_KTHREAD(an_owner_that_has_exited_has_no_thread)
{
	struct mm_struct vmm = { .name = "vmm" };
	struct device *d;

	shim_join(shim_run(&vmm, "vmm", open_fn, &d));
	CHECK_EQ(ask(d, request_new, (struct request){ 0 }), -EOWNERDEAD);
	device_close(d);
}

TEST(a_driver_for_one_worker_has_one)
{
	struct device *d = device_new(3);

	vhost_dev_describe(&d->dev, "test", false);
	CHECK_EQ(vhost_workers_max(&d->dev), 1);
	CHECK_EQ(device_start(d), 0);
	CHECK_EQ(new_worker(d), -ENOSPC);
	device_close(d);
}

static void set_wwpn(struct device *d, const char *wwpn)
{
	mutex_lock(&d->dev.mutex);
	vhost_dev_set_wwpn(&d->dev, wwpn);
	mutex_unlock(&d->dev.mutex);
}

TEST(a_target_is_told_when_it_changes)
{
	struct device *d = device_open(1);
	char long_name[VHOST_WWPN_SIZE + 10];

	set_wwpn(d, NULL);
	set_wwpn(d, "");
	CHECK_EQ(shim_event(VHOST_CMD_DEV_CHANGE_NTF).nth, 0);
	set_wwpn(d, "naa.1");
	set_wwpn(d, "naa.1");
	CHECK_EQ(shim_event(VHOST_CMD_DEV_CHANGE_NTF).nth, 1);
	CHECK_EQ(shim_event(VHOST_CMD_DEV_CHANGE_NTF).dev, number_of(d));
	CHECK(!strcmp(d->dev.workers.wwpn, "naa.1"));
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	set_wwpn(d, long_name);
	CHECK_EQ(strlen(d->dev.workers.wwpn), VHOST_WWPN_SIZE - 1);
	device_stop(d);
	CHECK_EQ(strlen(d->dev.workers.wwpn), 0);
	device_free(d);
}

TEST_BOTH(each_change_is_told_once)
{
	const struct vhost_vring_worker map[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	struct device *d = device_open(3);
	unsigned int number = number_of(d);

	CHECK_EQ(shim_event(VHOST_CMD_DEV_ADD_NTF).nth, 1);
	CHECK_EQ(shim_event(VHOST_CMD_DEV_ADD_NTF).dev, number);
	CHECK_EQ(shim_event(VHOST_CMD_DEV_ADD_NTF).workers, 1);
	CHECK_EQ(new_worker(d), 1);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_ADD_NTF).nth, 2);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_ADD_NTF).worker, 1);
	CHECK_EQ(attach_map(d, map, 3), 0);
	CHECK_EQ(attach_map(d, map, 3), 0);
	CHECK_EQ(shim_event(VHOST_CMD_MAP_NTF).nth, 1);
	CHECK_EQ(shim_event(VHOST_CMD_MAP_NTF).entries, 3);
	CHECK_EQ(free_worker(d, 1), -EBUSY);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_DEL_NTF).nth, 0);
	CHECK_EQ(free_worker(d, 0), 0);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_DEL_NTF).nth, 1);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_DEL_NTF).worker, 0);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_KILLED_NTF).nth, 0);
	if (unit_kind == KIND_TASK) {
		kill_worker(d, 1);
		CHECK_EQ(shim_event(VHOST_CMD_WORKER_KILLED_NTF).nth, 1);
		CHECK_EQ(shim_event(VHOST_CMD_WORKER_KILLED_NTF).worker, 1);
	}
	device_close(d);
	/* The end of the device is that of its workers. */
	CHECK_EQ(shim_event(VHOST_CMD_DEV_DEL_NTF).nth, 1);
	CHECK_EQ(shim_event(VHOST_CMD_DEV_DEL_NTF).dev, number);
	CHECK_EQ(shim_event(VHOST_CMD_WORKER_DEL_NTF).nth, 1);
}

/* What can be seen of a device, in each moment, and the generation it has. */
struct view {
	bool found;
	char wwpn[VHOST_WWPN_SIZE];
	unsigned long ids;
	unsigned long killed;
	struct vhost_worker *map[3];
};

static struct {
	struct device *d;
	unsigned int number;
	struct shim_spin lock;
	struct view view;
	unsigned int generation;
	unsigned int changes;
} watched;

static __thread bool watching;

static void take_view(struct view *v)
{
	struct vhost_workers *workers = &watched.d->dev.workers;
	struct vhost_dev *dev = vhost_dev_get(watched.number);
	struct vhost_worker *worker;
	unsigned long id;
	int i;

	memset(v, 0, sizeof(*v));
	if (!dev)
		return;
	v->found = true;
	mutex_lock(&workers->lock);
	memcpy(v->wwpn, workers->wwpn, sizeof(v->wwpn));
	xa_for_each(&workers->xa, id, worker) {
		v->ids |= 1UL << id;
		v->killed |= (unsigned long)worker->killed << id;
	}
	for (i = 0; i < 3; i++)
		v->map[i] = vhost_vq_worker(dev->vqs[i]);
	mutex_unlock(&workers->lock);
	vhost_dev_put(dev);
}

/* As a dump does it: the generation first, then what there is to see. */
static void watch(void)
{
	unsigned int generation = vhost_registry_generation();
	struct view now;

	take_view(&now);
	shim_spin_lock(&watched.lock);
	if (memcmp(&now, &watched.view, sizeof(now))) {
		watched.changes++;
		if (vhost_registry_generation() == watched.generation)
			unit_fail(__FILE__, __LINE__, "change %u has the generation before it",
				  watched.changes);
	}
	watched.view = now;
	watched.generation = generation;
	shim_spin_unlock(&watched.lock);
}

/* Right after a lock is given back somebody else sees what was done under it. */
static void watch_unlocks(enum shim_point point)
{
	if (point != SHIM_UNLOCKED || watching ||
	    lockdep_is_held(&watched.d->dev.workers.lock))
		return;
	watching = true;
	watch();
	watching = false;
}

static void count_changes(unsigned int wanted)
{
	CHECK_EQ(READ_ONCE(watched.changes), wanted);
	WRITE_ONCE(watched.changes, 0);
}

TEST_BOTH(nobody_sees_a_change_in_the_generation_before_it)
{
	const struct vhost_vring_worker map[] = { { 0, 1 }, { 1, 1 } };
	struct device *d = device_new(3);

	device_kill_live(d);
	watched.d = d;
	watched.number = 1;
	watched.generation = vhost_registry_generation();
	shim_set_hook(watch_unlocks);
	CHECK_EQ(device_start(d), 0);
	count_changes(1);
	CHECK_EQ(new_worker(d), 1);
	count_changes(1);
	CHECK_EQ(attach_map(d, map, 2), 0);
	count_changes(1);
	CHECK_EQ(attach_map(d, map, 2), 0);
	count_changes(0);
	set_wwpn(d, "naa.1");
	count_changes(1);
	CHECK_EQ(attach(d, 2, 1), 0);
	count_changes(1);
	CHECK_EQ(free_worker(d, 0), 0);
	count_changes(1);
	shim_set_hook(NULL);
	device_close(d);
}

TEST_TASK(nobody_sees_a_kill_in_the_generation_before_it)
{
	struct device *d = device_new(3);

	watched.d = d;
	watched.number = 1;
	CHECK_EQ(device_start(d), 0);
	watched.generation = vhost_registry_generation();
	take_view(&watched.view);
	shim_set_hook(watch_unlocks);
	kill_worker(d, 0);
	count_changes(1);
	shim_set_hook(NULL);
	device_close(d);
}

TEST(nobody_sees_the_end_of_a_device_in_the_generation_before_it)
{
	struct device *d = device_open(3);

	watched.d = d;
	watched.number = number_of(d);
	watched.generation = vhost_registry_generation();
	take_view(&watched.view);
	shim_set_hook(watch_unlocks);
	device_stop(d);
	count_changes(1);
	shim_set_hook(NULL);
	device_free(d);
}

TEST(the_generation_is_never_0)
{
	unsigned int last = vhost_registry_generation(), i;

	for (i = 0; i < 10; i++) {
		vhost_registry_changed();
		CHECK(vhost_registry_generation() != last);
		last = vhost_registry_generation();
		CHECK(last);
	}
}
