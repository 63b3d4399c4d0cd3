// SPDX-License-Identifier: GPL-2.0
/* Mutexes, completions, and the order in which locks are taken. */
#include <string.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>

#define CLASSES	16

static struct shim_spin class_lock;
static const char *class_name[CLASSES] = {
	[SHIM_CLASS_COMPLETION] = "completion",
	[SHIM_CLASS_GRACE_PERIOD] = "grace period",
};
static bool class_order[CLASSES][CLASSES];

int shim_class(const char *name)
{
	int i;

	shim_spin_lock(&class_lock);
	for (i = 0; i < CLASSES && class_name[i]; i++)
		if (!strcmp(class_name[i], name))
			break;
	if (i == CLASSES)
		shim_bug("too many lock classes");
	if (!class_name[i])
		WRITE_ONCE(class_name[i], name);
	shim_spin_unlock(&class_lock);
	return i;
}

/* Remember that @class was taken after what is held; two orders are a fault. */
void shim_acquire(int class)
{
	unsigned int i;

	for (i = 0; i < current->nheld; i++) {
		int held = current->held[i];

		WRITE_ONCE(class_order[held][class], true);
		if (READ_ONCE(class_order[class][held]))
			shim_bug("lock order: %s taken under %s, and the other way round",
				 class_name[class], class_name[held]);
	}
}

bool shim_ordered(const char *a, const char *b)
{
	return READ_ONCE(class_order[shim_class(a)][shim_class(b)]);
}

static void push_held(struct mutex *m)
{
	if (current->nheld == SHIM_HELD_MAX)
		shim_bug("too many locks held");
	current->held[current->nheld++] = m->class;
}

static void pop_held(struct mutex *m)
{
	unsigned int i = current->nheld;

	while (i && current->held[i - 1] != m->class)
		i--;
	if (!i)
		shim_bug("%s is not held by who unlocks it", class_name[m->class]);
	for (; i < current->nheld; i++)
		current->held[i - 1] = current->held[i];
	current->nheld--;
}

void shim_mutex_init(struct mutex *m, const char *name)
{
	shim_wait_init(&m->wait);
	m->owner = NULL;
	m->class = shim_class(name);
}

static bool take_mutex(void *obj)
{
	struct mutex *m = obj;

	if (READ_ONCE(m->owner))
		return false;
	WRITE_ONCE(m->owner, current);
	return true;
}

static int lock(struct mutex *m, unsigned int state)
{
	const char *name = READ_ONCE(class_name[m->class]);
	int err;

	shim_might_sleep(name);
	shim_point(SHIM_LOCK);
	if (lockdep_is_held(m))
		shim_bug("%s is locked twice", name);
	shim_acquire(m->class);
	err = shim_wait_for(&m->wait, take_mutex, m, state,
			    MAX_SCHEDULE_TIMEOUT, name);
	if (!err)
		push_held(m);
	return err;
}

void mutex_lock(struct mutex *m)
{
	lock(m, TASK_UNINTERRUPTIBLE);
}

int mutex_lock_killable(struct mutex *m)
{
	return lock(m, TASK_KILLABLE);
}

bool mutex_trylock(struct mutex *m)
{
	bool taken;

	shim_might_sleep("mutex_trylock()");
	shim_spin_lock(&m->wait.lock);
	taken = take_mutex(m);
	shim_spin_unlock(&m->wait.lock);
	if (taken)
		push_held(m);
	return taken;
}

void mutex_unlock(struct mutex *m)
{
	if (!lockdep_is_held(m))
		shim_bug("%s is unlocked by another task", class_name[m->class]);
	pop_held(m);
	shim_spin_lock(&m->wait.lock);
	WRITE_ONCE(m->owner, NULL);
	shim_wake_all(&m->wait);
	shim_spin_unlock(&m->wait.lock);
	shim_point(SHIM_UNLOCKED);
}

void init_completion(struct completion *c)
{
	shim_wait_init(&c->wait);
	c->done = 0;
}

static void add_completions(struct completion *c, unsigned int n)
{
	shim_spin_lock(&c->wait.lock);
	c->done = n > UINT_MAX - c->done ? UINT_MAX : c->done + n;
	shim_wake_all(&c->wait);
	shim_spin_unlock(&c->wait.lock);
}

void complete(struct completion *c)
{
	add_completions(c, 1);
}

void complete_all(struct completion *c)
{
	add_completions(c, SHIM_DONE_FOR_ALL);
}

static bool take_completion(void *obj)
{
	struct completion *c = obj;

	if (!c->done)
		return false;
	if (c->done != SHIM_DONE_FOR_ALL)
		c->done--;
	return true;
}

static int wait(struct completion *c, unsigned int state, long timeout)
{
	int err;

	if (timeout < 0)
		shim_bug("a timeout of %ld", timeout);
	shim_might_sleep("completion");
	shim_acquire(SHIM_CLASS_COMPLETION);
	err = shim_wait_for(&c->wait, take_completion, c, state, timeout,
			    "completion");
	if (err)
		shim_point(SHIM_WAIT_ENDED);
	return err;
}

void wait_for_completion(struct completion *c)
{
	wait(c, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
}

int wait_for_completion_killable(struct completion *c)
{
	return wait(c, TASK_KILLABLE, MAX_SCHEDULE_TIMEOUT);
}

unsigned long wait_for_completion_timeout(struct completion *c,
					  unsigned long jiffies)
{
	return !wait(c, TASK_UNINTERRUPTIBLE, jiffies);
}

long wait_for_completion_killable_timeout(struct completion *c,
					  unsigned long jiffies)
{
	int err = wait(c, TASK_KILLABLE, jiffies);

	return err == -ETIME ? 0 : err ?: 1;
}
