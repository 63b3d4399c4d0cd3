// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl policy - how devices get their workers if nobody chooses them
 */
#include <string.h>

#include "command.h"
#include "nl.h"
#include "objects.h"

static const struct view policy_view = {
	.object = &policy_object,
	.columns = "kind,count",
};

static int show(struct nl *nl, void *arg)
{
	struct rows policies = { .object = &policy_object };
	int code = nl_do(nl, nl_request(nl, VHOST_CMD_POLICY_GET), &policies);

	(void)arg;
	if (!code)
		code = out_rows(&policy_view, &policies);
	rows_free(&policies);
	return code;
}

static int policy_show(struct args *args)
{
	int code = args_end(args);

	return code ? code : nl_with(show, NULL);
}

static int set(struct nl *nl, void *arg)
{
	const struct policy *wanted = arg;
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_POLICY_SET);

	nl_put_u32(nlh, VHOST_A_POLICY_KIND, wanted->kind);
	if (wanted->kind == VHOST_POLICY_KIND_COUNT)
		nl_put_u32(nlh, VHOST_A_POLICY_COUNT, wanted->count);
	return nl_do(nl, nlh, NULL);
}

/* A word of a kind that has no number, or a number. */
static int read_policy(const char *text, struct policy *policy)
{
	for (policy->kind = 0; policy->kind < VHOST_POLICY_KIND_COUNT; policy->kind++)
		if (!strcmp(text, policy_kind_name(policy->kind)))
			return 0;
	if (parse_u32(text, &policy->count) && policy->count)
		return 0;
	return usage("'%s' is not single, per-vq, per-cpu or a number of workers", text);
}

static int policy_set(struct args *args)
{
	struct policy wanted = { .count = 0 };
	const char *text;
	int code = args_need(args, "the policy", &text);

	if (!code)
		code = read_policy(text, &wanted);
	if (!code)
		code = args_end(args);
	return code ? code : nl_with(set, &wanted);
}

static const char set_details[] =
	"    single   one worker\n"
	"    per-vq   one for each virtqueue that carries data\n"
	"    per-cpu  as many as CPUs are online\n"
	"    N        so many\n"
	"\n"
	"    It acts when a virtqueue comes into use, on devices whose workers neither the owner nor\n"
	"    an administrator has chosen, and changes no map that is there. Unloading the vhost module\n"
	"    forgets it: its parameter default_workers is the same.\n";

const struct command policy_commands[] = {
	{ .name = "show", .args = "", .help = "Show the default policy of the host.",
	  .views = { &policy_view }, .run = policy_show },
	{ .name = "set", .args = "{ single | per-vq | per-cpu | N }",
	  .help = "Set how many workers a device gets if nobody chooses them.",
	  .details = set_details, .run = policy_set },
	{ 0 },
};
