/* SPDX-License-Identifier: GPL-2.0 */
/*
 * error.h - one line of text for the last failure of a thread, and monotonic time
 */
#ifndef GUEST_ERROR_H
#define GUEST_ERROR_H

#include <stdint.h>

/*
 * Text of the last failure in the calling thread, "" when there was none. It stays valid until the
 * thread's next failing call into the library. Successful calls do not clear it.
 */
const char *guest_error(void);

/*
 * Record a failure: @err is an errno of either sign. ": <strerror>" is appended to the text.
 * Returns -abs(@err), so that a function can end in `return guest_fail(errno, "...");`.
 */
int guest_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put a text back that guest_error() gave before some tidying up. */
void guest_keep(const char *text);

/* CLOCK_MONOTONIC now. */
uint64_t guest_now_ns(void);

/* Sleep, resumed after signals. */
void guest_sleep_ms(unsigned int ms);

/*
 * A limit for things that end, as it is on an ordinary kernel, stretched by $PATIENCE where the kernel
 * is slow by nature. Only for limits: how long a thing goes on, and silence, are not stretched.
 */
int guest_patience(int limit);

/* What is left of @timeout_ms (see guest.h) that began at @start_ns, in the form poll() takes. */
int guest_left_ms(uint64_t start_ns, int timeout_ms);

#endif /* GUEST_ERROR_H */
