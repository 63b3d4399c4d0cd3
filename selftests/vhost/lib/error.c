// SPDX-License-Identifier: GPL-2.0
/*
 * error.c - error texts and time
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"

static _Thread_local char error_text[256];

const char *guest_error(void)
{
	return error_text;
}

int guest_fail(int err, const char *fmt, ...)
{
	/* The old text may be an argument of the new one. */
	char text[sizeof(error_text)];
	va_list ap;
	int len;

	err = abs(err);
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, ": %s", strerror(err));
	memcpy(error_text, text, sizeof(error_text));
	return -err;
}

void guest_keep(const char *text)
{
	snprintf(error_text, sizeof(error_text), "%s", text);
}

uint64_t guest_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void guest_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (ms % 1000) * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

int guest_patience(int limit)
{
	const char *text = getenv("PATIENCE");
	int factor = text ? atoi(text) : 1;

	return factor > 1 ? limit * factor : limit;
}

int guest_left_ms(uint64_t start_ns, int timeout_ms)
{
	uint64_t past_ms;

	if (timeout_ms < 0)
		return -1;
	past_ms = (guest_now_ns() - start_ns) / 1000000;
	return past_ms >= (uint64_t)timeout_ms ? 0 : timeout_ms - (int)past_ms;
}
