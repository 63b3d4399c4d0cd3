// SPDX-License-Identifier: GPL-2.0
/*
 * A small RCU of C atomics only, for ThreadSanitizer.
 *
 * Each thread has a counter, odd while it reads. A grace period looks at every
 * counter with a read-modify-write: a reader that begins after that look sees
 * all that was written before the grace period, and one that began before it
 * is waited for.
 */
#include <sched.h>
#include <shim.h>

#define READERS	128

static pthread_mutex_t readers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct task_struct *readers[READERS];

static void replace(struct task_struct *old, struct task_struct *new)
{
	unsigned int i;

	pthread_mutex_lock(&readers_lock);
	for (i = 0; readers[i] != old; i++)
		;
	readers[i] = new;
	pthread_mutex_unlock(&readers_lock);
}

void shim_rcu_register(struct task_struct *task)
{
	replace(NULL, task);
}

void shim_rcu_unregister(struct task_struct *task)
{
	replace(task, NULL);
}

void shim_rcu_lock(struct task_struct *task)
{
	__atomic_fetch_add(&task->rcu_seq, 1, __ATOMIC_SEQ_CST);
}

void shim_rcu_unlock(struct task_struct *task)
{
	__atomic_fetch_add(&task->rcu_seq, 1, __ATOMIC_RELEASE);
}

static void wait_for_reader(struct task_struct *task)
{
	unsigned long seq = __atomic_fetch_add(&task->rcu_seq, 0, __ATOMIC_SEQ_CST);

	if (!(seq & 1))
		return;
	while (__atomic_load_n(&task->rcu_seq, __ATOMIC_ACQUIRE) == seq)
		sched_yield();
}

void shim_rcu_synchronize(void)
{
	unsigned int i;

	pthread_mutex_lock(&readers_lock);
	for (i = 0; i < READERS; i++)
		if (readers[i])
			wait_for_reader(readers[i]);
	pthread_mutex_unlock(&readers_lock);
}
