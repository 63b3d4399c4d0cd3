// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_change.c - workers and maps of another process's device are changed, also under load
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/storm.h"
#include "lib/vctl.h"

#define NVQS	130
#define ROUNDS	40	/* of maps under load */
#define IOS	50	/* requests between two of them */
#define SIGNAL_US	200	/* between two signals */
#define ENOUGH	30	/* requests amid signals */

FIXTURE(load) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(load);

FIXTURE_SETUP(load)
{
	struct lio_opts lio = { .size = 8 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of changes under load", 90);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){ .thread = variant->thread, .wwpn = self->target->wwpn };
	ASSERT_OK(owner_start(owner_does_io, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(load)
{
	storm_expedite(false);
	EXPECT_OK(owner_stop_io(self->proc));
	TH_LOG("%ld reads were compared", self->proc->page->word[OWNER_VERIFIED]);
	EXPECT_LT(0, self->proc->page->word[OWNER_VERIFIED]);
	EXPECT_THREADS(self->proc->pid, 0);
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

/* Does virtqueue @vq have this worker, as a get says? */
static int check_vq(struct vctl *v, uint32_t dev, uint32_t vq, uint32_t worker)
{
	struct vctl_vq now;
	int err = vctl_vq_get(v, dev, vq, &now);

	if (!err && now.worker_id != worker)
		err = guest_fail(EPROTO, "virtqueue %u has worker %d and not %u", vq,
				 (int)now.worker_id, worker);
	return err;
}

static int wait_until_it_works(struct vctl *v, uint32_t dev, uint32_t id)
{
	uint64_t start = guest_now_ns();
	struct vctl_worker first, now;
	int err = vctl_worker_get(v, dev, id, &first);

	do {
		guest_sleep_ms(5);
		err = err ?: vctl_worker_get(v, dev, id, &now);
		if (!err && !guest_left_ms(start, OWNER_MS))
			err = guest_fail(ETIMEDOUT, "worker %u does nothing", id);
	} while (!err && now.works == first.works);
	return err;
}

/* covers: T5 */
TEST_F(load, queues_move_to_a_worker_each_in_one_map)
{
	struct vctl_entry map[OWNER_QUEUES];
	uint32_t ids[OWNER_QUEUES] = { 0 }, i;

	ASSERT_OK(proc_wait_progress(self->proc, IOS, OWNER_MS));
	for (i = 0; i < OWNER_QUEUES; i++)
		map[i] = (struct vctl_entry){ VDEV_SCSI_VQ_IO + i, i, true };
	ASSERT_OK(vctl_map_set(&self->v, self->dev.id, map, OWNER_QUEUES, ids));
	EXPECT_THREADS(self->proc->pid, 1 + OWNER_QUEUES);
	for (i = 0; i < OWNER_QUEUES; i++) {
		EXPECT_EQ(1 + i, ids[i]);
		EXPECT_OK(check_vq(&self->v, self->dev.id, VDEV_SCSI_VQ_IO + i, ids[i]));
	}
	for (i = 0; i < OWNER_QUEUES; i++)
		EXPECT_OK(wait_until_it_works(&self->v, self->dev.id, ids[i]));
}

/* covers: T5 */
TEST_F(load, random_maps_lose_double_and_corrupt_nothing)
{
	struct storm dice = { .seed = 4711 };
	struct vctl_entry map[OWNER_VQS];
	uint32_t ids[3], round, i;

	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 3, NULL, ids));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < OWNER_VQS; i++)
			map[i] = (struct vctl_entry){ i, storm_random(&dice, 4), false };
		ASSERT_OK(vctl_map_set(&self->v, self->dev.id, map, OWNER_VQS, NULL));
		ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, storm_random(&dice, OWNER_VQS),
				      storm_random(&dice, 4)));
		ASSERT_OK(proc_wait_progress(self->proc, IOS / 5, OWNER_MS));
	}
}

/* covers: D1 T5 */
TEST_F(load, workers_are_replaced_again_and_again)
{
	struct vctl_entry map[NVQS];
	uint32_t round, id, old = 0, i;

	ASSERT_OK(storm_expedite(true));
	for (i = 0; i < NVQS; i++)
		map[i] = (struct vctl_entry){ i, 0, true };
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_OK(vctl_map_set(&self->v, self->dev.id, map, NVQS, &id));
		EXPECT_EQ(old + 1, id);
		EXPECT_EQ(-EBUSY, vctl_worker_del(&self->v, self->dev.id, id));
		ASSERT_OK(vctl_worker_del(&self->v, self->dev.id, old));
		EXPECT_EQ(-ENODEV, vctl_worker_del(&self->v, self->dev.id, old));
		old = id;
	}
	EXPECT_THREADS(self->proc->pid, 1);
}

/* covers: T2 */
TEST_F(load, workers_are_pinned_under_load)
{
	struct vctl_worker worker;
	unsigned int i;
	uint32_t ids[2];

	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 2, "1", ids));
	for (i = 0; i < 2; i++) {
		ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, ids[i], &worker));
		EXPECT_STREQ("1", worker.cpus);
		ASSERT_OK(vctl_vq_set(&self->v, self->dev.id, VDEV_SCSI_VQ_IO + i, ids[i]));
	}
	for (i = 0; i < 20; i++) {
		ASSERT_OK(vctl_worker_set(&self->v, self->dev.id, i % 3, i & 1 ? "0" : "0-1"));
		ASSERT_OK(vctl_worker_get(&self->v, self->dev.id, i % 3, &worker));
		EXPECT_STREQ(i & 1 ? "0" : "0-1", worker.cpus);
		ASSERT_OK(proc_wait_progress(self->proc, IOS / 5, OWNER_MS));
	}
}

/* A device that nobody uses. */
FIXTURE(idle) {
	struct vctl v;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(idle);

FIXTURE_SETUP(idle)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of changes", 40);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(idle)
{
	if (self->proc)
		EXPECT_OK(proc_kill(self->proc, GONE_MS));
	proc_free(self->proc);
	vctl_close(&self->v);
}

TEST_F(idle, workers_are_made_one_or_many_at_once)
{
	uint32_t ids[8] = { 0 }, i;

	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 0, NULL, ids));
	EXPECT_EQ(1, ids[0]);
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 8, NULL, ids));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(2 + i, ids[i]);
	EXPECT_THREADS(self->proc->pid, 10);
	for (i = 0; i < 8; i++)
		ASSERT_OK(vctl_worker_del(&self->v, self->dev.id, ids[i]));
	EXPECT_THREADS(self->proc->pid, 2);
	/* As with the ioctls, a stale number names nobody. */
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, ids));
	EXPECT_EQ(10, ids[0]);
}

TEST_F(idle, as_many_workers_as_virtqueues_can_be_made)
{
	uint32_t ids[NVQS], last;

	EXPECT_EQ(-ENOSPC, vctl_worker_new(&self->v, self->dev.id, NVQS, NULL, NULL));
	EXPECT_THREADS(self->proc->pid, 1);
	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, NVQS - 1, NULL, ids));
	last = ids[NVQS - 2];
	EXPECT_EQ(NVQS, threads_list(self->proc->pid, NULL, 0));
	EXPECT_EQ(-ENOSPC, vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
	ASSERT_OK(vctl_worker_del(&self->v, self->dev.id, last));
	EXPECT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, ids));
	EXPECT_LT(last, ids[0]);
}

/* covers: T5 */
TEST_F(idle, map_makes_shared_and_own_workers)
{
	static const struct vctl_entry map[] = {
		{ 2, 1, true }, { 3, 0, true }, { 4, 1, true }, { 5, 0, true }, { 6, 0, false },
		{ 129, 2, true },
	};
	struct vctl_worker list[8];
	uint32_t ids[3] = { 0 };

	ASSERT_OK(vctl_map_set(&self->v, self->dev.id, map, 6, ids));
	EXPECT_EQ(1, ids[0]);
	EXPECT_EQ(2, ids[1]);
	EXPECT_EQ(3, ids[2]);
	ASSERT_EQ(4, vctl_workers(&self->v, self->dev.id, list, 8));
	EXPECT_STREQ("0-1,6-128", list[0].vqs);
	EXPECT_STREQ("3,5", list[1].vqs);
	EXPECT_STREQ("2,4", list[2].vqs);
	EXPECT_STREQ("129", list[3].vqs);
}

/* Every virtqueue is live: it has a kick eventfd. */
static int holds_live_queues(struct proc *me, void *arg)
{
	const struct owner *owner = arg;
	struct vhost_vring_file file = { .fd = eventfd(0, EFD_CLOEXEC) };
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread), err;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	for (; !err && file.index < NVQS; file.index++)
		if (ioctl(fd, VHOST_SET_VRING_KICK, &file))
			err = guest_fail(errno, "kick eventfd");
	if (err)
		return err;
	proc_pause(me);
}

/* Fastest of some maps of @n virtqueues in ns, between workers 0 and 1 in turn; a negative errno on failure. */
static int64_t fastest_map(struct vctl *v, uint32_t dev, unsigned int n)
{
	struct vctl_entry map[NVQS];
	int64_t best = INT64_MAX, took;
	unsigned int round, i;
	uint64_t start;
	int err;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < n; i++)
			map[i] = (struct vctl_entry){ i, !(round & 1), false };
		start = guest_now_ns();
		err = vctl_map_set(v, dev, map, n, NULL);
		took = guest_now_ns() - start;
		if (err)
			return err;
		if (took < best)
			best = took;
	}
	return best;
}

/* covers: D7 */
TEST_F(idle, whole_map_costs_one_grace_period_and_none_without_need)
{
	struct vctl_dev *live = &self->dev;
	int64_t idle, one, all;
	struct proc *proc;

	ASSERT_OK(vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
	idle = fastest_map(&self->v, self->dev.id, NVQS);
	ASSERT_OK(owner_start(holds_live_queues, &self->owner, &self->v, &proc, live));
	ASSERT_OK(vctl_worker_new(&self->v, live->id, 1, NULL, NULL));
	one = fastest_map(&self->v, live->id, 1);
	all = fastest_map(&self->v, live->id, NVQS);
	TH_LOG("map of %d idle virtqueues %ld us, of a live one %ld us, of %d live ones %ld us",
	       NVQS, (long)(idle / 1000), (long)(one / 1000), NVQS, (long)(all / 1000));
	EXPECT_LT(0, idle);
	/* One that is live must wait, or the others would prove nothing. */
	EXPECT_LT(idle, one);
	EXPECT_LT(0, all);
	EXPECT_GT(8 * one, all);
	proc_free(proc);
}

TEST_F(idle, administrator_and_owner_see_the_same_workers)
{
	struct vctl_dev dev;
	uint32_t id, now;
	struct vctl_vq vq;
	int fd;

	/* A device of our own: we are both. */
	fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(fd);
	ASSERT_OK(vdev_set_owner(fd));
	ASSERT_OK(vctl_dev_of(&self->v, getpid(), &dev));
	ASSERT_OK(vctl_worker_new(&self->v, dev.id, 1, NULL, &id));
	ASSERT_OK(vdev_attach_worker(fd, 7, id));
	ASSERT_OK(vctl_vq_get(&self->v, dev.id, 7, &vq));
	EXPECT_EQ(id, vq.worker_id);
	ASSERT_OK(vdev_new_worker(fd, &id));
	ASSERT_OK(vctl_vq_set(&self->v, dev.id, 8, id));
	ASSERT_OK(vdev_get_worker(fd, 8, &now));
	EXPECT_EQ(id, now);
	EXPECT_EQ(-EBUSY, vctl_worker_del(&self->v, dev.id, id));
	close(fd);
	EXPECT_THREADS(getpid(), 0);
}

struct asked {
	enum vdev_thread thread;
	bool told;	/* a signal keeps it from making workers of this kind */
};

static void ignore(int sig)
{
	(void)sig;
}

/*
 * The owner asks for workers itself while signals come. One that keeps it from making a thread is told, since
 * netlink does not ask again.
 */
static int asks_amid_signals(struct proc *me, void *arg)
{
	const struct itimerval often = { { 0, SIGNAL_US }, { 0, SIGNAL_US } }, never = { 0 };
	const struct asked *kind = arg;
	unsigned int done, told = 0;
	struct vctl_dev dev;
	struct vctl v;
	uint32_t id;
	int fd = vdev_open_thread(VDEV_SCSI, kind->thread), err = fd < 0 ? fd : 0;

	err = err ?: vdev_set_owner(fd);
	err = err ?: vctl_open(&v) ?: vctl_dev_of(&v, getpid(), &dev);
	if (err)
		return err;
	signal(SIGALRM, ignore);
	for (done = 0; !err && (done < ENOUGH || (kind->told && !told)); done++) {
		setitimer(ITIMER_REAL, &often, NULL);
		err = vctl_worker_new(&v, dev.id, 1, NULL, &id);
		setitimer(ITIMER_REAL, &never, NULL);
		told += err == -EAGAIN;
		err = err == -EAGAIN ? 0 : err ?: vctl_worker_del(&v, dev.id, id);
		proc_progress(me);
	}
	close(fd);
	return err;
}

TEST_F(idle, owner_is_told_of_a_signal_that_keeps_it_from_making_a_worker)
{
	struct asked kind = { variant->thread, variant->thread == VDEV_THREAD_TASK };

	EXPECT_OK(proc_call(asks_amid_signals, &kind, CALL_MS));
}

TEST_HARNESS_MAIN
