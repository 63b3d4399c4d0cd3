// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - child processes that play an owner, and whose end is part of the test
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "error.h"
#include "proc.h"

#define STEP_MS		2
#define STACK_BYTES	(64 * 1024)

void proc_step(struct proc *me, const char *step)
{
	snprintf(me->page->step, sizeof(me->page->step), "%s", step);
}

void proc_ready(struct proc *me)
{
	__atomic_store_n(&me->page->ready, 1, __ATOMIC_RELEASE);
}

void proc_progress(struct proc *me)
{
	__atomic_add_fetch(&me->page->progress, 1, __ATOMIC_RELEASE);
}

void proc_await(struct proc *me)
{
	unsigned int turn = __atomic_add_fetch(&me->page->arrived, 1, __ATOMIC_RELEASE);

	proc_ready(me);
	while (__atomic_load_n(&me->page->told, __ATOMIC_ACQUIRE) < turn)
		guest_sleep_ms(STEP_MS);
}

void proc_pause(struct proc *me)
{
	proc_ready(me);
	for (;;)
		pause();
}

static _Noreturn void child(struct proc *me, proc_fn fn, void *arg)
{
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	guest_keep("");
	me->pid = getpid();
	ret = fn(me, arg);
	snprintf(me->page->error, sizeof(me->page->error), "%s", guest_error());
	_exit(ret > 0 ? ret : -ret);
}

int proc_start(proc_fn fn, void *arg, struct proc **procp)
{
	struct proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return guest_fail(ENOMEM, "process");
	proc->page = mmap(NULL, sizeof(*proc->page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (proc->page == MAP_FAILED) {
		free(proc);
		return guest_fail(errno, "page shared with a child");
	}
	proc_step(proc, "its start");
	fflush(NULL);
	proc->pid = fork();
	if (proc->pid == 0)
		child(proc, fn, arg);
	if (proc->pid < 0) {
		int err = guest_fail(errno, "fork");

		munmap(proc->page, sizeof(*proc->page));
		free(proc);
		return err;
	}
	*procp = proc;
	return 0;
}

static bool reap(struct proc *proc)
{
	if (!proc->gone && waitpid(proc->pid, &proc->status, WNOHANG) == proc->pid)
		proc->gone = true;
	return proc->gone;
}

static int result(struct proc *proc, bool killed_is_fine)
{
	if (WIFSIGNALED(proc->status) && killed_is_fine)
		return 0;
	if (WIFSIGNALED(proc->status))
		return guest_fail(EINTR, "child killed by signal %d in: %s",
				  WTERMSIG(proc->status), proc->page->step);
	if (!WEXITSTATUS(proc->status))
		return 0;
	guest_fail(WEXITSTATUS(proc->status), "child failed in: %s (%s)", proc->page->step,
		   proc->page->error);
	return -WEXITSTATUS(proc->status);
}

int proc_wait_ready(struct proc *proc, int timeout_ms)
{
	uint64_t start = guest_now_ns();

	while (!__atomic_load_n(&proc->page->ready, __ATOMIC_ACQUIRE)) {
		if (reap(proc))
			return result(proc, false) ?: guest_fail(ECHILD, "child ended early");
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "child does not end: %s", proc->page->step);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}

int proc_wait_progress(struct proc *proc, uint64_t more, int timeout_ms)
{
	uint64_t *progress = &proc->page->progress, start = guest_now_ns();
	uint64_t first = __atomic_load_n(progress, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(progress, __ATOMIC_ACQUIRE) - first < more) {
		if (reap(proc))
			return result(proc, false) ?: guest_fail(ECHILD, "child ended early");
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "child makes no progress: %s",
					  proc->page->step);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}

void proc_tell(struct proc *proc)
{
	__atomic_add_fetch(&proc->page->told, 1, __ATOMIC_RELEASE);
}

int proc_arrive(struct proc *proc, int timeout_ms)
{
	uint64_t start = guest_now_ns();

	while (__atomic_load_n(&proc->page->arrived, __ATOMIC_ACQUIRE) <= proc->page->told) {
		if (reap(proc))
			return result(proc, false);
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "child does not end: %s", proc->page->step);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}

int proc_next(struct proc *proc, int timeout_ms)
{
	proc_tell(proc);
	return proc_arrive(proc, timeout_ms);
}

static int wait_gone(struct proc *proc, int timeout_ms)
{
	uint64_t start = guest_now_ns();

	while (!reap(proc)) {
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "child does not end: %s", proc->page->step);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}

int proc_wait(struct proc *proc, int timeout_ms)
{
	return wait_gone(proc, timeout_ms) ?: result(proc, false);
}

int proc_kill(struct proc *proc, int timeout_ms)
{
	if (!proc->gone)
		kill(proc->pid, SIGKILL);
	return wait_gone(proc, timeout_ms) ?: result(proc, true);
}

void proc_free(struct proc *proc)
{
	if (!proc)
		return;
	proc_kill(proc, guest_patience(2000));
	munmap(proc->page, sizeof(*proc->page));
	free(proc);
}

int proc_call(proc_fn fn, void *arg, int timeout_ms)
{
	struct proc *proc;
	char text[256];
	int err = proc_start(fn, arg, &proc);

	if (err)
		return err;
	err = proc_wait(proc, timeout_ms);
	snprintf(text, sizeof(text), "%s", guest_error());
	proc_free(proc);
	guest_keep(text);
	return err;
}

int proc_take_fd(const struct proc *proc, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, proc->pid, 0);
	int copy, err;

	if (pidfd < 0)
		return guest_fail(errno, "pidfd_open");
	copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	err = copy < 0 ? guest_fail(errno, "pidfd_getfd %d", fd) : 0;
	close(pidfd);
	return err ?: copy;
}

struct sibling {
	void (*fn)(void *arg);
	void *arg;
	volatile bool done;
};

static int sibling_main(void *arg)
{
	struct sibling *sibling = arg;

	sibling->fn(sibling->arg);
	sibling->done = true;
	for (;;)
		syscall(SYS_pause);
	return 0;
}

/* Its stack is never freed: the test ends soon. */
pid_t proc_sibling(void (*fn)(void *arg), void *arg, int timeout_ms)
{
	struct sibling *sibling = calloc(1, sizeof(*sibling));
	char *stack = malloc(STACK_BYTES);
	uint64_t start = guest_now_ns();
	pid_t pid;

	if (!sibling || !stack)
		return guest_fail(ENOMEM, "sibling process");
	sibling->fn = fn;
	sibling->arg = arg;
	pid = clone(sibling_main, stack + STACK_BYTES, CLONE_VM | SIGCHLD, sibling);
	if (pid < 0)
		return guest_fail(errno, "clone");
	while (!sibling->done) {
		if (!guest_left_ms(start, timeout_ms)) {
			kill(pid, SIGKILL);
			return guest_fail(ETIMEDOUT, "sibling process");
		}
		guest_sleep_ms(STEP_MS);
	}
	return pid;
}

int proc_sibling_kill(pid_t pid, int timeout_ms)
{
	uint64_t start = guest_now_ns();

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		if (!guest_left_ms(start, timeout_ms))
			return guest_fail(ETIMEDOUT, "sibling process %d does not end", pid);
		guest_sleep_ms(STEP_MS);
	}
	return 0;
}

static struct watch {
	pthread_mutex_t lock;
	bool running;
	char step[96];
	unsigned int seconds;
	uint64_t begun_ns;
} watched = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *watch_main(void *arg)
{
	(void)arg;
	for (;;) {
		guest_sleep_ms(100);
		pthread_mutex_lock(&watched.lock);
		if (watched.seconds &&
		    guest_now_ns() - watched.begun_ns > watched.seconds * 1000000000ULL) {
			fprintf(stderr, "# watchdog:Expected an end within %u s of: %s\n",
				watched.seconds, watched.step);
			_exit(1);
		}
		pthread_mutex_unlock(&watched.lock);
	}
	return NULL;
}

void proc_watch(const char *step, unsigned int seconds)
{
	pthread_t thread;

	pthread_mutex_lock(&watched.lock);
	snprintf(watched.step, sizeof(watched.step), "%s", step);
	watched.seconds = guest_patience(seconds);
	watched.begun_ns = guest_now_ns();
	if (!watched.running && !pthread_create(&thread, NULL, watch_main, NULL))
		watched.running = true;
	pthread_mutex_unlock(&watched.lock);
}
