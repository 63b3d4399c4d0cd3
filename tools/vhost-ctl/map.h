/* SPDX-License-Identifier: GPL-2.0 */
/*
 * map.h - the words that say which virtqueues go to which workers
 *
 *	MAP    = ITEM[,ITEM]...[,...]
 *	ITEM   = VQS=TARGET
 *	VQS    = all | RANGE[,RANGE]...		RANGE = N | N-M | N-
 *	TARGET = new | newK | wN | N
 *
 * Reading tells mistakes in the words before any device is asked for; planning needs the device.
 */
#ifndef VHOST_CTL_MAP_H
#define VHOST_CTL_MAP_H

#include "plan.h"

enum target_kind {
	TARGET_NEW_EACH,	/* for each virtqueue a worker of its own */
	TARGET_NEW_SHARED,	/* one that is shared by all who name the same number */
	TARGET_WORKER,		/* one that exists */
};

struct target {
	enum target_kind kind;
	uint32_t number;
};

struct vq_range {
	bool all;		/* those in use */
	bool open_end;		/* up to the last one in use */
	uint32_t first, last;
	struct target target;
};

/* Ranges in the order in which they were named. */
struct vq_ranges {
	struct vq_range *v;
	size_t nr;
};

/* Read a MAP, or a VQS alone: 0 or EXIT_USAGE. Free in either case. */
int map_parse(const char *text, struct vq_ranges *ranges);
int vqs_parse(const char *text, struct vq_ranges *ranges);
void ranges_free(struct vq_ranges *ranges);

/* Add a step to @plan for each virtqueue of @ranges. */
int map_plan(const struct vq_ranges *ranges, const struct layout *layout, struct plan *plan);
/*
 * Spread virtqueues evenly over @count workers: first those that exist, by number, then new ones.
 * With no ranges it takes those in use, but never vhost-scsi's control and event queue.
 */
int map_spread(const struct vq_ranges *ranges, uint32_t count, const struct layout *layout,
	       struct plan *plan);

#endif /* VHOST_CTL_MAP_H */
