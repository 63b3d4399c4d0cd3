// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl stats - the counters of workers and virtqueues: totals, or rates over an interval
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "find.h"
#include "rates.h"

#define NS_PER_S	1000000000ULL
#define NS_PER_MS	1000000ULL
#define INTERVAL_MAX_S	86400

static const struct view worker_totals = {
	.object = &worker_object,
	.columns = "dev_id,id,tid,vqs,works,runs,wakeups,busy_ns,longest_run_ns",
	.title = "totals of workers",
};
static const struct view vq_totals = {
	.object = &vq_object,
	.columns = "dev_id,index,worker_id,kicks,works",
	.title = "totals of virtqueues",
};

struct stats {
	const char *dev;
	bool by_vq;
	uint64_t interval_ns;	/* 0: totals */
	uint32_t count;		/* samples, 0: without end */
};

static const struct view *view_of(const struct stats *stats)
{
	if (stats->interval_ns)
		return stats->by_vq ? &vq_rates_view : &worker_rates_view;
	return stats->by_vq ? &vq_totals : &worker_totals;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* The counters as they are, and when that was. */
static int take(struct nl *nl, const struct stats *stats, uint32_t dev_id, struct sample *sample)
{
	int code = stats->by_vq ? get_vqs(nl, dev_id, &sample->rows) :
		   get_workers(nl, dev_id, &sample->rows);

	sample->ns = now_ns();
	return code;
}

static int print_totals(struct nl *nl, const struct stats *stats)
{
	struct rows rows = { 0 };
	uint32_t dev_id;
	int code;

	if (stats->by_vq) {
		code = get_dev_id(nl, stats->dev, &dev_id);
		code = code ? code : get_vqs(nl, dev_id, &rows);
	} else {
		code = get_owned_workers(nl, stats->dev, &rows);
	}
	if (!code)
		code = out_rows(view_of(stats), &rows);
	rows_free(&rows);
	return code;
}

/* In a terminal each sample takes the place of the one before, else an empty line parts them. */
static int print_rates(const struct stats *stats, const struct sample *old,
		       const struct sample *new, bool first)
{
	bool live = !opt.json && isatty(STDOUT_FILENO);
	struct rows rates = { 0 };
	int code;

	if (live)
		fputs("\033[H\033[J", stdout);
	else if (!opt.json && !first)
		putchar('\n');
	if (stats->by_vq)
		vq_rates(old, new, &rates);
	else
		worker_rates(old, new, &rates);
	code = out_sample(view_of(stats), &rates, live || first);
	rows_free(&rates);
	return code;
}

static int follow(struct nl *nl, const struct stats *stats, uint32_t dev_id)
{
	struct sample old = { 0 }, new = { 0 };
	int code = take(nl, stats, dev_id, &old);
	uint64_t next = old.ns;

	for (uint32_t i = 0; !code && (!stats->count || i < stats->count); i++) {
		next += stats->interval_ns;
		sleep_until(next);
		code = take(nl, stats, dev_id, &new);
		if (!code)
			code = print_rates(stats, &old, &new, !i);
		rows_free(&old.rows);
		old = new;
		new = (struct sample){ 0 };
	}
	rows_free(&old.rows);
	return code;
}

static int show(struct nl *nl, void *arg)
{
	const struct stats *stats = arg;
	uint32_t dev_id;
	int code;

	if (!stats->interval_ns)
		return print_totals(nl, stats);
	code = get_dev_id(nl, stats->dev, &dev_id);
	return code ? code : follow(nl, stats, dev_id);
}

/* --- arguments */

/* Seconds with up to three decimals. */
static bool parse_seconds(const char *text, uint64_t *ns)
{
	const char *point = strchr(text, '.');
	char whole[16], decimals[4] = "000";
	uint32_t seconds, ms = 0;

	if (!point)
		point = text + strlen(text);
	if (point - text >= (int)sizeof(whole))
		return false;
	snprintf(whole, sizeof(whole), "%.*s", (int)(point - text), text);
	if (!parse_u32(whole, &seconds) || seconds > INTERVAL_MAX_S)
		return false;
	if (*point) {
		if (!point[1] || strlen(point + 1) >= sizeof(decimals))
			return false;
		memcpy(decimals, point + 1, strlen(point + 1));
		if (!parse_u32(decimals, &ms))
			return false;
	}
	*ns = seconds * NS_PER_S + ms * NS_PER_MS;
	return *ns;
}

static int read_interval(struct args *args, struct stats *stats)
{
	const char *text;
	int code = args_need(args, "the number after 'interval'", &text);

	if (code)
		return code;
	if (!parse_seconds(text, &stats->interval_ns))
		return usage("interval '%s' is not a number of seconds from 0.001 to %d", text,
			     INTERVAL_MAX_S);
	if (!args_keyword(args, "count"))
		return 0;
	code = args_need(args, "the number after 'count'", &text);
	if (code)
		return code;
	if (!parse_u32(text, &stats->count) || !stats->count)
		return usage("count '%s' is not a number of samples", text);
	return 0;
}

static bool is_keyword(const char *word)
{
	return !word || !strcmp(word, "by") || !strcmp(word, "interval");
}

static int read_by(struct args *args, struct stats *stats)
{
	if (!args_keyword(args, "by"))
		return 0;
	stats->by_vq = args_keyword(args, "vq");
	if (stats->by_vq || args_keyword(args, "worker"))
		return 0;
	return usage("'worker' or 'vq' must follow 'by'");
}

static int stats_show(struct args *args)
{
	struct stats stats = { 0 };
	int code = is_keyword(*args->words) ? 0 : arg_dev(args, &stats.dev);

	if (!code)
		code = read_by(args, &stats);
	if (!code && args_keyword(args, "interval"))
		code = read_interval(args, &stats);
	if (!code)
		code = args_end(args);
	if (!code)
		code = out_check(view_of(&stats));
	return code ? code : nl_with(show, &stats);
}

static const char details[] =
	"    In a terminal the rates of one interval take the place of those before. Otherwise,\n"
	"    and with -j, they follow them; with -j as one object a line. Virtqueues that are not\n"
	"    in use have no rates.\n";

const struct command stats_commands[] = {
	{ .name = "show", .args = "[DEV] [by { worker | vq }] [interval SECONDS [count N]]",
	  .help = "Print counters: totals, or rates over each interval.",
	  .details = details,
	  .views = { &worker_totals, &vq_totals, &worker_rates_view, &vq_rates_view },
	  .run = stats_show },
	{ 0 },
};
