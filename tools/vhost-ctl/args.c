// SPDX-License-Identifier: GPL-2.0
/*
 * The words of the command line: taking them, reading numbers, telling mistakes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define U32_DIGITS 10

struct options opt;
const char *running = "";

static void say(const char *fmt, va_list ap, const char *tail)
{
	fflush(stdout);
	fprintf(stderr, "vhost-ctl: %s%s", running, *running ? ": " : "");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "%s\n", tail);
}

int fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, "");
	va_end(ap);
	return code;
}

int usage(const char *fmt, ...)
{
	char tail[128];
	va_list ap;

	snprintf(tail, sizeof(tail), " (see 'vhost-ctl %s%shelp')", running, *running ? " " : "");
	va_start(ap, fmt);
	say(fmt, ap, tail);
	va_end(ap);
	return EXIT_USAGE;
}

int fail_errno(int code, int err, const char *fmt, ...)
{
	char tail[128];
	va_list ap;

	snprintf(tail, sizeof(tail), ": %s", strerror(abs(err)));
	va_start(ap, fmt);
	say(fmt, ap, tail);
	va_end(ap);
	return code;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, "");
	va_end(ap);
}

char *args_next(struct args *args)
{
	return *args->words ? *args->words++ : NULL;
}

bool args_keyword(struct args *args, const char *word)
{
	if (!*args->words || strcmp(*args->words, word))
		return false;
	args->words++;
	return true;
}

int args_need(struct args *args, const char *what, const char **word)
{
	*word = args_next(args);
	return *word ? 0 : usage("%s is missing", what);
}

int args_end(struct args *args)
{
	return *args->words ? usage("unexpected argument '%s'", *args->words) : 0;
}

/* Decimal digits up to @end. */
static bool parse_digits(const char *text, const char *end, uint32_t *value)
{
	size_t len = end - text;
	uint64_t sum = 0;

	if (!len || len > U32_DIGITS)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		sum = sum * 10 + (*text - '0');
	}
	*value = sum;
	return sum <= UINT32_MAX;
}

bool parse_u32(const char *text, uint32_t *value)
{
	return parse_digits(text, text + strlen(text), value);
}

int arg_u32(const char *text, const char *what, uint32_t *value)
{
	if (parse_u32(text, value))
		return 0;
	return usage("%s '%s' is not a number from 0 to %u", what, text, UINT32_MAX);
}

int arg_worker(const char *text, uint32_t *id)
{
	if (parse_u32(*text == 'w' ? text + 1 : text, id))
		return 0;
	return usage("WORKER '%s' is not the number of a worker, 3 or w3", text);
}

bool parse_range(const char *text, const char *end, uint32_t *first, uint32_t *last, bool *open_end)
{
	const char *dash = memchr(text, '-', end - text);

	if (open_end)
		*open_end = dash && dash + 1 == end;
	if (!parse_digits(text, dash ? dash : end, first))
		return false;
	*last = *first;
	if (!dash || (open_end && *open_end))
		return true;
	return parse_digits(dash + 1, end, last) && *first <= *last;
}
