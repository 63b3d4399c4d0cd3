// SPDX-License-Identifier: GPL-2.0
/* Points at which a test steps in, tracepoint counts, and the end by a fault. */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <shim.h>

#define TRACES	8

_Thread_local unsigned long *shim_last_word;
_Thread_local bool shim_mb_before;

void (*shim_hook)(enum shim_point point);
unsigned int shim_perturb;

static struct {
	const char *name;
	unsigned long hits;
} traces[TRACES] = {
	{ .name = "vhost_worker_create" },
	{ .name = "vhost_worker_free" },
	{ .name = "vhost_worker_kill" },
	{ .name = "vhost_worker_run" },
	{ .name = "vhost_vq_attach" },
};

void shim_set_hook(void (*hook)(enum shim_point point))
{
	WRITE_ONCE(shim_hook, hook);
}

static void delay(void)
{
	unsigned int r = rand_r(&shim_current->seed);

	if (r % 1000 >= READ_ONCE(shim_perturb))
		return;
	r = rand_r(&shim_current->seed);
	if (r & 3)
		sched_yield();
	else
		shim_sleep_us(r / 4 % 50);
}

void shim_point(enum shim_point point)
{
	void (*hook)(enum shim_point point) = READ_ONCE(shim_hook);

	if (hook)
		hook(point);
	if (READ_ONCE(shim_perturb))
		delay();
}

static unsigned long *trace_hits(const char *name)
{
	unsigned int i;

	for (i = 0; i < TRACES && traces[i].name; i++)
		if (!strcmp(traces[i].name, name))
			return &traces[i].hits;
	shim_bug("unknown tracepoint %s", name);
}

void shim_trace(const char *name)
{
	__atomic_fetch_add(trace_hits(name), 1, __ATOMIC_RELAXED);
	shim_point(SHIM_TRACE);
}

unsigned long shim_traced(const char *name)
{
	return READ_ONCE(*trace_hits(name));
}

void shim_bug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# fault: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	shim_dump_tasks();
	fflush(stdout);
	_exit(3);
}
