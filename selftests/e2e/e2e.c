// SPDX-License-Identifier: GPL-2.0
/*
 * e2e.c - unmodified QEMUs, and guests that know nothing of any of this, on our workers
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/shell.h"
#include "boot.h"
#include "linux.h"
#include "rig.h"

#define LIMIT_S		600	/* of a test: emulation within emulation */
#define DONE		0	/* exit code of vhost-ctl */
#define LIO_VHOST	"/sys/kernel/config/target/vhost"
/* Of target.txt, which is what docs/ shows. */
#define TARGETCLI_WWPN	"naa.5001405000000001"
#define TARGETCLI_FILE	"/var/lib/vm1.img"

#define RESETS		3
#define BY_IOCTL	MACHINE_QUEUES		/* workers that a new QEMU has, the first one included */
#define ALL_NEW		(1 + MACHINE_QUEUES)	/* workers after "2-5=new" */

/* Run a line of shell that must end with @code. */
#define EXPECT_RUN(code, ...) \
	do { \
		char out_[SHELL_OUTPUT]; \
		EXPECT_EQ(code, shell_run(out_, sizeof(out_), __VA_ARGS__)) { \
			TH_LOG("%s", out_); \
		} \
	} while (0)

/* The same with what it must print, blanks aside. */
#define EXPECT_PRINTS(text, ...) \
	do { \
		char out_[SHELL_OUTPUT]; \
		EXPECT_EQ(0, shell_run(out_, sizeof(out_), __VA_ARGS__)); \
		squeeze(out_); \
		EXPECT_STREQ(text, out_); \
	} while (0)

/* Each run of blanks and line ends becomes one blank; none at the start and the end. */
static void squeeze(char *text)
{
	char *to = text, *from;

	for (from = text; *from; from++)
		if (!strchr(" \n", *from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	if (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* --- from the disk */

static void boots_from_its_disk(struct __test_metadata *_metadata, enum machine_qemu qemu)
{
	struct machine_opts opts = { .qemu = qemu };
	struct rig rig;

	ASSERT_OK(rig_start(&rig, &opts, E2E_ONCE));
	EXPECT_EQ(E2E_EXIT(E2E_GOOD), machine_wait_exit(rig.m, RIG_ROUND_MS)) {
		TH_LOG("%s", guest_error());
	}
	EXPECT_EQ(1, machine_count(rig.m, '.'));
	EXPECT_OK(rig_end(&rig));
}

TEST(guest_of_debians_qemu_boots_from_its_lun)
{
	boots_from_its_disk(_metadata, QEMU_DEBIAN);
}

TEST(guest_of_a_new_qemu_boots_from_its_lun)
{
	boots_from_its_disk(_metadata, QEMU_NEW);
}

TEST(guest_notices_that_its_disk_was_changed)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };
	struct rig rig;

	ASSERT_OK(rig_start(&rig, &opts, E2E_AGAIN));
	EXPECT_OK(rig_wait_rounds(&rig, 1));
	EXPECT_OK(disk_spoil(rig.target, E2E_SECTORS));
	EXPECT_EQ(E2E_EXIT(E2E_BAD), machine_wait_exit(rig.m, RIG_ROUND_MS)) {
		TH_LOG("%s", guest_error());
	}
	EXPECT_OK(rig_end(&rig));
}

/* --- workers by ioctl */

static void has_a_worker_per_queue(struct __test_metadata *_metadata, const char *kind)
{
	struct machine_opts opts = { .qemu = QEMU_NEW, .own_workers = true };
	struct rig rig;
	uint32_t id;

	ASSERT_OK(rig_start(&rig, &opts, E2E_AGAIN));
	id = rig.dev.id;
	EXPECT_PRINTS("0 0-2,6-129 1 3 2 4 3 5", "vhost-ctl -n -o ID,VQS worker show %u", id);
	EXPECT_PRINTS("0 0 0 1 2 3", "vhost-ctl -n -o WORKER_ID vq show %u | head -n %d", id, RIG_VQS);
	EXPECT_PRINTS("4 4", "vhost-ctl -j worker show %u | python3 -c 'import json, sys; "
		      "w = json.load(sys.stdin)[\"workers\"]; "
		      "print(len(w), len({x[\"tid\"] for x in w}))'", id);
	if (kind)
		EXPECT_PRINTS(kind, "vhost-ctl -n -o THREAD_KIND dev show %u", id);
	EXPECT_THREADS(rig.m->pid, BY_IOCTL);
	EXPECT_OK(rig_wait_rounds(&rig, 2));
	EXPECT_OK(rig_kill(&rig));
	EXPECT_OK(rig_end(&rig));
}

/* covers: T1 */
TEST(new_qemu_gets_a_worker_per_queue_by_ioctl)
{
	has_a_worker_per_queue(_metadata, NULL);
}

/* Load the modules again, with a parameter for vhost; a kernel that has no such parameter ignores it. */
static void load_modules(struct __test_metadata *_metadata, const char *parameter)
{
	EXPECT_RUN(DONE, "[ ! -d %s ] || rmdir %s", LIO_VHOST, LIO_VHOST);
	EXPECT_RUN(DONE, "cd /sys/module && modprobe -r $(ls -d vhost_* | grep -v vhost_iotlb) vhost 2>&1");
	EXPECT_RUN(DONE, "modprobe vhost %s 2>&1 && modprobe vhost_scsi 2>&1", parameter);
}

TEST(new_qemu_gets_kernel_threads_where_they_are_the_default)
{
	load_modules(_metadata, "fork_from_owner_default=0");
	has_a_worker_per_queue(_metadata, "kthread");
	load_modules(_metadata, "");
}

/* --- workers from outside */

/* covers: T5 */
TEST(debians_qemu_has_one_worker_until_it_is_given_more)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };
	struct rig rig;
	uint32_t id;

	ASSERT_OK(rig_start(&rig, &opts, E2E_AGAIN));
	id = rig.dev.id;
	EXPECT_PRINTS("0 0-129", "vhost-ctl -n -o ID,VQS worker show %u", id);
	EXPECT_THREADS(rig.m->pid, 1);
	EXPECT_RUN(DONE, "vhost-ctl attach %s 2-5=new", rig.target->wwpn);
	EXPECT_PRINTS("0 0-1,6-129 1 2 2 3 3 4 4 5", "vhost-ctl -n -o ID,VQS worker show %u", id);
	EXPECT_THREADS(rig.m->pid, ALL_NEW);
	EXPECT_OK(rig_wait_rounds(&rig, 2));
	EXPECT_RUN(DONE, "vhost-ctl attach pid:%d 0-5=w0 && vhost-ctl worker del %u unused",
		   rig.m->pid, id);
	EXPECT_PRINTS("0 0-129", "vhost-ctl -n -o ID,VQS worker show %u", id);
	EXPECT_THREADS(rig.m->pid, 1);
	EXPECT_OK(rig_wait_rounds(&rig, 2));
	EXPECT_OK(rig_end(&rig));
}

/* While it resets, the device has no target whose name could be used. */
static void map_outlives_resets(struct __test_metadata *_metadata, const struct machine_opts *opts,
				unsigned int workers)
{
	struct rig_map before, after;
	struct rig rig;
	unsigned int i;

	ASSERT_OK(rig_start(&rig, opts, E2E_RESET));
	if (!opts->own_workers)
		EXPECT_RUN(DONE, "vhost-ctl attach id:%u 2-5=new", rig.dev.id);
	EXPECT_OK(rig_map(&rig, &before));
	EXPECT_EQ(MACHINE_QUEUES, rig_workers_in(&before));
	EXPECT_OK(rig_wait_resets(&rig, RESETS));
	EXPECT_OK(rig_map(&rig, &after));
	for (i = 0; i < RIG_VQS; i++) {
		EXPECT_EQ(before.worker[i], after.worker[i]);
		EXPECT_EQ(before.tid[i], after.tid[i]);
	}
	EXPECT_THREADS(rig.m->pid, workers);
	EXPECT_LE(RESETS, machine_count(rig.m, '.'));
	EXPECT_OK(rig_end(&rig));
}

TEST(map_of_debians_qemu_outlives_resets_of_its_guest)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };

	map_outlives_resets(_metadata, &opts, ALL_NEW);
}

TEST(map_of_a_new_qemu_outlives_resets_of_its_guest)
{
	struct machine_opts opts = { .qemu = QEMU_NEW, .own_workers = true };

	map_outlives_resets(_metadata, &opts, BY_IOCTL);
}

/* covers: W9 */
TEST(queues_move_while_the_guest_resets_again_and_again)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };
	struct rig rig;
	unsigned int end;

	ASSERT_OK(rig_start(&rig, &opts, E2E_RESET));
	end = machine_count(rig.m, 'B') + RESETS;
	while (machine_count(rig.m, 'B') < end) {
		EXPECT_RUN(DONE, "vhost-ctl attach id:%u 0-5=new", rig.dev.id);
		EXPECT_RUN(DONE, "vhost-ctl attach id:%u 0-5=w0 && vhost-ctl worker del %u unused",
			   rig.dev.id, rig.dev.id);
	}
	EXPECT_EQ(0, machine_count(rig.m, 'X'));
	EXPECT_OK(rig_wait_resets(&rig, 1));
	EXPECT_OK(rig_end(&rig));
}

/* --- the end of a QEMU, and neighbours */

static void leaves_nothing(struct __test_metadata *_metadata, const struct machine_opts *opts)
{
	struct machine_opts again = *opts;
	struct rig rig;

	ASSERT_OK(rig_start(&rig, opts, E2E_AGAIN));
	if (!opts->own_workers)
		EXPECT_RUN(DONE, "vhost-ctl attach id:%u 2-5=new", rig.dev.id);
	EXPECT_OK(rig_wait_rounds(&rig, 1));
	ASSERT_OK(rig_kill(&rig));
	EXPECT_PRINTS("", "vhost-ctl -n dev show");
	again.wwpn = rig.target->wwpn;
	ASSERT_OK(rig_start_on(&rig, &again));
	EXPECT_OK(rig_wait_rounds(&rig, 1));
	EXPECT_OK(rig_end(&rig));
}

/* covers: W4 */
TEST(debians_qemu_killed_during_io_leaves_nothing)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };

	leaves_nothing(_metadata, &opts);
}

/* covers: W4 */
TEST(new_qemu_killed_during_io_leaves_nothing)
{
	struct machine_opts opts = { .qemu = QEMU_NEW, .own_workers = true };

	leaves_nothing(_metadata, &opts);
}

/* covers: S21 */
TEST(guest_reads_on_while_another_resets_and_is_killed)
{
	struct machine_opts first = { .qemu = QEMU_DEBIAN };
	struct machine_opts second = { .qemu = QEMU_NEW, .own_workers = true };
	struct rig reader, other;

	ASSERT_OK(rig_start(&reader, &first, E2E_AGAIN));
	EXPECT_RUN(DONE, "vhost-ctl attach %s 2-5=new", reader.target->wwpn);
	ASSERT_OK(rig_start(&other, &second, E2E_RESET));
	EXPECT_NE(reader.dev.id, other.dev.id);
	EXPECT_OK(rig_wait_resets(&other, 2));
	EXPECT_OK(rig_wait_rounds(&reader, 1));
	EXPECT_OK(rig_kill(&other));
	EXPECT_OK(rig_wait_rounds(&reader, 2));
	EXPECT_THREADS(reader.m->pid, ALL_NEW);
	EXPECT_OK(rig_end(&other));
	EXPECT_OK(rig_end(&reader));
}

/* --- as the manual says */

/* covers: T6 */
TEST(target_made_with_targetcli_serves_a_guest)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN, .wwpn = TARGETCLI_WWPN };
	struct rig rig = { 0 };

	EXPECT_RUN(DONE, "mkdir -p /run/dbus && dbus-daemon --system --fork");
	EXPECT_RUN(DONE, "grep -v '^#' /tests/target.txt | targetcli 2>&1");
	ASSERT_OK(vctl_open(&rig.v));
	ASSERT_OK(disk_write(TARGETCLI_FILE, E2E_ONCE));
	ASSERT_OK(rig_start_on(&rig, &opts));
	EXPECT_EQ(E2E_EXIT(E2E_GOOD), machine_wait_exit(rig.m, RIG_ROUND_MS)) {
		TH_LOG("%s", guest_error());
	}
	EXPECT_OK(rig_end(&rig));
	EXPECT_RUN(DONE, "targetcli clearconfig confirm=true 2>&1");
	EXPECT_RUN(DONE, "! [ -e /sys/kernel/config/target/vhost/" TARGETCLI_WWPN " ]");
}

/* --- Linux guests; the first of each session takes as long as all of it */

TEST(linux_on_debians_qemu_comes_up_with_all_its_queues)
{
	EXPECT_OK(session_step(&debian_session, "comes up"));
}

/* covers: T5 */
TEST(queues_move_to_workers_and_back_while_linux_verifies)
{
	EXPECT_OK(session_step(&debian_session, "moves under fio"));
}

TEST(linux_comes_back_from_a_reset_during_io_with_the_same_map)
{
	EXPECT_OK(session_step(&debian_session, "reset"));
}

TEST(linux_on_a_new_qemu_comes_up_with_all_its_queues)
{
	EXPECT_OK(session_step(&new_session, "comes up"));
}

TEST(each_worker_that_a_new_qemu_made_does_io_for_linux)
{
	EXPECT_OK(session_step(&new_session, "each worker"));
}

/* covers: S21 */
TEST(linux_verifies_while_another_guest_resets_and_is_killed)
{
	EXPECT_OK(session_step(&new_session, "neighbour"));
}

int main(int argc, char **argv)
{
	struct __test_metadata *t;

	for (t = __fixture_list->tests; t; t = t->next)
		t->timeout = LIMIT_S;
	return test_harness_run(argc, argv);
}
