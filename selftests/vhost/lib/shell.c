// SPDX-License-Identifier: GPL-2.0
/*
 * shell.c - run a line of shell
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "error.h"
#include "shell.h"

#define LINE	4096

int shell_run(char *out, size_t size, const char *fmt, ...)
{
	char line[LINE], rest[LINE];
	size_t used;
	va_list ap;
	int status;
	FILE *pipe;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pipe = popen(line, "r");
	if (!pipe)
		return guest_fail(errno, "cannot run '%s'", line);
	used = fread(out, 1, size - 1, pipe);
	out[used] = 0;
	while (fread(rest, 1, sizeof(rest), pipe))
		;	/* a writer whose pipe is closed would die of it */
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : guest_fail(EINTR, "'%s' died", line);
}
