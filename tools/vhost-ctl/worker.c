// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl worker - the workers of the devices: list, make, pin, end
 */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "cpus.h"
#include "find.h"
#include "proc.h"
#include "workers.h"

static const struct view worker_view = {
	.object = &worker_object,
	.columns = "dev_id,id,tid,thread_kind,cpus,vqs,killed",
};

/* What can be known without the kernel's help. */
static const struct view proc_view = {
	.object = &worker_object,
	.columns = "tid,thread_kind,cpus,owner_pid,owner_comm",
	.partial = true,
};

static int show(struct nl *nl, void *arg)
{
	struct rows workers = { .object = &worker_object };
	int code = nl ? get_owned_workers(nl, arg, &workers) : proc_workers(arg, &workers);

	if (!code)
		code = out_rows(nl ? &worker_view : &proc_view, &workers);
	rows_free(&workers);
	return code;
}

static int worker_show(struct args *args)
{
	const char *text;
	int code = arg_optional_dev(args, &text);

	if (!code)
		code = args_end(args);
	return code ? code : nl_with_or_without(show, (void *)text);
}

/* --- add */

struct addition {
	const char *dev;
	uint32_t count;
	bool pinned;
	struct cpus cpus;
};

static int read_count(struct args *args, struct addition *addition)
{
	const char *text;
	int code;

	addition->count = 1;
	if (!args_keyword(args, "count"))
		return 0;
	code = args_need(args, "the number after 'count'", &text);
	if (code)
		return code;
	if (!parse_u32(text, &addition->count) || !addition->count)
		return usage("count '%s' is not a number of workers", text);
	return 0;
}

static int read_cpus(struct args *args, struct cpus *cpus)
{
	const char *text;
	int code = args_need(args, "the list after 'cpus'", &text);

	return code ? code : arg_cpus(text, cpus);
}

/* Only the numbers, one a line, for scripts; what -j or -o ask for instead of them. */
static int print_new(struct nl *nl, const struct rows *dev, const struct list *ids)
{
	struct rows workers = { .object = &worker_object };
	uint32_t dev_id = ((const struct dev *)dev->data)->id;
	int code = 0;

	for (size_t i = 0; i < ids->nr && !code; i++) {
		if (!opt.json && !opt.columns)
			printf("%u\n", ids->v[i]);
		else
			code = get_worker(nl, dev_id, ids->v[i], &workers);
	}
	name_owners(&workers, dev);
	if (!code && (opt.json || opt.columns))
		code = out_rows(&worker_view, &workers);
	rows_free(&workers);
	return code ? code : out_flush();
}

static int make(struct nl *nl, const struct rows *dev, const struct addition *addition)
{
	const struct cpus *cpus = addition->pinned ? &addition->cpus : NULL;
	uint32_t dev_id = ((const struct dev *)dev->data)->id;
	struct list ids = { 0 };
	int code = workers_make(nl, dev_id, addition->count, cpus, &ids);

	if (!code)
		code = print_new(nl, dev, &ids);
	for (size_t i = 0; cpus && i < ids.nr && !code; i++)
		code = cpus_verify(nl, dev_id, ids.v[i], cpus);
	free(ids.v);
	return code;
}

static int add(struct nl *nl, void *arg)
{
	const struct addition *addition = arg;
	struct rows rows = { .object = &dev_object };
	const struct dev *dev;
	int code = get_dev(nl, addition->dev, &rows);

	dev = rows.data;
	/* The new threads will be where the owner is. */
	if (!code && addition->pinned)
		code = cpus_allowed(&addition->cpus, dev->owner_pid);
	if (!code)
		code = make(nl, &rows, addition);
	rows_free(&rows);
	return code;
}

static int worker_add(struct args *args)
{
	struct addition addition;
	int code = arg_dev(args, &addition.dev);

	if (!code)
		code = read_count(args, &addition);
	addition.pinned = !code && args_keyword(args, "cpus");
	if (addition.pinned)
		code = read_cpus(args, &addition.cpus);
	if (!code)
		code = args_end(args);
	return code ? code : nl_with(add, &addition);
}

/* --- set */

struct pinning {
	const char *dev;
	uint32_t worker;
	struct cpus cpus;
};

static int pin(struct nl *nl, void *arg)
{
	const struct pinning *pinning = arg;
	struct rows workers = { .object = &worker_object };
	const struct worker *worker;
	uint32_t dev_id;
	int code = get_dev_id(nl, pinning->dev, &dev_id);

	if (!code)
		code = get_worker(nl, dev_id, pinning->worker, &workers);
	worker = workers.data;
	if (!code && worker)
		code = cpus_allowed(&pinning->cpus, worker->tid);
	if (!code)
		code = cpus_pin(nl, dev_id, pinning->worker, &pinning->cpus);
	rows_free(&workers);
	return code;
}

static int worker_set(struct args *args)
{
	struct pinning pinning;
	const char *worker;
	int code = arg_dev(args, &pinning.dev);

	if (!code)
		code = args_need(args, "WORKER", &worker);
	if (!code)
		code = arg_worker(worker, &pinning.worker);
	if (!code && !args_keyword(args, "cpus"))
		code = usage("'cpus' is missing, what to set");
	if (!code)
		code = read_cpus(args, &pinning.cpus);
	if (!code)
		code = args_end(args);
	return code ? code : nl_with(pin, &pinning);
}

/* --- del */

struct removal {
	const char *dev;
	bool unused;
	uint32_t worker;
};

static int del_unused(struct nl *nl, uint32_t dev_id)
{
	struct rows workers = { .object = &worker_object };
	const struct worker *worker;
	int code = get_workers(nl, dev_id, &workers);

	for_each_row(worker, &workers)
		if (!code && !worker->vqs.nr)
			code = worker_end(nl, dev_id, worker->id);
	rows_free(&workers);
	return code;
}

static int del(struct nl *nl, void *arg)
{
	const struct removal *removal = arg;
	uint32_t dev_id;
	int code = get_dev_id(nl, removal->dev, &dev_id);

	if (code)
		return code;
	return removal->unused ? del_unused(nl, dev_id) : worker_end(nl, dev_id, removal->worker);
}

static int worker_del(struct args *args)
{
	struct removal removal;
	const char *worker;
	int code = arg_dev(args, &removal.dev);

	removal.unused = !code && args_keyword(args, "unused");
	if (!code && !removal.unused)
		code = args_need(args, "WORKER or 'unused'", &worker);
	if (!code && !removal.unused)
		code = arg_worker(worker, &removal.worker);
	if (!code)
		code = args_end(args);
	return code ? code : nl_with(del, &removal);
}

static const char add_details[] =
	"    They live with the owner of the device, and serve nothing until a virtqueue is given to\n"
	"    them. Unless CPUs are named they may run where the owner may.\n";

const struct command worker_commands[] = {
	{ .name = "show", .args = "[DEV]", .help = "List the workers of all devices, or of one.",
	  .views = { &worker_view }, .run = worker_show },
	{ .name = "add", .args = "DEV [count N] [cpus LIST]",
	  .help = "Make workers, all or none, and print their numbers.",
	  .details = add_details,
	  .views = { &worker_view }, .run = worker_add },
	{ .name = "set", .args = "DEV WORKER cpus LIST",
	  .help = "Let a worker run on these CPUs only, for example 0-3,8.", .run = worker_set },
	{ .name = "del", .args = "DEV { WORKER | unused }",
	  .help = "End a worker that serves no virtqueue, or all of those.", .run = worker_del },
	{ 0 },
};
