// SPDX-License-Identifier: GPL-2.0
/*
 * Which virtqueue of a device goes to which worker, and doing so at once.
 */
#include <stdlib.h>

#include "find.h"
#include "plan.h"

#define STEP(member_, attr_, help_) \
	{ .name = #member_, .attr = STEP_##attr_, .kind = FIELD_U32, \
	  .offset = offsetof(struct step, member_), .help = help_ }

static const struct field step_fields[] = {
	STEP(vq, VQ, "number of the virtqueue"),
	STEP(old_worker_id, OLD_WORKER_ID, "worker that serves it before"),
	STEP(worker_id, WORKER_ID, "worker that serves it then; none while it is to be made"),
	STEP(new_worker, NEW_WORKER, "which of the workers made for this map that is, from 0"),
	{ 0 },
};

const struct object step_object = { "map", sizeof(struct step), step_fields };

/* --- layout */

/* Everything of the device; fails if it is not whole. */
static int layout_fill(struct nl *nl, struct layout *layout)
{
	const struct vq *vq;
	uint32_t index = 0;
	int code;

	layout->dev = layout->devs.data;
	code = get_workers(nl, layout->dev->id, &layout->workers);
	if (!code)
		code = get_vqs(nl, layout->dev->id, &layout->vqs);
	if (code)
		return code;
	for_each_row(vq, &layout->vqs)
		if (vq->index != index++)
			return fail(EXIT_REFUSED, "the kernel tells nothing of virtqueue %u",
				    index - 1);
	return 0;
}

int layout_get(struct nl *nl, const char *text, struct layout *layout)
{
	int code;

	*layout = (struct layout){
		.devs.object = &dev_object,
		.workers.object = &worker_object,
		.vqs.object = &vq_object,
	};
	code = get_dev(nl, text, &layout->devs);
	return code ? code : layout_fill(nl, layout);
}

void layout_free(struct layout *layout)
{
	rows_free(&layout->devs);
	rows_free(&layout->workers);
	rows_free(&layout->vqs);
}

const struct vq *layout_vq(const struct layout *layout, uint32_t index)
{
	return index < layout->vqs.nr ? (const struct vq *)layout->vqs.data + index : NULL;
}

/* --- plan */

void plan_init(struct plan *plan)
{
	*plan = (struct plan){ .steps.object = &step_object };
}

void plan_free(struct plan *plan)
{
	rows_free(&plan->steps);
}

static int add_step(struct plan *plan, const struct layout *layout, uint32_t index,
		    struct step **added)
{
	const struct vq *vq = layout_vq(layout, index);
	struct step *step;

	if (!vq)
		return fail(EXIT_USAGE, "device %u has no virtqueue %u, its last one is %zu",
			    layout->dev->id, index, layout->vqs.nr - 1);
	for_each_row(step, &plan->steps)
		if (step->vq == index)
			return fail(EXIT_USAGE, "virtqueue %u is named twice", index);
	step = rows_add(&plan->steps);
	step->vq = index;
	record_set(&step->rec, STEP_VQ);
	if (record_has(&vq->rec, VHOST_A_VQ_WORKER_ID)) {
		step->old_worker_id = vq->worker_id;
		record_set(&step->rec, STEP_OLD_WORKER_ID);
	}
	*added = step;
	return 0;
}

int plan_add_existing(struct plan *plan, const struct layout *layout, uint32_t vq, uint32_t worker)
{
	struct step *step;
	int code;

	if (!find_worker(&layout->workers, worker))
		return fail(EXIT_USAGE, "device %u has no worker %u: see 'vhost-ctl worker show'",
			    layout->dev->id, worker);
	code = add_step(plan, layout, vq, &step);
	if (code)
		return code;
	step->worker_id = worker;
	record_set(&step->rec, STEP_WORKER_ID);
	return 0;
}

int plan_add_new(struct plan *plan, const struct layout *layout, uint32_t vq, uint32_t new_worker)
{
	struct step *step;
	int code = add_step(plan, layout, vq, &step);

	if (code)
		return code;
	step->new_worker = new_worker;
	record_set(&step->rec, STEP_NEW_WORKER);
	if (new_worker >= plan->nr_new)
		plan->nr_new = new_worker + 1;
	return 0;
}

int plan_check(const struct plan *plan, const struct layout *layout)
{
	const struct dev *dev = layout->dev;
	const struct worker *worker;
	const struct step *step;

	if (plan->nr_new && (uint64_t)plan->nr_new + dev->workers > dev->max_workers)
		return fail(EXIT_REFUSED, "device %u has workers: %u, may have: %u, would get: %u",
			    dev->id, dev->workers, dev->max_workers, plan->nr_new);
	for_each_row(step, &plan->steps) {
		worker = find_worker(&layout->workers, step->worker_id);
		if (record_has(&step->rec, STEP_WORKER_ID) && worker &&
		    record_has(&worker->rec, VHOST_A_WORKER_KILLED))
			return fail(EXIT_REFUSED, "the process of worker %u was killed",
				    worker->id);
	}
	return 0;
}

static struct nlmsghdr *map_request(struct nl *nl, uint32_t dev_id, const struct plan *plan)
{
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_MAP_SET);
	const struct step *step;
	struct nlattr *nest;

	nl_put_u32(nlh, VHOST_A_MAP_DEV_ID, dev_id);
	for_each_row(step, &plan->steps) {
		nest = nl_nest_start(nlh, VHOST_A_MAP_ENTRY);
		nl_put_u32(nlh, VHOST_A_ENTRY_VQ, step->vq);
		if (record_has(&step->rec, STEP_NEW_WORKER))
			nl_put_u32(nlh, VHOST_A_ENTRY_NEW_WORKER, step->new_worker);
		else
			nl_put_u32(nlh, VHOST_A_ENTRY_WORKER_ID, step->worker_id);
		nl_nest_end(nlh, nest);
	}
	return nlh;
}

int plan_send(struct nl *nl, uint32_t dev_id, struct plan *plan)
{
	struct rows reply = { .object = &map_object };
	int code = nl_do(nl, map_request(nl, dev_id, plan), &reply);
	const struct list none = { 0 }, *ids = &none;
	struct step *step;

	if (reply.nr)
		ids = &((const struct map *)reply.data)->new_id;
	if (!code && ids->nr != plan->nr_new)
		code = fail(EXIT_REFUSED, "the kernel made %zu workers, not %u", ids->nr,
			    plan->nr_new);
	for_each_row(step, &plan->steps) {
		if (code || !record_has(&step->rec, STEP_NEW_WORKER))
			continue;
		step->worker_id = ids->v[step->new_worker];
		record_set(&step->rec, STEP_WORKER_ID);
	}
	rows_free(&reply);
	return code;
}
