/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that the worker code needs, on top of pthreads.
 *
 * What matters for a missed wake-up, a lost work or a use after free is
 * modelled as the kernel does it: task states and wake-ups, the order of
 * atomic operations, signals, grace periods, the two kinds of thread. What a
 * kernel with lockdep would report ends the test here too: a lock that is not
 * held, locks in two orders, sleeping where that is not allowed.
 *
 * Nothing here may order two threads which the kernel would not order, or
 * ThreadSanitizer could not see a missing barrier: locks of the shim are one
 * per object, counters are relaxed.
 */
#ifndef _SHIM_H
#define _SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SHIM_HELD_MAX	8

/* Points at which a test can step in, or which a stress run makes slow. */
enum shim_point {
	SHIM_TEST_AND_SET,	/* before test_and_set_bit() */
	SHIM_CLEAR_BIT,		/* before clear_bit() */
	SHIM_LLIST_ADD,		/* before llist_add() */
	SHIM_LLIST_ADDED,
	SHIM_LLIST_TAKEN,	/* after llist_del_all() that found something */
	SHIM_LLIST_EMPTY,	/* after one that did not */
	SHIM_CMPXCHG,		/* before atomic_cmpxchg() */
	SHIM_LOCK,		/* before a mutex is taken */
	SHIM_UNLOCKED,		/* after one was given back */
	SHIM_DEREFERENCE,	/* after rcu_dereference() */
	SHIM_GRACE_PERIOD,	/* before a grace period */
	SHIM_SCHEDULE,		/* before sleeping */
	SHIM_WAIT_ENDED,	/* after a wait for a completion that did not come */
	SHIM_WAKE,		/* before a wake-up */
	SHIM_RESCHED,		/* after each piece of work */
	SHIM_TRACE,		/* in each tracepoint */
	SHIM_COPY_TO_USER,
	SHIM_COPY_FROM_USER,
	SHIM_THREAD_CREATE,
	SHIM_THREAD_LATE,	/* when all but a signal that kills comes too late */
};

/* spin.c: the lock inside an object, and the tasks that wait for it */
struct shim_spin {
	int locked;
};

struct shim_waiter;
struct shim_wait {
	struct shim_spin lock;
	struct shim_waiter *first;
};

void shim_spin_lock(struct shim_spin *spin);
void shim_spin_unlock(struct shim_spin *spin);
void shim_wait_init(struct shim_wait *w);
/*
 * Sleep until take(obj) is true. It is called with w->lock held, which
 * shim_wake_all() needs too. Return: 0, -EINTR, -ETIME.
 */
int shim_wait_for(struct shim_wait *w, bool (*take)(void *), void *obj,
		  unsigned int state, long timeout, const char *what);
void shim_wake_all(struct shim_wait *w);

/* task.c */
struct completion;
struct mutex;

struct mm_struct {
	const char *name;
	int tgid;		/* the pid of its first task */
	unsigned long charged;	/* allocations that count against its cgroup */
	bool is_full;		/* its cgroup has no memory left */
};

struct cpumask {
	unsigned long bits;
};

struct sighand_struct {
	int siglock;
};

struct task_struct {
	unsigned int state;
	unsigned int flags;
	int pid;
	char comm[32];
	struct mm_struct *mm;
	struct mm_struct *process;	/* which a signal to the process reaches */
	struct mm_struct *cgroups_of;	/* whose it has joined */
	struct mem_cgroup *active_memcg;
	struct cpumask cpus_mask;
	struct {
		unsigned int signal;
	} pending;
	struct sighand_struct *sighand;
	unsigned int allowed;
	int refs;
	pthread_mutex_t sleep_lock;
	pthread_cond_t sleep_cond;

	int (*fn)(void *data);
	void *data;
	int result;
	bool should_stop;
	struct completion *exited;

	int no_sleep;
	int rcu_nesting;
	unsigned long rcu_seq;
	unsigned int seed;
	int held[SHIM_HELD_MAX];
	unsigned int nheld;
	const char *waits_for;
	struct task_struct *next;
	struct task_struct *next_unhashed;
};

extern _Thread_local struct task_struct *shim_current;

void shim_init(struct mm_struct *mm);
/* Start a thread of a process; shim_join() waits for it and returns fn's result. */
struct task_struct *shim_run(struct mm_struct *mm, const char *name,
			     int (*fn)(void *), void *data);
int shim_join(struct task_struct *task);
/* Make a task that waits for its first wake-up; @mm: NULL for a kernel thread. */
struct task_struct *shim_task_create(int (*fn)(void *), void *data,
				     const char *name, struct mm_struct *mm);
/* Does a pending signal keep the current task from sleeping in this state? */
bool shim_signal_ends_sleep(unsigned int state);
struct task_struct *get_task_struct(struct task_struct *task);
void put_task_struct(struct task_struct *task);
/* For for_each_thread(): the thread of the process that is younger than @t. */
struct task_struct *shim_next_thread(struct task_struct *p, struct task_struct *t);
/* References to tasks that nobody can find any more; they go a grace period later. */
struct task_struct *shim_take_unhashed(void);
void shim_put_unhashed(struct task_struct *tasks);
/* SIGKILL to a task, or to all tasks of a process. */
void shim_kill(struct task_struct *task);
void shim_kill_process(struct mm_struct *mm);
unsigned int shim_tasks(void);
/* With those that have ended and to which there is a reference. */
unsigned int shim_task_structs(void);
void shim_dump_tasks(void);
unsigned long shim_wakeups(void);
bool shim_in_rcu_reader(void);
void shim_might_sleep(const char *what);
void shim_sleep_us(unsigned int us);

/* rcu-*.c */
void shim_rcu_register(struct task_struct *task);
void shim_rcu_unregister(struct task_struct *task);
void shim_rcu_lock(struct task_struct *task);
void shim_rcu_unlock(struct task_struct *task);
void shim_rcu_synchronize(void);
/* rcu.c */
unsigned long shim_grace_periods(void);
unsigned int shim_grace_waiters(void);

/* lock.c: waits are ordered like locks, but are always the last */
enum {
	SHIM_CLASS_COMPLETION,
	SHIM_CLASS_GRACE_PERIOD,
};

int shim_class(const char *name);
void shim_acquire(int class);
/* Has a lock (or wait) of class b ever been taken with one of class a held? */
bool shim_ordered(const char *a, const char *b);

/* fault.c: the n-th operation from now that can fail does; 0: none */
void shim_fail_nth(long n);
bool shim_fail_fired(void);
bool shim_should_fail(void);
/* What making a thread fails with; 0: nothing. */
void shim_fail_thread(int err);
int shim_thread_error(int by_default);
void shim_fail_cgroup(int err);
/* Something was taken that has to be given back, or was given back. */
void shim_count_allocated(int change);
long shim_allocated(void);
#define SHIM_BAD_USER	((void *)16)	/* an address that faults */

/* events.c: the last event of a kind, and how many there were */
struct shim_event {
	unsigned int nth;
	unsigned int dev, worker;
	unsigned int workers;	/* of the device, then */
	unsigned int entries;	/* of the map */
};

struct shim_event shim_event(unsigned int cmd);

/* point.c */
extern void (*shim_hook)(enum shim_point point);
void shim_set_hook(void (*hook)(enum shim_point point));
extern unsigned int shim_perturb;	/* chance in 1000 of a delay per point */
void shim_point(enum shim_point point);
void shim_trace(const char *name);
unsigned long shim_traced(const char *name);

#endif
