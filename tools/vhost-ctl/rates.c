// SPDX-License-Identifier: GPL-2.0
/*
 * What happened per second between two samples of the counters.
 */
#include "objects.h"
#include "rates.h"

#define NS_PER_S 1e9

enum {
	RATE_DEV_ID,
	RATE_ID,
	RATE_TID,
	RATE_VQS,
	RATE_BUSY_PERCENT,
	RATE_WORKS_PER_S,
	RATE_RUNS_PER_S,
	RATE_WAKEUPS_PER_S,
	RATE_LONGEST_RUN_NS,
	RATE_INDEX,
	RATE_WORKER_ID,
	RATE_KICKS_PER_S,
};

#define BITS(first_, last_) ((2ULL << (last_)) - (1ULL << (first_)))

struct worker_rate {
	struct record rec;
	uint32_t dev_id;
	uint32_t id;
	uint32_t tid;
	struct list vqs;
	double busy_percent;
	double works_per_s;
	double runs_per_s;
	double wakeups_per_s;
	uint64_t longest_run_ns;
};

#define FIELD(struct_, member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = RATE_##attr_, .kind = kind_, \
	  .offset = offsetof(struct struct_, member_), .help = help_ }

static const struct field worker_rate_fields[] = {
	FIELD(worker_rate, dev_id, DEV_ID, FIELD_U32, "number of the device"),
	FIELD(worker_rate, id, ID, FIELD_U32, "number of the worker in its device"),
	FIELD(worker_rate, tid, TID, FIELD_U32, "its thread, 0 if not visible or not running yet"),
	FIELD(worker_rate, vqs, VQS, FIELD_LIST, "virtqueues that it serves"),
	FIELD(worker_rate, busy_percent, BUSY_PERCENT, FIELD_REAL,
	      "share of the time that runs took; one run counts when it ends"),
	FIELD(worker_rate, works_per_s, WORKS_PER_S, FIELD_REAL, "pieces of work per second"),
	FIELD(worker_rate, runs_per_s, RUNS_PER_S, FIELD_REAL,
	      "how often a second it emptied its list of work"),
	FIELD(worker_rate, wakeups_per_s, WAKEUPS_PER_S, FIELD_REAL,
	      "how often a second it found work after it had slept"),
	FIELD(worker_rate, longest_run_ns, LONGEST_RUN_NS, FIELD_U64,
	      "longest run since the worker was made, in nanoseconds"),
	{ 0 },
};

struct vq_rate {
	struct record rec;
	uint32_t dev_id;
	uint32_t index;
	uint32_t worker_id;
	double kicks_per_s;
	double works_per_s;
};

static const struct field vq_rate_fields[] = {
	FIELD(vq_rate, dev_id, DEV_ID, FIELD_U32, "number of the device"),
	FIELD(vq_rate, index, INDEX, FIELD_U32, "number of the virtqueue in its device"),
	FIELD(vq_rate, worker_id, WORKER_ID, FIELD_U32,
	      "worker that serves it, if any"),
	FIELD(vq_rate, kicks_per_s, KICKS_PER_S, FIELD_REAL, "guest's kicks per second"),
	FIELD(vq_rate, works_per_s, WORKS_PER_S, FIELD_REAL, "pieces of work queued per second"),
	{ 0 },
};

static const struct object worker_rate_object = {
	"workers", sizeof(struct worker_rate), worker_rate_fields
};

static const struct object vq_rate_object = { "vqs", sizeof(struct vq_rate), vq_rate_fields };

const struct view worker_rates_view = {
	.object = &worker_rate_object,
	.columns = "dev_id,id,tid,vqs,busy_percent,works_per_s,runs_per_s,wakeups_per_s,"
		   "longest_run_ns",
	.title = "rates of workers",
};
const struct view vq_rates_view = {
	.object = &vq_rate_object,
	.columns = "dev_id,index,worker_id,kicks_per_s,works_per_s",
	.title = "rates of virtqueues",
};

/* A counter that is smaller than it was belongs to a successor with the same number. */
static double rate(uint64_t old, uint64_t new, double seconds)
{
	return (new >= old ? new - old : new) / seconds;
}

static double seconds_between(const struct sample *old, const struct sample *new)
{
	return (new->ns - old->ns) / NS_PER_S;
}

/* Samples list the same in the same order, but for a few: look first behind the last one found. */
static const struct worker *old_worker(const struct rows *rows, const struct worker *new,
				       size_t *at)
{
	const struct worker *workers = rows->data;

	for (size_t i = 0; i < rows->nr; i++, ++*at) {
		const struct worker *old = &workers[*at % rows->nr];

		if (old->dev_id == new->dev_id && old->id == new->id)
			return old;
	}
	return NULL;
}

static const struct vq *old_vq(const struct rows *rows, const struct vq *new, size_t *at)
{
	const struct vq *vqs = rows->data;

	for (size_t i = 0; i < rows->nr; i++, ++*at) {
		const struct vq *old = &vqs[*at % rows->nr];

		if (old->dev_id == new->dev_id && old->index == new->index)
			return old;
	}
	return NULL;
}

void worker_rates(const struct sample *old, const struct sample *new, struct rows *rates)
{
	double seconds = seconds_between(old, new);
	const struct worker *was, *is;
	struct worker_rate *out;
	size_t at = 0;

	rates->object = &worker_rate_object;
	for_each_row(is, &new->rows) {
		was = old_worker(&old->rows, is, &at);
		if (!was)
			continue;
		out = rows_add(rates);
		out->rec.has = BITS(RATE_DEV_ID, RATE_LONGEST_RUN_NS);
		out->dev_id = is->dev_id;
		out->id = is->id;
		out->tid = is->tid;
		for (size_t i = 0; i < is->vqs.nr; i++)
			list_add(&out->vqs, is->vqs.v[i]);
		out->busy_percent = 100 * rate(was->busy_ns, is->busy_ns, seconds) / NS_PER_S;
		out->works_per_s = rate(was->works, is->works, seconds);
		out->runs_per_s = rate(was->runs, is->runs, seconds);
		out->wakeups_per_s = rate(was->wakeups, is->wakeups, seconds);
		out->longest_run_ns = is->longest_run_ns;
	}
}

void vq_rates(const struct sample *old, const struct sample *new, struct rows *rates)
{
	double seconds = seconds_between(old, new);
	const struct vq *was, *is;
	struct vq_rate *out;
	size_t at = 0;

	rates->object = &vq_rate_object;
	for_each_row(is, &new->rows) {
		was = old_vq(&old->rows, is, &at);
		if (!was || !record_has(&is->rec, VHOST_A_VQ_USED))
			continue;
		out = rows_add(rates);
		out->rec.has = 1ULL << RATE_DEV_ID | 1ULL << RATE_INDEX | 1ULL << RATE_KICKS_PER_S |
			       1ULL << RATE_WORKS_PER_S;
		if (record_has(&is->rec, VHOST_A_VQ_WORKER_ID))
			record_set(&out->rec, RATE_WORKER_ID);
		out->dev_id = is->dev_id;
		out->index = is->index;
		out->worker_id = is->worker_id;
		out->kicks_per_s = rate(was->kicks, is->kicks, seconds);
		out->works_per_s = rate(was->works, is->works, seconds);
	}
}
