/* SPDX-License-Identifier: GPL-2.0 */
/* Small things: the size of an array, arithmetic, text to a number and back. */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define clamp(x, low, high)	min(max(x, low), high)

/* What fits is all that callers write. */
#define scnprintf		snprintf

static inline int kstrtou32(const char *text, unsigned int base, u32 *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, base);
	if (errno || number > UINT_MAX)
		return -ERANGE;
	if (end == text || (*end && strcmp(end, "\n")))
		return -EINVAL;
	*value = number;
	return 0;
}

#endif
