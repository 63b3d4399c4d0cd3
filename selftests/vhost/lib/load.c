// SPDX-License-Identifier: GPL-2.0
/*
 * load.c - the asynchronous load: shape, threads, figures
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "load_priv.h"

#define SEGMENTS	3	/* descriptors of a request without an indirect table */

static unsigned int ring_fits(const struct load_opts *opts)
{
	const struct gvq *vq = opts->dev->io[opts->first_queue].vq;

	return vq->indirect ? vq->num : vq->num / SEGMENTS;
}

/* The rest of the LUN, asked from it. */
static int fill_region(struct load_opts *opts)
{
	uint64_t blocks;
	uint32_t size;
	int err;

	if (opts->lba_count)
		return 0;
	err = vscsi_read_capacity(opts->dev, opts->first_queue, opts->lun, &blocks, &size);
	if (err)
		return err;
	if (size != LOAD_BLOCK || blocks <= opts->lba)
		return guest_fail(EINVAL, "LUN %u has %llu blocks of %u bytes", opts->lun,
				  (unsigned long long)blocks, size);
	opts->lba_count = blocks - opts->lba;
	return 0;
}

static int fill_defaults(struct load_opts *opts)
{
	unsigned int fits;

	if (opts->first_queue >= opts->dev->queues)
		return guest_fail(EINVAL, "load on I/O queue %u of %u", opts->first_queue,
				  opts->dev->queues);
	fits = ring_fits(opts);
	opts->queues = opts->queues ?: opts->dev->queues - opts->first_queue;
	opts->threads = opts->threads ?: opts->queues;
	opts->depth = opts->depth ?: (fits < 32 ? fits : 32);
	opts->batch = opts->batch ?: 1;
	opts->blocks = opts->blocks ?: 8;
	opts->stall_ms = opts->stall_ms ?: guest_patience(10000);
	opts->generation = opts->generation ?: 1;
	if (opts->first_queue + opts->queues > opts->dev->queues ||
	    opts->threads > opts->queues || opts->batch > opts->depth)
		return guest_fail(EINVAL, "load of %u queues, %u threads, depth %u, batch %u",
				  opts->queues, opts->threads, opts->depth, opts->batch);
	if (opts->depth > fits)
		return guest_fail(EINVAL, "depth %u, but the ring holds %u requests", opts->depth,
				  fits);
	return fill_region(opts);
}

static bool serves(const struct load_thread *thread, unsigned int i)
{
	return i % thread->load->nr_threads == thread->number;
}

static bool pump_all(struct load_thread *thread, uint64_t now_ns, bool *active)
{
	struct load *load = thread->load;
	bool any = false;
	unsigned int i;

	*active = false;
	for (i = 0; i < load->nr_queues; i++) {
		if (!serves(thread, i) || load->queues[i].done)
			continue;
		any |= load_queue_pump(&load->queues[i], now_ns);
		*active |= !load->queues[i].done;
	}
	return any;
}

/*
 * Ask all queues for a call; the number of descriptors to sleep on, 0 when there is work already.
 */
static unsigned int arm_all(struct load_thread *thread, struct pollfd *pfds,
			    struct load_queue **queues)
{
	struct load *load = thread->load;
	bool work = false;
	unsigned int i, n = 0;

	for (i = 0; i < load->nr_queues; i++) {
		struct load_queue *q = &load->queues[i];

		if (!serves(thread, i) || q->done)
			continue;
		work |= gvq_arm(q->queue->vq);
		pfds[n] = (struct pollfd){ .fd = q->queue->vq->call_fd, .events = POLLIN };
		queues[n++] = q;
	}
	return work ? 0 : n;
}

static int sleep_limit_ms(const struct load *load, uint64_t now_ns)
{
	uint64_t left_ms;

	if (!load->deadline_ns || now_ns >= load->deadline_ns)
		return LOAD_STEP_MS;
	left_ms = (load->deadline_ns - now_ns) / 1000000 + 1;
	return left_ms < LOAD_STEP_MS ? (int)left_ms : LOAD_STEP_MS;
}

static void sleep_on_calls(struct load_thread *thread, struct pollfd *pfds,
			   struct load_queue **queues, uint64_t now_ns)
{
	unsigned int i, n = arm_all(thread, pfds, queues);
	uint64_t count;

	if (n && poll(pfds, n, sleep_limit_ms(thread->load, now_ns)) > 0) {
		for (i = 0; i < n; i++) {
			if ((pfds[i].revents & POLLIN) &&
			    read(pfds[i].fd, &count, sizeof(count)) > 0)
				queues[i]->stats.calls++;
		}
	}
	for (i = 0; i < n; i++)
		gvq_disarm(queues[i]->queue->vq);
}

static void find_lost(struct load_thread *thread, uint64_t now_ns)
{
	struct load *load = thread->load;
	unsigned int i;

	for (i = 0; i < load->nr_queues; i++)
		if (serves(thread, i) && !load->queues[i].done)
			load_queue_find_lost(&load->queues[i], now_ns);
}

static void serve(struct load_thread *thread, struct pollfd *pfds, struct load_queue **queues)
{
	uint64_t looked_ns = guest_now_ns(), now_ns;
	bool active, any;

	for (;;) {
		now_ns = guest_now_ns();
		any = pump_all(thread, now_ns, &active);
		if (!active)
			return;
		if (now_ns - looked_ns > LOAD_STEP_MS * 1000000ULL) {
			find_lost(thread, now_ns);
			looked_ns = now_ns;
		}
		if (any)
			continue;
		if (thread->load->opts.poll)
			sched_yield();
		else
			sleep_on_calls(thread, pfds, queues, now_ns);
	}
}

static void *load_thread_main(void *arg)
{
	struct load_thread *thread = arg;
	unsigned int n = thread->load->nr_queues;
	struct load_queue **queues = calloc(n, sizeof(*queues));
	struct pollfd *pfds = calloc(n, sizeof(*pfds));

	if (queues && pfds)
		serve(thread, pfds, queues);
	free(queues);
	free(pfds);
	return NULL;
}

static struct load *load_alloc(const struct load_opts *opts)
{
	struct load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	load->opts = *opts;
	load->nr_queues = opts->queues;
	load->nr_threads = opts->threads;
	load->queues = calloc(load->nr_queues, sizeof(*load->queues));
	load->threads = calloc(load->nr_threads, sizeof(*load->threads));
	if (load->queues && load->threads)
		return load;
	free(load->queues);
	free(load->threads);
	free(load);
	return NULL;
}

/* Signals are the test's: the load's threads take none. */
static int start_threads(struct load *load)
{
	sigset_t all, old;
	unsigned int i;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (i = 0; i < load->nr_threads && !err; i++) {
		struct load_thread *thread = &load->threads[i];

		thread->load = load;
		thread->number = i;
		err = pthread_create(&thread->thread, NULL, load_thread_main, thread);
		thread->started = !err;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? guest_fail(err, "thread %u of the load", i) : 0;
}

int load_start(const struct load_opts *wanted, struct load **loadp)
{
	struct load_opts opts = *wanted;
	struct load *load;
	unsigned int i;
	int err;

	err = fill_defaults(&opts);
	if (err)
		return err;
	load = load_alloc(&opts);
	if (!load)
		return guest_fail(ENOMEM, "load of %u queues", opts.queues);
	for (i = 0; i < load->nr_queues && !err; i++)
		err = load_queue_init(&load->queues[i], load, i);
	if (opts.run_ms)
		load->deadline_ns = guest_now_ns() + opts.run_ms * 1000000ULL;
	if (!err)
		err = start_threads(load);
	if (err) {
		load_stop(load);
		load_free(load);
	} else {
		*loadp = load;
	}
	return err;
}

void load_stop(struct load *load)
{
	__atomic_store_n(&load->stop, true, __ATOMIC_RELAXED);
}

void load_reset_begin(struct load *load)
{
	__atomic_add_fetch(&load->resets, 1, __ATOMIC_SEQ_CST);
}

void load_reset_end(struct load *load)
{
	__atomic_add_fetch(&load->resets, 1, __ATOMIC_SEQ_CST);
}

bool load_clean(const struct load_stats *s)
{
	return !s->lost && !s->doubled && !s->corrupt && !s->failed && !s->error;
}

static void add_stats(struct load_stats *to, const struct load_stats *s)
{
	to->submitted += s->submitted;
	to->completed += s->completed;
	to->reads += s->reads;
	to->writes += s->writes;
	to->verified += s->verified;
	to->lost += s->lost;
	to->doubled += s->doubled;
	to->corrupt += s->corrupt;
	to->failed += s->failed;
	to->aborted += s->aborted;
	to->refused += s->refused;
	to->kicks += s->kicks;
	to->calls += s->calls;
	to->latency_sum_ns += s->latency_sum_ns;
	if (s->latency_max_ns > to->latency_max_ns)
		to->latency_max_ns = s->latency_max_ns;
	if (s->elapsed_ns > to->elapsed_ns)
		to->elapsed_ns = s->elapsed_ns;
	if (s->error && !to->error) {
		to->error = s->error;
		memcpy(to->text, s->text, sizeof(to->text));
	}
}

static void join(struct load *load)
{
	unsigned int i;

	for (i = 0; i < load->nr_threads && !load->joined; i++)
		if (load->threads[i].started)
			pthread_join(load->threads[i].thread, NULL);
	load->joined = true;
}

int load_wait(struct load *load, struct load_stats *total)
{
	struct load_stats sum = { 0 };
	unsigned int i;

	join(load);
	for (i = 0; i < load->nr_queues; i++)
		add_stats(&sum, &load->queues[i].stats);
	if (total)
		*total = sum;
	if (load_clean(&sum))
		return 0;
	return guest_fail(EIO, "%llu lost, %llu doubled, %llu corrupt, %llu failed; first: %s",
			  (unsigned long long)sum.lost, (unsigned long long)sum.doubled,
			  (unsigned long long)sum.corrupt, (unsigned long long)sum.failed,
			  sum.text);
}

const struct load_stats *load_queue(const struct load *load, unsigned int queue)
{
	return &load->queues[queue].stats;
}

uint64_t load_completed(const struct load *load)
{
	uint64_t completed = 0;
	unsigned int i;

	for (i = 0; i < load->nr_queues; i++)
		completed += __atomic_load_n(&load->queues[i].stats.completed, __ATOMIC_RELAXED);
	return completed;
}

uint64_t load_completed_by_each(const struct load *load)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < load->nr_queues; i++) {
		uint64_t n = __atomic_load_n(&load->queues[i].stats.completed, __ATOMIC_RELAXED);

		least = n < least ? n : least;
	}
	return least;
}

void load_free(struct load *load)
{
	unsigned int i;

	if (!load)
		return;
	join(load);
	for (i = 0; i < load->nr_queues; i++)
		load_queue_exit(&load->queues[i]);
	free(load->queues);
	free(load->threads);
	free(load);
}

int load_finish(struct load *load, struct load_stats *total)
{
	struct load_stats sum;
	int err;

	load_stop(load);
	err = load_wait(load, &sum);
	load_free(load);
	if (total)
		*total = sum;
	if (!err && sum.submitted != sum.completed)
		err = guest_fail(EIO, "%llu requests submitted, %llu completed",
				 (unsigned long long)sum.submitted,
				 (unsigned long long)sum.completed);
	return err;
}

int load_run(const struct load_opts *opts, struct load_stats *total)
{
	struct load *load;
	int err = load_start(opts, &load);

	if (err)
		return err;
	err = load_wait(load, total);
	load_free(load);
	return err;
}
