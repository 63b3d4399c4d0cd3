// SPDX-License-Identifier: GPL-2.0
/* Everything that can fail, and making it fail. */
#include <stdlib.h>
#include <string.h>
#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <shim.h>

static long countdown;
static bool fired;
static int thread_error;
static int cgroup_error;
static long allocated;

void shim_fail_nth(long n)
{
	WRITE_ONCE(fired, false);
	WRITE_ONCE(countdown, n);
}

bool shim_fail_fired(void)
{
	return READ_ONCE(fired);
}

bool shim_should_fail(void)
{
	if (READ_ONCE(countdown) <= 0 ||
	    __atomic_sub_fetch(&countdown, 1, __ATOMIC_RELAXED))
		return false;
	WRITE_ONCE(fired, true);
	return true;
}

void shim_fail_thread(int err)
{
	WRITE_ONCE(thread_error, err);
}

void shim_fail_cgroup(int err)
{
	WRITE_ONCE(cgroup_error, err);
}

int shim_thread_error(int by_default)
{
	int err = READ_ONCE(thread_error);

	return !err && shim_should_fail() ? by_default : err;
}

int cgroup_attach_task_all(struct task_struct *from, struct task_struct *task)
{
	int err = READ_ONCE(cgroup_error);

	if (!err && shim_should_fail())
		return -ENOMEM;
	if (!err)
		WRITE_ONCE(task->cgroups_of, from->process);
	return err;
}

static struct mm_struct *charged_mm(void)
{
	return (struct mm_struct *)current->active_memcg ?: current->mm;
}

static void charge(void)
{
	struct mm_struct *mm = charged_mm();

	if (mm)
		__atomic_fetch_add(&mm->charged, 1, __ATOMIC_RELAXED);
}

void shim_count_allocated(int change)
{
	__atomic_fetch_add(&allocated, change, __ATOMIC_RELAXED);
}

void *kzalloc(size_t size, unsigned int gfp)
{
	shim_might_sleep("kzalloc()");
	if (shim_should_fail())
		return NULL;
	if (gfp & GFP_KERNEL_ACCOUNT)
		charge();
	shim_count_allocated(1);
	return calloc(1, size);
}

void *kmalloc(size_t size, unsigned int gfp)
{
	struct mm_struct *mm = charged_mm();

	shim_might_sleep("kmalloc()");
	if (gfp & GFP_KERNEL_ACCOUNT && mm && mm->is_full)
		return NULL;
	shim_count_allocated(1);
	return malloc(size);
}

void kfree(void *ptr)
{
	if (ptr)
		shim_count_allocated(-1);
	free(ptr);
}

long shim_allocated(void)
{
	return READ_ONCE(allocated);
}

unsigned long copy_from_user(void *to, const void __user *from, size_t n)
{
	shim_might_sleep("copy_from_user()");
	shim_point(SHIM_COPY_FROM_USER);
	if (from == SHIM_BAD_USER || shim_should_fail())
		return n;
	memcpy(to, from, n);
	return 0;
}

unsigned long copy_to_user(void __user *to, const void *from, size_t n)
{
	shim_might_sleep("copy_to_user()");
	shim_point(SHIM_COPY_TO_USER);
	if (to == SHIM_BAD_USER || shim_should_fail())
		return n;
	memcpy(to, from, n);
	return 0;
}
