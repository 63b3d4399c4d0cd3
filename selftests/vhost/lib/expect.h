/* SPDX-License-Identifier: GPL-2.0 */
/*
 * expect.h - what tests of workers ask again and again (include after kselftest_harness.h and guest.h)
 */
#ifndef GUEST_EXPECT_H
#define GUEST_EXPECT_H

#define GONE_MS		guest_patience(5000)	/* a killed process, and its threads, must be gone */
#define CALL_MS		guest_patience(10000)	/* a child that should end by itself */

/* 0, or a line that says what the library complained about. */
#define ASSERT_OK(call) \
	ASSERT_EQ(0, call) { TH_LOG("%s: %s", #call, guest_error()); }
#define EXPECT_OK(call) \
	EXPECT_EQ(0, call) { TH_LOG("%s: %s", #call, guest_error()); }

/* A descriptor, pid or count. */
#define ASSERT_VALID(call) \
	ASSERT_LE(0, call) { TH_LOG("%s: %s", #call, guest_error()); }

#define EXPECT_THREADS(pid, count) \
	EXPECT_EQ(0, threads_wait_count(pid, count, GONE_MS)) { TH_LOG("%s", guest_error()); }

/* Run each test of a fixture once per kind of worker thread, which is variant->thread. */
#define FIXTURE_THREADS(fixture) \
	FIXTURE_VARIANT(fixture) { \
		enum vdev_thread thread; \
	}; \
	FIXTURE_VARIANT_ADD(fixture, kthread) { VDEV_THREAD_KTHREAD }; \
	FIXTURE_VARIANT_ADD(fixture, task) { VDEV_THREAD_TASK }

#define SKIP_WITHOUT(thread) \
	do { \
		if ((thread) == VDEV_THREAD_TASK && !vdev_has_fork_control(VDEV_SCSI)) \
			SKIP(return, "this kernel has no task workers"); \
	} while (0)

/* The harness has limits of its own, in seconds; its list of tests is complete in main(). */
#undef TEST_HARNESS_MAIN
#define TEST_HARNESS_MAIN \
	int main(int argc, char **argv) \
	{ \
		struct __fixture_metadata *f; \
		struct __test_metadata *t; \
		for (f = __fixture_list; f; f = f->next) \
			for (t = f->tests; t; t = t->next) \
				t->timeout = guest_patience(t->timeout); \
		return test_harness_run(argc, argv); \
	}

#endif /* GUEST_EXPECT_H */
