// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_storm.c - devices are looked up, changed, opened, closed and killed at the same time
 */
#include <errno.h>
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

#define NVQS		130
#define STORM_MS	4000
#define OPENERS		4
#define OPEN		6	/* most devices that each of them has at a time */
#define LISTED		32	/* most that a process takes from a dump */

static uint32_t roll(uint32_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % below;
}

static bool goes_on(struct proc *me)
{
	proc_progress(me);
	return !__atomic_load_n(&me->page->word[OWNER_STOP], __ATOMIC_ACQUIRE);
}

/* Opens, owns, resets and closes devices. */
static int opens_and_closes(struct proc *me, void *arg)
{
	static const enum vdev_type types[] = { VDEV_NET, VDEV_VSOCK, VDEV_SCSI, VDEV_NET };
	const struct owner *owner = arg;
	uint32_t seed = getpid(), slot, type, id;
	int fds[OPEN], err = 0, i;
	bool net[OPEN] = { false };

	memset(fds, 0xff, sizeof(fds));
	proc_ready(me);
	while (!err && goes_on(me)) {
		slot = roll(&seed, OPEN);
		if (fds[slot] < 0) {
			type = roll(&seed, 4);
			net[slot] = types[type] == VDEV_NET;
			fds[slot] = vdev_open_thread(types[type], owner->thread);
			err = fds[slot] < 0 ? fds[slot] : vdev_set_owner(fds[slot]);
		} else if (net[slot] && roll(&seed, 2)) {
			err = vdev_reset_owner(fds[slot]) ?: vdev_set_owner(fds[slot]);
		} else if (roll(&seed, 3)) {
			close(fds[slot]);
			fds[slot] = -1;
		} else {
			/* Whether there is room for it, others decide. */
			vdev_new_worker(fds[slot], &id);
		}
	}
	for (i = 0; i < OPEN; i++)
		close(fds[i]);
	return err;
}

static int check_dev(const struct vctl_dev *dev, uint32_t last)
{
	static const struct {
		const char *backend;
		uint32_t vqs;
	} kinds[] = { { "scsi", NVQS }, { "net", 2 }, { "vsock", 2 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(dev->backend, kinds[i].backend) && dev->vqs == kinds[i].vqs)
			break;
	if (i == ARRAY_SIZE(kinds) || dev->id <= last || dev->workers > dev->vqs ||
	    dev->thread_kind > VHOST_THREAD_KIND_TASK || dev->vqs_used || dev->wwpn[0])
		return guest_fail(EPROTO, "device %u (after %u): %s, %u virtqueues, %u workers",
				  dev->id, last, dev->backend, dev->vqs, dev->workers);
	return 0;
}

/* Every dump makes sense in itself. */
static int lists(struct proc *me, void *arg)
{
	static struct vctl_worker workers[LISTED];
	static struct vctl_vq vqs[8 * NVQS];
	struct vctl_dev devs[LISTED];
	struct vctl v;
	uint32_t last;
	int err = vctl_open(&v), n, i;

	(void)arg;
	proc_ready(me);
	while (err >= 0 && goes_on(me)) {
		err = n = vctl_devs(&v, devs, LISTED);
		for (i = 0, last = 0; i < n && i < LISTED && err >= 0; last = devs[i++].id)
			err = check_dev(&devs[i], last);
		err = n = err < 0 ? err : vctl_workers(&v, 0, workers, LISTED);
		for (i = 0; i < n && i < LISTED && err >= 0; i++)
			if (!workers[i].dev_id || workers[i].busy_ns < workers[i].longest_run_ns)
				err = guest_fail(EPROTO, "worker %u of device %u", workers[i].id,
						 workers[i].dev_id);
		err = n = err < 0 ? err : vctl_vqs(&v, 0, vqs, ARRAY_SIZE(vqs));
		for (i = 1; i < n && i < (int)ARRAY_SIZE(vqs) && err >= 0; i++)
			if (vqs[i].dev_id == vqs[i - 1].dev_id ?
			    vqs[i].index != vqs[i - 1].index + 1 : vqs[i].index)
				err = guest_fail(EPROTO, "virtqueue %u of device %u after %u of %u",
						 vqs[i].index, vqs[i].dev_id, vqs[i - 1].index,
						 vqs[i - 1].dev_id);
	}
	return err < 0 ? err : 0;
}

/* What may become of an operation on a device that others change, or that goes. */
static int tolerate(int err)
{
	switch (err) {
	case -ENODEV:
	case -EOWNERDEAD:
	case -EOPNOTSUPP:
	case -ENOSPC:
	case -EBUSY:
	case -ENOBUFS:
		return 0;
	default:
		return err < 0 ? err : 0;
	}
}

/* Changes whatever it finds. */
static int administers(struct proc *me, void *arg)
{
	struct vctl_dev devs[LISTED];
	struct vctl_entry map[2];
	uint32_t seed = getpid(), dev;
	struct vctl v;
	int err = vctl_open(&v), n;

	(void)arg;
	proc_ready(me);
	while (!err && goes_on(me)) {
		n = vctl_devs(&v, devs, LISTED);
		if (n <= 0) {
			err = n;
			continue;
		}
		dev = devs[roll(&seed, n < LISTED ? n : LISTED)].id;
		map[0] = (struct vctl_entry){ 0, 0, true };
		map[1] = (struct vctl_entry){ 1, roll(&seed, 2), roll(&seed, 2) };
		switch (roll(&seed, 5)) {
		case 0: err = vctl_worker_new(&v, dev, 1 + roll(&seed, 3), NULL, NULL); break;
		case 1: err = vctl_worker_set(&v, dev, roll(&seed, 3), "1"); break;
		case 2: err = vctl_worker_del(&v, dev, roll(&seed, 4)); break;
		case 3: err = vctl_vq_set(&v, dev, roll(&seed, 3), roll(&seed, 4)); break;
		default: err = vctl_map_set(&v, dev, map, 2, NULL);
		}
		/* New workers of a map have to begin with 0: it may be a map with a gap. */
		err = err == -EINVAL ? 0 : tolerate(err);
	}
	return err;
}

FIXTURE(storm) {
	struct vctl v;
	struct owner owner;
	struct proc *openers[OPENERS], *lister, *admins[2];
};

FIXTURE_VARIANT(storm) {
	enum vdev_thread thread;
	bool kill;
};

FIXTURE_VARIANT_ADD(storm, kthread) { VDEV_THREAD_KTHREAD, false };
FIXTURE_VARIANT_ADD(storm, kthread_owners_die) { VDEV_THREAD_KTHREAD, true };
FIXTURE_VARIANT_ADD(storm, task) { VDEV_THREAD_TASK, false };
FIXTURE_VARIANT_ADD(storm, task_owners_die) { VDEV_THREAD_TASK, true };

FIXTURE_SETUP(storm)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a storm of lookups and closes", 60);
	ASSERT_OK(storm_expedite(true));
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
}

FIXTURE_TEARDOWN(storm)
{
	storm_expedite(false);
	vctl_close(&self->v);
}

static int end(struct proc *proc, const char *what)
{
	char text[200];
	int err;

	__atomic_store_n(&proc->page->word[OWNER_STOP], 1, __ATOMIC_RELEASE);
	err = proc_wait(proc, 2 * CALL_MS);
	if (err) {
		snprintf(text, sizeof(text), "%s", guest_error());
		err = guest_fail(err, "%s: %.150s", what, text);
	}
	return err;
}

/* Some owner dies, another comes. */
static int replace_one(FIXTURE_DATA(storm) *self, unsigned int i)
{
	int err = proc_kill(self->openers[i], GONE_MS) ?:
		  threads_wait_count(self->openers[i]->pid, 0, GONE_MS);

	if (err)
		return err;
	proc_free(self->openers[i]);
	return proc_start(opens_and_closes, &self->owner, &self->openers[i]);
}

/* covers: T11 T12 */
TEST_F_TIMEOUT(storm, lookups_and_changes_survive_closes, 60)
{
	uint64_t start;
	int i;

	for (i = 0; i < OPENERS; i++)
		ASSERT_OK(proc_start(opens_and_closes, &self->owner, &self->openers[i]));
	ASSERT_OK(proc_start(lists, NULL, &self->lister));
	for (i = 0; i < 2; i++)
		ASSERT_OK(proc_start(administers, NULL, &self->admins[i]));
	start = guest_now_ns();
	for (i = 0; guest_left_ms(start, STORM_MS); i++) {
		guest_sleep_ms(variant->kill ? 100 : 500);
		EXPECT_OK(proc_wait_progress(self->lister, 1, OWNER_MS));
		if (variant->kill)
			ASSERT_OK(replace_one(self, i % OPENERS));
	}
	EXPECT_OK(end(self->lister, "the one that lists"));
	for (i = 0; i < 2; i++)
		EXPECT_OK(end(self->admins[i], "an administrator"));
	for (i = 0; i < OPENERS; i++)
		EXPECT_OK(end(self->openers[i], "an owner"));
	TH_LOG("%lu dumps of all, %lu changes, %lu steps of an owner",
	       (unsigned long)self->lister->page->progress,
	       (unsigned long)self->admins[0]->page->progress,
	       (unsigned long)self->openers[0]->page->progress);
	EXPECT_LT(10, self->lister->page->progress);
	EXPECT_LT(10, self->admins[0]->page->progress);
	EXPECT_EQ(0, vctl_devs(&self->v, NULL, 0));
	for (i = 0; i < OPENERS; i++) {
		EXPECT_THREADS(self->openers[i]->pid, 0);
		proc_free(self->openers[i]);
	}
	proc_free(self->lister);
	proc_free(self->admins[0]);
	proc_free(self->admins[1]);
}

TEST_HARNESS_MAIN
