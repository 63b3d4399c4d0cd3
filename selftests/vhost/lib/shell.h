/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shell.h - run a line of shell, for tests of whole programs
 */
#ifndef GUEST_SHELL_H
#define GUEST_SHELL_H

#include <stddef.h>

#define SHELL_OUTPUT	(64 << 10)	/* enough room for what a program prints */

/* Its exit code (-EINTR if it was killed), with what it printed, cut off at @size, in @out. */
int shell_run(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif /* GUEST_SHELL_H */
