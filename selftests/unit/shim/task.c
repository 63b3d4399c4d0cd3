// SPDX-License-Identifier: GPL-2.0
/* Tasks: sleeping and waking, signals, kernel threads. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

_Thread_local struct task_struct *shim_current;

static struct shim_spin tasks_lock;
static struct task_struct *tasks;
static struct task_struct *unhashed;
static unsigned int ntasks;
static unsigned int nstructs;
static int next_pid = 100;
static unsigned long wakeups;

/* Life -------------------------------------------------------------------- */

/* Two references: the thread's and the caller's. */
static struct task_struct *new_task(const char *name, struct mm_struct *mm)
{
	struct task_struct *task = calloc(1, sizeof(*task));
	struct task_struct **p = &tasks;
	pthread_condattr_t attr;

	task->exited = calloc(1, sizeof(*task->exited));
	init_completion(task->exited);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&task->sleep_cond, &attr);
	pthread_mutex_init(&task->sleep_lock, NULL);
	snprintf(task->comm, sizeof(task->comm), "%s", name);
	task->mm = mm;
	task->process = mm;
	task->flags = mm ? 0 : PF_KTHREAD;
	task->refs = 2;
	task->pid = __atomic_fetch_add(&next_pid, 1, __ATOMIC_RELAXED);
	task->seed = task->pid;

	__atomic_fetch_add(&nstructs, 1, __ATOMIC_RELAXED);
	WRITE_ONCE(task->cpus_mask.bits, ~0UL);

	shim_spin_lock(&tasks_lock);
	if (mm && !mm->tgid)
		mm->tgid = task->pid;
	while (*p)
		p = &(*p)->next;
	*p = task;
	ntasks++;
	shim_spin_unlock(&tasks_lock);
	return task;
}

struct task_struct *get_task_struct(struct task_struct *task)
{
	if (__atomic_fetch_add(&task->refs, 1, __ATOMIC_RELAXED) <= 0)
		shim_bug("get_task_struct() of a dead task");
	return task;
}

void put_task_struct(struct task_struct *task)
{
	if (__atomic_sub_fetch(&task->refs, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_fetch_sub(&nstructs, 1, __ATOMIC_RELAXED);
	free(task->exited);
	free(task);
}

static void unlink_task(struct task_struct *task)
{
	struct task_struct **p;

	shim_spin_lock(&tasks_lock);
	for (p = &tasks; *p != task; p = &(*p)->next)
		;
	*p = task->next;
	ntasks--;
	task->next_unhashed = unhashed;
	unhashed = task;
	shim_spin_unlock(&tasks_lock);
}

struct task_struct *shim_take_unhashed(void)
{
	struct task_struct *taken;

	shim_spin_lock(&tasks_lock);
	taken = unhashed;
	unhashed = NULL;
	shim_spin_unlock(&tasks_lock);
	return taken;
}

void shim_put_unhashed(struct task_struct *task)
{
	struct task_struct *next;

	for (; task; task = next) {
		next = task->next_unhashed;
		put_task_struct(task);
	}
}

static struct task_struct *first_thread(struct task_struct *t, struct mm_struct *process)
{
	while (t && t->process != process)
		t = t->next;
	return t;
}

/* One that has left is the last, so that nobody follows where it led to. */
struct task_struct *shim_next_thread(struct task_struct *p, struct task_struct *t)
{
	struct task_struct *next;

	if (!shim_in_rcu_reader())
		shim_bug("threads are looked for outside a reader");
	shim_spin_lock(&tasks_lock);
	for (next = tasks; t && next && next != t; next = next->next)
		;
	if (t && next)
		next = next->next;
	next = first_thread(next, p->process);
	shim_spin_unlock(&tasks_lock);
	return next;
}

static void *thread(void *data)
{
	struct task_struct *task = data;

	shim_current = task;
	shim_rcu_register(task);
	WRITE_ONCE(task->waits_for, "its first wake-up");
	schedule();
	WRITE_ONCE(task->waits_for, NULL);

	task->result = READ_ONCE(task->should_stop) ? -EINTR : task->fn(task->data);

	if (task->nheld || task->rcu_nesting)
		shim_bug("%s ends with a lock held", task->comm);
	WRITE_ONCE(task->flags, task->flags | PF_EXITING);
	shim_rcu_unregister(task);
	complete(task->exited);
	/* Its own reference goes when no reader can have found it. */
	unlink_task(task);
	return NULL;
}

struct task_struct *shim_task_create(int (*fn)(void *), void *data,
				     const char *name, struct mm_struct *mm)
{
	struct task_struct *task = new_task(name, mm);
	pthread_attr_t attr;
	pthread_t id;

	task->fn = fn;
	task->data = data;
	task->state = TASK_UNINTERRUPTIBLE;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attr, thread, task))
		shim_bug("cannot make a thread");
	return task;
}

void shim_init(struct mm_struct *mm)
{
	shim_current = new_task("main", mm);
	shim_rcu_register(shim_current);
}

struct task_struct *shim_run(struct mm_struct *mm, const char *name,
			     int (*fn)(void *), void *data)
{
	struct task_struct *task = shim_task_create(fn, data, name, mm);

	wake_up_process(task);
	return task;
}

int shim_join(struct task_struct *task)
{
	int result;

	wait_for_completion(task->exited);
	result = task->result;
	put_task_struct(task);
	return result;
}

unsigned int shim_tasks(void)
{
	unsigned int n;

	shim_spin_lock(&tasks_lock);
	n = ntasks;
	shim_spin_unlock(&tasks_lock);
	return n;
}

unsigned int shim_task_structs(void)
{
	return READ_ONCE(nstructs);
}

/* What it shows is of the moment: other threads run on. */
__attribute__((no_sanitize_thread))
void shim_dump_tasks(void)
{
	struct task_struct *task;

	shim_spin_lock(&tasks_lock);
	for (task = tasks; task; task = task->next) {
		const char *what = READ_ONCE(task->waits_for);

		printf("#   %-16s state %#x pending %#x%s%s\n", task->comm,
		       READ_ONCE(task->state), READ_ONCE(task->pending.signal),
		       what ? ", waits for " : "", what ? what : "");
	}
	shim_spin_unlock(&tasks_lock);
}

/* Sleeping and waking ----------------------------------------------------- */

void shim_might_sleep(const char *what)
{
	if (current->rcu_nesting || current->no_sleep)
		shim_bug("%s where sleeping is not allowed", what);
}

static void deadline_in(struct timespec *ts, long ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += ms / 1000;
	ts->tv_nsec += ms % 1000 * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
}

bool shim_signal_ends_sleep(unsigned int state)
{
	if (state & TASK_INTERRUPTIBLE)
		return signal_pending(current);
	return state & TASK_WAKEKILL && fatal_signal_pending(current);
}

long schedule_timeout(long jiffies)
{
	struct task_struct *task = current;
	struct timespec deadline;
	int err = 0;

	shim_might_sleep("schedule()");
	shim_point(SHIM_SCHEDULE);
	if (shim_signal_ends_sleep(READ_ONCE(task->state))) {
		__set_current_state(TASK_RUNNING);
		return jiffies;
	}
	if (jiffies != MAX_SCHEDULE_TIMEOUT)
		deadline_in(&deadline, jiffies);

	pthread_mutex_lock(&task->sleep_lock);
	while (!err &&
	       __atomic_load_n(&task->state, __ATOMIC_ACQUIRE) != TASK_RUNNING) {
		if (jiffies == MAX_SCHEDULE_TIMEOUT)
			pthread_cond_wait(&task->sleep_cond, &task->sleep_lock);
		else
			err = pthread_cond_timedwait(&task->sleep_cond,
						     &task->sleep_lock, &deadline);
	}
	pthread_mutex_unlock(&task->sleep_lock);
	__set_current_state(TASK_RUNNING);
	/* What is left of the time does not matter to anybody here. */
	return err ? 0 : jiffies;
}

void schedule(void)
{
	schedule_timeout(MAX_SCHEDULE_TIMEOUT);
}

long schedule_timeout_uninterruptible(long jiffies)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(jiffies);
}

static bool wake_up_state(struct task_struct *task, unsigned int mask)
{
	/* A read-modify-write: fully ordered, see set_current_state(). */
	unsigned int state = __atomic_fetch_or(&task->state, 0, __ATOMIC_SEQ_CST);

	do {
		if (!(state & mask))
			return false;
	} while (!__atomic_compare_exchange_n(&task->state, &state, TASK_RUNNING,
					      false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	pthread_mutex_lock(&task->sleep_lock);
	pthread_cond_signal(&task->sleep_cond);
	pthread_mutex_unlock(&task->sleep_lock);
	return true;
}

bool wake_up_process(struct task_struct *task)
{
	shim_point(SHIM_WAKE);
	__atomic_fetch_add(&wakeups, 1, __ATOMIC_RELAXED);
	return wake_up_state(task, TASK_NORMAL);
}

unsigned long shim_wakeups(void)
{
	return READ_ONCE(wakeups);
}

void shim_sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/* Signals ----------------------------------------------------------------- */

bool signal_pending(struct task_struct *task)
{
	return __atomic_load_n(&task->pending.signal, __ATOMIC_SEQ_CST);
}

bool fatal_signal_pending(struct task_struct *task)
{
	return __atomic_load_n(&task->pending.signal, __ATOMIC_SEQ_CST) & (1U << SIGKILL);
}

void flush_signals(struct task_struct *task)
{
	__atomic_store_n(&task->pending.signal, 0, __ATOMIC_SEQ_CST);
}

void allow_kernel_signal(int sig)
{
	__atomic_fetch_or(&current->allowed, 1U << sig, __ATOMIC_RELAXED);
}

int send_sig(int sig, struct task_struct *task, int priv)
{
	unsigned int wakes = TASK_INTERRUPTIBLE;

	(void)priv;
	/* A kernel thread ignores what it did not ask for. */
	if (READ_ONCE(task->flags) & PF_KTHREAD &&
	    !(READ_ONCE(task->allowed) & (1U << sig)))
		return 0;
	if (sig == SIGKILL)
		wakes |= TASK_WAKEKILL;
	__atomic_fetch_or(&task->pending.signal, 1U << sig, __ATOMIC_SEQ_CST);
	wake_up_state(task, wakes);
	return 0;
}

void shim_kill(struct task_struct *task)
{
	send_sig(SIGKILL, task, 0);
}

void shim_kill_process(struct mm_struct *mm)
{
	struct task_struct *task;

	shim_spin_lock(&tasks_lock);
	for (task = tasks; task; task = task->next)
		if (task->process == mm)
			shim_kill(task);
	shim_spin_unlock(&tasks_lock);
}

/* Kernel threads ---------------------------------------------------------- */

struct task_struct *kthread_create(int (*fn)(void *), void *data,
				   const char *fmt, ...)
{
	char name[32];
	va_list args;
	int err;

	shim_might_sleep("kthread_create()");
	shim_point(SHIM_THREAD_CREATE);
	err = fatal_signal_pending(current) ? -EINTR : shim_thread_error(-ENOMEM);
	if (err)
		return ERR_PTR(err);

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	return shim_task_create(fn, data, name, NULL);
}

int kthread_stop(struct task_struct *task)
{
	shim_might_sleep("kthread_stop()");
	WRITE_ONCE(task->should_stop, true);
	wake_up_process(task);
	return shim_join(task);
}

bool kthread_should_stop(void)
{
	return READ_ONCE(current->should_stop);
}

void kthread_use_mm(struct mm_struct *mm)
{
	current->mm = mm;
}

void kthread_unuse_mm(struct mm_struct *mm)
{
	if (current->mm != mm)
		shim_bug("kthread_unuse_mm() of another mm");
	current->mm = NULL;
}

/* Pids -------------------------------------------------------------------- */

struct pid {
	refcount_t refs;
	struct mm_struct *process;
	int nr;
};

struct pid *get_task_pid(struct task_struct *task, enum pid_type type)
{
	struct pid *pid = calloc(1, sizeof(*pid));

	(void)type;
	shim_count_allocated(1);
	refcount_set(&pid->refs, 1);
	pid->process = task->process;
	pid->nr = pid->process->tgid;
	return pid;
}

void put_pid(struct pid *pid)
{
	if (!pid || !refcount_dec_and_test(&pid->refs))
		return;
	shim_count_allocated(-1);
	free(pid);
}

int pid_nr(struct pid *pid)
{
	return pid ? pid->nr : 0;
}

struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	struct task_struct *task;

	(void)type;
	if (!pid)
		return NULL;
	if (!shim_in_rcu_reader())
		shim_bug("a pid is looked up outside a reader");
	shim_spin_lock(&tasks_lock);
	task = first_thread(tasks, pid->process);
	shim_spin_unlock(&tasks_lock);
	return task;
}

/* Work queues ------------------------------------------------------------- */

static int work_fn(void *data)
{
	struct work_struct *work = data;

	work->func(work);
	return 0;
}

void queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	(void)wq;
	put_task_struct(shim_run(NULL, "kworker", work_fn, work));
}
