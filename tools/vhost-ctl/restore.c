// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl restore - give a device the map and the pinning that save has printed
 *
 * What the guest notices comes last and at once: first the workers that lack are
 * made and pinned, then those that exist are pinned, then one request sets the
 * map. A failure on the way undoes what came before it.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "cpus.h"
#include "find.h"
#include "plan.h"
#include "proc.h"
#include "saved.h"
#include "workers.h"

enum {
	RESTORED_SAVED_ID,
	RESTORED_WORKER_ID,
	RESTORED_CPUS,
	RESTORED_VQS,
};

/* One worker of the file, and the one that takes its place. */
struct restored {
	struct record rec;
	uint32_t saved_id;
	uint32_t worker_id;	/* there unless it is to be made */
	char *cpus;		/* to be set, or NULL: leave it as it is */
	struct list vqs;
	bool is_new;
	char *old_cpus;		/* of a worker that exists, for undoing */
	bool pinned;		/* it was changed */
};

#define RESTORED(member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = RESTORED_##attr_, .kind = kind_, \
	  .offset = offsetof(struct restored, member_), .help = help_ }

static const struct field restored_fields[] = {
	RESTORED(saved_id, SAVED_ID, FIELD_U32, "number that the worker had when it was saved"),
	RESTORED(worker_id, WORKER_ID, FIELD_U32,
		 "worker in its place; none while it is to be made"),
	RESTORED(cpus, CPUS, FIELD_TEXT, "CPUs that are set, none if they are left as they are"),
	RESTORED(vqs, VQS, FIELD_LIST, "virtqueues that it gets"),
	{ .name = "old_cpus", .attr = RESTORED_VQS + 1, .kind = FIELD_TEXT, .internal = true,
	  .offset = offsetof(struct restored, old_cpus) },
	{ 0 },
};

static const struct object restored_object = {
	"workers", sizeof(struct restored), restored_fields,
};

static const struct view restored_view = {
	.object = &restored_object,
	.columns = "saved_id,worker_id,cpus,vqs",
};

struct restoration {
	const char *file;
	const char *dev;	/* DEV of the command line, or NULL */
	struct saved saved;
	struct layout layout;
	struct rows workers;	/* struct restored, in the order of saved.workers */
	uint32_t nr_new;
};

/* --- which worker is which */

static bool is_taken(const struct restoration *r, uint32_t id)
{
	const struct restored *worker;

	for_each_row(worker, &r->workers)
		if (record_has(&worker->rec, RESTORED_WORKER_ID) && worker->worker_id == id)
			return true;
	return false;
}

static void take(struct restored *restored, const struct worker *worker)
{
	restored->worker_id = worker->id;
	record_set(&restored->rec, RESTORED_WORKER_ID);
	restored->old_cpus = worker->cpus ? xasprintf("%s", worker->cpus) : NULL;
}

static bool is_usable(const struct worker *worker)
{
	return worker && !record_has(&worker->rec, VHOST_A_WORKER_KILLED);
}

/* The lowest number that lives and is not taken. */
static const struct worker *next_free(const struct restoration *r)
{
	const struct worker *worker, *next = NULL;

	for_each_row(worker, &r->layout.workers)
		if (is_usable(worker) && !is_taken(r, worker->id) &&
		    (!next || worker->id < next->id))
			next = worker;
	return next;
}

static void add_saved(struct restoration *r, const struct saved_worker *saved)
{
	struct restored *row = rows_add(&r->workers);

	row->saved_id = saved->id;
	record_set(&row->rec, RESTORED_SAVED_ID);
	for (size_t i = 0; i < saved->vqs.nr; i++)
		list_add(&row->vqs, saved->vqs.v[i]);
	record_set(&row->rec, RESTORED_VQS);
}

/* Those with the same number stand for each other, then the others by number, then new ones. */
static void match_workers(struct restoration *r)
{
	const struct saved_worker *saved;
	const struct worker *worker;
	struct restored *row;

	for_each_row(saved, &r->saved.workers)
		add_saved(r, saved);
	for_each_row(row, &r->workers) {
		worker = find_worker(&r->layout.workers, row->saved_id);
		if (is_usable(worker))
			take(row, worker);
	}
	for_each_row(row, &r->workers) {
		if (record_has(&row->rec, RESTORED_WORKER_ID))
			continue;
		worker = next_free(r);
		if (worker)
			take(row, worker);
		row->is_new = !worker;
		r->nr_new += row->is_new;
	}
}

/* The CPUs of a worker that is to run wherever its owner may, NULL if it does so already. */
static char *unpinned(const struct restoration *r, const struct restored *row)
{
	char *owners = row->old_cpus ? proc_cpus(r->layout.dev->owner_pid) : NULL;
	struct cpus all, own;

	if (owners && cpus_parse(owners, &all) && cpus_parse(row->old_cpus, &own) &&
	    !cpus_cover(&own, &all))
		return owners;
	free(owners);
	return NULL;
}

static void choose_cpus(struct restoration *r)
{
	const struct saved_worker *saved = r->saved.workers.data;
	struct restored *row;

	for_each_row(row, &r->workers) {
		row->cpus = saved->cpus ? xasprintf("%s", saved->cpus) : unpinned(r, row);
		if (row->cpus)
			record_set(&row->rec, RESTORED_CPUS);
		saved++;
	}
}

/* --- checks before anything is changed */

static int check_backend(const struct restoration *r)
{
	const char *backend = r->layout.dev->backend;

	if (backend && !strcmp(backend, r->saved.backend))
		return 0;
	return fail(EXIT_USAGE, "%s: backend: '%s' was saved, but device %u is '%s'", r->saved.file,
		    r->saved.backend, r->layout.dev->id, backend ? backend : "unknown");
}

static int check_vqs(const struct restoration *r, size_t index, const struct list *vqs)
{
	for (size_t i = 0; i < vqs->nr; i++)
		if (!layout_vq(&r->layout, vqs->v[i]))
			return fail(EXIT_USAGE, "%s: workers[%zu].vqs[%zu]: device %u has no "
				    "virtqueue %u, its last one is %zu", r->saved.file, index, i,
				    r->layout.dev->id, vqs->v[i], r->layout.vqs.nr - 1);
	return 0;
}

static int check_cpus(const struct restoration *r, size_t index, const struct restored *row)
{
	const struct worker *worker = find_worker(&r->layout.workers, row->worker_id);
	const char *command = running;
	char *place;
	struct cpus cpus;
	int code;

	if (!row->cpus || !cpus_parse(row->cpus, &cpus))
		return 0;
	place = xasprintf("%s: %s: workers[%zu].cpus", command, r->saved.file, index);
	running = place;
	code = cpus_check(&cpus);
	if (!code)
		code = cpus_allowed(&cpus, row->is_new || !worker ? r->layout.dev->owner_pid :
				    worker->tid);
	running = command;
	free(place);
	return code;
}

static int check(const struct restoration *r)
{
	const struct dev *dev = r->layout.dev;
	const struct restored *row;
	size_t index = 0;
	int code = check_backend(r);

	for_each_row(row, &r->workers) {
		if (!code)
			code = check_vqs(r, index, &row->vqs);
		if (!code)
			code = check_cpus(r, index, row);
		index++;
	}
	if (!code && (uint64_t)dev->workers + r->nr_new > dev->max_workers)
		code = fail(EXIT_REFUSED, "%s: workers: device %u has %u workers and may have %u: "
			    "it cannot get %u more", r->saved.file, dev->id, dev->workers,
			    dev->max_workers,
			    r->nr_new);
	return code;
}

/* --- doing it */

static int make_workers(struct nl *nl, struct restoration *r)
{
	struct list ids = { 0 };
	struct restored *row;
	size_t next = 0;
	int code;

	if (!r->nr_new)
		return 0;
	code = workers_make(nl, r->layout.dev->id, r->nr_new, NULL, &ids);
	for_each_row(row, &r->workers) {
		if (code || !row->is_new)
			continue;
		row->worker_id = ids.v[next++];
		record_set(&row->rec, RESTORED_WORKER_ID);
	}
	free(ids.v);
	return code;
}

static int pin(struct nl *nl, struct restoration *r, bool of_new)
{
	struct restored *row;
	struct cpus cpus;
	int code = 0;

	for_each_row(row, &r->workers) {
		if (code || row->is_new != of_new || !row->cpus || !cpus_parse(row->cpus, &cpus))
			continue;
		row->pinned = true;
		code = cpus_pin(nl, r->layout.dev->id, row->worker_id, &cpus);
	}
	return code;
}

static int set_map(struct nl *nl, const struct restoration *r)
{
	struct layout now = r->layout;
	const struct restored *row;
	struct plan plan;
	int code;

	/* The device is the same; its workers have become more. */
	code = get_workers(nl, r->layout.dev->id, &now.workers);
	plan_init(&plan);
	for_each_row(row, &r->workers)
		for (size_t i = 0; !code && i < row->vqs.nr; i++)
			code = plan_add_existing(&plan, &now, row->vqs.v[i], row->worker_id);
	if (!code)
		code = plan_send(nl, r->layout.dev->id, &plan);
	plan_free(&plan);
	rows_free(&now.workers);
	return code;
}

/*
 * Is the map set, although the kernel did not say so? It does that where a worker does not come to
 * the change in time.
 */
static bool is_in_force(struct nl *nl, const struct restoration *r)
{
	const struct restored *row;
	const struct vq *vq;
	struct rows vqs;
	bool in_force = !get_vqs(nl, r->layout.dev->id, &vqs);

	/* It is set as a whole, so that one virtqueue of each worker is enough. */
	for_each_row(row, &r->workers)
		for_each_row(vq, &vqs)
			if (vq->index == row->vqs.v[0] && vq->worker_id != row->worker_id)
				in_force = false;
	rows_free(&vqs);
	return in_force;
}

static void undo(struct nl *nl, const struct restoration *r)
{
	const struct restored *row;
	struct cpus cpus;
	int code = 0;

	for_each_row(row, &r->workers) {
		if (row->is_new && record_has(&row->rec, RESTORED_WORKER_ID))
			code |= worker_end(nl, r->layout.dev->id, row->worker_id);
		else if (row->pinned && row->old_cpus && cpus_parse(row->old_cpus, &cpus))
			code |= cpus_pin(nl, r->layout.dev->id, row->worker_id, &cpus);
	}
	if (code)
		warn("not all could be undone: see 'vhost-ctl worker show id:%u'",
		     r->layout.dev->id);
	else
		warn("nothing was changed");
}

static int apply(struct nl *nl, struct restoration *r)
{
	int code = make_workers(nl, r);

	if (!code)
		code = pin(nl, r, true);
	if (!code)
		code = pin(nl, r, false);
	if (code) {
		undo(nl, r);
		return code;
	}
	code = set_map(nl, r);
	if (code && !is_in_force(nl, r))
		undo(nl, r);
	return code;
}

/* --- the command */

static int restore_to(struct nl *nl, struct restoration *r)
{
	int code = layout_get(nl, r->dev ? r->dev : r->saved.wwpn, &r->layout);

	if (code)
		return code;
	match_workers(r);
	choose_cpus(r);
	code = check(r);
	if (!code && !opt.dry_run)
		code = apply(nl, r);
	if (!code && (opt.dry_run || opt.json || opt.columns))
		code = out_rows(&restored_view, &r->workers);
	return code;
}

static int restore(struct nl *nl, void *arg)
{
	struct restoration *r = arg;
	int code = restore_to(nl, r);

	layout_free(&r->layout);
	rows_free(&r->workers);
	return code;
}

static int read_words(struct args *args, struct restoration *r)
{
	int code = 0;

	r->file = "-";
	if (*args->words && strcmp(*args->words, "dev"))
		r->file = args_next(args);
	if (args_keyword(args, "dev"))
		code = arg_dev(args, &r->dev);
	return code ? code : args_end(args);
}

static int restore_run(struct args *args)
{
	struct restoration r = { .workers.object = &restored_object };
	int code = read_words(args, &r);

	if (code)
		return code;
	code = saved_read(r.file, &r.saved);
	if (!code && !r.dev && !r.saved.wwpn)
		code = usage("%s: wwpn: is null, say which device: dev DEV", r.saved.file);
	if (!code)
		code = nl_with(restore, &r);
	saved_free(&r.saved);
	return code;
}

static const char details[] =
	"    FILE is what save has printed, - or nothing stands for stdin. It goes to the device "
	"with\n    the wwpn that was saved, or to DEV. Workers with the same number stand for each "
	"other,\n    then the others by number; those that lack are made. The map is set at once; "
	"on any\n    failure what was done before is undone. --dry-run shows it only.\n"
	"\n"
	"    vhost-ctl restore disk.map\n"
	"    vhost-ctl save 3 | vhost-ctl restore dev 4\n";

const struct command restore_commands[] = {
	{ .name = "", .args = "[FILE] [dev DEV] [--dry-run]",
	  .help = "Apply a map and pinning that were saved.", .details = details,
	  .views = { &restored_view }, .dry_run = true, .run = restore_run },
	{ 0 },
};
