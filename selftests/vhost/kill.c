// SPDX-License-Identifier: GPL-2.0
/*
 * kill.c - the owner is killed in every phase of a device's life
 *
 * Each test kills owners in one phase, some while another process holds a copy of the descriptor. The owner
 * must be gone within seconds, the other process can use a device of its own and close the copy,
 * then no thread is left, and the LIO objects can be removed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/proc.h"
#include "lib/expect.h"

#define QUEUES		4
#define SETUP_MS	guest_patience(10000)
#define KICKS		200

enum {			/* words of the page that owner and test share */
	WORD_FD,	/* the device's descriptor */
	WORD_KICK,	/* QUEUES kick eventfds */
};

struct owner {
	enum vdev_thread thread;
	const char *wwpn;
};

FIXTURE(killed) {
	struct lio *target, *spare;
	struct owner owner;
};

FIXTURE_THREADS(killed);

FIXTURE_SETUP(killed)
{
	struct lio_opts lio = { .size = 16 << 20 };

	SKIP_WITHOUT(variant->thread);
	proc_watch("LIO targets are made", 10);
	ASSERT_OK(lio_create(&lio, &self->target));
	ASSERT_OK(lio_create(&lio, &self->spare));
	self->owner = (struct owner){ variant->thread, self->target->wwpn };
}

FIXTURE_TEARDOWN(killed)
{
	proc_watch("LIO targets are removed", 5);
	EXPECT_OK(lio_destroy(self->target));
	EXPECT_OK(lio_destroy(self->spare));
}

/* Another process, which also holds a dead owner's device: its own works, the other can be closed. */
struct holder {
	int fd;
	const char *wwpn;
	enum vdev_thread thread;
};

static int holds(struct proc *me, void *arg)
{
	struct holder *holder = arg;
	struct vscsi_opts opts = {
		.wwpn = holder->wwpn, .queues = 2, .ring_size = 16, .thread = holder->thread,
	};
	struct load_opts load = { .depth = 4, .count = 30 };
	int err;

	proc_step(me, "the holder starts a device of its own");
	err = vscsi_start(&opts, &load.dev);
	proc_step(me, "the holder does I/O on its own device");
	err = err ?: load_run(&load, NULL);
	proc_step(me, "the holder closes its own device");
	if (!err)
		vscsi_stop(load.dev);
	proc_step(me, "the holder closes the device of the dead owner");
	close(holder->fd);
	return err;
}

/* The test's copy of the descriptor goes, so that the holder's close is the last one. */
static int hold_and_close(int fd, const char *wwpn, enum vdev_thread thread)
{
	struct holder holder = { fd, wwpn, thread };
	struct proc *proc;
	char text[256];
	int err = proc_start(holds, &holder, &proc);

	close(fd);
	if (err)
		return err;
	err = proc_wait(proc, 2 * GONE_MS);
	snprintf(text, sizeof(text), "%s", guest_error());
	proc_free(proc);
	guest_keep(text);
	return err;
}

/* How a phase is ended: after so many rounds and so many ms more. */
struct moment {
	unsigned int rounds, ms;
	bool held;
};

/* Start an owner, kill it at the moment; 0 when all is as it should be. */
static int die_once(proc_fn fn, struct owner *owner, const char *spare, const struct moment *at)
{
	struct proc *proc;
	int fd = -1, err;

	err = proc_start(fn, owner, &proc);
	if (err)
		return err;
	err = proc_wait_ready(proc, SETUP_MS);
	if (!err && at->rounds)
		err = proc_wait_progress(proc, at->rounds, SETUP_MS);
	if (!err && at->held) {
		fd = proc_take_fd(proc, proc->page->word[WORD_FD]);
		err = fd < 0 ? fd : 0;
	}
	guest_sleep_ms(at->ms);
	err = err ?: proc_kill(proc, GONE_MS);
	if (!err && at->held)
		err = hold_and_close(fd, spare, owner->thread);
	err = err ?: threads_wait_count(proc->pid, 0, GONE_MS);
	if (!err)
		proc_free(proc);
	return err;
}

static const struct moment quiet[] = { { 0, 0, false }, { 0, 0, true } };
static const struct moment busy[] = {
	{ 3, 0, false }, { 1, 7, true }, { 2, 23, false }, { 1, 1, true },
};
static const struct moment unheld[] = {
	{ 2, 0, false }, { 2, 5, false }, { 3, 17, false }, { 1, 3, false }, { 1, 31, false },
};

/* ASSERT in a macro, so that a failure names the test's line and the moment. */
#define DIES_AT(fn, moments) \
	do { \
		unsigned int at; \
		for (at = 0; at < ARRAY_SIZE(moments); at++) { \
			proc_watch(#fn ": the owner is killed", 25); \
			ASSERT_EQ(0, die_once(fn, &self->owner, self->spare->wwpn, \
					      &moments[at])) \
				TH_LOG("%s, round %u: %s", #fn, at, guest_error()); \
		} \
		proc_watch("the dead owner's target is removed", 5); \
		EXPECT_OK(lio_destroy(self->target)); \
		self->target = NULL; \
	} while (0)

static int has_opened(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread);

	if (fd < 0)
		return fd;
	me->page->word[WORD_FD] = fd;
	proc_pause(me);
}

/* covers: W4 */
TEST_F(killed, after_open)
{
	DIES_AT(has_opened, quiet);
}

static int has_set_owner(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread), err;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	if (err)
		return err;
	me->page->word[WORD_FD] = fd;
	proc_pause(me);
}

/* covers: W4 */
TEST_F(killed, after_set_owner)
{
	DIES_AT(has_set_owner, quiet);
}

static int has_workers(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_SCSI, owner->thread), err;
	uint32_t id, i;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	for (i = 0; !err && i < 8; i++) {
		err = vdev_new_worker(fd, &id);
		if (!err && i < 6)
			err = vdev_attach_worker(fd, i, id);
	}
	if (err)
		return err;
	me->page->word[WORD_FD] = fd;
	proc_pause(me);
}

/* covers: W4 W6 */
TEST_F(killed, with_extra_workers)
{
	DIES_AT(has_workers, quiet);
}

/* A device with an endpoint and a worker for each queue. */
static int start_device(struct proc *me, const struct owner *owner, struct vscsi **devp)
{
	struct vscsi_opts opts = {
		.wwpn = owner->wwpn, .queues = QUEUES, .ring_size = 32, .thread = owner->thread,
	};
	struct vscsi *dev;
	uint32_t q, id;
	int err;

	proc_step(me, "start of the device");
	err = vscsi_start(&opts, &dev);
	for (q = 0; !err && q < QUEUES; q++) {
		err = vdev_new_worker(dev->fd, &id);
		err = err ?: vdev_attach_worker(dev->fd, vscsi_vq(dev, q), id);
		me->page->word[WORD_KICK + q] = dev->io[q].vq->kick_fd;
	}
	if (err)
		return err;
	me->page->word[WORD_FD] = dev->fd;
	*devp = dev;
	return 0;
}

static int has_endpoint(struct proc *me, void *arg)
{
	struct vscsi *dev;
	int err = start_device(me, arg, &dev);

	err = err ?: vscsi_test_unit_ready(dev, 0, 0);
	if (err)
		return err;
	proc_pause(me);
}

/* covers: W4 W5 */
TEST_F(killed, with_endpoint_set)
{
	DIES_AT(has_endpoint, quiet);
}

/* I/O on all queues until the end of the process. */
static int start_io(struct proc *me, const struct owner *owner, struct vscsi **dev,
		    struct load **load)
{
	struct load_opts opts = { .depth = 8, .batch = 2, .threads = 2, .blocks = 64 };
	int err = start_device(me, owner, dev);

	opts.dev = *dev;
	err = err ?: load_start(&opts, load);
	while (!err && load_completed(*load) < 20)
		guest_sleep_ms(1);
	if (!err)
		proc_ready(me);
	return err;
}

static int does_io(struct proc *me, void *arg)
{
	struct vscsi *dev;
	struct load *load;
	int err = start_io(me, arg, &dev, &load);
	uint64_t before;

	proc_step(me, "I/O");
	while (!err) {
		before = load_completed(load);
		guest_sleep_ms(1);
		if (load_completed(load) != before)
			proc_progress(me);
	}
	return err;
}

/* covers: W4 W7 S20 */
TEST_F(killed, with_io_in_flight_on_four_queues)
{
	DIES_AT(does_io, busy);
}

static int attaches(struct proc *me, void *arg)
{
	struct vscsi *dev;
	struct load *load;
	int err = start_io(me, arg, &dev, &load);
	uint32_t i = 0;

	for (; !err; i++) {
		proc_step(me, "ATTACH of a live queue");
		err = vdev_attach_worker(dev->fd, vscsi_vq(dev, i % QUEUES), i % (QUEUES + 1));
		proc_progress(me);
	}
	return err;
}

/* covers: W4 W5 D8 */
TEST_F(killed, in_attach_of_live_queues)
{
	DIES_AT(attaches, busy);
}

static int resets_luns(struct proc *me, void *arg)
{
	struct vscsi *dev;
	struct load *load;
	uint8_t response;
	int err = start_io(me, arg, &dev, &load);

	while (!err) {
		proc_step(me, "LUN reset");
		err = vscsi_tmf(dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, 0, 1, 0,
				&response);
		proc_progress(me);
	}
	return err;
}

/* covers: W4 S1 */
TEST_F(killed, in_lun_reset_under_io)
{
	DIES_AT(resets_luns, busy);
}

static int clears_endpoint(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vscsi *dev;
	int err = start_device(me, owner, &dev), q;

	if (err)
		return err;
	proc_ready(me);
	while (!err) {
		/* Commands that nobody waits for. */
		for (q = 0; q < QUEUES; q++) {
			struct vscsi_cmd cmd = { .timeout_ms = 1 };

			vscsi_lun(cmd.lun, VSCSI_TARGET, 0);
			vscsi_exec(dev, q, &cmd);
		}
		proc_step(me, "CLEAR_ENDPOINT");
		err = vscsi_clear_endpoint(dev);
		proc_step(me, "SET_ENDPOINT");
		err = err ?: vscsi_set_endpoint(dev, owner->wwpn);
		proc_progress(me);
	}
	return err;
}

/* covers: W4 W5 */
TEST_F(killed, in_clear_endpoint)
{
	DIES_AT(clears_endpoint, busy);
}

static int makes_workers(struct proc *me, void *arg)
{
	struct vscsi *dev;
	int err = start_device(me, arg, &dev);
	uint32_t id[3];
	int i;

	if (err)
		return err;
	proc_ready(me);
	while (!err) {
		for (i = 0; !err && i < 3; i++) {
			proc_step(me, "NEW");
			err = vdev_new_worker(dev->fd, &id[i]);
		}
		for (i = 0; !err && i < 3; i++) {
			proc_step(me, "FREE");
			err = vdev_free_worker(dev->fd, id[i]);
		}
		proc_progress(me);
	}
	return err;
}

/* covers: W4 W6 W8 */
TEST_F(killed, in_new_and_free)
{
	DIES_AT(makes_workers, busy);
}

static int sets_owner(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd, err = 0;

	proc_ready(me);
	while (!err) {
		proc_step(me, "open");
		fd = vdev_open_thread(VDEV_SCSI, owner->thread);
		proc_step(me, "SET_OWNER");
		err = fd < 0 ? fd : vdev_set_owner(fd);
		proc_step(me, "close");
		close(fd);
		proc_progress(me);
	}
	return err;
}

/* covers: W4 W8 */
TEST_F(killed, in_set_owner_and_close)
{
	DIES_AT(sets_owner, unheld);
}

/* covers: W4 W7 */
TEST_F(killed, kicks_and_completions_after_the_end_do_no_harm)
{
	int kick[QUEUES], fd, q, i;
	uint64_t one = 1;
	struct proc *proc;

	ASSERT_OK(proc_start(does_io, &self->owner, &proc));
	ASSERT_OK(proc_wait_ready(proc, SETUP_MS));
	fd = proc_take_fd(proc, proc->page->word[WORD_FD]);
	ASSERT_VALID(fd);
	for (q = 0; q < QUEUES; q++) {
		kick[q] = proc_take_fd(proc, proc->page->word[WORD_KICK + q]);
		ASSERT_VALID(kick[q]);
	}
	ASSERT_OK(proc_wait_progress(proc, 2, SETUP_MS));
	ASSERT_OK(proc_kill(proc, GONE_MS));
	proc_watch("kicks of queues whose owner is dead", 5);
	for (i = 0; i < KICKS; i++)
		for (q = 0; q < QUEUES; q++)
			ASSERT_EQ(sizeof(one), write(kick[q], &one, sizeof(one)));
	proc_watch("close of a device whose owner is dead", 15);
	EXPECT_OK(hold_and_close(fd, self->spare->wwpn, variant->thread));
	for (q = 0; q < QUEUES; q++)
		EXPECT_EQ(sizeof(one), write(kick[q], &one, sizeof(one)));
	EXPECT_THREADS(proc->pid, 0);
	proc_free(proc);
}

static int serves_net(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	struct vnet_opts opts = { .thread = owner->thread };
	char frame[VNET_FRAME_MAX];
	struct vnet *net;
	uint32_t i, len;
	int err;

	proc_step(me, "start of vhost-net");
	err = vnet_open(&opts, &net) ?: vnet_start(net);
	if (err)
		return err;
	me->page->word[WORD_FD] = net->fd;
	proc_ready(me);
	for (i = 0; !err; i++) {
		proc_step(me, "traffic");
		len = vnet_frame(frame, i);
		err = vnet_host_send(net, frame, len);
		err = err ?: vnet_send(net, frame, len, guest_patience(5000));
		proc_progress(me);
	}
	return err;
}

/* covers: W4 */
TEST_F(killed, owner_of_vhost_net_under_traffic)
{
	DIES_AT(serves_net, busy);
}

static int runs_vsock(struct proc *me, void *arg)
{
	struct owner *owner = arg;
	int fd = vdev_open_thread(VDEV_VSOCK, owner->thread), err;

	err = fd < 0 ? fd : vdev_set_owner(fd);
	err = err ?: vdev_vsock_set_cid(fd, 4242);
	if (err)
		return err;
	me->page->word[WORD_FD] = fd;
	proc_pause(me);
}

/* covers: W4 */
TEST_F(killed, owner_of_vhost_vsock)
{
	DIES_AT(runs_vsock, quiet);
}

TEST_HARNESS_MAIN
