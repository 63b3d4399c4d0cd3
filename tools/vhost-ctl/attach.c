// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl attach - give virtqueues of a device to workers: a whole map at once, all or nothing
 */
#include <stdio.h>

#include "command.h"
#include "find.h"
#include "map.h"

static const struct view step_view = {
	.object = &step_object,
	.columns = "vq,old_worker_id,worker_id,new_worker",
};

struct attachment {
	const char *dev;
	uint32_t spread;	/* over how many workers, or 0: as the ranges say */
	struct vq_ranges ranges;
};

static int make_plan(const struct attachment *attachment, const struct layout *layout,
		     struct plan *plan)
{
	if (attachment->spread)
		return map_spread(&attachment->ranges, attachment->spread, layout, plan);
	return map_plan(&attachment->ranges, layout, plan);
}

static int attach(struct nl *nl, void *arg)
{
	const struct attachment *attachment = arg;
	struct layout layout;
	struct plan plan;
	int code;

	plan_init(&plan);
	code = layout_get(nl, attachment->dev, &layout);
	if (!code)
		code = make_plan(attachment, &layout, &plan);
	if (!code)
		code = opt.dry_run ? plan_check(&plan, &layout) :
		       plan_send(nl, layout.dev->id, &plan);
	if (!code && (opt.dry_run || opt.json || opt.columns))
		code = out_rows(&step_view, &plan.steps);
	plan_free(&plan);
	layout_free(&layout);
	return code;
}

static int read_spread(struct args *args, struct attachment *attachment)
{
	const char *text;
	int code = args_need(args, "the number after 'spread'", &text);

	if (code)
		return code;
	if (!parse_u32(text, &attachment->spread) || !attachment->spread)
		return usage("spread '%s' is not a number of workers", text);
	if (!args_keyword(args, "vqs"))
		return 0;
	code = args_need(args, "the list after 'vqs'", &text);
	return code ? code : vqs_parse(text, &attachment->ranges);
}

static int read_map(struct args *args, struct attachment *attachment)
{
	const char *text;
	int code;

	if (args_keyword(args, "spread"))
		return read_spread(args, attachment);
	code = args_need(args, "MAP", &text);
	return code ? code : map_parse(text, &attachment->ranges);
}

static int attach_run(struct args *args)
{
	struct attachment attachment = { 0 };
	int code = arg_dev(args, &attachment.dev);

	if (!code)
		code = read_map(args, &attachment);
	if (!code)
		code = args_end(args);
	if (!code)
		code = nl_with(attach, &attachment);
	ranges_free(&attachment.ranges);
	return code;
}

static const char details[] =
	"    MAP is VQS=WORKER[,VQS=WORKER]...\n"
	"    VQS     2, 2-5, 2- (up to the last one in use), all (those in use), or a list: 0,2-5\n"
	"    WORKER  w3 or 3   a worker that exists\n"
	"            new       a new worker for each of these virtqueues\n"
	"            new1      one new worker for all that name new1; so new2, new3...\n"
	"    spread N          the virtqueues in turn to N workers: those that exist, by number, then\n"
	"                      new ones. Without VQS: those in use, not scsi's control and event queue.\n"
	"    All is done at once or nothing is, while the guest runs. --dry-run shows the map only.\n"
	"\n"
	"    vhost-ctl attach 3 2-5=new,6=w1\n"
	"    vhost-ctl attach pid:4711 spread 4\n"
	"    vhost-ctl attach naa.5001405b0f5d4b0a all=w0 --dry-run\n";

const struct command attach_commands[] = {
	{ .name = "", .args = "DEV { MAP | spread N [vqs VQS] } [--dry-run]",
	  .help = "Give virtqueues to workers, a whole map at once.", .details = details,
	  .views = { &step_view }, .dry_run = true, .run = attach_run },
	{ 0 },
};
