// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl dev - the vhost devices that have an owner
 */
#include "command.h"
#include "find.h"
#include "proc.h"

static const struct view dev_view = {
	.object = &dev_object,
	.columns = "id,backend,owner_pid,owner_comm,thread_kind,vqs_used,workers,max_workers,wwpn",
};

/* What can be known without the kernel's help. */
static const struct view proc_view = {
	.object = &dev_object,
	.columns = "backend,owner_pid,owner_comm,thread_kind,workers",
	.partial = true,
};

static int get(struct nl *nl, const char *text, struct rows *devs)
{
	if (!nl)
		return proc_devs(text, devs);
	return text ? get_dev(nl, text, devs) : get_devs(nl, devs);
}

static int show(struct nl *nl, void *arg)
{
	struct rows devs = { .object = &dev_object };
	int code = get(nl, arg, &devs);

	if (!code)
		code = out_rows(nl ? &dev_view : &proc_view, &devs);
	rows_free(&devs);
	return code;
}

static int dev_show(struct args *args)
{
	const char *text;
	int code = arg_optional_dev(args, &text);

	if (!code)
		code = args_end(args);
	return code ? code : nl_with_or_without(show, (void *)text);
}

const struct command dev_commands[] = {
	{ .name = "show", .args = "[DEV]", .help = "List the devices, or one of them.",
	  .views = { &dev_view }, .run = dev_show },
	{ 0 },
};
