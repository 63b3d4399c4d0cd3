/* SPDX-License-Identifier: GPL-2.0 */
/* Strings: the C library's, strscpy(), and the texts of parameters. */
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

/* As sysfs writes it: with a newline behind it, or without. */
static inline int __sysfs_match_string(const char *const *names, size_t n, const char *text)
{
	size_t len = strlen(text), i;

	if (len && text[len - 1] == '\n')
		len--;
	for (i = 0; i < n; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], text, len))
			return i;
	return -22;
}

#endif
