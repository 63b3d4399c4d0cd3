/* SPDX-License-Identifier: GPL-2.0 */
/*
 * load.h - an asynchronous I/O load on the I/O queues of a vscsi device, checked to the last
 * request
 *
 * What each 512-byte block must contain is known at any time: content = f(lba, generation). In the
 * mixed mode every request slot (queue x depth) owns a private run of LBAs, so no two requests in
 * flight touch the same block, and the generation counts the writes to it. The load therefore
 * detects a request that is
 *
 * - lost: no answer within `stall_ms`;
 * - doubled: a used entry whose id is not in flight;
 * - corrupt: data read differ from what was last written there;
 * - failed: answered, but not with OK and GOOD.
 *
 * It never waits for ever: after a loss the queue stops and is counted.
 */
#ifndef GUEST_LOAD_H
#define GUEST_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include "vscsi.h"

enum load_mode {
	LOAD_MIXED,		/* writes, each read back and checked; older blocks, too */
	LOAD_FILL,		/* write every block once with `generation`, then end */
	LOAD_READ,		/* read what LOAD_FILL has written, again and again; checked */
};

enum load_check {
	LOAD_CHECK_FULL,	/* every byte */
	LOAD_CHECK_STAMP,	/* LBA, generation and last word of every block: cheap */
};

struct load_opts {
	struct vscsi *dev;
	unsigned int lun;
	unsigned int first_queue;	/* first I/O queue used */
	unsigned int queues;	/* 0 = all from first_queue on */
	unsigned int threads;	/* 0 = one per queue; fewer: queues are dealt out in turn */
	unsigned int depth;	/* requests in flight per queue; 0 = as many as fit, at most 32 */
	unsigned int batch;	/* requests added before a kick; 0 = 1, at most depth */
	unsigned int blocks;	/* 512-byte blocks of each request; 0 = 8 */
	enum load_mode mode;
	enum load_check check;
	uint64_t lba, lba_count;	/* region; lba_count 0 = up to the end of the LUN */
	uint32_t generation;	/* LOAD_FILL, LOAD_READ: 0 = 1 */
	uint64_t count;		/* requests per queue, 0 = no limit */
	unsigned int run_ms;	/* stop after this time, 0 = no limit */
	unsigned int stall_ms;	/* a request older than this is lost; 0 = 10,000 */
	bool poll;		/* never sleep: look at the used ring all the time */
	unsigned int seed;	/* of the order of reads and writes */
};

struct load_stats {
	uint64_t submitted, completed;	/* requests */
	uint64_t reads, writes;		/* of those completed well */
	uint64_t verified;		/* reads whose data were compared and right */
	uint64_t lost, doubled, corrupt, failed;
	uint64_t aborted;	/* in flight during a LUN reset: answered, whatever with */
	uint64_t refused;	/* after a reset: not executed (vscsi_refused()), sent again */
	uint64_t kicks, calls;		/* eventfd writes; wake-ups by call eventfd */
	uint64_t latency_max_ns, latency_sum_ns;
	uint64_t elapsed_ns;		/* first submission to last completion */
	int error;			/* first negative errno of the queue, 0 = none */
	char text[160];			/* what it was, or the first wrong request */
};

struct load;

/*
 * Start the threads; returns at once. The load borrows the device's I/O queues: nobody else may use
 * them until load_wait() has returned. -EINVAL for a shape that does not fit ring, memory or
 * region.
 */
int load_start(const struct load_opts *opts, struct load **load);

/* Ask it to stop: no new requests, those in flight are waited for. Returns at once; any thread. */
void load_stop(struct load *load);

/*
 * Wait for the end and join the threads. @total (may be NULL) gets the sum over the queues (times:
 * the maximum). 0 when nothing was lost, doubled, corrupt or failed, -EIO otherwise with
 * guest_error() telling the first of them.
 */
int load_wait(struct load *load, struct load_stats *total);

/*
 * For LUN resets (load on one LUN, vscsi_tmf() from another thread): call begin before the request
 * is sent and end after its answer. What is in flight in between may be aborted, so its answer is
 * counted (`aborted`) and its content taken as unknown; it still must be answered, and once.
 */
void load_reset_begin(struct load *load);
void load_reset_end(struct load *load);

/*
 * A queue's figures: exact after load_wait(); before it a momentary view (requests counted so far).
 */
const struct load_stats *load_queue(const struct load *load, unsigned int queue);
uint64_t load_completed(const struct load *load);
uint64_t load_completed_by_each(const struct load *load);	/* what the slowest queue has */

/*
 * Free (joins first when that was not done). The guest memory of the buffers is kept by the device.
 */
void load_free(struct load *load);

/*
 * load_stop + load_wait + load_free. Besides what load_wait() complains about, -EIO when a request was
 * submitted and not completed. @total may be NULL.
 */
int load_finish(struct load *load, struct load_stats *total);

/* load_start + load_wait + load_free. */
int load_run(const struct load_opts *opts, struct load_stats *total);

/* True when nothing is wrong in @s. */
bool load_clean(const struct load_stats *s);

/* The pattern, for tests that write and check blocks themselves. @bytes is a multiple of 512. */
void load_pattern_fill(void *buf, uint32_t bytes, uint64_t lba, uint32_t generation);
/* 0, or -EILSEQ with guest_error() naming LBA, offset, expected and found. */
int load_pattern_check(const void *buf, uint32_t bytes, uint64_t lba, uint32_t generation,
		       enum load_check check);

#endif /* GUEST_LOAD_H */
