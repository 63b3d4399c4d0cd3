// SPDX-License-Identifier: GPL-2.0
/* The default policy. */
#include <linux/cpumask.h>
#include <linux/printk.h>
#include "unit.h"

#define VQS	8	/* virtqueue 2 is the first with data */

extern unsigned int *shim_param_max_workers(void);
extern int shim_param_set_default_workers(const char *text);
extern int shim_param_get_default_workers(char *buffer);

/* A device none of whose virtqueues is in use. */
static struct device *device_unused(void)
{
	struct device *d = device_new(VQS);

	device_kill_live(d);
	vhost_policy_first_vq(&d->dev, 2);
	CHECK_EQ(device_start(d), 0);
	return d;
}

/* SET_VRING_KICK, as drivers/vhost does it. */
static long kick(struct device *d, unsigned int vq)
{
	bool is_new = !d->vqs[vq]->kick;
	long err;

	mutex_lock(&d->dev.mutex);
	d->vqs[vq]->kick = (struct file *)d;
	err = vhost_policy_kick(&d->dev, vq, is_new);
	mutex_unlock(&d->dev.mutex);
	return err;
}

static void check_map(struct device *d, const char *map)
{
	unsigned int i;

	for (i = 0; map[i]; i++)
		CHECK_EQ(get_worker(d, i), map[i] - '0');
}

/* All come into use under a policy. */
static void check_policy(const char *policy, const char *map)
{
	struct device *d = device_unused();
	unsigned int i;

	CHECK_EQ(shim_param_set_default_workers(policy), 0);
	for (i = 0; i < VQS; i++)
		CHECK_EQ(kick(d, i), 0);
	check_map(d, map);
	device_close(d);
}

TEST_BOTH(each_policy_has_its_map)
{
	check_policy("single", "00000000");
	check_policy("per-vq", "00012345");
	check_policy("3\n", "00012012");
	check_policy("1", "00000000");
	shim_cpus = 2;
	check_policy("per-cpu", "00010101");
}

TEST_BOTH(placing_a_queue_waits_for_no_grace_period)
{
	struct device *d = device_unused();
	unsigned long before = shim_grace_periods();

	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	CHECK_EQ(kick(d, 3), 0);
	CHECK_EQ(kick(d, 4), 0);
	CHECK_EQ(shim_grace_periods(), before);
	check_map(d, "00012000");
	device_close(d);
}

/* Nor for what the first worker is at. */
TEST_BOTH(placing_a_queue_does_not_wait_for_the_first_worker)
{
	struct device *d = device_unused();
	struct job blocker;
	struct page page;

	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	job_block(&blocker, d->vqs[2], &page);
	CHECK_EQ(kick(d, 3), 0);
	check_map(d, "00010000");
	page_come(&page);
	device_close(d);
}

TEST(a_choice_of_the_owner_ends_it_until_another_comes)
{
	struct device *d = device_unused();

	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	CHECK_EQ(attach(d, 2, 0), 0);
	CHECK_EQ(kick(d, 3), 0);
	check_map(d, "00000000");
	device_stop(d);
	d->vqs[3]->kick = NULL;
	CHECK_EQ(device_start(d), 0);
	CHECK_EQ(kick(d, 3), 0);
	check_map(d, "00010000");
	device_close(d);
}

TEST(a_queue_in_use_is_not_moved_by_another_eventfd)
{
	struct device *d = device_unused();

	CHECK_EQ(kick(d, 3), 0);
	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	CHECK_EQ(kick(d, 3), 0);
	check_map(d, "00000000");
	device_close(d);
}

TEST_TASK(a_signal_has_the_call_made_again)
{
	struct device *d = device_unused();

	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	shim_fail_thread(-ERESTARTNOINTR);
	CHECK_EQ(kick(d, 4), -ERESTARTNOINTR);
	/* Another virtqueue is none of its business. */
	shim_fail_thread(0);
	CHECK_EQ(kick(d, 3), 0);
	CHECK_EQ(get_worker(d, 4), 0);
	shim_fail_thread(-ERESTARTNOINTR);
	CHECK_EQ(kick(d, 5), -ERESTARTNOINTR);
	shim_fail_thread(0);
	CHECK_EQ(kick(d, 5), 0);
	CHECK(get_worker(d, 5) > 0);
	CHECK_EQ(d->dev.workers.policy.failed, 0);
	CHECK_EQ(shim_warnings(), 0);
	device_close(d);
}

TEST_BOTH(what_cannot_be_made_is_told_and_no_error)
{
	struct device *d = device_unused();
	long n;

	CHECK_EQ(shim_param_set_default_workers("per-vq"), 0);
	for (n = 1; n < 100; n++) {
		d->vqs[3]->kick = NULL;
		shim_fail_nth(n);
		CHECK_EQ(kick(d, 3), 0);
		if (!shim_fail_fired())
			break;
	}
	shim_fail_nth(0);
	CHECK(n > 1);
	CHECK_EQ(d->dev.workers.policy.failed, n - 1);
	CHECK_EQ(shim_warnings(), n - 1);
	CHECK_EQ(count_workers(d), 2);
	CHECK(get_worker(d, 3) > 0);
	*shim_param_max_workers() = 2;
	CHECK_EQ(kick(d, 4), 0);
	CHECK_EQ(get_worker(d, 4), 0);
	CHECK_EQ(shim_warnings(), n);
	device_close(d);
}

TEST(parameter_takes_policies_only)
{
	static const char *const bad[] = { "", "0", "-1", "+1", " 1", "4294967296", "1x", "per_vq" };
	char text[VHOST_POLICY_TEXT + 2];
	unsigned int i;

	CHECK_EQ(shim_param_set_default_workers("4294967295"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(shim_param_set_default_workers(bad[i]), -EINVAL);
	CHECK_EQ(shim_param_get_default_workers(text), 11);
	CHECK(!strcmp(text, "4294967295\n"));
	CHECK_EQ(shim_event(VHOST_CMD_POLICY_NTF).nth, 0);
	vhost_policy_tell(true);
	CHECK_EQ(shim_param_set_default_workers("4294967295"), 0);
	CHECK_EQ(shim_event(VHOST_CMD_POLICY_NTF).nth, 0);
	CHECK_EQ(shim_param_set_default_workers("per-cpu"), 0);
	CHECK_EQ(shim_event(VHOST_CMD_POLICY_NTF).nth, 1);
}

/* One thread changes the policy, one uses virtqueues, one queues work for them. */
static bool over;

static int change(void *data)
{
	static const char *const policies[] = { "per-vq", "2", "single", "5" };
	unsigned int i;

	for (i = 0; !READ_ONCE(over); i++)
		shim_param_set_default_workers(policies[i % 4]);
	return 0;
}

static int queue(void *data)
{
	struct device *d = data;
	struct job job;
	unsigned int i;

	job_init(&job, d->vqs[0]);
	for (i = 0; !READ_ONCE(over); i++) {
		vhost_vq_work_queue(d->vqs[i % VQS], &job.work);
		vhost_dev_flush(&d->dev);
	}
	return 0;
}

TEST_BOTH(policies_change_while_queues_come_into_use)
{
	struct task_struct *changer, *queuer;
	struct device *d = device_unused();
	unsigned int round, i;

	changer = run("changer", change, NULL);
	queuer = run("queuer", queue, d);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < VQS; i++) {
			d->vqs[i]->kick = NULL;
			CHECK_EQ(kick(d, i), 0);
		}
		check_map(d, "000");
		unit_progress();
	}
	WRITE_ONCE(over, true);
	shim_join(changer);
	shim_join(queuer);
	CHECK(count_workers(d) <= VQS - 2);
	device_close(d);
}
