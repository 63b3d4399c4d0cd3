// SPDX-License-Identifier: GPL-2.0
/*
 * The words that say which virtqueues go to which workers: reading them, and
 * making a plan of them for a device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "map.h"

#define SCSI_FIRST_REQUEST_VQ 2

/* --- reading */

void ranges_free(struct vq_ranges *ranges)
{
	free(ranges->v);
	*ranges = (struct vq_ranges){ 0 };
}

/* Read one range, which ends at @end, of the argument @whole. */
static int parse_vqs(const char *text, const char *end, const char *whole,
		     struct vq_ranges *ranges)
{
	struct vq_range range = { 0 };

	if (end - text == strlen("all") && !strncmp(text, "all", strlen("all")))
		range.all = true;
	else if (!parse_range(text, end, &range.first, &range.last, &range.open_end))
		return usage("'%.*s' in '%s' is neither a virtqueue nor a range, 2, 2-5, 2- or all",
			     (int)(end - text), text, whole);
	ranges->v = xrealloc(ranges->v, ranges->nr + 1, sizeof(*ranges->v));
	ranges->v[ranges->nr++] = range;
	return 0;
}

int vqs_parse(const char *text, struct vq_ranges *ranges)
{
	const char *whole = text;

	*ranges = (struct vq_ranges){ 0 };
	for (;;) {
		const char *end = strchrnul(text, ',');
		int code = parse_vqs(text, end, whole, ranges);

		if (code || !*end)
			return code;
		text = end + 1;
	}
}

/* Read a target, which ends at @end, of the argument @whole. */
static int parse_target(const char *text, const char *end, const char *whole,
			struct target *target)
{
	bool is_new = end - text >= (int)strlen("new") && !strncmp(text, "new", strlen("new"));
	const char *number = text;
	uint32_t same;

	if (is_new && end - text == strlen("new")) {
		target->kind = TARGET_NEW_EACH;
		return 0;
	}
	target->kind = is_new ? TARGET_NEW_SHARED : TARGET_WORKER;
	if (is_new)
		number += strlen("new");
	else if (*text == 'w')
		number++;
	if (!memchr(number, '-', end - number) &&
	    parse_range(number, end, &target->number, &same, NULL))
		return 0;
	return usage("'%.*s' in '%s' is not a worker: w3 or 3, or new, new1, new2...",
		     (int)(end - text), text, whole);
}

/* Read up to the next '=' and the target behind it. @text moves behind both. */
static int parse_item(const char **text, const char *whole, struct vq_ranges *ranges)
{
	size_t begin = ranges->nr;
	struct target target;
	const char *end;
	int code;

	do {
		end = *text + strcspn(*text, ",=");
		code = parse_vqs(*text, end, whole, ranges);
		if (code)
			return code;
		if (!*end)
			return usage("'%s' in '%s' lacks its worker: write VQS=WORKER",
				     *text, whole);
		*text = end + 1;
	} while (*end != '=');
	end = strchrnul(*text, ',');
	code = parse_target(*text, end, whole, &target);
	for (size_t i = begin; i < ranges->nr; i++)
		ranges->v[i].target = target;
	*text = end;
	return code;
}

int map_parse(const char *text, struct vq_ranges *ranges)
{
	const char *whole = text;

	*ranges = (struct vq_ranges){ 0 };
	for (;;) {
		int code = parse_item(&text, whole, ranges);

		if (code || !*text)
			return code;
		text++;
	}
}

/* --- which virtqueues of a device a range is */

static bool in_use(const struct vq *vq)
{
	return record_has(&vq->rec, VHOST_A_VQ_USED);
}

/* Call @fn for each virtqueue of the range until it fails. */
typedef int vq_fn(uint32_t vq, const struct target *target, void *arg);

static int for_used(const struct vq_range *range, const struct layout *layout, vq_fn *fn, void *arg)
{
	const struct vq *vq;
	bool any = false;
	int code = 0;

	for_each_row(vq, &layout->vqs) {
		if (code || vq->index < range->first || !in_use(vq))
			continue;
		any = true;
		code = fn(vq->index, &range->target, arg);
	}
	if (!any)
		return fail(EXIT_USAGE, "no virtqueue of device %u is in use", layout->dev->id);
	return code;
}

/* The last virtqueue of the range. */
static int range_end(const struct vq_range *range, const struct layout *layout, uint32_t *last)
{
	const struct vq *vq;
	bool any = false;

	*last = range->last;
	if (range->open_end) {
		for_each_row(vq, &layout->vqs) {
			if (!in_use(vq) || vq->index < range->first)
				continue;
			*last = vq->index;
			any = true;
		}
		if (!any)
			return fail(EXIT_USAGE, "no virtqueue of device %u from %u on is in use",
				    layout->dev->id, range->first);
	}
	if (*last < layout->vqs.nr)
		return 0;
	return fail(EXIT_USAGE, "device %u has no virtqueue %u, its last one is %zd",
		    layout->dev->id, *last, (ssize_t)layout->vqs.nr - 1);
}

static int for_range(const struct vq_range *range, const struct layout *layout, vq_fn *fn,
		     void *arg)
{
	uint32_t last;
	int code;

	if (range->all)
		return for_used(range, layout, fn, arg);
	code = range_end(range, layout, &last);
	for (uint32_t vq = range->first; !code && vq <= last; vq++)
		code = fn(vq, &range->target, arg);
	return code;
}

static int for_ranges(const struct vq_ranges *ranges, const struct layout *layout, vq_fn *fn,
		      void *arg)
{
	int code = 0;

	for (size_t i = 0; i < ranges->nr && !code; i++)
		code = for_range(&ranges->v[i], layout, fn, arg);
	return code;
}

/* --- map */

struct mapper {
	const struct layout *layout;
	struct plan *plan;
	struct list shared;	/* numbers K of newK that were met */
	struct list shared_new;	/* which new worker each of them is */
};

/* Which new worker newK is. */
static uint32_t shared_worker(struct mapper *mapper, uint32_t number)
{
	for (size_t i = 0; i < mapper->shared.nr; i++)
		if (mapper->shared.v[i] == number)
			return mapper->shared_new.v[i];
	list_add(&mapper->shared, number);
	list_add(&mapper->shared_new, mapper->plan->nr_new);
	return mapper->plan->nr_new;
}

static int map_vq(uint32_t vq, const struct target *target, void *arg)
{
	struct mapper *mapper = arg;
	struct plan *plan = mapper->plan;

	switch (target->kind) {
	case TARGET_NEW_EACH:
		return plan_add_new(plan, mapper->layout, vq, plan->nr_new);
	case TARGET_NEW_SHARED:
		return plan_add_new(plan, mapper->layout, vq,
				    shared_worker(mapper, target->number));
	default:
		return plan_add_existing(plan, mapper->layout, vq, target->number);
	}
}

int map_plan(const struct vq_ranges *ranges, const struct layout *layout, struct plan *plan)
{
	struct mapper mapper = { .layout = layout, .plan = plan };
	int code = for_ranges(ranges, layout, map_vq, &mapper);

	free(mapper.shared.v);
	free(mapper.shared_new.v);
	return code;
}

/* --- spread */

struct spreader {
	const struct layout *layout;
	struct plan *plan;
	struct list existing;	/* workers that may be used, by number */
	uint32_t count;
	uint32_t next;		/* how many virtqueues were placed */
};

static int spread_vq(uint32_t vq, const struct target *target, void *arg)
{
	struct spreader *spreader = arg;
	uint32_t turn = spreader->next++ % spreader->count;
	size_t existing = spreader->existing.nr;

	(void)target;
	if (turn < existing)
		return plan_add_existing(spreader->plan, spreader->layout, vq,
					 spreader->existing.v[turn]);
	return plan_add_new(spreader->plan, spreader->layout, vq, turn - existing);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The workers that live, by number; those beyond the first @count are not needed. */
static struct list living_workers(const struct layout *layout, uint32_t count)
{
	const struct worker *worker;
	struct list living = { 0 };

	for_each_row(worker, &layout->workers)
		if (!record_has(&worker->rec, VHOST_A_WORKER_KILLED))
			list_add(&living, worker->id);
	if (living.nr)
		qsort(living.v, living.nr, sizeof(*living.v), compare_u32);
	if (living.nr > count)
		living.nr = count;
	return living;
}

int map_spread(const struct vq_ranges *ranges, uint32_t count, const struct layout *layout,
	       struct plan *plan)
{
	bool is_scsi = layout->dev->backend && !strcmp(layout->dev->backend, "scsi");
	struct vq_range used = { .all = true, .first = is_scsi ? SCSI_FIRST_REQUEST_VQ : 0 };
	struct vq_ranges defaults = { &used, 1 };
	struct spreader spreader = {
		.layout = layout,
		.plan = plan,
		.existing = living_workers(layout, count),
		.count = count,
	};
	int code = for_ranges(ranges->nr ? ranges : &defaults, layout, spread_vq, &spreader);

	free(spreader.existing.v);
	if (!code && spreader.next < count)
		return fail(EXIT_USAGE, "%u virtqueues do not need %u workers", spreader.next,
			    count);
	return code;
}
