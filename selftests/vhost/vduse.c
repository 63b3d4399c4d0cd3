// SPDX-License-Identifier: GPL-2.0
/*
 * vduse.c - a disk of the real qemu-storage-daemon behind virtio_vdpa: where its callbacks run, and its files
 *
 * The disk is checked by the distribution's fio; `vdpa` of iproute2 puts it on the bus. Four CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/vduse.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "lib/put.h"
#include "lib/qsd.h"
#include "lib/shell.h"
#include "lib/vduse.h"

#define CPUS		4
#define DISK_MB		8
#define READS		40
#define BLOCK		4096
#define ROUNDS		3
#define TRACING		"/sys/kernel/tracing/"
#define EXECUTE		TRACING "events/workqueue/workqueue_execute_start/enable"
#define CPU3		"/sys/devices/system/cpu/cpu3/online"

/* Blocks at random, written and read back with checksums, from each CPU at once; exit code 0 if all is well. */
#define FIO \
	"fio --name=verify --filename=%s --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --bs=4k" \
	" --size=512k --offset_increment=1m --numjobs=4 --verify=crc32c --verify_fatal=1 --thread" \
	" --cpus_allowed=0-3 --cpus_allowed_policy=split --output=/tmp/fio.log"

FIXTURE(vduse) {
	struct qsd disk;
	char out[4096];
};

FIXTURE_SETUP(vduse)
{
	if (!vduse_present())
		SKIP(return, "this kernel has no VDUSE");
	proc_watch("a test of VDUSE", guest_patience(110));
	ASSERT_EQ(CPUS, sysconf(_SC_NPROCESSORS_ONLN));
	ASSERT_OK(qsd_start(&self->disk, CPUS, DISK_MB));
}

FIXTURE_TEARDOWN(vduse)
{
	EXPECT_OK(qsd_stop(&self->disk));
}

#define EXPECT_RUN(...) \
	EXPECT_EQ(0, shell_run(self->out, sizeof(self->out), __VA_ARGS__)) { \
		TH_LOG("%s", self->out); \
	}

#define EXPECT_FILE(want, file) \
	do { \
		char text[64] = ""; \
		EXPECT_OK(qsd_get(file, text, sizeof(text))); \
		EXPECT_STREQ(want, text) { \
			TH_LOG("%s", file); \
		} \
	} while (0)

#define EXPECT_REFUSED(err, file, text) \
	EXPECT_EQ(-(err), qsd_put(file, text)) { \
		TH_LOG("'%s' to %s", text, file); \
	}

/* The file of virtqueue @vq, until the next call. */
static const char *of(unsigned int vq, const char *file)
{
	static char path[64];

	snprintf(path, sizeof(path), "vq%u/%s", vq, file);
	return path;
}

/* The CPUs of hardware queue @queue, as the block layer tells them, in @cpus. */
static int cpus_of(const struct qsd *disk, unsigned int queue, char *cpus, size_t size)
{
	return shell_run(cpus, size, "tr -d '\\n' </sys/block/%s/mq/%u/cpu_list 2>&1",
			 disk->disk + strlen("/dev/"), queue);
}

/* --- spreading */

TEST_F(vduse, each_cpu_has_its_queue)
{
	static const char * const masks[] = { "1", "2", "4", "8" };
	char cpus[64], cpu[2];

	ASSERT_OK(qsd_add(&self->disk));
	EXPECT_RUN(QSD_VDPA " dev show " QSD_NAME " | grep 'type block.*max_vqs 4'");
	for (unsigned int q = 0; q < CPUS; q++) {
		EXPECT_FILE(masks[q], of(q, "irq_cb_affinity"));
		EXPECT_FILE(masks[q], of(q, "irq_cb_effective_affinity"));
		EXPECT_FILE("1", of(q, "enable_irq_wq"));
		snprintf(cpu, sizeof(cpu), "%u", q);
		EXPECT_OK(cpus_of(&self->disk, q, cpus, sizeof(cpus)));
		EXPECT_STREQ(cpu, cpus);
	}
}

TEST_F(vduse, two_queues_share_the_cpus)
{
	static const char * const masks[] = { "3", "c" }, * const lists[] = { "0, 1", "2, 3" };
	char cpus[64];

	ASSERT_OK(qsd_stop(&self->disk));
	ASSERT_OK(qsd_start(&self->disk, 2, DISK_MB));
	ASSERT_OK(qsd_add(&self->disk));
	for (unsigned int q = 0; q < 2; q++) {
		EXPECT_FILE(masks[q], of(q, "irq_cb_affinity"));
		EXPECT_OK(cpus_of(&self->disk, q, cpus, sizeof(cpus)));
		EXPECT_STREQ(lists[q], cpus);
	}
}

TEST_F(vduse, queues_beyond_the_cpus_are_left_alone)
{
	ASSERT_OK(qsd_stop(&self->disk));
	ASSERT_OK(qsd_start(&self->disk, 2 * CPUS, DISK_MB));
	ASSERT_OK(qsd_add(&self->disk));
	EXPECT_FILE("8", "vq3/irq_cb_affinity");
	EXPECT_FILE("f", "vq4/irq_cb_affinity");
	EXPECT_FILE("f", "vq7/irq_cb_effective_affinity");
	EXPECT_RUN("ls /sys/block/%s/mq | wc -l | grep -x 4", self->disk.disk + strlen("/dev/"));
}

/* --- data */

TEST_F(vduse, data_is_right_with_and_without_workqueue)
{
	static const char * const modes[] = { "1", "0" };

	ASSERT_OK(qsd_add(&self->disk));
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int q = 0; q < CPUS; q++) {
			ASSERT_OK(qsd_put(of(q, "enable_irq_wq"), modes[i]));
		}
		EXPECT_FILE(modes[i], "vq3/enable_irq_wq");
		EXPECT_RUN(FIO " 2>&1 || { cat /tmp/fio.log; false; }", self->disk.disk);
		EXPECT_RUN("grep -c 'err= 0' /tmp/fio.log | grep -x 4");
	}
}

/* Files change all the time, for the good and the bad, in a process of its own. */
static int change_files(struct proc *me, void *arg)
{
	static const char * const files[] = { "irq_cb_affinity", "irq_cb_effective_affinity", "enable_irq_wq" };
	unsigned int seed = 7;
	char text[2] = "";
	int err = 0;

	(void)arg;
	while (!err || err == -EINVAL) {
		unsigned int vq = rand_r(&seed) % CPUS, file = rand_r(&seed) % 3;

		text[0] = "0123456789abcdefx"[rand_r(&seed) % 17];
		err = qsd_put(of(vq, files[file]), text);
		proc_progress(me);
	}
	return err;
}

TEST_F(vduse, nothing_is_lost_while_affinities_change)
{
	struct proc *proc;

	ASSERT_OK(qsd_add(&self->disk));
	ASSERT_OK(proc_start(change_files, NULL, &proc));
	EXPECT_OK(proc_wait_progress(proc, 1, CALL_MS));
	EXPECT_RUN(FIO " 2>&1 || { cat /tmp/fio.log; false; }", self->disk.disk);
	EXPECT_RUN("grep -c 'err= 0' /tmp/fio.log | grep -x 4");
	EXPECT_OK(proc_wait_progress(proc, 1, CALL_MS));
	EXPECT_OK(proc_kill(proc, GONE_MS));
	proc_free(proc);
}

/* --- values */

TEST_F(vduse, bad_affinities_are_refused)
{
	ASSERT_OK(qsd_add(&self->disk));
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_affinity", "0");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_affinity", "cpu1");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_affinity", "\n");
	EXPECT_REFUSED(EOVERFLOW, "vq1/irq_cb_affinity", "10");
	EXPECT_FILE("2", "vq1/irq_cb_affinity");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_effective_affinity", "0");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_effective_affinity", "1");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_effective_affinity", "3");
	EXPECT_REFUSED(EINVAL, "vq1/irq_cb_effective_affinity", "-1");
	EXPECT_FILE("2", "vq1/irq_cb_effective_affinity");
	EXPECT_REFUSED(EINVAL, "vq1/enable_irq_wq", "2");
	EXPECT_REFUSED(EINVAL, "vq1/enable_irq_wq", "\n");
	EXPECT_FILE("1", "vq1/enable_irq_wq");
}

TEST_F(vduse, effective_affinity_is_part_of_the_affinity)
{
	ASSERT_OK(qsd_add(&self->disk));
	ASSERT_OK(qsd_put("vq0/irq_cb_affinity", "7"));
	EXPECT_FILE("7", "vq0/irq_cb_effective_affinity");
	ASSERT_OK(qsd_put("vq0/irq_cb_effective_affinity", "6"));
	EXPECT_FILE("7", "vq0/irq_cb_affinity");
	EXPECT_FILE("6", "vq0/irq_cb_effective_affinity");
	EXPECT_REFUSED(EINVAL, "vq0/irq_cb_effective_affinity", "9");
	EXPECT_FILE("6", "vq0/irq_cb_effective_affinity");
	ASSERT_OK(qsd_put("vq0/irq_cb_affinity", "c"));
	EXPECT_FILE("c", "vq0/irq_cb_effective_affinity");
}

TEST_F(vduse, bounce_size_has_bounds_and_is_fixed_on_the_bus)
{
	EXPECT_FILE("67108864", "bounce_size");
	EXPECT_REFUSED(EINVAL, "bounce_size", "1048575");
	EXPECT_REFUSED(EINVAL, "bounce_size", "1073741825");
	EXPECT_REFUSED(EINVAL, "bounce_size", "0");
	EXPECT_REFUSED(EINVAL, "bounce_size", "-1");
	EXPECT_REFUSED(EINVAL, "bounce_size", "2M");
	EXPECT_REFUSED(ERANGE, "bounce_size", "99999999999");
	EXPECT_FILE("67108864", "bounce_size");
	EXPECT_OK(qsd_put("bounce_size", "1048576"));
	EXPECT_OK(qsd_put("bounce_size", "1073741824"));
	EXPECT_OK(qsd_put("bounce_size", "2101247"));
	EXPECT_FILE("2097152", "bounce_size");
	ASSERT_OK(qsd_add(&self->disk));
	EXPECT_REFUSED(EPERM, "bounce_size", "4194304");
	ASSERT_OK(qsd_del(&self->disk));
	EXPECT_REFUSED(EPERM, "bounce_size", "4194304");
	EXPECT_FILE("2097152", "bounce_size");
}

/* --- the domain */

TEST_F(vduse, domain_is_made_on_the_bus_and_as_large_as_asked)
{
	struct vduse_iova_info info = { .last = UINT64_MAX };
	struct vduse_iotlb_entry entry = { .last = UINT64_MAX };
	int fd = qsd_take_fd(&self->disk);

	ASSERT_VALID(fd);
	EXPECT_EQ(-1, ioctl(fd, VDUSE_IOTLB_GET_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, VDUSE_IOTLB_GET_FD, &entry));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_OK(qsd_put("bounce_size", "4194304"));
	ASSERT_OK(qsd_add(&self->disk));
	EXPECT_EQ(0, ioctl(fd, VDUSE_IOTLB_GET_INFO, &info));
	EXPECT_EQ(0, info.start);
	EXPECT_EQ(4194304 - 1, info.last);
	EXPECT_EQ(VDUSE_IOVA_CAP_UMEM, info.capability);
	close(fd);
	EXPECT_RUN("dd if=%s of=/dev/null bs=1M count=4 iflag=direct 2>&1", self->disk.disk);
}

TEST_F(vduse, device_leaves_the_bus_and_comes_back)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		ASSERT_OK(qsd_add(&self->disk));
		EXPECT_FILE("4", "vq2/irq_cb_affinity");
		EXPECT_RUN("dd if=%s of=/dev/null bs=64k count=8 iflag=direct 2>&1", self->disk.disk);
		ASSERT_OK(qsd_del(&self->disk));
	}
}

/* --- where callbacks run */

static int pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? guest_fail(errno, "pin to CPU %u", cpu) : 0;
}

/* Read @n blocks one after another, from CPU 0, that is through virtqueue 0. */
static int read_blocks(const struct qsd *disk, unsigned int n)
{
	int fd = open(disk->disk, O_RDONLY | O_DIRECT | O_CLOEXEC), err = pin(0);
	void *block = aligned_alloc(BLOCK, BLOCK);

	if (fd < 0)
		return guest_fail(errno, "%s", disk->disk);
	for (unsigned int i = 0; i < n && !err; i++)
		if (pread(fd, block, BLOCK, i * BLOCK) != BLOCK)
			err = guest_fail(errno, "block %u of %s", i, disk->disk);
	free(block);
	close(fd);
	return err;
}

/* On which CPUs work ran that called a virtqueue's driver, as the trace of the workqueues tells it. */
static int count_callbacks(unsigned int *of_cpu)
{
	FILE *f = fopen(TRACING "trace", "re");
	char line[512], *cpu;

	memset(of_cpu, 0, CPUS * sizeof(*of_cpu));
	if (!f)
		return guest_fail(errno, "trace");
	while (fgets(line, sizeof(line), f)) {
		cpu = strchr(line, '[');
		if (!strstr(line, "function vduse_vq_irq_inject") || !cpu || atoi(cpu + 1) >= CPUS)
			continue;
		of_cpu[atoi(cpu + 1)]++;
	}
	fclose(f);
	return 0;
}

/* Read @n blocks; on which CPUs the callbacks of that ran. */
static int trace_reads(const struct qsd *disk, unsigned int n, unsigned int *of_cpu)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC), err;	/* empties it */

	if (fd < 0)
		return guest_fail(errno, "trace");
	close(fd);
	err = put_text(PUT_TRACE_COMMANDS, "0") ?: put_text(EXECUTE, "1") ?: read_blocks(disk, n);
	put_text(EXECUTE, "0");
	return err ?: count_callbacks(of_cpu);
}

TEST_F(vduse, callbacks_run_where_they_should)
{
	unsigned int at[CPUS];

	ASSERT_OK(qsd_add(&self->disk));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_LE(READS, at[0]);
	EXPECT_EQ(0, at[1] + at[2] + at[3]);

	ASSERT_OK(qsd_put("vq0/irq_cb_affinity", "8"));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_LE(READS, at[3]);
	EXPECT_EQ(0, at[0] + at[1] + at[2]);

	/* Round robin; an injection that meets a callback which still waits is merged with it. */
	ASSERT_OK(qsd_put("vq0/irq_cb_affinity", "e"));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_EQ(0, at[0]);
	for (unsigned int cpu = 1; cpu < CPUS; cpu++)
		EXPECT_LE(READS / 4, at[cpu]);

	ASSERT_OK(qsd_put("vq0/irq_cb_effective_affinity", "c"));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_EQ(0, at[0] + at[1]);
	EXPECT_LE(READS / 3, at[2]);
	EXPECT_LE(READS / 3, at[3]);
}

TEST_F(vduse, callbacks_run_in_the_daemon_if_told_so)
{
	unsigned int at[CPUS];

	ASSERT_OK(qsd_add(&self->disk));
	ASSERT_OK(qsd_put("vq0/enable_irq_wq", "0"));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_EQ(0, at[0] + at[1] + at[2] + at[3]);
	ASSERT_OK(qsd_put("vq0/enable_irq_wq", "1"));
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_LE(READS, at[0]);
}

/* Stock 6.12 loops in the kernel: the file that it has not got ends the test before that. */
TEST_F(vduse, callbacks_go_on_while_their_cpus_are_offline)
{
	unsigned int at[CPUS];
	int err;

	ASSERT_OK(qsd_add(&self->disk));
	ASSERT_OK(qsd_put("vq0/irq_cb_affinity", "8"));
	ASSERT_OK(qsd_put("vq0/irq_cb_effective_affinity", "8"));
	ASSERT_OK(put_text(CPU3, "0"));
	err = trace_reads(&self->disk, READS, at);
	EXPECT_OK(put_text(CPU3, "1"));
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, at[3]);
	EXPECT_LE(READS, at[0] + at[1] + at[2]);
	EXPECT_REFUSED(EINVAL, "vq0/irq_cb_effective_affinity", "1");
	ASSERT_OK(trace_reads(&self->disk, READS, at));
	EXPECT_LE(READS, at[3]);
}

/* --- a daemon that is killed */

static int run_fio(struct proc *me, void *arg)
{
	const struct qsd *disk = arg;
	char out[4096];

	proc_ready(me);
	return shell_run(out, sizeof(out), FIO " 2>&1", disk->disk) ?
	       guest_fail(EIO, "fio: %s", out) : 0;
}

/* I/O waits, is taken up by the next daemon, and none is lost or done twice. */
TEST_F(vduse, io_goes_on_with_the_next_daemon_after_a_kill)
{
	char stat[16] = "/sys/block/";
	struct proc *fio;

	ASSERT_OK(qsd_add(&self->disk));
	strcat(stat, self->disk.disk + strlen("/dev/"));
	ASSERT_OK(proc_start(run_fio, &self->disk, &fio));
	ASSERT_OK(proc_wait_ready(fio, CALL_MS));
	/* Until it writes */
	EXPECT_RUN("until [ $(awk '{ print $5 }' %s/stat) -gt 40 ]; do sleep 0.1; done", stat);
	ASSERT_OK(qsd_kill(&self->disk));
	EXPECT_RUN("awk '{ exit !$9 }' %s/stat", stat);	/* requests in flight */
	guest_sleep_ms(300);
	ASSERT_OK(qsd_restart(&self->disk));
	EXPECT_OK(proc_wait(fio, guest_patience(60000)));
	proc_free(fio);
	EXPECT_RUN("grep -c 'err= 0' /tmp/fio.log | grep -x 4");
}

TEST_F(vduse, device_of_a_killed_daemon_can_be_removed)
{
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_OK(qsd_add(&self->disk));
		EXPECT_RUN("dd if=%s of=/dev/null bs=64k count=8 iflag=direct 2>&1", self->disk.disk);
		ASSERT_OK(qsd_kill(&self->disk));
		ASSERT_OK(qsd_stop(&self->disk));
		EXPECT_NE(0, access(QSD_DIR, F_OK));
		/* virtio_blk may be built in. */
		EXPECT_RUN("rmmod virtio_vdpa $(grep -o '^virtio_blk' /proc/modules) vduse 2>&1");
		EXPECT_NE(0, access("/sys/module/vduse", F_OK));
		ASSERT_OK(qsd_start(&self->disk, CPUS, DISK_MB));
	}
}

TEST_HARNESS_MAIN
