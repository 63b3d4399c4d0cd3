/* SPDX-License-Identifier: GPL-2.0 */
/* Completions. */
#ifndef _SHIM_LINUX_COMPLETION_H
#define _SHIM_LINUX_COMPLETION_H

#include <linux/compiler.h>
#include <shim.h>

#define SHIM_DONE_FOR_ALL	UINT_MAX

struct completion {
	struct shim_wait wait;
	unsigned int done;	/* SHIM_DONE_FOR_ALL: for any number of waiters */
};

void init_completion(struct completion *c);
void complete(struct completion *c);
void complete_all(struct completion *c);
void wait_for_completion(struct completion *c);
int wait_for_completion_killable(struct completion *c);
unsigned long wait_for_completion_timeout(struct completion *c,
					  unsigned long timeout);
/* What is left of the time, 0 if nothing is, -EINTR. */
long wait_for_completion_killable_timeout(struct completion *c,
					  unsigned long timeout);

#endif
