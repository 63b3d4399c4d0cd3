// SPDX-License-Identifier: GPL-2.0
/*
 * Run one test program in the VM: with a hard time limit, its output copied to
 * the console, the kernel log watched, and nothing left alive behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm.h"

#define KSFT_SKIP 4
#define REAP_MS 10000

/* What is known of a running test. */
struct run {
	const struct job *job;
	pid_t pid;
	int fd;			/* its output */
	char line[1024];
	size_t len;
	bool skipped;
	bool explained;		/* note holds a failed expectation */
	char *note;
};

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Lines of TAP that say nothing about the cause of a failure. */
static bool is_boilerplate(const char *line)
{
	static const char * const starts[] = {
		"TAP ", "1..", "ok ", "not ok ", "# Starting ", "#  RUN ", "#            OK",
		"#          FAIL", "# FAILED", "# PASSED", "# Totals", "",
	};

	for (size_t i = 0; starts[i][0]; i++)
		if (!strncmp(line, starts[i], strlen(starts[i])))
			return true;
	return !line[0] || strstr(line, ": Test failed") || strstr(line, "terminated by assertion");
}

/* Keep the line that explains the result best: the first failed expectation. */
static void take_line(struct run *run)
{
	char *skip = strstr(run->line, "# SKIP");

	if (run->job->output)
		say("OUT %s", run->line);
	if (!strncmp(run->line, "ok ", 3) && skip) {
		run->skipped = true;
		snprintf(run->note, NOTE_LEN, "%s", skip + strlen("# SKIP") + (skip[6] == ' '));
		return;
	}
	if (run->explained || is_boilerplate(run->line))
		return;
	run->explained = !!strstr(run->line, ":Expected ");
	snprintf(run->note, NOTE_LEN, "%s", run->line + (run->line[0] == '#') * 2);
}

static void take_output(struct run *run)
{
	char buf[4096];
	ssize_t n = read(run->fd, buf, sizeof(buf) - 1);

	if (n <= 0) {
		close(run->fd);
		run->fd = -1;
		return;
	}
	buf[n] = '\0';
	console(buf);
	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] != '\n' && run->len < sizeof(run->line) - 1) {
			run->line[run->len++] = buf[i];
			continue;
		}
		run->line[run->len] = '\0';
		run->len = 0;
		take_line(run);
	}
}

static bool start(struct run *run)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return false;
	run->pid = fork();
	if (run->pid == 0) {
		setsid();
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl("/bin/sh", "sh", "-c", run->job->command, NULL);
		_exit(127);
	}
	close(fds[1]);
	run->fd = fds[0];
	return run->pid > 0;
}

/* As process 1 we are the parent of every orphan, and -1 means all but us. */
static bool kill_everything(void)
{
	long end = now_ms() + REAP_MS;
	pid_t pid;

	kill(-1, SIGKILL);
	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0)
			return true;
		if (pid > 0)
			continue;
		if (now_ms() > end)
			return false;
		usleep(2000);
	}
}

/* Wait for the end of the program. Returns false when its time is up. */
static bool wait_for_end(struct run *run, int *status, bool *log_clean)
{
	long end = now_ms() + run->job->timeout_s * 1000L;
	char line[NOTE_LEN];

	while (now_ms() < end) {
		struct pollfd fds[2] = {
			{ .fd = run->fd, .events = POLLIN },
			{ .fd = kmsg_fd, .events = POLLIN },
		};

		poll(fds, 2, 20);
		if (fds[0].revents)
			take_output(run);
		if (fds[1].revents && !kmsg_scan(line) && *log_clean) {
			*log_clean = false;
			snprintf(run->note, NOTE_LEN, "%s", line);
			run->explained = true;
		}
		if (waitpid(run->pid, status, WNOHANG) == run->pid)
			return true;
	}
	return false;
}

static void drain(struct run *run)
{
	if (run->fd < 0)
		return;
	fcntl(run->fd, F_SETFL, O_NONBLOCK);
	while (run->fd >= 0)
		take_output(run);
}

static enum outcome judge(struct run *run, int status)
{
	if (WIFSIGNALED(status)) {
		snprintf(run->note, NOTE_LEN, "killed by signal %d", WTERMSIG(status));
		return FAIL;
	}
	if (run->skipped || WEXITSTATUS(status) == KSFT_SKIP)
		return SKIP;
	if (WEXITSTATUS(status) == 0) {
		run->note[0] = '\0';
		return PASS;
	}
	if (!run->note[0])
		snprintf(run->note, NOTE_LEN, "exit code %d", WEXITSTATUS(status));
	return FAIL;
}

enum outcome run_job(const struct job *job, char *note)
{
	struct run run = { .job = job, .note = note };
	bool log_clean = true, ended;
	enum outcome outcome;
	int status = 0;

	if (!kmsg_scan(note))
		give_up("before %s: %s", job->name, note);
	note[0] = '\0';
	if (!start(&run)) {
		snprintf(note, NOTE_LEN, "cannot start it: %s", strerror(errno));
		return FAIL;
	}
	ended = wait_for_end(&run, &status, &log_clean);
	if (!ended)
		write_file("/proc/sysrq-trigger", "w");	/* who is blocked, and where */
	if (!kill_everything()) {
		write_file("/proc/sysrq-trigger", "w");
		say("END %s FAIL %d its processes cannot be killed", job->name,
		    job->timeout_s * 1000);
		give_up("%s left processes that cannot be killed", job->name);
	}
	drain(&run);
	if (!ended) {
		snprintf(note, NOTE_LEN, "no end after %d s", job->timeout_s);
		return FAIL;
	}
	if (log_clean)
		outcome = judge(&run, status);
	if (!log_clean || !kmsg_scan(note))
		return FAIL;
	return outcome;
}
