/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault.h - allocations of the calling thread fail, on a kernel with fault injection
 */
#ifndef GUEST_FAULT_H
#define GUEST_FAULT_H

#include <stdbool.h>

#define FAULT_MAX	1000	/* no operation has more of them */

bool fault_is_possible(void);

/*
 * Allocations that may sleep are spared unless somebody says otherwise. What was said is not undone at the
 * end: fault_spare_sleepers(true) is.
 */
int fault_spare_sleepers(bool spare);

/*
 * The @nth allocation of this thread from now on will fail, once; the end of that, and whether one did. 0 or
 * a negative errno.
 */
int fault_begin(unsigned int nth);
int fault_end(bool *fired);

#endif /* GUEST_FAULT_H */
