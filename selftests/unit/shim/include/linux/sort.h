/* SPDX-License-Identifier: GPL-2.0 */
/* sort() is the C library's. */
#ifndef _SHIM_LINUX_SORT_H
#define _SHIM_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, num, size, cmp, swap)	qsort(base, num, size, cmp)

#endif
