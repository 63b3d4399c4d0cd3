// SPDX-License-Identifier: GPL-2.0
/*
 * module.c - the vhost module is loaded with the default policy as its parameter, a good one or a bad one
 */
#include <stdio.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/kicks.h"
#include "lib/proc.h"
#include "lib/put.h"
#include "lib/shell.h"
#include "lib/storm.h"

/*
 * The drivers hold it, and the folder that earlier tests left in configfs holds one of them;
 * /etc/modules names all that the VM loads, which later tests must find again.
 */
#define UNLOAD	"rmdir /sys/kernel/config/target/vhost; cd /sys/module/vhost/holders && rmmod * && rmmod vhost"
#define RELOAD	"modprobe -a $(cat /etc/modules)"

FIXTURE(module) {
	int log;
	char out[SHELL_OUTPUT];
};

#define EXPECT_SHELL(...) \
	EXPECT_EQ(0, shell_run(self->out, sizeof(self->out), __VA_ARGS__)) { \
		TH_LOG("%s", self->out); \
	}

FIXTURE_SETUP(module)
{
	proc_watch("a test of the module", 60);
	EXPECT_SHELL("exec 2>&1; (" UNLOAD ") || { " RELOAD "; false; }");
	self->log = storm_log_open();
	ASSERT_VALID(self->log);
}

FIXTURE_TEARDOWN(module)
{
	close(self->log);
	EXPECT_SHELL("[ ! -e /sys/module/vhost/parameters ] || rmmod vhost 2>&1; " RELOAD " 2>&1");
}

TEST_F(module, a_policy_given_to_the_module_is_the_default_of_the_host)
{
	static const char *const policies[] = { "single", "per-vq", "per-cpu", "4294967295", "2" };
	static const uint32_t on_two[] = { 0, 0, 0, 1, 0, 1 };
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		EXPECT_SHELL("modprobe vhost default_workers=%s 2>&1", policies[i]);
		EXPECT_SHELL("[ $(cat " PUT_DEFAULT_WORKERS ") = %s ]", policies[i]);
		if (i < ARRAY_SIZE(policies) - 1)
			EXPECT_SHELL("rmmod vhost 2>&1");
	}
	EXPECT_SHELL("modprobe vhost_scsi 2>&1");
	fd = vdev_open(VDEV_SCSI);
	ASSERT_VALID(fd);
	EXPECT_OK(vdev_set_owner(fd));
	EXPECT_OK(kicks_give_range(fd, 0, ARRAY_SIZE(on_two) - 1));
	EXPECT_OK(kicks_expect_map(fd, 0, on_two, ARRAY_SIZE(on_two)));
	close(fd);
	EXPECT_SHELL("rmmod vhost_scsi 2>&1");
}

/* As with any parameter: an administrator who cannot spell it has no vhost, and is told so. */
TEST_F(module, a_bad_policy_keeps_the_module_out_and_the_log_says_why)
{
	static const char *const words[] = { "", "0", "-1", "4x", "4294967296", "per-disk", "Single" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		EXPECT_NE(0, shell_run(self->out, sizeof(self->out), "modprobe vhost default_workers=%s 2>&1",
				       words[i]));
		EXPECT_NE(0, access(PUT_DEFAULT_WORKERS, F_OK));
		/* Twice if modprobe tries two ways. */
		EXPECT_LT(0, storm_log_count(self->log, "invalid for parameter `default_workers'"));
	}
	EXPECT_SHELL("modprobe vhost 2>&1");
	EXPECT_SHELL("[ $(cat " PUT_DEFAULT_WORKERS ") = single ]");
}

TEST_HARNESS_MAIN
