// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl save - the map and the pinning of a device, as JSON for vhost-ctl restore
 */
#include <stdlib.h>

#include "command.h"
#include "cpus.h"
#include "find.h"
#include "plan.h"
#include "proc.h"
#include "saved.h"

/* The worker's CPUs, or NULL if it may run wherever the owner may: it was not pinned then. */
static char *pinning(const struct worker *worker, const struct dev *dev)
{
	char *owners = dev->owner_pid ? proc_cpus(dev->owner_pid) : NULL;
	struct cpus own, all;
	bool free_to_run;

	if (!worker->cpus)
		return NULL;
	free_to_run = owners && cpus_parse(owners, &all) && cpus_parse(worker->cpus, &own) &&
		      cpus_cover(&own, &all);
	free(owners);
	return free_to_run ? NULL : xasprintf("%s", worker->cpus);
}

static struct saved_worker *find_saved(struct saved *saved, uint32_t id)
{
	struct saved_worker *worker;

	for_each_row(worker, &saved->workers)
		if (worker->id == id)
			return worker;
	return NULL;
}

static int add_vq(const struct layout *layout, const struct vq *vq, struct saved *saved)
{
	const struct worker *worker = find_worker(&layout->workers, vq->worker_id);
	struct saved_worker *row = find_saved(saved, vq->worker_id);

	if (!record_has(&vq->rec, VHOST_A_VQ_WORKER_ID))
		return fail(EXIT_REFUSED, "virtqueue %u of device %u has no worker", vq->index,
			    layout->dev->id);
	if (!worker)
		return fail(EXIT_REFUSED, "the workers of device %u changed while they were read, "
			    "try again", layout->dev->id);
	if (!row) {
		row = rows_add(&saved->workers);
		row->id = worker->id;
		row->cpus = pinning(worker, layout->dev);
	}
	list_add(&row->vqs, vq->index);
	return 0;
}

static int save(struct nl *nl, void *arg)
{
	struct layout layout;
	struct saved saved;
	const struct vq *vq;
	int code = layout_get(nl, arg, &layout);

	saved_init(&saved);
	for_each_row(vq, &layout.vqs)
		if (!code)
			code = add_vq(&layout, vq, &saved);
	if (!code) {
		saved.backend = xasprintf("%s", layout.dev->backend ? layout.dev->backend : "");
		if (layout.dev->wwpn)
			saved.wwpn = xasprintf("%s", layout.dev->wwpn);
		code = saved_write(&saved);
	}
	saved_free(&saved);
	layout_free(&layout);
	return code;
}

static int save_run(struct args *args)
{
	const char *text;
	int code = arg_dev(args, &text);

	if (!code)
		code = args_end(args);
	return code ? code : nl_with(save, (void *)text);
}

static const char details[] =
	"    Which worker serves which virtqueue, and the CPUs of workers that do not run "
	"wherever\n    their owner may. Workers that serve nothing are left out. It is always "
	"JSON.\n\n"
	"    vhost-ctl save 3 >disk.map\n";

const struct command save_commands[] = {
	{ .name = "", .args = "DEV", .help = "Print the map and the pinning of a device.",
	  .details = details, .run = save_run },
	{ 0 },
};
