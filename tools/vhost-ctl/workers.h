/* SPDX-License-Identifier: GPL-2.0 */
/*
 * workers.h - the requests that make and end workers
 */
#ifndef VHOST_CTL_WORKERS_H
#define VHOST_CTL_WORKERS_H

#include "cpus.h"
#include "nl.h"

/*
 * Make @count workers, all or none, that run on @cpus or, for NULL, wherever their owner may.
 * Appends their numbers to @ids.
 */
int workers_make(struct nl *nl, uint32_t dev_id, uint32_t count, const struct cpus *cpus,
		 struct list *ids);

/* End one that serves nothing. */
int worker_end(struct nl *nl, uint32_t dev_id, uint32_t id);

#endif /* VHOST_CTL_WORKERS_H */
