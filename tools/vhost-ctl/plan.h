/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plan.h - which virtqueue of a device goes to which worker, and doing so at once
 */
#ifndef VHOST_CTL_PLAN_H
#define VHOST_CTL_PLAN_H

#include "nl.h"
#include "objects.h"

enum {
	STEP_VQ,
	STEP_OLD_WORKER_ID,
	STEP_WORKER_ID,
	STEP_NEW_WORKER,
};

/* One virtqueue. It goes to a worker that exists, or to one of those that will be made. */
struct step {
	struct record rec;
	uint32_t vq;
	uint32_t old_worker_id;
	uint32_t worker_id;
	uint32_t new_worker;
};

extern const struct object step_object;

struct plan {
	struct rows steps;	/* struct step */
	uint32_t nr_new;	/* workers to be made */
};

/* A device with its workers and virtqueues, as of one moment. */
struct layout {
	struct rows devs;	/* the one */
	const struct dev *dev;
	struct rows workers;
	struct rows vqs;	/* in order of their numbers, all of them */
};

int layout_get(struct nl *nl, const char *text, struct layout *layout);
void layout_free(struct layout *layout);
const struct vq *layout_vq(const struct layout *layout, uint32_t index);

/* Start without steps, and end. */
void plan_init(struct plan *plan);
void plan_free(struct plan *plan);

/* Add a step. A virtqueue that the plan has, or that the device lacks, is refused: EXIT_USAGE. */
int plan_add_existing(struct plan *plan, const struct layout *layout, uint32_t vq, uint32_t worker);
/* @new_worker is a number below plan->nr_new, or plan->nr_new for one more. */
int plan_add_new(struct plan *plan, const struct layout *layout, uint32_t vq, uint32_t new_worker);

/* What the kernel would certainly refuse, for those who do not ask it: 0 or EXIT_REFUSED. */
int plan_check(const struct plan *plan, const struct layout *layout);
/* Do it in one request, all or nothing, and fill in the numbers of the workers that were made. */
int plan_send(struct nl *nl, uint32_t dev_id, struct plan *plan);

#endif /* VHOST_CTL_PLAN_H */
