/* SPDX-License-Identifier: GPL-2.0 */
/* Completions. */
#ifndef _SHIM_LINUX_COMPLETION_H
#define _SHIM_LINUX_COMPLETION_H

#include <linux/compiler.h>
#include <shim.h>

struct completion {
	struct shim_wait wait;
	unsigned int done;
};

void init_completion(struct completion *c);
void complete(struct completion *c);
void wait_for_completion(struct completion *c);
int wait_for_completion_killable(struct completion *c);
unsigned long wait_for_completion_timeout(struct completion *c,
					  unsigned long jiffies);

#endif
