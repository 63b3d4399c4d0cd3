/* SPDX-License-Identifier: GPL-2.0 */
/*
 * proc.h - child processes that play an owner, and whose end is part of the test
 *
 * A test that expects a process to die, or that may block in the kernel, does so in a child. Parent and
 * child share a page: the child says there which step it is in and how far it has come, so that
 * the parent can tell which step hung. The parent itself makes no call that may block for ever.
 */
#ifndef GUEST_PROC_H
#define GUEST_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_WORDS	32

struct proc_page {
	char step[96];		/* what the child is doing */
	char error[256];	/* guest_error() of the child at its end */
	unsigned int ready;
	uint64_t progress;	/* counted by the child */
	unsigned int arrived, told;	/* of proc_await() and proc_next() */
	long word[PROC_WORDS];	/* of the test's */
};

struct proc {
	pid_t pid;
	bool gone;		/* reaped */
	int status;		/* of wait(), once gone */
	struct proc_page *page;
};

typedef int (*proc_fn)(struct proc *me, void *arg);

/*
 * Start a child that runs @fn and ends with it. 0 from @fn is success, a negative errno failure with
 * guest_error() as text. The child is killed when the thread that started it ends.
 */
int proc_start(proc_fn fn, void *arg, struct proc **proc);

/* In the child: name the next step; the set-up is done; one more round is done. */
void proc_step(struct proc *me, const char *step);
void proc_ready(struct proc *me);
void proc_progress(struct proc *me);

/*
 * In the child: what comes before is done (it is ready, too); wait until the parent tells it to go on. In the
 * parent: tell it, and wait until it has come to the next proc_await(), or has ended well.
 */
void proc_await(struct proc *me);
int proc_next(struct proc *proc, int timeout_ms);
/* The same without the wait, which proc_arrive() is. */
void proc_tell(struct proc *proc);
int proc_arrive(struct proc *proc, int timeout_ms);

/* In the child: be ready, then sleep until killed. */
_Noreturn void proc_pause(struct proc *me);

/* Wait for proc_ready(), or for @more rounds from now on. -ETIMEDOUT, -ECHILD when the child ended. */
int proc_wait_ready(struct proc *proc, int timeout_ms);
int proc_wait_progress(struct proc *proc, uint64_t more, int timeout_ms);

/* Wait for its end: what @fn returned, -EINTR if it was killed, -ETIMEDOUT (the text names the step). */
int proc_wait(struct proc *proc, int timeout_ms);

/* SIGKILL, and wait until it has ended: 0 or -ETIMEDOUT. */
int proc_kill(struct proc *proc, int timeout_ms);

/* End it if need be, and free. */
void proc_free(struct proc *proc);

/* proc_start + proc_wait + proc_free. */
int proc_call(proc_fn fn, void *arg, int timeout_ms);

/* A copy of the child's descriptor @fd, or a negative errno. */
int proc_take_fd(const struct proc *proc, int fd);

/*
 * A process that shares our memory and nothing else (CLONE_VM): it may use the devices that we own, and its
 * death kills the workers it made and no other. It runs @fn, then sleeps until killed. It uses our
 * thread's errno, so we must wait for it: the call returns when @fn has returned. The pid or -errno.
 */
pid_t proc_sibling(void (*fn)(void *arg), void *arg, int timeout_ms);
int proc_sibling_kill(pid_t pid, int timeout_ms);

/*
 * The test process itself: name what it does now; when that takes longer than @seconds, a line is
 * printed that names it and the process ends. 0 seconds: no limit any more.
 */
void proc_watch(const char *step, unsigned int seconds);

#endif /* GUEST_PROC_H */
