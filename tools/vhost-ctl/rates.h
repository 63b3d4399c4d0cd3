/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rates.h - what happened per second between two samples of the counters
 */
#ifndef VHOST_CTL_RATES_H
#define VHOST_CTL_RATES_H

#include "out.h"

struct sample {
	struct rows rows;	/* struct worker or struct vq */
	uint64_t ns;		/* when, by the monotonic clock */
};

extern const struct view worker_rates_view, vq_rates_view;

/* One row for each worker, or virtqueue in use, that is in both samples. */
void worker_rates(const struct sample *old, const struct sample *new, struct rows *rates);
void vq_rates(const struct sample *old, const struct sample *new, struct rows *rates);

#endif /* VHOST_CTL_RATES_H */
