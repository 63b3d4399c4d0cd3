// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - the process that undoes something when its maker ends
 *
 * The watcher holds a pidfd of the maker, which becomes readable when the whole process is gone,
 * after the last of its descriptors was closed: unlike the end of a pipe this cannot be held up by
 * children that inherited something. A pipe carries the other message, "I have undone it myself".
 * The watcher is forked twice, so that it is not a child for wait() to find, and leaves the process
 * group and session, so that a signal to the group does not reach it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "error.h"
#include "watch.h"

#define UNDO_MS		guest_patience(15000)	/* how long those that still use it are waited for */
#define UNDO_STEP_MS	50

/* Keep nothing of the maker's: no vhost device, no pipe of the test runner. */
static void drop_descriptors(int *pidfd, int *pipe_fd)
{
	int null = open("/dev/null", O_RDWR);

	dup2(*pidfd, 100);
	dup2(*pipe_fd, 101);
	*pidfd = 100;
	*pipe_fd = 101;
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	syscall(SYS_close_range, 3, 99, 0);
	syscall(SYS_close_range, 102, ~0U, 0);
}

struct job {
	const char *name;
	watch_undo undo;
	const void *what;
};

static void undo_with_patience(const struct job *job)
{
	uint64_t start = guest_now_ns();

	while (job->undo(job->what) && guest_left_ms(start, UNDO_MS))
		guest_sleep_ms(UNDO_STEP_MS);
}

/*
 * One byte: the maker has undone it. End of file: all ends of the pipe are closed, look at pidfd.
 */
static void __attribute__((noreturn)) watch(const struct job *job, int pidfd, int pipe_fd)
{
	struct pollfd pfd[2];
	char byte;

	drop_descriptors(&pidfd, &pipe_fd);
	pfd[0] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = pipe_fd, .events = POLLIN };
	for (;;) {
		if (poll(pfd, 2, -1) < 0)
			continue;
		if (pfd[1].revents) {
			if (read(pipe_fd, &byte, 1) == 1)
				_exit(0);
			pfd[1].fd = -1;
		}
		if (pfd[0].revents) {
			undo_with_patience(job);
			_exit(0);
		}
	}
}

static void __attribute__((noreturn)) become_watcher(const struct job *job, int pidfd, int pipe_fd)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	if (fork() == 0) {
		prctl(PR_SET_NAME, job->name);
		watch(job, pidfd, pipe_fd);
	}
	_exit(0);
}

static int fork_watcher(const struct job *job, int pidfd, int pipe_fds[2])
{
	pid_t pid = fork();

	if (pid < 0)
		return guest_fail(errno, "fork of the %s", job->name);
	if (!pid) {
		close(pipe_fds[1]);
		become_watcher(job, pidfd, pipe_fds[0]);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int watch_start(const char *name, watch_undo undo, const void *what)
{
	const struct job job = { name, undo, what };
	int pipe_fds[2], pidfd, err;

	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	if (pidfd < 0)
		return guest_fail(errno, "pidfd_open");
	if (pipe2(pipe_fds, O_CLOEXEC)) {
		err = guest_fail(errno, "pipe of the %s", name);
		close(pidfd);
		return err;
	}
	err = fork_watcher(&job, pidfd, pipe_fds);
	close(pidfd);
	close(pipe_fds[0]);
	if (err)
		close(pipe_fds[1]);
	return err ?: pipe_fds[1];
}

void watch_stop(int fd)
{
	ssize_t written = write(fd, "u", 1);

	(void)written;		/* a watcher that is gone needs no message */
	close(fd);
}
