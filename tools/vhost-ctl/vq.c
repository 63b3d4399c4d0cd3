// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl vq - the virtqueues of the devices, and which worker serves them
 */
#include "command.h"
#include "find.h"

static const struct view vq_view = {
	.object = &vq_object,
	.columns = "dev_id,index,worker_id,used,kicks,works",
};

static int show(struct nl *nl, void *arg)
{
	struct rows vqs = { .object = &vq_object };
	uint32_t dev_id;
	int code = get_dev_id(nl, arg, &dev_id);

	if (!code)
		code = get_vqs(nl, dev_id, &vqs);
	if (!code)
		code = out_rows(&vq_view, &vqs);
	rows_free(&vqs);
	return code;
}

static int vq_show(struct args *args)
{
	const char *text;
	int code = arg_optional_dev(args, &text);

	if (!code)
		code = args_end(args);
	return code ? code : nl_with(show, (void *)text);
}

struct assignment {
	const char *dev;
	uint32_t vq, worker;
};

static int set(struct nl *nl, void *arg)
{
	const struct assignment *wanted = arg;
	struct nlmsghdr *nlh;
	uint32_t dev_id;
	int code = get_dev_id(nl, wanted->dev, &dev_id);

	if (code)
		return code;
	nlh = nl_request(nl, VHOST_CMD_VQ_SET);
	nl_put_u32(nlh, VHOST_A_VQ_DEV_ID, dev_id);
	nl_put_u32(nlh, VHOST_A_VQ_INDEX, wanted->vq);
	nl_put_u32(nlh, VHOST_A_VQ_WORKER_ID, wanted->worker);
	return nl_do(nl, nlh, NULL);
}

static int vq_set(struct args *args)
{
	struct assignment wanted;
	const char *vq, *worker;
	int code = arg_dev(args, &wanted.dev);

	if (!code)
		code = args_need(args, "VQ", &vq);
	if (!code)
		code = arg_u32(vq, "VQ", &wanted.vq);
	if (!code)
		code = args_need(args, "WORKER", &worker);
	if (!code)
		code = arg_worker(worker, &wanted.worker);
	if (!code)
		code = args_end(args);
	return code ? code : nl_with(set, &wanted);
}

const struct command vq_commands[] = {
	{ .name = "show", .args = "[DEV]", .help = "List the virtqueues of all devices, or of one.",
	  .views = { &vq_view }, .run = vq_show },
	{ .name = "set", .args = "DEV VQ WORKER", .help = "Give a virtqueue to another worker.",
	  .details = "    To give away several at once, all or none: vhost-ctl attach.\n",
	  .run = vq_set },
	{ 0 },
};
