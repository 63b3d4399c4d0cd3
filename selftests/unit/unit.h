/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness: each test runs in a process of its own, under a watchdog, and
 * must leave no thread, no memory and no lock order behind that is not allowed.
 *
 * TEST(name)          runs once, with kernel threads
 * TEST_BOTH(name)     runs once per kind of worker thread
 * TEST_TASK(name)     runs with threads of the owner
 * TEST_KTHREAD(name)  runs with kernel threads
 */
#ifndef _UNIT_H
#define _UNIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sched/signal.h>
#include "vhost.h"

enum {
	KIND_KTHREAD	= 1,
	KIND_TASK	= 2,
};

struct test {
	const char *name;
	void (*fn)(void);
	unsigned int kinds;
	bool plain_name;
	struct test *next;
};

void unit_register(struct test *test);
void unit_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A test of many rounds calls this now and then to show that it does not hang. */
void unit_progress(void);

/* The kind of worker thread that this run of the test uses. */
extern unsigned int unit_kind;
/* The process that the test's own thread belongs to, and another one. */
extern struct mm_struct unit_owner, unit_stranger;

#define UNIT_TEST(test_name, test_kinds, plain)				\
static void test_name(void);						\
__attribute__((constructor)) static void register_##test_name(void)	\
{									\
	static struct test t = {					\
		.name = #test_name,					\
		.fn = test_name,					\
		.kinds = test_kinds,					\
		.plain_name = plain,					\
	};								\
									\
	unit_register(&t);						\
}									\
static void test_name(void)

#define TEST(name)		UNIT_TEST(name, KIND_KTHREAD, true)
#define TEST_BOTH(name)		UNIT_TEST(name, KIND_KTHREAD | KIND_TASK, false)
#define TEST_TASK(name)		UNIT_TEST(name, KIND_TASK, false)
#define TEST_KTHREAD(name)	UNIT_TEST(name, KIND_KTHREAD, false)

/* A failed check is reported, and the test goes on. */
#define CHECK(cond) do {						\
	if (!(cond))							\
		unit_fail(__FILE__, __LINE__, "not true: %s", #cond);	\
} while (0)

#define CHECK_EQ(is, wanted) do {					\
	long _is = (long)(is), _wanted = (long)(wanted);		\
									\
	if (_is != _wanted)						\
		unit_fail(__FILE__, __LINE__, "%s is %ld, not %ld",	\
			  #is, _is, _wanted);				\
} while (0)

/* dev.c: a device, as a driver sees it */
struct device {
	struct vhost_dev dev;
	struct vhost_virtqueue **vqs;
};

/* A device without an owner; its virtqueues are live (they have a kick). */
struct device *device_new(int nvqs);
/* SET_OWNER, as drivers/vhost does it. */
long device_start(struct device *d);
void device_stop(struct device *d);
void device_free(struct device *d);
/* device_new() and device_start(), and the reverse. */
struct device *device_open(int nvqs);
void device_close(struct device *d);
void device_kill_live(struct device *d);	/* no kick, no backend */

/* The ioctls. They take D. */
long device_ioctl(struct device *d, unsigned int ioctl, void *arg);
long new_worker(struct device *d);
long free_worker(struct device *d, unsigned int id);
long attach(struct device *d, unsigned int vq, unsigned int id);
long get_worker(struct device *d, unsigned int vq);
long attach_map(struct device *d, const struct vhost_vring_worker *map,
		unsigned int n);

/*
 * admin.c: what an administrator asks of a device, as the netlink front end does
 * it: by number, with a limit to each wait.
 */
struct request {
	unsigned int dev;
	unsigned int vq, id;
	long timeout;			/* in jiffies */
	bool begun, done;
};

long request_new(struct request *r);
long request_free(struct request *r);
long request_attach(struct request *r);
/* Let a task of another process make a request; answer() is what came back. */
struct task_struct *request(struct request *r, long (*op)(struct request *r));
long answer(struct task_struct *task);
/* Both. */
long ask(struct device *d, long (*op)(struct request *r), struct request r);

/* Looking inside. */
unsigned int number_of(struct device *d);
struct vhost_worker *worker_of(struct device *d, unsigned int id);
struct task_struct *worker_task(struct vhost_worker *worker);
enum worker_fact {
	WORKER_ATTACHED,
	WORKER_KILLED,
};

unsigned int worker_says(struct device *d, unsigned int id, enum worker_fact fact);
unsigned int count_workers(struct device *d);
void kill_worker(struct device *d, unsigned int id);	/* returns when it ended */

/* A page of guest memory, which comes when somebody makes it come. */
struct page {
	struct shim_wait wait;
	bool present;
};

void page_init(struct page *page);
void page_come(struct page *page);
/* Wait for the page: 0, or -EFAULT if a fatal signal broke that off. */
int page_access(struct page *page);

/* A piece of work that counts its runs and may wait for a page. */
struct job {
	struct vhost_work work;
	unsigned int runs;
	struct page *page;		/* guest memory that it needs, or NULL */
	int fault;			/* what the access gave */
	bool lock;			/* hold vq->mutex meanwhile */
	bool waiting;
	bool requeue;
	struct vhost_virtqueue *vq;
	struct task_struct *ran_on;
};

void job_init(struct job *job, struct vhost_virtqueue *vq);
bool job_queue(struct job *job);
/* A job that occupies the worker of @vq until page is there. */
void job_block(struct job *job, struct vhost_virtqueue *vq, struct page *page);
/* The same, and it holds vq->mutex meanwhile. */
void job_block_locked(struct job *job, struct vhost_virtqueue *vq,
		      struct page *page);
unsigned int job_runs(struct job *job);

/*
 * A device of two virtqueues, which are not live; virtqueue 1 is on worker 1, and
 * @blocker occupies that.
 */
struct device *device_open_blocked(struct job *blocker, struct page *page);

/* Wait for a condition that another thread brings about; the watchdog bounds it. */
#define wait_until(cond) do {						\
	while (!(cond))							\
		shim_sleep_us(50);					\
} while (0)
/* Long enough for something wrong to happen, if it can. */
void settle(void);
/* Run fn(data) in another thread; join with shim_join(). */
struct task_struct *run(const char *name, int (*fn)(void *), void *data);

/* call.c: a call in another thread */
struct call {
	struct device *d;
	unsigned int vq, id;
	unsigned int flags;	/* PF_* that the caller has besides */
	bool begun, done;
};

/* What to call, for run() and the like; they return what it returned. */
int call_attach(void *call);
int call_free(void *call);
int call_flush(void *call);
int call_vq_lock(void *call);	/* and unlock */
int call_stop(void *call);
int call_release(void *call);	/* the last reference to the file goes */
/* Run a call that has to wait, and look whether it does; join with shim_join(). */
struct task_struct *call_start(struct call *call, int (*fn)(void *));

#endif
