// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests and prints TAP: unit-asan [PATTERN], where PATTERN is part of
 * a name or a shell pattern of one. UNIT_TIMEOUT is the watchdog's patience in
 * seconds; UNIT_TIMES=1 prints how long each test took.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unit.h"

#define TIMEOUT_S	20
#define MORE_TIME	6

struct mm_struct unit_owner = { .name = "owner" };
struct mm_struct unit_stranger = { .name = "stranger" };
unsigned int unit_kind;

static struct test *tests, **last_test = &tests;
static unsigned int timeout_s = TIMEOUT_S;
static unsigned int progress;
static bool failed;

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "halt_on_error=1:atexit_sleep_ms=0";
}
#else
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=1:detect_leaks=1";
}
#endif

void unit_register(struct test *test)
{
	*last_test = test;
	last_test = &test->next;
}

void unit_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;

	va_start(args, fmt);
	printf("# %s:%d: ", base ? base + 1 : file, line);
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	WRITE_ONCE(failed, true);
}

void unit_progress(void)
{
	__atomic_fetch_add(&progress, 1, __ATOMIC_RELAXED);
}

/* A slow machine is not a hang: a test that makes progress gets more time. */
static void *watchdog(void *unused)
{
	unsigned int before, i = 0;

	do {
		before = READ_ONCE(progress);
		sleep(timeout_s);
	} while (READ_ONCE(progress) != before && ++i < MORE_TIME);

	printf("# hangs: no progress for %u s; the tasks are\n", timeout_s);
	fflush(stdout);
	shim_dump_tasks();
	fflush(stdout);
	_exit(2);
	return unused;
}

/* What must not have happened, in any test. */
static void check_lock_rules(void)
{
	static const char *const never[][2] = {
		{ "&dev->workers.lock", "&vq->mutex" },
		{ "&vq->mutex", "&dev->workers.lock" },
		{ "&dev->workers.lock", "completion" },
		{ "&dev->workers.lock", "grace period" },
		{ "&dev->workers.lock", "guest memory" },
		{ "&vq->mutex", "completion" },
		{ "vhost_devs_lock", "&dev->mutex" },
		{ "vhost_devs_lock", "&vq->mutex" },
		{ "vhost_devs_lock", "&dev->workers.lock" },
		{ "vhost_devs_lock", "completion" },
		{ "vhost_devs_lock", "grace period" },
		{ "&vq->mutex", "grace period" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (shim_ordered(never[i][0], never[i][1]))
			unit_fail(__FILE__, __LINE__, "%s was taken under %s",
				  never[i][1], never[i][0]);
}

static void check_nothing_left(void)
{
	unsigned int tries;

	for (tries = 0; shim_tasks() > 1 && tries < 2000; tries++)
		shim_sleep_us(1000);
	if (shim_tasks() > 1) {
		unit_fail(__FILE__, __LINE__, "threads left behind:");
		shim_dump_tasks();
	}
	CHECK_EQ(shim_allocated(), 0);
	synchronize_rcu();
	CHECK_EQ(shim_task_structs(), 1);
	CHECK_EQ(current->nheld, 0);
}

static void run_child(struct test *test, unsigned int kind)
{
	pthread_t thread;

	unit_kind = kind;
	shim_init(&unit_owner);
	pthread_create(&thread, NULL, watchdog, NULL);
	pthread_detach(thread);

	test->fn();
	check_nothing_left();
	check_lock_rules();
	fflush(stdout);
	exit(failed);
}

static bool run_test(struct test *test, unsigned int kind)
{
	unsigned int waited_ms;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		run_child(test, kind);
	if (pid < 0)
		return false;

	for (waited_ms = 0; !waitpid(pid, &status, WNOHANG); waited_ms++) {
		/* Even the watchdog is stuck. */
		if (waited_ms > MORE_TIME * (timeout_s + 1) * 1000)
			kill(pid, SIGKILL);
		usleep(1000);
	}
	if (WIFSIGNALED(status))
		printf("# ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void full_name(char *name, size_t size, struct test *test,
		      unsigned int kind)
{
	const char *fixture = kind == KIND_TASK ? "task." : "kthread.";

	snprintf(name, size, "unit.%s.%s%s", UNIT_BUILD,
		 test->plain_name ? "" : fixture, test->name);
}

static bool selected(const char *name, const char *pattern)
{
	char wide[128];

	snprintf(wide, sizeof(wide), "*%s*", pattern);
	return !fnmatch(wide, name, 0);
}

/* Calls each for all selected tests; returns how many it returned true for. */
static unsigned int for_each(const char *pattern,
			     bool (*each)(struct test *, unsigned int, const char *))
{
	unsigned int kind, n = 0;
	struct test *test;
	char name[128];

	for (test = tests; test; test = test->next) {
		for (kind = KIND_KTHREAD; kind <= KIND_TASK; kind++) {
			full_name(name, sizeof(name), test, kind);
			if (test->kinds & kind && selected(name, pattern))
				n += each(test, kind, name);
		}
	}
	return n;
}

static bool count(struct test *test, unsigned int kind, const char *name)
{
	return true;
}

static bool run_and_report(struct test *test, unsigned int kind,
			   const char *name)
{
	static unsigned int number;
	struct timespec from, to;
	bool ok;

	clock_gettime(CLOCK_MONOTONIC, &from);
	ok = run_test(test, kind);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (getenv("UNIT_TIMES"))
		printf("# %.3f s\n", to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9);
	printf("%sok %u - %s\n", ok ? "" : "not ", ++number, name);
	return ok;
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : "";
	const char *timeout = getenv("UNIT_TIMEOUT");
	unsigned int all;

	if (timeout && atoi(timeout) > 0)
		timeout_s = atoi(timeout);
	all = for_each(pattern, count);
	printf("1..%u\n", all);
	return for_each(pattern, run_and_report) != all;
}
