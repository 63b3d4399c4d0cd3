// SPDX-License-Identifier: GPL-2.0
/*
 * The requests that make and end workers.
 */
#include <stdlib.h>

#include "args.h"
#include "objects.h"
#include "workers.h"

static struct nlmsghdr *new_request(struct nl *nl, uint32_t dev_id, uint32_t count,
				    const struct cpus *cpus)
{
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_WORKER_NEW);
	char *text;

	nl_put_u32(nlh, VHOST_A_WORKER_DEV_ID, dev_id);
	nl_put_u32(nlh, VHOST_A_WORKER_COUNT, count);
	if (cpus) {
		text = cpus_text(cpus);
		nl_put_text(nlh, VHOST_A_WORKER_CPUS, text);
		free(text);
	}
	return nlh;
}

int workers_make(struct nl *nl, uint32_t dev_id, uint32_t count, const struct cpus *cpus,
		 struct list *ids)
{
	struct rows reply = { .object = &worker_object };
	const struct list *made;
	int code = nl_do(nl, new_request(nl, dev_id, count, cpus), &reply);

	made = reply.nr == 1 ? &((const struct worker *)reply.data)->new_id : NULL;
	if (!code && (!made || made->nr != count))
		code = fail(EXIT_REFUSED, "the kernel does not tell which workers it made");
	for (size_t i = 0; !code && i < made->nr; i++)
		list_add(ids, made->v[i]);
	rows_free(&reply);
	return code;
}

int worker_end(struct nl *nl, uint32_t dev_id, uint32_t id)
{
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_WORKER_DEL);

	nl_put_u32(nlh, VHOST_A_WORKER_DEV_ID, dev_id);
	nl_put_u32(nlh, VHOST_A_WORKER_ID, id);
	return nl_do(nl, nlh, NULL);
}
