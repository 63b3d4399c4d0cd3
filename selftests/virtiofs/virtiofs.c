// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPU sends its requests to which queue of a virtio-fs device.
 */
#include <kselftest_harness.h>

#include "lib/error.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "vfs.h"

#define BLOCKS		150	/* each is a write and a read at least */
#define REQUESTS	(2 * BLOCKS)
#define OTHERS		20	/* open, close and the like */

/* One CPU's part, in a child. */
struct part {
	const struct vfs *vfs;
	int cpu;
};

static int io_on_cpu(struct proc *me, void *arg)
{
	const struct part *part = arg;
	char name[16];
	int err = vfs_pin(part->cpu);

	(void)me;
	snprintf(name, sizeof(name), "cpu%d", part->cpu);
	return err ?: vfs_io(part->vfs, name, BLOCKS, part->cpu);
}

static bool is_near(unsigned long count, unsigned long wanted)
{
	return count >= wanted - wanted / 10 && count <= wanted + wanted / 10;
}

FIXTURE(map) {
	struct vfs vfs;
};

FIXTURE_VARIANT(map) {
	const char *tag;
	unsigned int queues;	/* that the device offers */
	bool vectors;		/* an interrupt for each */
};

FIXTURE_VARIANT_ADD(map, one_queue) { "q1", 1, true };
FIXTURE_VARIANT_ADD(map, two_queues) { "q2", 2, true };
FIXTURE_VARIANT_ADD(map, four_queues) { "q4", 4, true };
FIXTURE_VARIANT_ADD(map, more_queues_than_cpus) { "q8", 8, true };
FIXTURE_VARIANT_ADD(map, shared_interrupt) { "shared", 4, false };
FIXTURE_VARIANT_ADD(map, no_msi) { "intx", 4, false };

FIXTURE_SETUP(map)
{
	ASSERT_OK(vfs_load());
	ASSERT_OK(vfs_mount(variant->tag, &self->vfs));
}

FIXTURE_TEARDOWN(map)
{
	EXPECT_OK(vfs_umount(&self->vfs));
}

TEST_F(map, no_more_queues_than_possible_cpus)
{
	unsigned int possible = vfs_nr_possible();

	EXPECT_EQ(possible, CPU_COUNT(&self->vfs.hiprio));
	EXPECT_EQ(variant->queues < possible ? variant->queues : possible, self->vfs.nr_queues);
}

TEST_F(map, every_possible_cpu_has_one_queue)
{
	for (int cpu = 0; cpu < CPU_COUNT(&self->vfs.hiprio); cpu++) {
		int queues = 0;

		EXPECT_TRUE(CPU_ISSET(cpu, &self->vfs.hiprio));
		for (unsigned int queue = 0; queue < self->vfs.nr_queues; queue++)
			queues += !!CPU_ISSET(cpu, &self->vfs.cpus[queue]);
		EXPECT_EQ(1, queues) {
			TH_LOG("CPU %d", cpu);
		}
	}
}

/* Each queue has as many of the CPUs that are online as any other, give or take one. */
TEST_F(map, online_cpus_are_shared_evenly)
{
	int least = self->vfs.nr_queues > 4 ? 0 : 4 / self->vfs.nr_queues;

	for (unsigned int queue = 0; queue < self->vfs.nr_queues; queue++) {
		int cpus = 0;

		for (int cpu = 0; cpu < 4; cpu++)
			cpus += !!CPU_ISSET(cpu, &self->vfs.cpus[queue]);
		EXPECT_LE(least, cpus);
		EXPECT_GE(least + 1, cpus);
	}
}

TEST_F(map, interrupts_go_to_the_cpus_of_the_queue)
{
	cpu_set_t cpus;
	char name[32];

	if (!variant->vectors)
		return;
	for (unsigned int queue = 0; queue < self->vfs.nr_queues; queue++) {
		snprintf(name, sizeof(name), "requests.%u", queue);
		ASSERT_OK(vfs_affinity(&self->vfs, name, &cpus));
		EXPECT_TRUE(CPU_EQUAL(&cpus, &self->vfs.cpus[queue])) {
			TH_LOG("queue %u", queue);
		}
	}
	ASSERT_OK(vfs_affinity(&self->vfs, "hiprio", &cpus));
	EXPECT_LE(4, CPU_COUNT(&cpus));	/* it took no CPU from the others */
}

/* One CPU at a time: all its requests come to its queue, and almost nothing to any other. */
TEST_F(map, a_cpu_uses_its_queue)
{
	unsigned long before[VFS_MAX_QUEUES], after[VFS_MAX_QUEUES];

	for (int cpu = 0; cpu < 4; cpu++) {
		int own = vfs_queue_of(&self->vfs, cpu);

		ASSERT_LE(0, own);
		ASSERT_OK(vfs_requests(&self->vfs, before));
		ASSERT_OK(proc_call(io_on_cpu, &(struct part){ &self->vfs, cpu },
				    guest_patience(60000)));
		ASSERT_OK(vfs_requests(&self->vfs, after));
		for (int queue = 0; queue < (int)self->vfs.nr_queues; queue++) {
			unsigned long count = after[queue] - before[queue];

			EXPECT_TRUE(queue == own ? count >= REQUESTS : count <= OTHERS) {
				TH_LOG("CPU %d of queue %d: %lu requests in queue %d", cpu, own,
				       count, queue);
			}
		}
	}
}

/* All CPUs at once, with the same number of requests each. */
TEST_F(map, interrupts_of_queues_are_even)
{
	unsigned long before[VFS_MAX_QUEUES], after[VFS_MAX_QUEUES];
	struct part parts[4];
	struct proc *procs[4];
	unsigned long sum = 0;

	if (self->vfs.nr_queues != 4 || !variant->vectors)
		return;
	ASSERT_OK(vfs_interrupts(&self->vfs, before));
	for (int cpu = 0; cpu < 4; cpu++) {
		parts[cpu] = (struct part){ &self->vfs, cpu };
		ASSERT_OK(proc_start(io_on_cpu, &parts[cpu], &procs[cpu]));
	}
	for (int cpu = 0; cpu < 4; cpu++) {
		EXPECT_OK(proc_wait(procs[cpu], guest_patience(60000)));
		proc_free(procs[cpu]);
	}
	ASSERT_OK(vfs_interrupts(&self->vfs, after));
	for (int queue = 0; queue < 4; queue++)
		sum += after[queue] - before[queue];
	EXPECT_LE(4 * REQUESTS, sum);
	for (int queue = 0; queue < 4; queue++) {
		EXPECT_TRUE(is_near(after[queue] - before[queue], sum / 4)) {
			TH_LOG("queue %d: %lu of %lu interrupts", queue,
			       after[queue] - before[queue], sum);
		}
	}
}

static int io_anywhere(struct proc *me, void *arg)
{
	struct part *part = arg;
	char name[16];

	(void)me;
	snprintf(name, sizeof(name), "any%d", part->cpu);
	return vfs_io(part->vfs, name, BLOCKS, part->cpu);
}

/* More writers than CPUs, which move between them as they like. */
TEST_F(map, what_is_written_is_read)
{
	struct part parts[6];
	struct proc *procs[6];

	for (int i = 0; i < 6; i++) {
		parts[i] = (struct part){ &self->vfs, i };
		ASSERT_OK(proc_start(io_anywhere, &parts[i], &procs[i]));
	}
	for (int i = 0; i < 6; i++) {
		EXPECT_OK(proc_wait(procs[i], guest_patience(60000)));
		proc_free(procs[i]);
	}
}

TEST_F(map, fio_finds_what_it_wrote)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "fio --name=verify --directory=%s --rw=randwrite --bs=4k-64k --size=2m --numjobs=4 "
		 "--ioengine=libaio --iodepth=8 --direct=1 --verify=crc32c --do_verify=1 "
		 "--verify_fatal=1 --group_reporting --minimal", self->vfs.dir);
	EXPECT_EQ(0, system(command));
}

TEST_HARNESS_MAIN
