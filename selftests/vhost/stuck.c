// SPDX-License-Identifier: GPL-2.0
/*
 * stuck.c - guest memory that never answers: a page on a userfaultfd that nobody serves
 *
 * A worker that touches the page sleeps, with the virtqueue's mutex held. Whatever the owner does then must
 * end when it is killed, and nobody else may notice. The test holds a copy of the userfaultfd, so
 * that the owner's death does not resolve the page.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/proc.h"
#include "lib/expect.h"

#define RING		16
#define SETUP_MS	guest_patience(10000)
#define TOUCH_MS	guest_patience(5000)
#define BLOCKED_MS	300	/* a call that has not returned by then waits for the page */
#define NOTICE_MS	guest_patience(2000)	/* longest I/O of another device, on a loaded machine */

enum place { AVAIL, DESC, USED, REQUEST, RESPONSE, DATA };

enum {			/* words of the page that owner and test share */
	WORD_FD,
	WORD_UFFD,
	WORD_PAGE,
	WORD_STOP,
	WORD_LATENCY_MS,
};

struct owner {
	enum vdev_thread thread;
	enum place place;
	const char *wwpn;
	bool apart;	/* the queue that gets stuck has a worker of its own */
	bool again;	/* kick once more while the worker is stuck: it will touch the page again */
	int (*action)(struct vscsi *dev);	/* is expected to wait for the page */
};

/* The used ring's index lies at the end of a good page, its entries on the stuck one. */
static int place_ring(struct vscsi *dev, enum place place, struct gvq_opts *opts)
{
	char *before = NULL;
	void *page;
	int err;

	if (place == USED) {
		before = gmem_alloc(dev->mem, 4096, 4096);
		if (!before)
			return -ENOMEM;
	}
	err = gmem_alloc_special(dev->mem, 1, GMEM_STUCK, &page);
	if (err)
		return err;
	if (place == AVAIL)
		opts->avail = page;
	else if (place == DESC)
		opts->desc = page;
	else
		opts->used = before + 4096 - 4;
	return 0;
}

/* I/O queue 0 anew, with one part of its ring on a stuck page. */
static int replace_ring(struct vscsi *dev, enum place place)
{
	struct gvq_opts opts = { .num = RING };
	int err = place_ring(dev, place, &opts);

	return err ?: vscsi_replace_ring(dev, 0, &opts);
}

/* TEST UNIT READY whose request or response lies on a stuck page. */
static int send_stuck_header(struct vscsi *dev, enum place place)
{
	struct virtio_scsi_cmd_req *req = gmem_alloc(dev->mem, sizeof(*req), 64);
	struct virtio_scsi_cmd_resp *resp = gmem_alloc(dev->mem, sizeof(*resp), 64);
	struct gvq_sg sg[2];
	void *page;
	int err;

	err = gmem_alloc_special(dev->mem, 1, GMEM_STUCK, &page);
	if (err || !req || !resp)
		return err ?: -ENOMEM;
	vscsi_lun(req->lun, VSCSI_TARGET, 0);
	sg[0] = (struct gvq_sg){ gmem_gpa(dev->mem, req), sizeof(*req) };
	sg[1] = (struct gvq_sg){ gmem_gpa(dev->mem, resp), sizeof(*resp) };
	sg[place == RESPONSE].gpa = gmem_gpa(dev->mem, page);
	err = gvq_add(dev->io[0].vq, sg, 1, 1, NULL);
	return err < 0 ? err : gvq_kick_force(dev->io[0].vq);
}

static int send_stuck_data(struct vscsi *dev)
{
	struct vscsi_cmd cmd = { .len = 4096, .timeout_ms = 1 };
	void *page;
	int err;

	err = gmem_alloc_special(dev->mem, 1, GMEM_STUCK, &page);
	if (err)
		return err;
	vscsi_lun(cmd.lun, VSCSI_TARGET, 0);
	vscsi_rw_cdb(cmd.cdb, true, 10, 0, 8);
	cmd.data_gpa = gmem_gpa(dev->mem, page);
	err = vscsi_exec(dev, 0, &cmd);
	return err == -ETIMEDOUT ? 0 : err ?: guest_fail(EPROTO, "the write ended");
}

/* Let the worker of I/O queue 0 run into the page. */
static int send_into_it(struct vscsi *dev, enum place place)
{
	struct gvq *vq = dev->io[0].vq;
	struct vscsi_cmd cmd = { .timeout_ms = 1 };
	int err;

	switch (place) {
	case REQUEST:
	case RESPONSE:
		return send_stuck_header(dev, place);
	case DATA:
		return send_stuck_data(dev);
	case DESC:
		gvq_add_raw(vq, 0);
		return gvq_kick_force(vq);
	case AVAIL:
		return gvq_kick_force(vq);
	default:
		vscsi_lun(cmd.lun, VSCSI_TARGET, 0);
		err = vscsi_exec(dev, 0, &cmd);
		return err == -ETIMEDOUT ? 0 : err;
	}
}

static int give_own_worker(struct vscsi *dev, unsigned int q)
{
	uint32_t id;

	return vdev_new_worker(dev->fd, &id) ?: vdev_attach_worker(dev->fd, vscsi_vq(dev, q), id);
}

/*
 * A device with two I/O queues. The worker of I/O queue 0 is stuck when this returns: worker 1 with all
 * other queues on worker 0, or worker 0 with all of them.
 */
static int get_stuck(struct proc *me, const struct owner *owner, struct vscsi **devp)
{
	struct vscsi_opts opts = { .queues = 2, .ring_size = RING, .thread = owner->thread };
	struct vscsi *dev;
	void *page = NULL;
	int err;

	proc_step(me, "start of the device");
	err = vscsi_open(&opts, &dev);
	if (!err && owner->place <= USED)
		err = replace_ring(dev, owner->place);
	err = err ?: vscsi_setup_queues(dev);
	if (!err && owner->apart)
		err = give_own_worker(dev, 0);
	err = err ?: vscsi_set_endpoint(dev, owner->wwpn);
	err = err ?: vscsi_test_unit_ready(dev, 1, 0);
	proc_step(me, "the worker runs into the page");
	err = err ?: send_into_it(dev, owner->place);
	if (err < 0)
		return err;
	err = gmem_stuck_wait(dev->mem, TOUCH_MS, &page);
	if (!err && owner->again)
		err = gvq_kick_force(dev->io[0].vq);
	me->page->word[WORD_PAGE] = (long)page;
	me->page->word[WORD_FD] = dev->fd;
	me->page->word[WORD_UFFD] = gmem_stuck_fd(dev->mem);
	*devp = dev;
	return err;
}

static int owns_stuck_device(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	int err = get_stuck(me, owner, &dev);

	if (err)
		return err;
	if (!owner->action) {
		proc_step(me, "pause");
		proc_pause(me);
	}
	proc_step(me, "the call that waits for the page");
	proc_ready(me);
	err = owner->action(dev);
	proc_step(me, "after the call");
	proc_progress(me);
	guest_sleep_ms(1000);
	return guest_fail(EPROTO, "the call answers %d instead of waiting", err);
}

/* Start it; *uffd keeps the page stuck. */
static int start_stuck(struct owner *owner, struct proc **proc, int *uffd)
{
	int err = proc_start(owns_stuck_device, owner, proc);

	err = err ?: proc_wait_ready(*proc, SETUP_MS);
	if (err)
		return err;
	*uffd = proc_take_fd(*proc, (*proc)->page->word[WORD_UFFD]);
	return *uffd < 0 ? *uffd : 0;
}

/* The test has failed or is over: nobody shall hang any longer. */
static void let_go(const struct proc *proc, int uffd)
{
	struct gmem mem = { .uffd = uffd };

	gmem_stuck_resolve(&mem, (void *)proc->page->word[WORD_PAGE], 1);
	close(uffd);
}

/* The whole test: gets stuck, waits, is killed, is gone with its threads. */
static int stuck_owner_dies(struct owner *owner, bool hold_uffd)
{
	struct proc *proc = NULL;
	char text[256];
	int uffd = -1, err = start_stuck(owner, &proc, &uffd);

	if (!err && !hold_uffd)
		close(uffd);
	if (!err && owner->action) {
		guest_sleep_ms(BLOCKED_MS);
		if (__atomic_load_n(&proc->page->progress, __ATOMIC_ACQUIRE))
			err = guest_fail(EPROTO, "the call did not wait for the page");
	}
	err = err ?: proc_kill(proc, GONE_MS);
	err = err ?: threads_wait_count(proc->pid, 0, GONE_MS);
	snprintf(text, sizeof(text), "%s", guest_error());
	if (uffd >= 0 && hold_uffd)
		let_go(proc, uffd);
	proc_free(proc);
	guest_keep(text);
	return err;
}

FIXTURE(page) {
	struct lio *target;
	struct owner owner;
};

FIXTURE_VARIANT(page) {
	enum vdev_thread thread;
	enum place place;
};

FIXTURE_VARIANT_ADD(page, kthread_avail) { VDEV_THREAD_KTHREAD, AVAIL };
FIXTURE_VARIANT_ADD(page, kthread_desc) { VDEV_THREAD_KTHREAD, DESC };
FIXTURE_VARIANT_ADD(page, kthread_used) { VDEV_THREAD_KTHREAD, USED };
FIXTURE_VARIANT_ADD(page, kthread_request) { VDEV_THREAD_KTHREAD, REQUEST };
FIXTURE_VARIANT_ADD(page, kthread_response) { VDEV_THREAD_KTHREAD, RESPONSE };
FIXTURE_VARIANT_ADD(page, kthread_data) { VDEV_THREAD_KTHREAD, DATA };
FIXTURE_VARIANT_ADD(page, task_avail) { VDEV_THREAD_TASK, AVAIL };
FIXTURE_VARIANT_ADD(page, task_desc) { VDEV_THREAD_TASK, DESC };
FIXTURE_VARIANT_ADD(page, task_used) { VDEV_THREAD_TASK, USED };
FIXTURE_VARIANT_ADD(page, task_request) { VDEV_THREAD_TASK, REQUEST };
FIXTURE_VARIANT_ADD(page, task_response) { VDEV_THREAD_TASK, RESPONSE };
FIXTURE_VARIANT_ADD(page, task_data) { VDEV_THREAD_TASK, DATA };

FIXTURE_SETUP(page)
{
	struct lio_opts lio = { .size = 4 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of a stuck page", 27);
	ASSERT_OK(lio_create(&lio, &self->target));
	self->owner = (struct owner){
		.thread = variant->thread, .place = variant->place, .wwpn = self->target->wwpn,
	};
}

FIXTURE_TEARDOWN(page)
{
	proc_watch("the LIO target is removed", 5);
	EXPECT_OK(lio_destroy(self->target));
}

/* covers: D8 D8b W4 */
TEST_F(page, killed_owner_is_gone_in_seconds)
{
	ASSERT_OK(stuck_owner_dies(&self->owner, true));
}

/* covers: D8 D8b W4 */
TEST_F(page, killed_owner_is_gone_with_work_behind_the_stuck_one)
{
	self->owner.again = true;
	ASSERT_OK(stuck_owner_dies(&self->owner, true));
}

static int clear_endpoint(struct vscsi *dev)
{
	return vscsi_clear_endpoint(dev);
}

/* covers: D8 W5 S20 */
TEST_F(page, owner_killed_in_clear_endpoint_is_gone)
{
	self->owner.action = clear_endpoint;
	ASSERT_OK(stuck_owner_dies(&self->owner, true));
}

static int attach_stuck_vring(struct vscsi *dev)
{
	return vdev_attach_worker(dev->fd, vscsi_vq(dev, 0), 0);
}

/* covers: D8 W5 */
TEST_F(page, owner_killed_in_attach_of_the_stuck_vring_is_gone)
{
	self->owner.apart = true;
	self->owner.action = attach_stuck_vring;
	ASSERT_OK(stuck_owner_dies(&self->owner, true));
}

/* One kind of page is enough for what follows. */
FIXTURE(stuck) {
	struct lio *target, *spare;
	struct owner owner;
};

FIXTURE_THREADS(stuck);

FIXTURE_SETUP(stuck)
{
	struct lio_opts lio = { .size = 4 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of a stuck page", 27);
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(lio_create(&lio, &self->spare));
	self->owner = (struct owner){
		.thread = variant->thread, .place = AVAIL, .wwpn = self->target->wwpn,
	};
}

FIXTURE_TEARDOWN(stuck)
{
	proc_watch("the LIO targets are removed", 5);
	EXPECT_OK(lio_destroy(self->target));
	EXPECT_OK(lio_destroy(self->spare));
}

#define TEST_KILLED_IN(name, function, own_worker) \
TEST_F(stuck, name) \
{ \
	self->owner.action = function; \
	self->owner.apart = own_worker; \
	ASSERT_OK(stuck_owner_dies(&self->owner, true)); \
}

static int set_vring_num(struct vscsi *dev)
{
	return gvq_set_num(dev->io[0].vq, dev->fd, RING);
}

/* covers: D8 */
TEST_KILLED_IN(owner_killed_in_set_vring_num_is_gone, set_vring_num, false)

static int set_vring_call(struct vscsi *dev)
{
	return gvq_set_call(dev->io[0].vq, dev->fd, dev->io[0].vq->call_fd);
}

/* covers: D8 */
TEST_KILLED_IN(owner_killed_in_set_vring_call_is_gone, set_vring_call, false)

static int set_vring_kick(struct vscsi *dev)
{
	return gvq_set_kick(dev->io[0].vq, dev->fd, dev->io[1].vq->kick_fd);
}

/* covers: D8 */
TEST_KILLED_IN(owner_killed_in_set_vring_kick_is_gone, set_vring_kick, false)

static int set_mem_table(struct vscsi *dev)
{
	return vdev_set_mem(dev->fd, dev->mem);
}

/* covers: D8 */
TEST_KILLED_IN(owner_killed_in_set_mem_table_is_gone, set_mem_table, false)

static int set_features(struct vscsi *dev)
{
	return vdev_set_features(dev->fd, dev->features);
}

/* covers: D8 S14 */
TEST_KILLED_IN(owner_killed_in_set_features_is_gone, set_features, false)

static int close_it(struct vscsi *dev)
{
	return close(dev->fd);
}

/* covers: D8 D8b W4 */
TEST_KILLED_IN(owner_killed_in_close_is_gone, close_it, false)

static int attach_other_vring_of_the_worker(struct vscsi *dev)
{
	int err = vdev_attach_worker(dev->fd, vscsi_vq(dev, 1), 1);

	return err ?: vdev_attach_worker(dev->fd, vscsi_vq(dev, 1), 0);
}

/* covers: D8 W5 */
TEST_KILLED_IN(owner_killed_in_attach_of_another_vring_is_gone, attach_other_vring_of_the_worker,
	       true)

static struct vscsi *shared_dev;

static void *attaches_stuck_vring(void *arg)
{
	(void)arg;
	attach_stuck_vring(shared_dev);
	return NULL;
}

/* One thread waits for the worker, the other for the device's mutex. */
static int new_behind_attach(struct vscsi *dev)
{
	pthread_t thread;
	uint32_t id;

	shared_dev = dev;
	if (pthread_create(&thread, NULL, attaches_stuck_vring, NULL))
		return guest_fail(EAGAIN, "thread");
	guest_sleep_ms(100);
	return vdev_new_worker(dev->fd, &id);
}

/* covers: D8 W5 */
TEST_KILLED_IN(owner_killed_with_two_threads_blocked_is_gone, new_behind_attach, true)

/* covers: D8b */
TEST_F(stuck, killed_owner_is_gone_when_it_held_the_userfaultfd_alone)
{
	ASSERT_OK(stuck_owner_dies(&self->owner, false));
}

static int moves_others(struct proc *me, void *arg)
{
	struct vscsi *dev;
	int err = get_stuck(me, arg, &dev), i;
	uint32_t id;

	for (i = 0; !err && i < 10; i++) {
		proc_step(me, "NEW beside a stuck worker");
		err = vdev_new_worker(dev->fd, &id);
		proc_step(me, "ATTACH of a queue that is not stuck");
		err = err ?: vdev_attach_worker(dev->fd, vscsi_vq(dev, 1), id);
		proc_step(me, "I/O on a queue that is not stuck");
		err = err ?: vscsi_test_unit_ready(dev, 1, 0);
		err = err ?: vdev_attach_worker(dev->fd, vscsi_vq(dev, 1), 0);
		proc_step(me, "FREE beside a stuck worker");
		err = err ?: vdev_free_worker(dev->fd, id);
	}
	if (err)
		return err;
	proc_ready(me);
	proc_step(me, "exit beside a stuck worker");
	return 0;
}

/* covers: D8 S18 */
TEST_F(stuck, other_vrings_of_the_device_work_and_move)
{
	struct proc *proc;

	self->owner.apart = true;
	ASSERT_OK(proc_start(moves_others, &self->owner, &proc));
	EXPECT_OK(proc_wait_ready(proc, SETUP_MS));
	/* It ends by itself: exit is no signal, and yet must not wait for the page. */
	EXPECT_OK(proc_wait(proc, GONE_MS));
	EXPECT_THREADS(proc->pid, 0);
	proc_free(proc);
}

static int does_io(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi_opts opts = {
		.wwpn = owner->wwpn, .queues = 2, .ring_size = RING, .thread = owner->thread,
	};
	struct load_opts load_opts = { .depth = 2, .stall_ms = guest_patience(9000) };
	struct load_stats stats;
	struct load *load;
	int err;

	err = vscsi_start(&opts, &load_opts.dev) ?: load_start(&load_opts, &load);
	if (err)
		return err;
	proc_ready(me);
	proc_step(me, "I/O of another device");
	while (!__atomic_load_n(&me->page->word[WORD_STOP], __ATOMIC_ACQUIRE)) {
		guest_sleep_ms(5);
		__atomic_store_n(&me->page->progress, load_completed(load), __ATOMIC_RELEASE);
	}
	load_stop(load);
	err = load_wait(load, &stats);
	me->page->word[WORD_LATENCY_MS] = stats.latency_max_ns / 1000000;
	vscsi_stop(load_opts.dev);
	return err;
}

/* covers: D8 S21 */
TEST_F(stuck, other_devices_do_not_notice)
{
	struct owner other = { .thread = variant->thread, .wwpn = self->spare->wwpn };
	struct proc *io, *proc;
	int uffd;

	ASSERT_OK(proc_start(does_io, &other, &io));
	ASSERT_OK(proc_wait_ready(io, SETUP_MS));
	self->owner.apart = true;
	self->owner.action = attach_stuck_vring;
	ASSERT_OK(start_stuck(&self->owner, &proc, &uffd));
	EXPECT_OK(proc_wait_progress(io, 100, NOTICE_MS));
	EXPECT_OK(proc_kill(proc, GONE_MS));
	EXPECT_OK(proc_wait_progress(io, 100, NOTICE_MS));
	__atomic_store_n(&io->page->word[WORD_STOP], 1, __ATOMIC_RELEASE);
	EXPECT_OK(proc_wait(io, CALL_MS));
	TH_LOG("longest I/O of the other device: %ld ms", io->page->word[WORD_LATENCY_MS]);
	EXPECT_GT(NOTICE_MS, io->page->word[WORD_LATENCY_MS]);
	let_go(proc, uffd);
	proc_free(proc);
	proc_free(io);
}

static int closes(struct proc *me, void *arg)
{
	proc_ready(me);
	/* Not before the test has closed its own descriptor, or that close would be the last. */
	while (!__atomic_load_n(&me->page->word[WORD_STOP], __ATOMIC_ACQUIRE))
		guest_sleep_ms(5);
	proc_step(me, "close of a stuck device by its last holder");
	close(*(int *)arg);
	return 0;
}

/* covers: D8b W4 */
TEST_F(stuck, last_holder_can_be_killed_in_close)
{
	struct proc *proc, *holder;
	int uffd, fd;

	ASSERT_OK(start_stuck(&self->owner, &proc, &uffd));
	fd = proc_take_fd(proc, proc->page->word[WORD_FD]);
	ASSERT_VALID(fd);
	EXPECT_OK(proc_kill(proc, GONE_MS));
	ASSERT_OK(proc_start(closes, &fd, &holder));
	EXPECT_OK(proc_wait_ready(holder, SETUP_MS));
	close(fd);
	__atomic_store_n(&holder->page->word[WORD_STOP], 1, __ATOMIC_RELEASE);
	guest_sleep_ms(BLOCKED_MS);
	EXPECT_OK(proc_kill(holder, GONE_MS));
	EXPECT_THREADS(proc->pid, 0);
	let_go(proc, uffd);
	proc_free(holder);
	proc_free(proc);
}

TEST_HARNESS_MAIN
