// SPDX-License-Identifier: GPL-2.0
/*
 * Boot a kernel in QEMU, follow what its init says on the verdict channel and
 * print one line per test. Every wait has a limit. When a test takes the kernel
 * down it has failed, and the tests behind it run in another boot.
 *
 * The exit code is 0 when nothing failed, 1 when something did, 2 when the
 * runner itself could not work.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"

#define MAX_BOOTS 8
#define MAX_RETRIES 3	/* of boots lost to the emulator */
#define GRACE_S 60	/* added to a test's own limit, and for the verdict */
#define MAX_MORE 64
#define VERDICT_S 180	/* kmemleak scans twice */

struct options {
	const char *kernel, *initrd, *disk, *list, *log_prefix, *append, *smp, *memory;
	bool interactive;
	bool count;	/* one tick of the TSC is one executed instruction */
	bool output;	/* show what the programs print, and of the results only failures */
	int total_s;
	int boot_s;	/* to READY */
	char *more[MAX_MORE];	/* arguments for QEMU, ended by NULL */
	int nr_more;
};

static struct options options = {
	.append = "", .smp = "2", .memory = "1536", .log_prefix = "vm", .total_s = 2400, .boot_s = 120,
};
static struct report report = { .base = "-" };
static struct test tests[MAX_TESTS];
static int nr_tests;
static double deadline_total;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static _Noreturn void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "boot: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

/* --- QEMU */

#define MAX_ARGS	100

static char **add_args(char **end, char *const *more)
{
	while (*more)
		*end++ = *more++;
	return end;
}

static _Noreturn void exec_qemu(const char *console, const char *verdict, const char *mode)
{
	char append[1024], drive[512];
	char *argv[MAX_ARGS] = {
		"qemu-system-x86_64", "-m", (char *)options.memory, "-nodefaults",
		"-no-user-config", "-display", "none", "-no-reboot",
		"-serial", (char *)console, "-serial", (char *)verdict,
		"-kernel", (char *)options.kernel, "-initrd", (char *)options.initrd,
		"-append", append,
	};
	/* Counted, two boots are the same: nothing random, nothing of the time of day. */
	char *const counted[] = {
		"-accel", "tcg,thread=single", "-cpu", "max,-rdrand,-rdseed", "-smp", (char *)options.smp,
		"-icount", "shift=0,sleep=off", "-rtc", "base=2020-01-01,clock=vm", NULL,
	};
	char *const timed[] = {
		"-accel", "tcg,thread=multi", "-cpu", "max", "-smp", (char *)options.smp, NULL,
	};
	char *const disk[] = { "-drive", drive, NULL };
	char *const none[] = { NULL };
	char **end = argv;

	snprintf(append, sizeof(append),
		 "console=ttyS0 quiet panic=-1 panic_on_warn=1 oops=panic mitigations=off nokaslr "
		 "%s %s %s", mode, options.disk ? "vm.disk" : "", options.append);
	/* What is written to the disk is forgotten at the end. */
	snprintf(drive, sizeof(drive), "file=%s,if=virtio,format=raw,snapshot=on", options.disk);
	while (*end)
		end++;
	end = add_args(end, options.count ? counted : timed);
	end = add_args(end, options.disk ? disk : none);
	add_args(end, options.more);
	execvp(argv[0], argv);
	fprintf(stderr, "boot: qemu-system-x86_64: %s: run 'make setup'\n", strerror(errno));
	_exit(127);
}

static int run_interactive(void)
{
	fprintf(stderr, "The VM's console follows. 'exit' or 'poweroff' ends it, "
		"Ctrl-A X kills it.\n");
	exec_qemu("mon:stdio", "null", "vm.shell");
}

/* Start QEMU with the tests from first on; *fd gets the verdict channel. */
static pid_t start_qemu(int first, int *fd)
{
	char console[300], verdict[64], mode[64];
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	snprintf(console, sizeof(console), "file:%s", report.log_path);
	snprintf(verdict, sizeof(verdict), "file:/proc/self/fd/%d", fds[1]);
	snprintf(mode, sizeof(mode), "vm.first=%d%s", first, options.output ? " vm.output" : "");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(0);
		open("/dev/null", O_RDONLY);
		exec_qemu(console, verdict, mode);
	}
	if (pid < 0)
		die("fork: %s", strerror(errno));
	close(fds[1]);
	*fd = fds[0];
	return pid;
}

/* --- the verdict channel */

struct channel {
	int fd;
	char buf[8192];
	size_t len;
};

enum wait_result { LINE, CLOSED, TIMED_OUT };

/* Take one line, without its end, from the channel. */
static enum wait_result next_line(struct channel *ch, double deadline, char *line, size_t size)
{
	for (;;) {
		char *end = memchr(ch->buf, '\n', ch->len);
		struct pollfd pfd = { .fd = ch->fd, .events = POLLIN };
		double left = deadline - now();
		ssize_t n;

		if (end || ch->len == sizeof(ch->buf)) {
			size_t len = end ? (size_t)(end - ch->buf) : ch->len;
			size_t used = end ? len + 1 : len;

			snprintf(line, size, "%.*s", (int)len, ch->buf);
			line[strcspn(line, "\r")] = '\0';
			ch->len -= used;
			memmove(ch->buf, ch->buf + used, ch->len);
			return LINE;
		}
		if (left <= 0 || poll(&pfd, 1, left * 1000 + 1) == 0)
			return TIMED_OUT;
		n = read(ch->fd, ch->buf + ch->len, sizeof(ch->buf) - ch->len);
		if (n <= 0)
			return CLOSED;
		ch->len += n;
	}
}

/* --- one boot */

struct boot {
	int next;		/* the test to begin or, when running, the running one */
	bool ready, running;
	double begun;		/* of the running test, or of the wait */
	bool verdict;		/* given and good */
	int crash;		/* signal that ended QEMU by itself */
	char note[600];		/* of the verdict, or what is wrong with it */
};

static double step_limit(const struct boot *boot)
{
	if (!boot->ready)
		return options.boot_s;
	if (boot->running)
		return tests[boot->next].timeout_s + GRACE_S;
	return VERDICT_S;
}

static void take_end(struct boot *boot, char *line)
{
	char name[160] = "", outcome[8] = "";
	int ms = 0, used = 0;

	if (sscanf(line, "END %159s %7s %d %n", name, outcome, &ms, &used) < 3 ||
	    !boot->running || strcmp(name, tests[boot->next].name))
		return;		/* not ours: the missing END will tell */
	report_result(&report, name, outcome, ms / 1000.0, used ? line + used : "");
	boot->running = false;
	boot->next++;
	boot->begun = now();
}

/* Returns true when the line was the verdict. */
static bool take_line(struct boot *boot, char *line)
{
	if (!strncmp(line, "OUT ", 4)) {
		printf("%s\n", line + 4);
		fflush(stdout);
	} else if (!strcmp(line, "READY")) {
		boot->ready = true;
		boot->begun = now();
	} else if (!strncmp(line, "BEGIN ", 6)) {
		boot->running = boot->next < nr_tests && !strcmp(line + 6, tests[boot->next].name);
		boot->begun = now();
	} else if (!strncmp(line, "END ", 4)) {
		take_end(boot, line);
	} else if (!strncmp(line, "VERDICT ", 8)) {
		boot->verdict = !strncmp(line + 8, "PASS", 4);
		snprintf(boot->note, sizeof(boot->note), "%.500s", line + 8 + 4);
		return true;
	}
	return false;
}

/* Say in boot->note why there is no verdict. */
static void explain_silence(struct boot *boot, enum wait_result why)
{
	char fault[400];

	if (find_fault(report.log_path, fault, sizeof(fault)))
		snprintf(boot->note, sizeof(boot->note), "the kernel died: %s", fault);
	else if (why == TIMED_OUT)
		snprintf(boot->note, sizeof(boot->note), "no word from the VM for %.0f s",
			 now() - boot->begun);
	else
		snprintf(boot->note, sizeof(boot->note), "the VM ended without a verdict");
}

/* Boot once from boot->next on; returns when QEMU has ended. */
static void run_boot(struct boot *boot)
{
	struct channel ch = { 0 };
	enum wait_result got;
	bool finished = false;
	char line[1400];
	int status;
	pid_t pid;

	boot->begun = now();
	pid = start_qemu(boot->next, &ch.fd);
	do {
		double deadline = boot->begun + step_limit(boot);

		got = next_line(&ch, deadline < deadline_total ? deadline : deadline_total,
				line, sizeof(line));
		if (got == LINE)
			finished = take_line(boot, line);
	} while (got == LINE && !finished);
	if (finished)
		usleep(300000);		/* let it power off by itself */
	else
		explain_silence(boot, got);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		boot->crash = WTERMSIG(status);
	close(ch.fd);
}

/*
 * QEMU's multi-threaded TCG can translate an instruction while another CPU
 * patches it, and then go on to execute the breakpoint that guards the patch.
 * The kernel takes that for a stray one and dies. Or QEMU itself dies of a
 * fault. Both tell nothing about us. Returns what happened, or NULL.
 */
static const char *emulator_failure(const struct boot *boot)
{
	if (boot->verdict)
		return NULL;
	if (boot->crash)
		return strsignal(boot->crash);
	return strstr(boot->note, "int3: 0000") ? "int3" : NULL;
}

/* Run all tests in as many boots as it takes. */
static void run_tests(void)
{
	char log[300], bad[600] = "";
	const char *failure;
	int nr = 0, retries = 0;
	struct boot boot = { 0 };

	do {
		snprintf(log, sizeof(log), "%s.console%d.log", options.log_prefix, nr);
		report.log_path = log;
		boot = (struct boot){ .next = boot.next };
		run_boot(&boot);
		failure = emulator_failure(&boot);
		if (failure && retries++ < MAX_RETRIES) {
			printf("note  %-5s the emulator failed (%s), booting again\n",
			       report.base, failure);
			boot.ready = true;
		} else if (boot.running) {
			report_result(&report, tests[boot.next++].name, "FAIL", now() - boot.begun,
				      boot.note);
		} else if (!boot.verdict && !bad[0]) {
			memcpy(bad, boot.note, sizeof(bad));
		}
	} while (boot.ready && boot.next < nr_tests && ++nr < MAX_BOOTS + retries &&
		 now() < deadline_total);
	for (; boot.next < nr_tests; boot.next++)
		report_result(&report, tests[boot.next].name, "FAIL", 0, "not run");
	report_skips(&report);
	report_result(&report, "vm.verdict", bad[0] ? "FAIL" : "PASS", 0, bad);
}

/* --- start */

static void read_list(void)
{
	FILE *list = fopen(options.list, "r");
	char line[1024];

	if (!list)
		die("%s: %s", options.list, strerror(errno));
	while (nr_tests < MAX_TESTS && fgets(line, sizeof(line), list))
		if (sscanf(line, "%159s %d", tests[nr_tests].name, &tests[nr_tests].timeout_s) == 2)
			nr_tests++;
	fclose(list);
}

static _Noreturn void usage(void)
{
	die("usage: boot -k KERNEL -i INITRD [-d DISK] {-l LIST | -I} [-n BASE] [-o LOGPREFIX] [-r RESULTS] "
	    "[-e SKIPS] [-x XFAILS] [-a APPEND] [-s CPUS] [-m MB] [-t SECONDS] [-b SECONDS] [-c] [-O] "
	    "[-q QEMU_ARGUMENT]...");
}

static void read_options(int argc, char **argv)
{
	const char *total = NULL, *to_ready = NULL;
	const struct {
		char opt;
		const char **value;
	} values[] = {
		{ 'k', &options.kernel }, { 'i', &options.initrd }, { 'd', &options.disk },
		{ 'l', &options.list },
		{ 'n', &report.base }, { 'o', &options.log_prefix }, { 'a', &options.append },
		{ 's', &options.smp }, { 'm', &options.memory }, { 't', &total }, { 'b', &to_ready },
		{ 'r', &report.results_path }, { 'e', &report.skips_path },
		{ 'x', &report.xfails_path },
	};
	int opt;

	while ((opt = getopt(argc, argv, "k:i:d:l:n:o:a:s:m:t:b:r:e:x:q:cIO")) != -1) {
		if (opt == '?')
			usage();
		if (opt == 'q' && options.nr_more == MAX_MORE - 1)
			die("more than %d arguments for QEMU", MAX_MORE - 1);
		if (opt == 'q')
			options.more[options.nr_more++] = optarg;
		options.interactive |= opt == 'I';
		options.count |= opt == 'c';
		options.output |= opt == 'O';
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			if (values[i].opt == opt)
				*values[i].value = optarg;
	}
	report.quiet = options.output;
	if (total)
		options.total_s = atoi(total);
	if (to_ready)
		options.boot_s = atoi(to_ready);
	if (!options.kernel || !options.initrd || (!options.list && !options.interactive))
		usage();
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	if (options.interactive)
		return run_interactive();
	read_list();
	deadline_total = now() + options.total_s;
	run_tests();
	return report.failed ? 1 : 0;
}
