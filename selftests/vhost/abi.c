// SPDX-License-Identifier: GPL-2.0
/*
 * abi.c - the worker ioctls of vhost-scsi: numbers, every errno, ids, cap, threads
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/proc.h"
#include "lib/expect.h"
#include "lib/put.h"
#include "lib/vctl.h"

/* The numbers that VMMs in the field were built with. covers: W11 */
_Static_assert(VHOST_NEW_WORKER == 0x8004AF08, "VHOST_NEW_WORKER");
_Static_assert(VHOST_FREE_WORKER == 0x4004AF09, "VHOST_FREE_WORKER");
_Static_assert(VHOST_ATTACH_VRING_WORKER == 0x4008AF15, "VHOST_ATTACH_VRING_WORKER");
_Static_assert(VHOST_GET_VRING_WORKER == 0xC008AF16, "VHOST_GET_VRING_WORKER");
_Static_assert(VHOST_SET_FORK_FROM_OWNER == 0x4001AF84, "VHOST_SET_FORK_FROM_OWNER");
_Static_assert(VHOST_GET_FORK_FROM_OWNER == 0x8001AF85, "VHOST_GET_FORK_FROM_OWNER");
_Static_assert(sizeof(struct vhost_worker_state) == 4, "vhost_worker_state");
_Static_assert(sizeof(struct vhost_vring_worker) == 8, "vhost_vring_worker");
_Static_assert(offsetof(struct vhost_vring_worker, worker_id) == 4, "worker_id");

#define NVQS		130	/* 2 + max_io_vqs of vhost-scsi */
#define BAD_POINTER	((void *)8)
#define FAST_NS		2000000	/* far less than a grace period */

static int raw(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static int set_cap(unsigned int cap)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", cap);
	return put_text(PUT_MAX_WORKERS, text);
}

/* Make workers up to the first error: how many there were, *err is the error. */
static unsigned int fill(int fd, unsigned int max, int *err)
{
	unsigned int made = 0;
	uint32_t id;

	for (*err = 0; made < max; made++) {
		*err = vdev_new_worker(fd, &id);
		if (*err)
			break;
	}
	return made;
}

FIXTURE(scsi) {
	int fd;
	pid_t pid;
};

FIXTURE_THREADS(scsi);

FIXTURE_SETUP(scsi)
{
	SKIP_WITHOUT(variant->thread);
	proc_watch("a test of ioctls", 25);
	self->pid = getpid();
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
	ASSERT_VALID(self->fd);
}

FIXTURE_TEARDOWN(scsi)
{
	proc_watch("close of the device", 10);
	close(self->fd);
	EXPECT_THREADS(self->pid, 0);
	if (!access(PUT_MAX_WORKERS, W_OK))
		EXPECT_OK(set_cap(0));
}

/* covers: abi order of checks */
TEST_F(scsi, ioctls_before_set_owner_are_refused)
{
	static const unsigned long requests[] = {
		VHOST_NEW_WORKER, VHOST_FREE_WORKER, VHOST_ATTACH_VRING_WORKER,
		VHOST_GET_VRING_WORKER,
	};
	struct vhost_vring_worker arg;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		arg = (struct vhost_vring_worker){ 0 };
		EXPECT_EQ(-EINVAL, raw(self->fd, requests[i], &arg));
		arg = (struct vhost_vring_worker){ UINT_MAX, UINT_MAX };
		EXPECT_EQ(-EINVAL, raw(self->fd, requests[i], &arg));
		EXPECT_EQ(-EINVAL, raw(self->fd, requests[i], BAD_POINTER));
	}
	EXPECT_EQ(0, threads_list(self->pid, NULL, 0));
}

/* covers: abi probe */
TEST_F(scsi, probe_before_set_owner_changes_nothing)
{
	uint32_t id;

	EXPECT_EQ(1, vdev_has_workers(self->fd));
	EXPECT_EQ(1, vdev_has_workers(self->fd));
	EXPECT_EQ(0, threads_list(self->pid, NULL, 0));
	/* Not owned yet: the kind can still be chosen. */
	if (vdev_has_fork_control(VDEV_SCSI))
		EXPECT_OK(vdev_set_fork(self->fd, variant->thread == VDEV_THREAD_TASK));
	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_get_worker(self->fd, 0, &id));
	EXPECT_EQ(0, id);
}

/* covers: abi */
TEST_F(scsi, set_owner_attaches_every_vring_to_worker_0)
{
	uint32_t vq, id;

	ASSERT_OK(vdev_set_owner(self->fd));
	for (vq = 0; vq < NVQS; vq++) {
		id = 77;
		ASSERT_OK(vdev_get_worker(self->fd, vq, &id));
		EXPECT_EQ(0, id);
	}
	EXPECT_EQ(-EBUSY, vdev_set_owner(self->fd));
	EXPECT_EQ(1, threads_list(self->pid, NULL, 0));
}

/* covers: abi */
TEST_F(scsi, vring_index_is_good_up_to_129)
{
	uint32_t id, now;

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(vdev_attach_worker(self->fd, NVQS - 1, id));
	ASSERT_OK(vdev_get_worker(self->fd, NVQS - 1, &now));
	EXPECT_EQ(id, now);
	ASSERT_OK(vdev_get_worker(self->fd, NVQS - 2, &now));
	EXPECT_EQ(0, now);
	EXPECT_EQ(-ENOBUFS, vdev_attach_worker(self->fd, NVQS, id));
	EXPECT_EQ(-ENOBUFS, vdev_attach_worker(self->fd, UINT_MAX, id));
	EXPECT_EQ(-ENOBUFS, vdev_get_worker(self->fd, NVQS, &now));
	EXPECT_EQ(-ENOBUFS, vdev_get_worker(self->fd, UINT_MAX, &now));
}

/* covers: abi */
TEST_F(scsi, unknown_worker_is_refused)
{
	static const uint32_t ids[] = { 1, 77, INT_MAX, 0x80000000, UINT_MAX };
	uint32_t now;
	unsigned int i;

	ASSERT_OK(vdev_set_owner(self->fd));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(-ENODEV, vdev_free_worker(self->fd, ids[i]));
		EXPECT_EQ(-ENODEV, vdev_attach_worker(self->fd, 2, ids[i]));
	}
	ASSERT_OK(vdev_get_worker(self->fd, 2, &now));
	EXPECT_EQ(0, now);
}

/* covers: abi D11 */
TEST_F(scsi, ids_are_not_reused_at_once)
{
	uint32_t id, stale, i;

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &stale));
	EXPECT_EQ(1, stale);
	ASSERT_OK(vdev_free_worker(self->fd, stale));
	for (i = 0; i < 5; i++) {
		ASSERT_OK(vdev_new_worker(self->fd, &id));
		EXPECT_EQ(2 + i, id);
		EXPECT_EQ(-ENODEV, vdev_free_worker(self->fd, stale));
		EXPECT_EQ(-ENODEV, vdev_attach_worker(self->fd, 2, stale));
		ASSERT_OK(vdev_free_worker(self->fd, id));
	}
}

/* covers: abi */
TEST_F(scsi, attached_worker_cannot_be_freed_and_no_worker_twice)
{
	uint32_t id;

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(vdev_attach_worker(self->fd, 2, id));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, id));
	ASSERT_OK(vdev_attach_worker(self->fd, 3, id));
	ASSERT_OK(vdev_attach_worker(self->fd, 2, 0));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, id));
	ASSERT_OK(vdev_attach_worker(self->fd, 3, 0));
	EXPECT_OK(vdev_free_worker(self->fd, id));
	EXPECT_EQ(-ENODEV, vdev_free_worker(self->fd, id));
}

/* covers: abi */
TEST_F(scsi, worker_0_can_be_freed_once_unused)
{
	uint32_t vq, id, now;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 0));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	for (vq = 0; vq < NVQS; vq++) {
		EXPECT_EQ(-EBUSY, vdev_free_worker(self->fd, 0));
		ASSERT_OK(vdev_attach_worker(self->fd, vq, id));
	}
	EXPECT_OK(vdev_free_worker(self->fd, 0));
	EXPECT_EQ(-ENODEV, vdev_free_worker(self->fd, 0));
	EXPECT_EQ(-ENODEV, vdev_attach_worker(self->fd, 2, 0));
	EXPECT_THREADS(self->pid, 1);
	for (vq = 0; vq < NVQS; vq++) {
		ASSERT_OK(vdev_get_worker(self->fd, vq, &now));
		EXPECT_EQ(id, now);
	}
}

/* Fastest of some attaches in ns, between two workers in turn; a negative errno on failure. */
static int64_t fastest_attach(int fd, uint32_t vq, uint32_t first, uint32_t second)
{
	int64_t best = INT64_MAX;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		uint64_t start = guest_now_ns();
		int err = vdev_attach_worker(fd, vq, i & 1 ? second : first);
		int64_t took = guest_now_ns() - start;

		if (err)
			return err;
		if (took < best)
			best = took;
	}
	return best;
}

/* covers: abi D7 */
TEST_F(scsi, attach_waits_for_no_grace_period_without_need)
{
	int kick = eventfd(0, EFD_CLOEXEC);
	struct vhost_vring_file file = { 3, kick };
	int64_t idle, live, same;
	uint32_t id;

	ASSERT_VALID(kick);
	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(raw(self->fd, VHOST_SET_VRING_KICK, &file));
	idle = fastest_attach(self->fd, 2, id, 0);
	live = fastest_attach(self->fd, 3, id, 0);
	same = fastest_attach(self->fd, 3, 0, 0);
	TH_LOG("attach of an idle vring %ld us, of a live one %ld us, to the worker it has %ld us",
	       (long)(idle / 1000), (long)(live / 1000), (long)(same / 1000));
	EXPECT_LE(0, idle);
	EXPECT_GT(FAST_NS, idle);
	EXPECT_LE(0, same);
	EXPECT_GT(FAST_NS, same);
	/* One that has work queued must wait, or the two above would prove nothing. */
	EXPECT_LT(idle, live);
	close(kick);
}

/* covers: abi */
TEST_F(scsi, bad_pointers_are_refused)
{
	struct vhost_vring_worker *ro;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_NEW_WORKER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_FREE_WORKER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_ATTACH_VRING_WORKER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_GET_VRING_WORKER, BAD_POINTER));
	/* Readable is not enough for those that answer. */
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, ro);
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_NEW_WORKER, ro));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_GET_VRING_WORKER, ro));
	EXPECT_EQ(0, raw(self->fd, VHOST_ATTACH_VRING_WORKER, ro));
	munmap(ro, 4096);
}

/* covers: abi D5 */
TEST_F(scsi, new_worker_with_bad_pointer_leaves_nothing)
{
	unsigned int i;
	int err;

	ASSERT_OK(vdev_set_owner(self->fd));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_NEW_WORKER, BAD_POINTER));
	EXPECT_THREADS(self->pid, 1);
	/* Nor does it count against the cap. */
	ASSERT_OK(set_cap(3));
	EXPECT_EQ(2, fill(self->fd, 8, &err));
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_EQ(-ENOSPC, raw(self->fd, VHOST_NEW_WORKER, BAD_POINTER));
	EXPECT_EQ(3, threads_list(self->pid, NULL, 0));
}

/* covers: abi D6 */
TEST_F(scsi, there_may_be_as_many_workers_as_vrings)
{
	uint32_t id;
	int err;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(NVQS - 1, fill(self->fd, NVQS + 10, &err));
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_EQ(NVQS, threads_list(self->pid, NULL, 0));
	EXPECT_OK(vdev_free_worker(self->fd, 50));
	EXPECT_OK(vdev_new_worker(self->fd, &id));
	EXPECT_EQ(NVQS, id);
	EXPECT_EQ(-ENOSPC, vdev_new_worker(self->fd, &id));
}

/* covers: abi D6 */
TEST_F(scsi, cap_can_be_set)
{
	uint32_t id;
	int err;

	ASSERT_OK(set_cap(1));
	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(-ENOSPC, vdev_new_worker(self->fd, &id));
	ASSERT_OK(set_cap(4));
	EXPECT_EQ(3, fill(self->fd, 8, &err));
	EXPECT_EQ(-ENOSPC, err);
	/* A lower cap takes nothing away. */
	ASSERT_OK(set_cap(2));
	EXPECT_OK(vdev_attach_worker(self->fd, 2, 3));
	EXPECT_OK(vdev_free_worker(self->fd, 1));
	EXPECT_OK(vdev_free_worker(self->fd, 2));
	EXPECT_EQ(-ENOSPC, vdev_new_worker(self->fd, &id));
	/* More than vrings is allowed, when somebody says so. */
	ASSERT_OK(set_cap(NVQS + 4));
	EXPECT_EQ(NVQS + 2, fill(self->fd, NVQS + 10, &err));
	EXPECT_EQ(-ENOSPC, err);
}

/* covers: T1 */
TEST_F(scsi, every_worker_has_its_own_thread_with_its_name)
{
	struct vctl_dev dev;
	struct vthread list[8];
	bool seen[6] = { false };
	char name[6][40];
	struct vctl v;
	int count, i, j;
	uint32_t id;

	ASSERT_OK(vctl_open(&v));
	ASSERT_OK(vdev_set_owner(self->fd));
	for (i = 1; i < 6; i++)
		ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(vctl_dev_of(&v, self->pid, &dev));
	vctl_close(&v);
	for (i = 0; i < 6; i++)
		threads_name(self->pid, dev.id, i, variant->thread, name[i], sizeof(name[i]));
	count = threads_list(self->pid, list, 8);
	ASSERT_EQ(6, count);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(variant->thread, list[i].kind);
		if (i)
			EXPECT_NE(list[i - 1].tid, list[i].tid);
		for (j = 0; j < 6; j++)
			seen[j] |= !strcmp(name[j], list[i].comm);
	}
	for (j = 0; j < 6; j++)
		EXPECT_TRUE(seen[j]) { TH_LOG("no thread is called %s", name[j]); }
}

/* covers: T1 */
TEST_F(scsi, thread_is_gone_after_free)
{
	struct vthread before[8], after[8], gone;
	uint32_t id;

	ASSERT_OK(vdev_set_owner(self->fd));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_OK(vdev_new_worker(self->fd, &id));
	ASSERT_EQ(3, threads_list(self->pid, before, 8));
	ASSERT_OK(vdev_free_worker(self->fd, 1));
	EXPECT_THREADS(self->pid, 2);
	ASSERT_EQ(2, threads_list(self->pid, after, 8));
	/* The other two are the same as before. */
	EXPECT_EQ(0, threads_new(before, 3, after, 2, NULL, 0));
	ASSERT_EQ(1, threads_new(after, 2, before, 3, &gone, 1));
	EXPECT_OK(threads_wait_gone(gone.tid, GONE_MS));
}

/* covers: abi W4 */
TEST_F(scsi, close_ends_every_thread)
{
	int err;

	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(40, fill(self->fd, 40, &err));
	EXPECT_EQ(41, threads_list(self->pid, NULL, 0));
	close(self->fd);
	EXPECT_THREADS(self->pid, 0);
	self->fd = vdev_open_thread(VDEV_SCSI, variant->thread);
}

/* covers: abi (SET_FORK_FROM_OWNER) */
TEST_F(scsi, kind_is_chosen_before_set_owner_only)
{
	uint8_t value = 77;

	if (!vdev_has_fork_control(VDEV_SCSI))
		SKIP(return, "this kernel has one kind of thread");
	EXPECT_EQ(-EINVAL, vdev_set_fork(self->fd, 2));
	EXPECT_EQ(-EINVAL, vdev_set_fork(self->fd, 255));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_SET_FORK_FROM_OWNER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, raw(self->fd, VHOST_GET_FORK_FROM_OWNER, BAD_POINTER));
	EXPECT_OK(vdev_set_fork(self->fd, variant->thread != VDEV_THREAD_TASK));
	EXPECT_OK(vdev_get_fork(self->fd, &value));
	EXPECT_EQ(variant->thread != VDEV_THREAD_TASK, value);
	EXPECT_OK(vdev_set_fork(self->fd, variant->thread == VDEV_THREAD_TASK));
	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_EQ(-EBUSY, vdev_set_fork(self->fd, 0));
	EXPECT_EQ(-EBUSY, vdev_set_fork(self->fd, 1));
	EXPECT_OK(vdev_get_fork(self->fd, &value));
	EXPECT_EQ(variant->thread == VDEV_THREAD_TASK, value);
	EXPECT_EQ(variant->thread, vdev_thread_kind(self->fd));
}

TEST(task_is_the_default_kind_where_there_are_two)
{
	int fd = vdev_open(VDEV_SCSI);
	uint8_t value = 77;

	ASSERT_VALID(fd);
	if (!vdev_has_fork_control(VDEV_SCSI))
		SKIP(return, "this kernel has one kind of thread");
	EXPECT_OK(vdev_get_fork(fd, &value));
	EXPECT_EQ(VHOST_FORK_OWNER_TASK, value);
	close(fd);
}

/* int 0x80 is a fault in a kernel that has no entry for it; one that has tells of its 32-bit vDSO. */
static bool has_ioctl32(void)
{
#ifdef __x86_64__
	return !access("/proc/sys/abi/vsyscall32", F_OK);
#else
	return true;
#endif
}

/* ioctl() as a 32-bit program calls it; @arg lies below 4 GiB. */
static int ioctl32(int fd, unsigned long request, void *arg)
{
#ifdef __x86_64__
	long ret;

	asm volatile("int $0x80" : "=a"(ret)
		     : "a"(54), "b"(fd), "c"(request), "d"(arg)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
#else
	return raw(fd, request, arg);
#endif
}

/* covers: abi (compat) */
TEST_F(scsi, callers_with_32_bits_use_the_same_layout)
{
	struct vhost_vring_worker *map;
	struct vhost_worker_state *state;

	if (!has_ioctl32())
		SKIP(return, "this kernel has no 32-bit system calls");
	state = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, state);
	map = (void *)(state + 16);
	ASSERT_EQ(0, ioctl32(self->fd, VHOST_SET_OWNER, NULL));
	ASSERT_EQ(0, ioctl32(self->fd, VHOST_NEW_WORKER, state));
	EXPECT_EQ(1, state->worker_id);
	*map = (struct vhost_vring_worker){ 129, 1 };
	EXPECT_EQ(0, ioctl32(self->fd, VHOST_ATTACH_VRING_WORKER, map));
	map->worker_id = 77;
	EXPECT_EQ(0, ioctl32(self->fd, VHOST_GET_VRING_WORKER, map));
	EXPECT_EQ(129, map->index);
	EXPECT_EQ(1, map->worker_id);
	EXPECT_EQ(0, map[1].index | map[1].worker_id);
	EXPECT_EQ(-EBUSY, ioctl32(self->fd, VHOST_FREE_WORKER, state));
	map->worker_id = 0;
	EXPECT_EQ(0, ioctl32(self->fd, VHOST_ATTACH_VRING_WORKER, map));
	EXPECT_EQ(0, ioctl32(self->fd, VHOST_FREE_WORKER, state));
	EXPECT_EQ(-ENODEV, ioctl32(self->fd, VHOST_FREE_WORKER, state));
	munmap(state, 4096);
}

TEST_HARNESS_MAIN
