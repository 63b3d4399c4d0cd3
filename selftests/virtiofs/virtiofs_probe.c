// SPDX-License-Identifier: GPL-2.0
/*
 * A virtio-fs device that cannot be set up: virtqueues that are not to be had, allocations that fail. Nothing
 * is left behind, and the device works as soon as it can.
 */
#include <kselftest_harness.h>

#include <fcntl.h>
#include <linux/virtio_pci.h>

#include "lib/error.h"
#include "lib/expect.h"
#include "lib/fault.h"
#include "lib/proc.h"
#include "vfs.h"

#define ROUNDS		10
#define SWEEP_MS	guest_patience(60000)

FIXTURE(probe) {
	struct vfs vfs;
};

FIXTURE_SETUP(probe)
{
	ASSERT_OK(vfs_load());
	ASSERT_OK(vfs_find("q4", &self->vfs));
	ASSERT_OK(vfs_unbind(self->vfs.index));
}

static int reset(int index)
{
	return vfs_poke(index, VIRTIO_PCI_COMMON_STATUS, 1, 0);
}

FIXTURE_TEARDOWN(probe)
{
	EXPECT_OK(vfs_umount(&self->vfs));
	if (!vfs_is_bound(self->vfs.index)) {
		EXPECT_OK(reset(self->vfs.index));
		EXPECT_OK(vfs_bind(self->vfs.index));
	}
	EXPECT_OK(vfs_load());
}

/* Something that a device must not have, in one of its queues. */
struct spoil {
	unsigned int queue, offset, value;
};

static int spoil(int index, const struct spoil *s)
{
	return vfs_poke(index, VIRTIO_PCI_COMMON_Q_SELECT, 2, s->queue) ?:
	       vfs_poke(index, s->offset, 2, s->value);
}

/* The driver has left no interrupt, no CPU waits for it, and there is nothing in sysfs. */
static bool is_clean(const struct vfs *vfs)
{
	struct vfs gone;

	return !vfs_is_bound(vfs->index) && !vfs_nr_irqs(vfs->index) &&
	       vfs_find(vfs->tag, &gone) == -ENOENT && !vfs_set_online(1, false) &&
	       !vfs_set_online(1, true);
}

FIXTURE_VARIANT(probe) {
	struct spoil spoil;
};

/* The driver takes that for a queue that is not there; it has found some before this one. */
FIXTURE_VARIANT_ADD(probe, queue_is_in_use) {
	{ 3, VIRTIO_PCI_COMMON_Q_ENABLE, 1 },
};
FIXTURE_VARIANT_ADD(probe, first_queue_is_in_use) {
	{ 0, VIRTIO_PCI_COMMON_Q_ENABLE, 1 },
};
FIXTURE_VARIANT_ADD(probe, size_is_no_power_of_two) {
	{ 2, VIRTIO_PCI_COMMON_Q_SIZE, 3 },
};

TEST_F(probe, fails_and_leaves_nothing_until_the_device_is_reset)
{
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_OK(spoil(self->vfs.index, &variant->spoil));
		EXPECT_GT(0, vfs_bind(self->vfs.index));
		EXPECT_TRUE(is_clean(&self->vfs));
	}
	ASSERT_OK(reset(self->vfs.index));
	ASSERT_OK(vfs_bind(self->vfs.index));
	ASSERT_OK(vfs_mount("q4", &self->vfs));
	EXPECT_EQ(4, self->vfs.nr_queues);
	EXPECT_OK(vfs_io(&self->vfs, "file", 8, 1));
}

FIXTURE(memory) {
	struct vfs vfs;
};

FIXTURE_SETUP(memory)
{
	ASSERT_OK(vfs_load());
	ASSERT_OK(vfs_find("q2", &self->vfs));
}

FIXTURE_TEARDOWN(memory)
{
	EXPECT_OK(vfs_umount(&self->vfs));
	if (!vfs_is_bound(self->vfs.index))
		EXPECT_OK(vfs_bind(self->vfs.index));
	EXPECT_OK(vfs_load());
}

/* Give the device to its driver, with the nth allocation failing. */
static int bind_with_fault(int index, unsigned int nth, bool *fired)
{
	int err = fault_begin(nth), answer;

	if (err)
		return err;
	answer = vfs_bind(index);
	err = fault_end(fired);
	return err ?: answer;
}

/*
 * Fail the first allocation, then the second, until there are no more. With some the device works all the same,
 * as that of a map of groups; then it must be whole.
 */
static int sweep(struct proc *me, void *arg)
{
	const struct vfs *vfs = arg;
	unsigned int nth, failed = 0;
	bool fired = true;
	int err;

	for (nth = 1; nth < FAULT_MAX && fired; nth++) {
		snprintf(me->page->step, sizeof(me->page->step), "fault %u", nth);
		err = vfs_is_bound(vfs->index) ? vfs_unbind(vfs->index) : 0;
		if (err)
			return err;
		err = bind_with_fault(vfs->index, nth, &fired);
		failed += !!err;
		if (!err != vfs_is_bound(vfs->index))
			return guest_fail(EPROTO, "fault %u: answer %d, bound %d", nth, err,
					  vfs_is_bound(vfs->index));
		if (err && vfs_nr_irqs(vfs->index))
			return guest_fail(EPROTO, "fault %u leaves interrupts", nth);
		proc_progress(me);
	}
	if (fired || !failed)
		return guest_fail(EPROTO, "%u faults, %u failures", nth, failed);
	return 0;
}

TEST_F(memory, every_failed_allocation_is_an_error_without_leak)
{
	if (!fault_is_possible())
		SKIP(return, "this kernel has no fault injection");
	ASSERT_OK(vfs_unbind(self->vfs.index));
	ASSERT_OK(fault_spare_sleepers(false));
	EXPECT_OK(proc_call(sweep, &self->vfs, SWEEP_MS));
	EXPECT_OK(fault_spare_sleepers(true));
	ASSERT_OK(vfs_mount("q2", &self->vfs));
	EXPECT_EQ(2, self->vfs.nr_queues);
	EXPECT_OK(vfs_io(&self->vfs, "file", 8, 1));
}

TEST_HARNESS_MAIN
