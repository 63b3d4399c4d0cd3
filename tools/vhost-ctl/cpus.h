/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cpus.h - lists of CPUs: reading them, whether a thread may run there, and pinning
 */
#ifndef VHOST_CTL_CPUS_H
#define VHOST_CTL_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

#define CPUS_LIMIT 8192		/* as many as Linux can be built for */

struct cpus {
	bool has[CPUS_LIMIT];
};

/*
 * Read the argument @text, "0-3,8": CPUs that exist in this machine and are online, none of them
 * twice. 0, EXIT_USAGE, or EXIT_REFUSED for one that is offline.
 */
int arg_cpus(const char *text, struct cpus *cpus);

/* The same two steps one by one: is @text a list, and are its CPUs there and online? */
bool cpus_parse(const char *text, struct cpus *cpus);
int cpus_check(const struct cpus *cpus);

/* Has @cpus all of @others that are online? */
bool cpus_cover(const struct cpus *cpus, const struct cpus *others);

/* Has the cpuset of thread @tid all of them? 0 or EXIT_REFUSED. 0, too, if it cannot be known. */
int cpus_allowed(const struct cpus *cpus, uint32_t tid);

/* Read the list in the first line of a file. */
bool cpus_read(const char *path, struct cpus *cpus);

/* The list as the kernel reads it; the caller frees it. */
char *cpus_text(const struct cpus *cpus);

/* Pin a worker, and read back what the kernel made of it. */
int cpus_pin(struct nl *nl, uint32_t dev_id, uint32_t id, const struct cpus *cpus);
/* The second half alone. */
int cpus_verify(struct nl *nl, uint32_t dev_id, uint32_t id, const struct cpus *cpus);

#endif /* VHOST_CTL_CPUS_H */
