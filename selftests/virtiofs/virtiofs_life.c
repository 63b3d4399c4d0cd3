// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs, devices, daemons and the module itself come and go while a virtio-fs
 * device is in use.
 */
#include <kselftest_harness.h>

#include <fcntl.h>
#include <sys/klog.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "vfs.h"

#define WRITERS		4
#define IO_MS		guest_patience(30000)	/* a few rounds of I/O */
#define END_MS		guest_patience(20000)	/* the end of one who waits for a dead device */
#define ROUNDS		8

/* A writer goes on until it fails, is told to stop or is killed. */
struct writer {
	const struct vfs *vfs;
	int nr;
	int cpu;	/* to run on, or -1 */
};

static int write_on(struct proc *me, void *arg)
{
	const struct writer *writer = arg;
	char name[16];
	int err = writer->cpu < 0 ? 0 : vfs_pin(writer->cpu);

	snprintf(name, sizeof(name), "w%d", writer->nr);
	proc_step(me, "I/O");
	for (unsigned int round = 0; !err && !me->page->word[0]; round++) {
		err = vfs_io(writer->vfs, name, 8, writer->nr * 1000 + round);
		proc_progress(me);
	}
	return err;
}

static void stop(struct proc *proc)
{
	proc->page->word[0] = 1;
}

FIXTURE(life) {
	struct vfs vfs;
	struct vfs monitor;	/* where QEMU is told something */
	struct writer writers[WRITERS];
	struct proc *procs[WRITERS];
};

FIXTURE_SETUP(life)
{
	ASSERT_OK(vfs_load());
	ASSERT_EQ(0, system("echo 1 >/sys/module/virtiofs/parameters/remove_timeout"));
}

FIXTURE_TEARDOWN(life)
{
	for (int i = 0; i < WRITERS; i++)
		if (self->procs[i])
			proc_free(self->procs[i]);
	EXPECT_OK(vfs_umount(&self->vfs));
	EXPECT_OK(vfs_umount(&self->monitor));
	EXPECT_OK(vfs_load());
}

static int start_writers(FIXTURE_DATA(life) *self, bool pinned)
{
	int err = 0;

	for (int i = 0; !err && i < WRITERS; i++) {
		self->writers[i] = (struct writer){ &self->vfs, i, pinned ? i : -1 };
		err = proc_start(write_on, &self->writers[i], &self->procs[i]);
	}
	return err;
}

static int await_writers(FIXTURE_DATA(life) *self)
{
	int err = 0;

	for (int i = 0; !err && i < WRITERS; i++)
		err = proc_wait_progress(self->procs[i], 2, IO_MS);
	return err;
}

/* --- CPUs */

TEST_F(life, cpus_go_and_come_during_io)
{
	ASSERT_OK(vfs_mount("q4", &self->vfs));
	ASSERT_OK(start_writers(self, true));
	ASSERT_OK(await_writers(self));
	for (int round = 0; round < ROUNDS; round++) {
		int cpu = 1 + round % 3;

		ASSERT_OK(vfs_set_online(cpu, false));
		ASSERT_OK(await_writers(self));
		ASSERT_OK(vfs_set_online(cpu, true));
	}
	for (int i = 0; i < WRITERS; i++)
		stop(self->procs[i]);
	for (int i = 0; i < WRITERS; i++)
		EXPECT_OK(proc_wait(self->procs[i], IO_MS));
}

static int write_once(struct proc *me, void *arg)
{
	const struct writer *writer = arg;
	int err = vfs_pin(writer->cpu);

	proc_ready(me);
	return err ?: vfs_io(writer->vfs, "once", 4, 1);
}

/* The device takes 300 ms for each request: one is on its way when its CPU goes. */
TEST_F(life, answer_comes_though_its_cpu_is_gone)
{
	ASSERT_OK(vfs_mount("slow", &self->vfs));
	self->writers[0] = (struct writer){ &self->vfs, 0, 2 };
	ASSERT_OK(proc_start(write_once, &self->writers[0], &self->procs[0]));
	ASSERT_OK(proc_wait_ready(self->procs[0], IO_MS));
	guest_sleep_ms(450);
	ASSERT_OK(vfs_set_online(2, false));
	EXPECT_OK(proc_wait(self->procs[0], IO_MS));
}

static int io_on_cpu(struct proc *me, void *arg)
{
	const struct writer *writer = arg;
	int err = vfs_pin(writer->cpu);

	(void)me;
	return err ?: vfs_io(writer->vfs, "back", 50, 3);
}

TEST_F(life, cpu_that_came_back_uses_its_queue)
{
	unsigned long before[VFS_MAX_QUEUES], after[VFS_MAX_QUEUES];
	int own;

	ASSERT_OK(vfs_mount("q4", &self->vfs));
	own = vfs_queue_of(&self->vfs, 3);
	ASSERT_LE(0, own);
	ASSERT_OK(vfs_set_online(3, false));
	ASSERT_OK(vfs_set_online(3, true));
	ASSERT_OK(vfs_interrupts(&self->vfs, before));
	ASSERT_OK(proc_call(io_on_cpu, &(struct writer){ &self->vfs, 0, 3 }, IO_MS));
	ASSERT_OK(vfs_interrupts(&self->vfs, after));
	EXPECT_LE(100, after[own] - before[own]);
}

/* A device that is found while CPUs are away has queues for them, too. */
TEST_F(life, map_covers_cpus_that_are_away)
{
	struct vfs away;

	ASSERT_OK(vfs_find("shared", &away));
	ASSERT_OK(vfs_set_online(2, false));
	ASSERT_OK(vfs_set_online(3, false));
	ASSERT_OK(vfs_unbind(away.index));
	ASSERT_OK(vfs_bind(away.index));
	ASSERT_OK(vfs_find("shared", &away));
	for (int cpu = 0; cpu < 5; cpu++)
		EXPECT_LE(0, vfs_queue_of(&away, cpu));
	/* Those that are online do not share. */
	EXPECT_NE(vfs_queue_of(&away, 0), vfs_queue_of(&away, 1));
	ASSERT_OK(vfs_load());
	ASSERT_OK(vfs_mount("shared", &self->vfs));
	for (int cpu = 0; cpu < 4; cpu++)
		EXPECT_OK(proc_call(io_on_cpu, &(struct writer){ &self->vfs, 0, cpu }, IO_MS));
	ASSERT_OK(vfs_umount(&self->vfs));
	ASSERT_OK(vfs_unbind(away.index));
	ASSERT_OK(vfs_bind(away.index));
}

/* --- devices */

static int end_of(struct proc **procs, int nr)
{
	int err = proc_wait(procs[nr], END_MS);

	/* Refused: who waits for a mount's first request gets to know that it failed. */
	return err == -ENOTCONN || err == -ECONNREFUSED ? 0 : err ?: -EAGAIN;
}

TEST_F(life, removal_while_mounted_ends_in_errors)
{
	struct vfs gone;

	ASSERT_OK(vfs_mount("q2", &self->vfs));
	ASSERT_OK(start_writers(self, false));
	ASSERT_OK(await_writers(self));
	ASSERT_OK(vfs_unbind(self->vfs.index));
	for (int i = 0; i < WRITERS; i++)
		EXPECT_EQ(0, end_of(self->procs, i));
	EXPECT_EQ(-1, open("/tmp/q2/new", O_CREAT | O_WRONLY, 0600));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-ENOENT, vfs_find("q2", &gone));
	ASSERT_OK(vfs_umount(&self->vfs));

	ASSERT_OK(vfs_bind(self->vfs.index));
	ASSERT_OK(vfs_mount("q2", &self->vfs));
	EXPECT_OK(vfs_io(&self->vfs, "again", 8, 1));
}

#define UNPLUG	"{\"execute\":\"device_del\",\"arguments\":{\"id\":\"plug\"}}"
#define PLUG	"{\"execute\":\"device_add\",\"arguments\":{\"driver\":\"vhost-user-fs-pci\"," \
		"\"id\":\"plug\",\"chardev\":\"plug\",\"tag\":\"plug\",\"num-request-queues\":4}}"

/* QEMU lets go of the device only after the kernel did, and needs a moment for that. */
static int plug(const struct vfs *monitor, struct vfs *vfs)
{
	uint64_t end = guest_now_ns() + END_MS * 1000000ULL;
	int err;

	while ((err = vfs_monitor(monitor, PLUG)) == -EIO && guest_now_ns() < end)
		guest_sleep_ms(50);
	while (!err && (err = vfs_find("plug", vfs)) && guest_now_ns() < end) {
		err = 0;
		guest_sleep_ms(50);
	}
	return err;
}

static int await_unplugged(const struct vfs *vfs)
{
	uint64_t end = guest_now_ns() + END_MS * 1000000ULL;
	struct vfs gone;

	while (vfs_find(vfs->tag, &gone) != -ENOENT) {
		if (guest_now_ns() > end)
			return guest_fail(ETIMEDOUT, "virtio%d is still there", vfs->index);
		guest_sleep_ms(20);
	}
	return 0;
}

/* The device itself goes, as an administrator of the host has it. */
TEST_F(life, unplug_during_io_ends_in_errors_and_it_comes_back)
{
	struct vfs again;

	ASSERT_OK(vfs_mount("q1", &self->monitor));
	for (int round = 0; round < 2; round++) {
		ASSERT_OK(vfs_mount("plug", &self->vfs));
		EXPECT_EQ(4, self->vfs.nr_queues);
		ASSERT_OK(start_writers(self, round == 0));
		ASSERT_OK(await_writers(self));
		ASSERT_OK(vfs_monitor(&self->monitor, UNPLUG));
		for (int i = 0; i < WRITERS; i++) {
			EXPECT_EQ(0, end_of(self->procs, i));
			proc_free(self->procs[i]);
			self->procs[i] = NULL;
		}
		EXPECT_OK(await_unplugged(&self->vfs));
		EXPECT_EQ(-1, open("/tmp/plug/new", O_CREAT | O_WRONLY, 0600));
		EXPECT_EQ(ENOTCONN, errno);
		ASSERT_OK(vfs_umount(&self->vfs));
		ASSERT_OK(plug(&self->monitor, &again));
	}
	ASSERT_OK(vfs_mount("plug", &self->vfs));
	EXPECT_OK(vfs_io(&self->vfs, "again", 8, 1));
}

/* The answer to this is the daemon's last. */
static int end_daemon(const struct vfs *vfs)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/die", vfs->dir);
	if (open(path, O_CREAT | O_WRONLY, 0600) >= 0 || errno != EIO)
		return guest_fail(errno, "%s", path);
	return 0;
}

TEST_F(life, dead_daemon_is_ended_by_removal)
{
	ASSERT_OK(vfs_mount("doomed", &self->vfs));
	ASSERT_OK(start_writers(self, true));
	ASSERT_OK(await_writers(self));
	ASSERT_OK(end_daemon(&self->vfs));
	/* Nobody tells the driver, so that they wait. */
	EXPECT_EQ(-ETIMEDOUT, proc_wait(self->procs[0], 1000));
	ASSERT_OK(vfs_unbind(self->vfs.index));
	for (int i = 0; i < WRITERS; i++)
		EXPECT_EQ(0, end_of(self->procs, i));
}

static int unmount(struct proc *me, void *arg)
{
	proc_ready(me);
	return vfs_umount(arg);
}

/* One who unmounts waits for answers, too, and with a lock that the removal needs. */
TEST_F(life, unmount_of_a_dead_daemon_is_ended_by_removal)
{
	struct proc *unmounter;

	ASSERT_OK(vfs_mount("doomed1", &self->vfs));
	ASSERT_OK(vfs_io(&self->vfs, "file", 8, 1));
	ASSERT_EQ(0, system("sync"));
	ASSERT_OK(end_daemon(&self->vfs));
	/* That the file's inode is forgotten will not be answered. */
	ASSERT_EQ(0, system("echo 2 >/proc/sys/vm/drop_caches"));
	ASSERT_OK(proc_start(unmount, &self->vfs, &unmounter));
	EXPECT_EQ(-ETIMEDOUT, proc_wait(unmounter, 1000));
	ASSERT_OK(vfs_unbind(self->vfs.index));
	EXPECT_OK(proc_wait(unmounter, END_MS));
	proc_free(unmounter);
	self->vfs.dir[0] = '\0';
}

static int look(struct proc *me, void *arg)
{
	const struct vfs *vfs = arg;
	char path[64];
	struct stat st;

	proc_ready(me);
	snprintf(path, sizeof(path), "%s/none", vfs->dir);
	return stat(path, &st) ? guest_fail(errno, "%s", path) : 0;
}

TEST_F(life, refused_queue_is_ended_by_removal)
{
	ASSERT_OK(vfs_mount("refused", &self->vfs));
	ASSERT_OK(proc_start(look, &self->vfs, &self->procs[0]));
	EXPECT_EQ(-ETIMEDOUT, proc_wait(self->procs[0], 500));
	ASSERT_OK(vfs_unbind(self->vfs.index));
	EXPECT_EQ(0, end_of(self->procs, 0));
	ASSERT_OK(vfs_umount(&self->vfs));
	ASSERT_OK(vfs_bind(self->vfs.index));
}

/* The second device of a tag is refused when all of it is set up. */
TEST_F(life, failed_probe_leaves_nothing)
{
	struct vfs first;
	int second;

	ASSERT_OK(vfs_find("twin", &first));
	second = first.index + 1;
	if (vfs_is_bound(second) || !CPU_COUNT(&first.hiprio))
		second = first.index - 1;
	for (int i = 0; i < 20; i++) {
		EXPECT_NE(0, vfs_bind(second));
		EXPECT_FALSE(vfs_is_bound(second));
	}
	ASSERT_OK(vfs_mount("twin", &self->vfs));
	EXPECT_EQ(first.index, self->vfs.index);
	EXPECT_OK(vfs_io(&self->vfs, "file", 8, 1));
	ASSERT_OK(vfs_umount(&self->vfs));

	ASSERT_OK(vfs_unbind(first.index));
	ASSERT_OK(vfs_bind(second));
	ASSERT_OK(vfs_mount("twin", &self->vfs));
	EXPECT_EQ(second, self->vfs.index);
	EXPECT_EQ(first.nr_queues, self->vfs.nr_queues);
	EXPECT_OK(vfs_io(&self->vfs, "file", 8, 2));
	/* Nor is a CPU's end told to those that failed. */
	ASSERT_OK(vfs_set_online(1, false));
	EXPECT_OK(vfs_io(&self->vfs, "file", 8, 3));
}

/* --- the module */

TEST_F(life, module_goes_and_comes)
{
	for (int i = 0; i < 3; i++) {
		ASSERT_OK(vfs_mount("q4", &self->vfs));
		EXPECT_NE(0, system("rmmod virtiofs 2>/dev/null"));
		EXPECT_OK(vfs_io(&self->vfs, "file", 8, i));
		ASSERT_OK(vfs_umount(&self->vfs));
		ASSERT_EQ(0, system("rmmod virtiofs"));
		EXPECT_NE(0, access("/sys/fs/virtiofs", F_OK));
		ASSERT_OK(vfs_load());
	}
}

static bool log_has(const char *text)
{
	static char log[1 << 20];
	int len = klogctl(3, log, sizeof(log) - 1);	/* read all */

	log[len > 0 ? len : 0] = '\0';
	return strstr(log, text);
}

TEST_F(life, debug_lines_name_queue_and_cpus)
{
	ASSERT_OK(vfs_find("q4", &self->vfs));
	ASSERT_EQ(0, system("echo module virtiofs +p >/sys/kernel/debug/dynamic_debug/control"));
	ASSERT_OK(vfs_unbind(self->vfs.index));
	ASSERT_OK(vfs_bind(self->vfs.index));
	ASSERT_OK(vfs_mount("q4", &self->vfs));
	ASSERT_OK(proc_call(io_on_cpu, &(struct writer){ &self->vfs, 0, 3 }, IO_MS));
	ASSERT_EQ(0, system("echo module virtiofs -p >/sys/kernel/debug/dynamic_debug/control"));
	EXPECT_TRUE(log_has("request queue 0: CPUs 0,4, by interrupts"));
	EXPECT_TRUE(log_has("request queue 3: CPUs 3, by interrupts"));
	EXPECT_TRUE(log_has("virtio_fs_wake_pending_and_unlock: queue 4 opcode"));
}

TEST_HARNESS_MAIN
