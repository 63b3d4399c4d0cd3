// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl dev - the vhost devices that have an owner
 */
#include "command.h"
#include "find.h"

static const struct view dev_view = {
	&dev_object, "id,backend,owner_pid,owner_comm,thread_kind,vqs_used,workers,max_workers,wwpn"
};

static int show_devs(struct nl *nl, const char *text)
{
	struct rows devs = { .object = &dev_object };
	int code = text ? get_dev(nl, text, &devs) : get_devs(nl, &devs);

	if (!code)
		code = out_rows(&dev_view, &devs);
	rows_free(&devs);
	return code;
}

static int dev_show(struct args *args)
{
	const char *text = args_next(args);
	struct nl nl;
	int code = args_end(args);

	if (!code)
		code = nl_open(&nl);
	if (code)
		return code;
	code = show_devs(&nl, text);
	nl_close(&nl);
	return code;
}

const struct command dev_commands[] = {
	{ .name = "show", .args = "[DEV]", .help = "List the devices, or one of them.",
	  .view = &dev_view, .run = dev_show },
	{ 0 },
};
