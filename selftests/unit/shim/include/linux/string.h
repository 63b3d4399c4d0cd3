/* SPDX-License-Identifier: GPL-2.0 */
/* Strings: the C library's and strscpy(). */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <string.h>

/* Callers that look at what it returns are not modelled. */
static inline void strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

#endif
