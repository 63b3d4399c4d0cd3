/* SPDX-License-Identifier: GPL-2.0 */
/*
 * load_priv.h - private to the load engine: a queue, its slots, and the threads that serve queues
 */
#ifndef GUEST_LOAD_PRIV_H
#define GUEST_LOAD_PRIV_H

#include <pthread.h>
#include "load.h"
#include "vscsi_hdr.h"

#define LOAD_BLOCK	512U	/* bytes */
#define LOAD_STEP_MS	50	/* longest sleep: lost requests are looked for that often */

enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_LOST };

struct load_slot {		/* one request at a time */
	struct vscsi_hdr *hdr;
	void *buf;
	uint64_t req_gpa, resp_gpa, buf_gpa;
	enum slot_state state;
	bool write;
	bool again;		/* was refused with UNIT ATTENTION: the same once more */
	bool owes;		/* LOAD_MIXED: what it wrote is to be read back next */
	uint64_t unit;		/* index into the queue's share, in requests */
	uint32_t generation;
	unsigned int resets;	/* load->resets at submission */
	uint64_t start_ns;
};

struct load_queue {
	const struct load *load;
	struct vscsi_queue *queue;
	unsigned int number;	/* I/O queue of the device */
	uint64_t first_unit, units;	/* share of the region, in requests */
	uint64_t cursor;	/* LOAD_FILL, LOAD_READ: next unit */
	uint64_t own_units;	/* LOAD_MIXED: units per slot */
	uint32_t *generations;	/* LOAD_MIXED: per unit, 0 = content unknown */
	uint32_t next_generation;
	uint32_t random;
	unsigned int depth, in_flight, unkicked;
	unsigned int owed;	/* slots that owe a read */
	struct load_slot *slots;
	uint64_t first_ns, last_ns;
	bool closing;		/* count or time is up: only what is owed is submitted */
	bool halted;		/* submits no more */
	bool done;		/* halted and nothing in flight */
	struct load_stats stats;
};

struct load_thread {
	struct load *load;
	unsigned int number;
	pthread_t thread;
	bool started;
};

struct load {
	struct load_opts opts;	/* defaults filled in */
	uint64_t deadline_ns;	/* 0 = none */
	bool stop;		/* atomic */
	unsigned int resets;	/* atomic: begins and ends; odd = a reset is under way */
	bool joined;
	unsigned int nr_queues, nr_threads;
	struct load_queue *queues;
	struct load_thread *threads;
};

/* load_queue.c */
int load_queue_init(struct load_queue *q, const struct load *load, unsigned int number);
void load_queue_exit(struct load_queue *q);
/*
 * Reap and submit; true when anything was done. @now_ns is one reading of the clock for the pass.
 */
bool load_queue_pump(struct load_queue *q, uint64_t now_ns);
/* Count what is older than stall_ms as lost. */
void load_queue_find_lost(struct load_queue *q, uint64_t now_ns);

/* pattern.c */
void load_pattern_put(void *buf, uint32_t bytes, uint64_t lba, uint32_t generation,
		      enum load_check check);
void load_pattern_poison(void *buf, uint32_t bytes, enum load_check check);

#endif /* GUEST_LOAD_PRIV_H */
