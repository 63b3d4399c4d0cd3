// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_wait.c - no operation waits for ever: owners that are stopped, memory that never answers, owners
 * that keep their device busy, and owners that end meanwhile
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/storm.h"
#include "lib/vctl.h"

/* Of an operation that has to wait: its own limit is 5 s. */
#define LIMIT_MS	(5000 + guest_patience(1500))
#define AT_ONCE_MS	guest_patience(2000)	/* of one that has not, on a loaded machine */
#define BLOCKED_MS	400	/* one that has not ended by then waits */
#define STUCK_VQ	VDEV_SCSI_VQ_IO
#define SPARE_WORKERS	3	/* that the device has besides worker 0 */

enum blocker {
	STOPPED,	/* the owner is stopped by a signal: its own threads do nothing */
	STUCK,		/* worker 0, which has all queues, waits for memory */
	BUSY,		/* so does the owner, in ATTACH, for worker 0 */
};

FIXTURE(blocked) {
	struct vctl v;
	struct lio *target, *spare;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_VARIANT(blocked) {
	enum vdev_thread thread;
	enum blocker blocker;
};

FIXTURE_VARIANT_ADD(blocked, kthread_stopped) { VDEV_THREAD_KTHREAD, STOPPED };
FIXTURE_VARIANT_ADD(blocked, kthread_stuck) { VDEV_THREAD_KTHREAD, STUCK };
FIXTURE_VARIANT_ADD(blocked, kthread_busy) { VDEV_THREAD_KTHREAD, BUSY };
FIXTURE_VARIANT_ADD(blocked, task_stopped) { VDEV_THREAD_TASK, STOPPED };
FIXTURE_VARIANT_ADD(blocked, task_stuck) { VDEV_THREAD_TASK, STUCK };
FIXTURE_VARIANT_ADD(blocked, task_busy) { VDEV_THREAD_TASK, BUSY };

/* The owner ----------------------------------------------------------------- */

static void *attaches_stuck_queue(void *arg)
{
	const struct vscsi *dev = arg;

	vdev_attach_worker(dev->fd, STUCK_VQ, 1);
	return NULL;
}

/* I/O queue 0 anew, with the guest's part of its ring on a page that does not come. */
static int replace_ring(struct vscsi *dev, void **page)
{
	struct gvq_opts opts = { .num = OWNER_RING };
	int err = gmem_alloc_special(dev->mem, 1, GMEM_STUCK, page);

	opts.avail = *page;
	return err ?: vscsi_replace_ring(dev, 0, &opts);
}

static int get_stuck(struct vscsi *dev, enum blocker blocker)
{
	static pthread_t thread;
	int err = gvq_kick_force(dev->io[0].vq);

	err = err < 0 ? err : gmem_stuck_wait(dev->mem, OWNER_MS, NULL);
	if (!err && blocker == BUSY) {
		if (pthread_create(&thread, NULL, attaches_stuck_queue, dev))
			return guest_fail(EAGAIN, "thread");
		guest_sleep_ms(BLOCKED_MS);
	}
	return err;
}

static int open_device(struct proc *me, const struct owner *owner, struct vscsi **devp, void **page)
{
	struct vscsi_opts opts = {
		.queues = OWNER_QUEUES, .ring_size = OWNER_RING, .thread = owner->thread,
	};
	enum blocker blocker = *(enum blocker *)owner->arg;
	int err = vscsi_open(&opts, devp), i;
	struct vscsi *dev = *devp;
	uint32_t id;

	proc_step(me, "the owner sets its device up");
	if (!err && blocker != STOPPED)
		err = replace_ring(dev, page);
	err = err ?: vscsi_setup_queues(dev) ?: vscsi_set_endpoint(dev, owner->wwpn);
	for (i = 0; i < SPARE_WORKERS && !err; i++)
		err = vdev_new_worker(dev->fd, &id);
	err = err ?: vscsi_test_unit_ready(dev, 1, 0);
	if (!err && blocker != STOPPED)
		err = get_stuck(dev, blocker);
	return err;
}

/* It is blocked when it is ready; told once it goes on, told again it does I/O and ends. */
static int is_blocked(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	void *page = NULL;
	struct vscsi *dev;
	int err = open_device(me, owner, &dev, &page), q;

	if (err)
		return err;
	proc_await(me);
	if (page)
		err = gmem_stuck_resolve(dev->mem, page, 1);
	if (err)
		return err;
	proc_await(me);
	proc_step(me, "the owner does I/O afterwards");
	for (q = 0; q < OWNER_QUEUES && !err; q++)
		err = vscsi_test_unit_ready(dev, q, 0);
	vscsi_stop(dev);
	return err;
}

/* As above, but what it is told is to close the device while the page does not come. */
static int closes_while_stuck(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	void *page;
	int err = open_device(me, owner, &dev, &page);

	if (err)
		return err;
	me->page->word[OWNER_WORDS] = (long)page;
	me->page->word[OWNER_WORDS + 1] = gmem_stuck_fd(dev->mem);
	proc_await(me);
	proc_step(me, "the owner closes its device");
	vscsi_close_fd(dev);
	return 0;
}

static int block(proc_fn fn, struct owner *owner, struct vctl *v, struct proc **proc,
		 struct vctl_dev *dev)
{
	int err = owner_start(fn, owner, v, proc, dev);

	if (!err && *(enum blocker *)owner->arg == STOPPED && kill((*proc)->pid, SIGSTOP))
		err = guest_fail(errno, "SIGSTOP");
	guest_sleep_ms(50);
	return err;
}

static int unblock(struct proc *proc)
{
	kill(proc->pid, SIGCONT);
	return proc_next(proc, OWNER_MS);
}

FIXTURE_SETUP(blocked)
{
	struct lio_opts lio = { .size = 4 << 20 };
	static enum blocker blocker;

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of operations that have to wait", 90);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(lio_create(&lio, &self->spare));
	blocker = variant->blocker;
	self->owner = (struct owner){
		.thread = variant->thread, .wwpn = self->target->wwpn, .arg = &blocker,
	};
}

FIXTURE_TEARDOWN(blocked)
{
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	EXPECT_OK(lio_destroy(self->spare));
	vctl_close(&self->v);
}

/* The operations ------------------------------------------------------------ */

/* Worker 1 gets a queue, 2 is pinned, 3 is deleted. */
static int op_new(struct vctl *v, uint32_t dev)
{
	return vctl_worker_new(v, dev, 2, NULL, NULL);
}

static int op_set(struct vctl *v, uint32_t dev)
{
	return vctl_worker_set(v, dev, 2, "1");
}

static int op_del(struct vctl *v, uint32_t dev)
{
	return vctl_worker_del(v, dev, 3);
}

static int op_move(struct vctl *v, uint32_t dev)
{
	return vctl_vq_set(v, dev, STUCK_VQ, 1);
}

static int op_map(struct vctl *v, uint32_t dev)
{
	static const struct vctl_entry map[] = { { STUCK_VQ + 1, 0, true }, { STUCK_VQ + 2, 1, false } };

	return vctl_map_set(v, dev, map, ARRAY_SIZE(map), NULL);
}

static const struct {
	const char *name;
	int (*run)(struct vctl *v, uint32_t dev);
	int workers;		/* that there are more of afterwards */
	int want[2][3];		/* by kind of thread, kthread first, and blocker */
} ops[] = {
	{ "worker-set", op_set, 0, { { 0, 0, -EBUSY }, { 0, 0, -EBUSY } } },
	{ "worker-new", op_new, 2, { { 0, 0, -EBUSY }, { -ETIMEDOUT, 0, -EBUSY } } },
	{ "worker-del", op_del, -1, { { 0, 0, -EBUSY }, { -ETIMEDOUT, 0, -EBUSY } } },
	{ "map-set", op_map, 1, { { 0, -ETIMEDOUT, -EBUSY }, { -ETIMEDOUT, -ETIMEDOUT, -EBUSY } } },
	{ "vq-set", op_move, 0, { { 0, -ETIMEDOUT, -EBUSY }, { -ETIMEDOUT, -ETIMEDOUT, -EBUSY } } },
};

#define OPS	ARRAY_SIZE(ops)

/* An operation of another thread. */
struct running {
	unsigned int op;
	uint32_t dev;
	struct vctl v;
	int err;
	unsigned int ms;
	bool done;
	pthread_t thread;
};

static void *runs(void *arg)
{
	struct running *r = arg;
	uint64_t start = guest_now_ns();

	r->err = ops[r->op].run(&r->v, r->dev);
	r->ms = (guest_now_ns() - start) / 1000000;
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static int start_op(struct running *r, unsigned int op, uint32_t dev)
{
	*r = (struct running){ .op = op, .dev = dev };
	if (vctl_open(&r->v))
		return -EIO;
	return pthread_create(&r->thread, NULL, runs, r) ? guest_fail(EAGAIN, "thread") : 0;
}

/* Its answer goes to *err; a failure if it comes too late. */
static int end_op(struct running *r, unsigned int limit_ms, int *err)
{
	uint64_t start = guest_now_ns();

	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		if (!guest_left_ms(start, 3 * LIMIT_MS))
			return guest_fail(ETIMEDOUT, "%s does not end", ops[r->op].name);
		guest_sleep_ms(5);
	}
	pthread_join(r->thread, NULL);
	vctl_close(&r->v);
	*err = r->err;
	return r->ms <= limit_ms ? 0 :
	       guest_fail(ETIMEDOUT, "%s took %u ms", ops[r->op].name, r->ms);
}

/* All operations, one after the other or (what waits for the same need not wait in turn) together. */
static int expect_all(uint32_t dev, int kind, enum blocker blocker)
{
	struct running r[OPS];
	bool together = blocker == BUSY;
	int got, want, err = 0;
	unsigned int i;

	for (i = 0; together && i < OPS && !err; i++)
		err = start_op(&r[i], i, dev);
	for (i = 0; i < OPS && !err; i++) {
		want = ops[i].want[kind][blocker];
		err = together ? 0 : start_op(&r[i], i, dev);
		err = err ?: end_op(&r[i], want ? LIMIT_MS : AT_ONCE_MS, &got);
		if (!err && (got != want || !want != !r[i].v.genl.text[0]))
			err = guest_fail(EPROTO, "%s answers %d (%s) and not %d", ops[i].name, got,
					 r[i].v.genl.text, want);
	}
	return err;
}

/* covers: T11 */
TEST_F_TIMEOUT(blocked, operations_end_in_time_and_all_works_afterwards, 90)
{
	int kind = variant->thread == VDEV_THREAD_TASK;
	uint32_t workers = 1 + SPARE_WORKERS, i;
	struct vctl_dev *dev = &self->dev;
	struct vctl_vq vq;

	ASSERT_OK(block(is_blocked, &self->owner, &self->v, &self->proc, dev));
	ASSERT_OK(expect_all(dev->id, kind, variant->blocker));
	/* Where it was too late to wait for work the change is in force; otherwise there is none. */
	ASSERT_OK(vctl_vq_get(&self->v, dev->id, STUCK_VQ, &vq));
	EXPECT_EQ(1, vq.worker_id);
	for (i = 0; i < OPS; i++)
		if (!ops[i].want[kind][variant->blocker])
			workers += ops[i].workers;
	if (variant->blocker == STUCK)
		workers++;	/* the map's: it is in force */
	ASSERT_OK(vctl_dev_get(&self->v, dev->id, dev));
	EXPECT_EQ(workers, dev->workers);

	ASSERT_OK(unblock(self->proc));
	for (i = 0; i < OPS; i++)
		if (ops[i].run != op_del || ops[i].want[kind][variant->blocker])
			EXPECT_OK(ops[i].run(&self->v, dev->id));
	EXPECT_OK(proc_next(self->proc, OWNER_MS));
	EXPECT_OK(proc_wait(self->proc, OWNER_MS));
	EXPECT_THREADS(self->proc->pid, 0);
}

/* All that tells, and what changes another device. */
static int look_around(struct vctl *v, uint32_t dev, uint32_t other)
{
	static const char *const steps[] = {
		"dev-get", "worker-get", "vq-get", "dump of devices", "dump of workers",
		"dump of virtqueues", "worker-new", "vq-set", "vq-set back", "worker-del",
	};
	struct vctl_worker worker;
	struct vctl_dev device;
	struct vctl_vq vq;
	uint64_t start;
	uint32_t id = 0;
	int step, err = 0;

	for (step = 0; step < (int)ARRAY_SIZE(steps) && err >= 0; step++) {
		start = guest_now_ns();
		switch (step) {
		case 0: err = vctl_dev_get(v, dev, &device); break;
		case 1: err = vctl_worker_get(v, dev, 0, &worker); break;
		case 2: err = vctl_vq_get(v, dev, STUCK_VQ, &vq); break;
		case 3: err = vctl_devs(v, NULL, 0); break;
		case 4: err = vctl_workers(v, 0, NULL, 0); break;
		case 5: err = vctl_vqs(v, 0, NULL, 0); break;
		case 6: err = vctl_worker_new(v, other, 1, NULL, &id); break;
		case 7: err = vctl_vq_set(v, other, STUCK_VQ, id); break;
		case 8: err = vctl_vq_set(v, other, STUCK_VQ, 0); break;
		default: err = vctl_worker_del(v, other, id);
		}
		if (err >= 0 && !guest_left_ms(start, AT_ONCE_MS))
			err = guest_fail(ETIMEDOUT, "%s is held up", steps[step]);
	}
	return err < 0 ? err : 0;
}

/* covers: D8 S21 */
TEST_F_TIMEOUT(blocked, telling_and_other_devices_are_not_held_up, 60)
{
	struct owner other = { .thread = variant->thread, .wwpn = self->spare->wwpn };
	unsigned int last = OPS - 1;
	struct vctl_dev other_dev;
	struct running r;
	struct proc *io;
	int got;

	ASSERT_OK(owner_start(owner_does_io, &other, &self->v, &io, &other_dev));
	ASSERT_OK(block(is_blocked, &self->owner, &self->v, &self->proc, &self->dev));
	ASSERT_OK(start_op(&r, last, self->dev.id));
	guest_sleep_ms(BLOCKED_MS);
	EXPECT_EQ(!ops[last].want[variant->thread == VDEV_THREAD_TASK][variant->blocker],
		  __atomic_load_n(&r.done, __ATOMIC_ACQUIRE));
	EXPECT_OK(look_around(&self->v, self->dev.id, other_dev.id));
	EXPECT_OK(proc_wait_progress(io, 50, AT_ONCE_MS));
	EXPECT_OK(end_op(&r, LIMIT_MS, &got));
	EXPECT_OK(owner_stop_io(io));
	EXPECT_GT(AT_ONCE_MS, io->page->word[OWNER_LATENCY_MS]);
	proc_free(io);
	EXPECT_OK(unblock(self->proc));
}

/* covers: D8 D8b W5 */
TEST_F_TIMEOUT(blocked, owner_killed_during_each_operation_is_gone, 90)
{
	struct vctl_dev dev;
	struct running r;
	unsigned int i;
	int got;

	for (i = 0; i < OPS; i++) {
		ASSERT_OK(block(is_blocked, &self->owner, &self->v, &self->proc, &self->dev));
		ASSERT_OK(start_op(&r, i, self->dev.id));
		guest_sleep_ms(BLOCKED_MS);
		EXPECT_OK(proc_kill(self->proc, GONE_MS));
		EXPECT_OK(end_op(&r, LIMIT_MS, &got));
		TH_LOG("%s answers %d after %u ms", ops[i].name, got, r.ms);
		EXPECT_TRUE(!got || got == -ENODEV || got == -EOWNERDEAD);
		EXPECT_THREADS(self->proc->pid, 0);
		EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, self->dev.id, &dev));
		proc_free(self->proc);
		self->proc = NULL;
	}
}

/*
 * The close waits for memory, as it does without us; we end by our own limit. An owner that is stopped, or in
 * an ioctl, cannot close.
 */
FIXTURE(closing) {
	struct vctl v;
	struct lio *target;
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
};

FIXTURE_THREADS(closing);

FIXTURE_SETUP(closing)
{
	static enum blocker stuck = STUCK;
	struct lio_opts lio = { .size = 4 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of operations while the device closes", 40);
	ASSERT_OK(vctl_open(&self->v));
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){
		.thread = variant->thread, .wwpn = self->target->wwpn, .arg = &stuck,
	};
	ASSERT_OK(block(closes_while_stuck, &self->owner, &self->v, &self->proc, &self->dev));
}

FIXTURE_TEARDOWN(closing)
{
	proc_free(self->proc);
	EXPECT_OK(lio_destroy(self->target));
	vctl_close(&self->v);
}

/* covers: T12 */
TEST_F(closing, device_is_not_found_and_operations_on_it_end)
{
	struct gmem mem = { .uffd = proc_take_fd(self->proc, self->proc->page->word[OWNER_WORDS + 1]) };
	struct vctl_dev dev;
	struct running r;
	int got;

	ASSERT_VALID(mem.uffd);
	ASSERT_OK(start_op(&r, OPS - 1, self->dev.id));
	guest_sleep_ms(BLOCKED_MS);
	proc_tell(self->proc);
	guest_sleep_ms(BLOCKED_MS);
	EXPECT_FALSE(__atomic_load_n(&r.done, __ATOMIC_ACQUIRE));
	EXPECT_EQ(-ENODEV, vctl_dev_get(&self->v, self->dev.id, &dev));
	EXPECT_EQ(-ENODEV, vctl_worker_new(&self->v, self->dev.id, 1, NULL, NULL));
	EXPECT_EQ(0, vctl_vqs(&self->v, 0, NULL, 0));
	EXPECT_OK(end_op(&r, LIMIT_MS, &got));
	EXPECT_EQ(-ETIMEDOUT, got);
	EXPECT_OK(gmem_stuck_resolve(&mem, (void *)self->proc->page->word[OWNER_WORDS], 1));
	EXPECT_OK(proc_wait(self->proc, OWNER_MS));
	EXPECT_THREADS(self->proc->pid, 0);
	close(mem.uffd);
}

TEST_HARNESS_MAIN
