// SPDX-License-Identifier: GPL-2.0
/*
 * fio_engine.c - the distribution's fio with our engine, against real targets
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/proc.h"
#include "lib/shell.h"

#define FIO		"fio"
#define ENGINE		"--ioengine=external:/lib/vhost-scsi.so"
#define LUN_BYTES	(16 << 20)
#define BLOCK		512
#define START_MS	guest_patience(20000)	/* fio loads more than sixty libraries */
#define SECONDS		120
#define LATE_S		2
#define LATE_HBA	"/sys/kernel/config/target/core/user_7"
#define LATE		LATE_HBA "/late"
/* Sense key, ASC and ASCQ that LIO gives. */
#define SENSE_FULL	"2/08/00"
#define SENSE_BEYOND	"5/21/00"	/* in place of LUN 0 there is a very small one then */

FIXTURE(engine) {
	struct lio *target;
	char out[SHELL_OUTPUT];
};

FIXTURE_SETUP(engine)
{
	struct lio_opts lio = { .size = LUN_BYTES };

	proc_watch("a test of fio", SECONDS);
	ASSERT_OK(lio_create(&lio, &self->target));
}

/* Fails when a device still uses the target. */
FIXTURE_TEARDOWN(engine)
{
	EXPECT_OK(lio_destroy(self->target));
}

#define EXPECT_SHELL(code, fmt, ...) \
	EXPECT_EQ(code, shell_run(self->out, sizeof(self->out), fmt, ##__VA_ARGS__)) { \
		TH_LOG("%s", self->out); \
	}

/* fio with a job on the fixture's target, and the options in @options. */
#define EXPECT_FIO(code, options, ...) \
	EXPECT_SHELL(code, FIO " --name=j " ENGINE " --wwpn=%s " options " 2>&1", \
		     self->target->wwpn, ##__VA_ARGS__)

#define EXPECT_TOLD(word)	EXPECT_TRUE(is_told(self->out, word))

static bool is_told(const char *out, const char *word)
{
	bool told = strstr(out, word);

	if (!told)
		fprintf(stderr, "no '%s' in: %s\n", word, out);
	return told;
}

#define FIO_TEST(name) TEST_F_TIMEOUT(engine, name, SECONDS)

/* Jobs of one fio, one after another, since a start takes seconds in the VM. */
struct job {
	const char *options;
	const char *word;	/* that it must print */
};

static void list_jobs(const struct lio *target, const struct job *jobs, unsigned int n, char *line)
{
	size_t used = 0;
	unsigned int i;

	line[0] = 0;
	for (i = 0; i < n; i++)
		used += snprintf(line + used, SHELL_OUTPUT - used,
				 " --name=j%u " ENGINE " --wwpn=%s --stonewall --rw=write %s", i,
				 target->wwpn, jobs[i].options);
}

FIO_TEST(what_is_written_is_read_back)
{
	static const struct job shapes[] = {
		{ "--bs=4k --size=512k" },
		{ "--bs=512 --iodepth=64 --size=128k --rw=randwrite" },
		{ "--bs=1m --iodepth=4 --size=8m" },
		{ "--bsrange=512-128k --blockalign=512 --iodepth=16 --size=4m --rw=randwrite" },
		{ "--bs=64k --iodepth=16 --size=2m --offset_increment=2m --thread=1 --numjobs=4 "
		  "--workers=per-vq" },
		{ "--bs=8k --iodepth=8 --size=512k --offset_increment=1m --thread=1 --numjobs=5 "
		  "--queue_size=128 --busy_poll" },
	};
	const unsigned int n = sizeof(shapes) / sizeof(shapes[0]), jobs = n - 2 + 4 + 5;
	const char *at = self->out;
	unsigned int good = 0;
	char line[SHELL_OUTPUT];

	list_jobs(self->target, shapes, n, line);
	EXPECT_SHELL(0, FIO " --verify=crc32c --verify_fatal=1 %s 2>&1", line);
	for (; (at = strstr(at, "err= 0")); at++)
		good++;
	EXPECT_EQ(jobs, good);
}

FIO_TEST(size_of_the_lun_is_found)
{
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "\"io_bytes\" : %u", LUN_BYTES);
	EXPECT_FIO(0, "--rw=read --bs=1m --output-format=json");
	EXPECT_TOLD(bytes);
}

FIO_TEST(changed_block_is_noticed)
{
	struct vscsi_opts opts = { .wwpn = self->target->wwpn };
	uint8_t block[BLOCK];
	struct vscsi *dev;

	EXPECT_FIO(0, "--rw=write --bs=4k --size=256k --verify=crc32c --do_verify=0");
	EXPECT_FIO(0, "--rw=read --bs=4k --size=256k --verify=crc32c --verify_fatal=1 --iodepth=8");
	ASSERT_OK(vscsi_start(&opts, &dev));
	EXPECT_OK(vscsi_read(dev, 0, 0, 101, 1, block));
	block[BLOCK / 2] ^= 1;
	EXPECT_OK(vscsi_write(dev, 0, 0, 101, 1, block));
	vscsi_stop(dev);
	EXPECT_FIO(1, "--rw=read --bs=4k --size=256k --verify=crc32c --verify_fatal=1 --iodepth=8");
	EXPECT_TOLD("verify failed");
}

FIO_TEST(latencies_and_depths_are_told)
{
	EXPECT_FIO(0, "--rw=randrw --bs=4k --iodepth=16 --size=2m --thread=1 --numjobs=2 "
		   "--group_reporting --output-format=json --percentile_list=50:99.9");
	EXPECT_TOLD("\"99.900000\"");
	EXPECT_TOLD("\"clat_ns\"");
	EXPECT_TOLD("\"slat_ns\"");
	EXPECT_TOLD("\"16\" : 9");	/* percent of the time at depth 16 */
	EXPECT_FIO(0, "--rw=write --bs=4k --size=64k --fsync=4 --output-format=json");
	EXPECT_TOLD("\"total_ios\" : 3");	/* syncs between the writes */
}

FIO_TEST(mistakes_of_a_job_are_told)
{
	static const struct job mistakes[] = {
		{ "--wwpn=naa.5001405ffffff000", "no vhost target" },
		{ "--workers=some", "workers= must be a number" },
		{ "--workers=0", "workers= must be a number" },
		{ "--queue_size=100", "power of two" },
		{ "--queue_size=16 --iodepth=32", "more than queue_size=" },
		{ "--iodepth=2000", "largest queue" },
		{ "--bs=700", "block size" },
		{ "--rw=randtrim", "no trims" },
		{ "--lun=63", "READ CAPACITY" },
		{ "--nrfiles=2", "one LUN" },
		{ "--thread=0 --numjobs=2", "thread=1" },
	};
	/* The last of them is two jobs, and there is one without a target. */
	const unsigned int n = sizeof(mistakes) / sizeof(mistakes[0]), failures = n + 2;
	char line[SHELL_OUTPUT];
	unsigned int i;

	list_jobs(self->target, mistakes, n, line);
	EXPECT_SHELL(failures, FIO "%s --name=none " ENGINE " --rw=read --stonewall 2>&1", line);
	EXPECT_TOLD("wwpn= is missing");
	for (i = 0; i < n; i++)
		EXPECT_TOLD(mistakes[i].word);
}

FIO_TEST(mistakes_of_jobs_together_are_told)
{
	EXPECT_FIO(2, "--rw=read --thread=1 --name=k " ENGINE " --wwpn=%s --rw=read --thread=1 "
		   "--workers=2", self->target->wwpn);
	EXPECT_TOLD("same workers=");
	EXPECT_FIO(2, "--rw=read --thread=1 --numjobs=2 --create_serialize=0");
	EXPECT_TOLD("create_serialize=0");
}

FIO_TEST(target_in_use_is_told)
{
	struct vscsi_opts opts = { .wwpn = self->target->wwpn };
	struct vscsi *dev;

	ASSERT_OK(vscsi_start(&opts, &dev));
	EXPECT_FIO(1, "--rw=read");
	EXPECT_TOLD("serves another vhost device");
	vscsi_stop(dev);
	EXPECT_FIO(0, "--rw=read --size=64k");
}

FIO_TEST(refused_command_is_eio_with_details)
{
	/* More pages than the kernel takes in a command. */
	EXPECT_FIO(1, "--rw=write --bs=16m");
	EXPECT_TOLD("Input/output error");
	EXPECT_TOLD("vhost-scsi: response");
}

FIO_TEST(jobs_that_wait_for_others_get_a_device_of_their_own)
{
	EXPECT_FIO(0, "--rw=read --bs=64k --size=1m --thread=1 --numjobs=3 "
		   "--name=k " ENGINE " --wwpn=%s --stonewall --rw=read --size=1m "
		   "--name=l " ENGINE " --wwpn=%s --stonewall --rw=write --size=1m --verify=crc32c "
		   "--thread=1 --numjobs=2 --offset_increment=1m --workers=2",
		   self->target->wwpn, self->target->wwpn);
}

/*
 * A file system that is too small for its LUN ends a write, and a LUN that goes away a read: commands that
 * fio runs before the I/O, when the engine has its device.
 */
FIO_TEST(check_condition_is_eio_with_sense)
{
	struct lio_opts small = { .backend = LIO_FILEIO, .size = LUN_BYTES, .dir = "/tmp/small" };
	struct lio *target;
	char lun[128];

	ASSERT_TRUE(!mkdir(small.dir, 0755) || errno == EEXIST);
	ASSERT_EQ(0, mount("small", small.dir, "tmpfs", 0, "size=1m"));
	ASSERT_OK(lio_create(&small, &target));
	lio_lun_dir(target, 0, lun, sizeof(lun));
	EXPECT_SHELL(2, FIO " --name=full " ENGINE " --wwpn=%s --rw=write --bs=64k "
		     "--name=gone " ENGINE " --wwpn=%s --rw=read --bs=64k --stonewall "
		     "--exec_prerun='rm %s/store && rmdir %s' 2>&1",
		     target->wwpn, target->wwpn, lun, lun);
	EXPECT_TOLD("SCSI status 0x02, sense " SENSE_FULL);
	EXPECT_TOLD("SCSI status 0x02, sense " SENSE_BEYOND);
	EXPECT_TOLD("Input/output error");
	EXPECT_OK(lio_destroy(target));
	EXPECT_EQ(0, umount(small.dir));
}

/* The first command after a LUN was added has an answer that is none: that LUNs are others now. */
FIO_TEST(unit_attention_is_tried_again)
{
	struct vscsi_opts opts = { .wwpn = self->target->wwpn };
	struct vscsi_cmd ready = { .cdb = { 0 } };
	char lun[128], store[128];
	struct vscsi *dev;

	ASSERT_OK(vscsi_start(&opts, &dev));
	ASSERT_OK(vscsi_test_unit_ready(dev, 0, 0));
	ASSERT_OK(lio_add_lun(self->target, 1));
	vscsi_lun(ready.lun, VSCSI_TARGET, 0);
	ASSERT_OK(vscsi_exec(dev, 0, &ready));
	EXPECT_TRUE(vscsi_refused(ready.response, ready.status, ready.sense));
	EXPECT_EQ(2, ready.status);
	ASSERT_OK(lio_remove_lun(self->target, 1));
	vscsi_stop(dev);

	lio_lun_dir(self->target, 1, lun, sizeof(lun));
	lio_store_dir(self->target, 0, store, sizeof(store));
	EXPECT_FIO(0, "--rw=write --bs=4k --size=256k --iodepth=8 --verify=crc32c --verify_fatal=1 "
		   "--exec_prerun='mkdir %s && ln -s %s %s/store'", lun, store, lun);
	EXPECT_EQ(0, access(lun, F_OK));
}

/* A LUN whose commands nobody takes; the kernel ends each after LATE_S, as a CHECK CONDITION. */
FIO_TEST(late_answer_is_a_timeout)
{
	char lun[128];

	lio_lun_dir(self->target, 0, lun, sizeof(lun));
	EXPECT_SHELL(0, "mkdir -p " LATE " && cd " LATE " && "
		     "echo dev_config=none,dev_size=%u,hw_block_size=%u,nl_reply_supported=-1 >control && "
		     "echo %u >attrib/cmd_time_out && echo 1 >enable", LUN_BYTES, BLOCK, LATE_S);
	EXPECT_SHELL(2, FIO " --name=patient " ENGINE " --wwpn=%s --rw=write --bs=4k --size=4k "
		     "--exec_prerun='rm %s/store && ln -s " LATE " %s/store' "
		     "--name=hasty " ENGINE " --wwpn=%s --rw=write --bs=4k --size=4k --stonewall "
		     "--cmd_timeout=1 2>&1", self->target->wwpn, lun, lun, self->target->wwpn);
	EXPECT_TOLD("SCSI status 0x02");
	EXPECT_TOLD("job hasty: no answer within 1 s, 1 commands in flight");
	EXPECT_TOLD("Connection timed out");
	EXPECT_EQ(NULL, strstr(self->out, "job patient: no answer"));
	EXPECT_SHELL(0, "rm %s/store && rmdir " LATE " " LATE_HBA, lun);
}

/* A fio that reads until it is killed. */
static int read_for_ever(struct proc *me, void *what)
{
	const struct lio *target = what;
	char wwpn[64];
	int null = open("/dev/null", O_WRONLY);

	(void)me;
	snprintf(wwpn, sizeof(wwpn), "--wwpn=%s", target->wwpn);
	dup2(null, STDOUT_FILENO);
	execlp(FIO, FIO, "--name=j", ENGINE, wwpn, "--rw=randread", "--bs=4k", "--iodepth=8",
	       "--thread=1", "--numjobs=4", "--workers=per-vq", "--time_based", "--runtime=1000",
	       NULL);
	return guest_fail(errno, "exec of " FIO);
}

FIO_TEST(killed_fio_leaves_no_device)
{
	struct proc *fio;

	ASSERT_OK(proc_start(read_for_ever, self->target, &fio));
	/* A worker for each of its queues. */
	EXPECT_OK(threads_wait_count(fio->pid, 4, START_MS));
	EXPECT_OK(proc_kill(fio, GONE_MS));
	EXPECT_THREADS(fio->pid, 0);
	proc_free(fio);
	EXPECT_FIO(0, "--rw=write --bs=4k --size=64k --verify=crc32c");
}

TEST_HARNESS_MAIN
