// SPDX-License-Identifier: GPL-2.0
/*
 * machine.c - a QEMU with a vhost-scsi disk, its guest's serial console and its monitor
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "boot.h"
#include "lib/error.h"
#include "machine.h"

#define STEP_MS		20
#define SAID_MAX	(1 << 20)	/* of a guest that never stops talking the rest is not kept */
#define MAX_ARGS	48

static const char *const programs[] = {
	[QEMU_DEBIAN] = "/opt/debian-qemu/usr/bin/qemu-system-x86_64",
	[QEMU_NEW] = "/usr/bin/qemu-system-x86_64",
};

static _Noreturn void exec_qemu(const struct machine_opts *opts, int serial, int monitor)
{
	char serial_dev[64], monitor_dev[64], disk[256];
	const char *program = programs[opts->qemu];
	const char *argv[MAX_ARGS] = {
		program, "-accel", "tcg,thread=multi", "-m", "128",
		/* SeaBIOS's MP table has one CPU of each socket. */
		"-smp", TEXT(MACHINE_QUEUES) ",sockets=" TEXT(MACHINE_QUEUES),
		"-nodefaults", "-no-user-config", "-display", "none",
		"-chardev", serial_dev, "-serial", "chardev:serial",
		"-chardev", monitor_dev, "-mon", "chardev=monitor",
		"-device", "isa-debug-exit,iosize=4,iobase=" TEXT(E2E_EXIT_PORT),
		"-device", disk,
	};
	static const char *const linux_guest[] = {
		"-kernel", "/tests/guest-linux", "-initrd", "/tests/guest-initrd", "-append",
		"console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable "
		"no_timer_check rcupdate.rcu_expedited=1 scsi_mod.scan=manual",
	};
	unsigned int argc = 0, i;

	snprintf(serial_dev, sizeof(serial_dev), "socket,id=serial,fd=%d", serial);
	snprintf(monitor_dev, sizeof(monitor_dev), "socket,id=monitor,fd=%d", monitor);
	snprintf(disk, sizeof(disk), "vhost-scsi-pci,wwpn=%s,num_queues=%d%s%s", opts->wwpn,
		 MACHINE_QUEUES, opts->linux_guest ? "" : ",bootindex=0",
		 opts->own_workers ? ",worker_per_virtqueue=on" : "");
	while (argv[argc])
		argc++;
	for (i = 0; opts->linux_guest && i < sizeof(linux_guest) / sizeof(linux_guest[0]); i++)
		argv[argc++] = linux_guest[i];
	execv(program, (char **)argv);
	perror(program);
	_exit(127);
}

static void start(struct machine *m, int serial, int monitor)
{
	m->pid = fork();
	if (m->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fcntl(serial, F_SETFD, 0);
	fcntl(monitor, F_SETFD, 0);
	exec_qemu(&m->opts, serial, monitor);
}

int machine_start(const struct machine_opts *opts, struct machine **machine)
{
	struct machine *m = calloc(1, sizeof(*m));
	int serial[2], monitor[2];

	if (!m)
		return guest_fail(ENOMEM, "machine");
	m->opts = *opts;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, serial) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, monitor)) {
		free(m);
		return guest_fail(errno, "socketpair");
	}
	m->serial = serial[0];
	m->monitor = monitor[0];
	fflush(NULL);
	start(m, serial[1], monitor[1]);
	close(serial[1]);
	close(monitor[1]);
	if (m->pid < 0) {
		int err = guest_fail(errno, "fork");

		machine_free(m);
		return err;
	}
	*machine = m;
	return 0;
}

/* Lines of the guest go to our output, for the log. */
static void show(struct machine *m)
{
	char *end;

	while (m->shown < m->len && (end = memchr(m->text + m->shown, '\n', m->len - m->shown))) {
		printf("# guest %d: %.*s\n", m->pid, (int)(end - m->text - m->shown),
		       m->text + m->shown);
		m->shown = end - m->text + 1;
	}
}

/* Take what the guest and the monitor say within @ms. */
static void take(struct machine *m, int ms)
{
	struct pollfd fds[2] = {
		{ .fd = m->serial, .events = POLLIN },
		{ .fd = m->monitor, .events = POLLIN },
	};
	char more[4096];
	ssize_t n;

	if (poll(fds, 2, ms) <= 0)
		return;
	if (fds[1].revents & POLLIN)
		n = read(m->monitor, more, sizeof(more));	/* prompts */
	if (!(fds[0].revents & POLLIN))
		return;
	n = read(m->serial, more, sizeof(more));
	if (n <= 0 || m->len + n >= SAID_MAX)
		return;
	if (m->len + n >= m->size) {
		size_t size = m->size * 2 + 2 * sizeof(more);
		char *text = realloc(m->text, size);

		if (!text)
			return;
		m->text = text;
		m->size = size;
	}
	memcpy(m->text + m->len, more, n);
	m->len += n;
	m->text[m->len] = '\0';
	show(m);
}

static bool reap(struct machine *m)
{
	if (!m->gone && waitpid(m->pid, &m->status, WNOHANG) == m->pid) {
		m->gone = true;
		take(m, 0);
	}
	return m->gone;
}

static char *find(struct machine *m, const char *text)
{
	return m->text ? memmem(m->text + m->mark, m->len - m->mark, text, strlen(text)) : NULL;
}

bool machine_said(struct machine *m, const char *text)
{
	take(m, 0);
	return find(m, text);
}

/* The end of what the guest has said, for error texts. */
static const char *last_words(const struct machine *m)
{
	return m->text ? m->text + (m->len > 80 ? m->len - 80 : 0) : "";
}

int machine_wait_text(struct machine *m, const char *text, int timeout_ms)
{
	uint64_t begun = guest_now_ns();
	char *found;

	while (!(found = find(m, text))) {
		if (reap(m))
			return guest_fail(ECHILD, "QEMU ended before its guest said '%s', after '%s'",
					  text, last_words(m));
		if (!guest_left_ms(begun, timeout_ms))
			return guest_fail(ETIMEDOUT, "guest does not say '%s' in %d ms, but '%s'",
					  text, timeout_ms, last_words(m));
		take(m, STEP_MS);
	}
	m->mark = found - m->text + strlen(text);
	return 0;
}

unsigned int machine_count(struct machine *m, char what)
{
	unsigned int count = 0;
	size_t i;

	take(m, 0);
	for (i = 0; i < m->len; i++)
		count += m->text[i] == what;
	return count;
}

int machine_wait_count(struct machine *m, char what, unsigned int least, int timeout_ms)
{
	uint64_t begun = guest_now_ns();

	while (machine_count(m, what) < least) {
		if (reap(m))
			return guest_fail(ECHILD, "QEMU ended after '%s'", last_words(m));
		if (!guest_left_ms(begun, timeout_ms))
			return guest_fail(ETIMEDOUT, "guest said '%c' %u times, not %u", what,
					  machine_count(m, what), least);
		take(m, STEP_MS);
	}
	return 0;
}

static int send_line(int fd, const char *line)
{
	char text[1024];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	return send(fd, text, len, MSG_NOSIGNAL) == len ? 0 : guest_fail(errno, "send '%s'", line);
}

int machine_say(struct machine *m, const char *line)
{
	return send_line(m->serial, line);
}

int machine_command(struct machine *m, const char *command)
{
	return send_line(m->monitor, command);
}

int machine_wait_exit(struct machine *m, int timeout_ms)
{
	uint64_t begun = guest_now_ns();

	while (!reap(m)) {
		if (!guest_left_ms(begun, timeout_ms))
			return guest_fail(ETIMEDOUT, "QEMU does not end; its guest said '%s'",
					  last_words(m));
		take(m, STEP_MS);
	}
	if (WIFSIGNALED(m->status))
		return guest_fail(EINTR, "QEMU was killed by signal %d", WTERMSIG(m->status));
	return WEXITSTATUS(m->status);
}

int machine_kill(struct machine *m, int timeout_ms)
{
	int err;

	kill(m->pid, SIGKILL);
	err = machine_wait_exit(m, timeout_ms);
	return err == -EINTR ? 0 : err;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	if (m->pid > 0 && !m->gone) {
		kill(m->pid, SIGKILL);
		waitpid(m->pid, NULL, 0);
	}
	close(m->serial);
	close(m->monitor);
	free(m->text);
	free(m);
}
