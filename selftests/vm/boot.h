/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the boot runner share. */
#ifndef BOOT_H
#define BOOT_H

#include <stdbool.h>

#define MAX_TESTS 4096
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* One line of the list: NAME SECONDS COMMAND. */
struct test {
	char name[160];
	int timeout_s;
};

/* report.c: results on stdout and in the results file, judged by the two lists */
struct report {
	const char *base;		/* 6.1, 6.12, 6.12-debug */
	const char *results_path;	/* one line per result is added, or NULL */
	const char *skips_path;		/* allowed skips: BASE PATTERN REASON, or NULL */
	const char *xfails_path;	/* expected failures: NAME REASON, or NULL */
	const char *log_path;		/* named in the lines of failures */
	bool quiet;			/* print failures only */
	int failed;
};

void report_result(struct report *report, const char *name, const char *outcome, double seconds,
		   const char *note);
void report_skips(const struct report *report);
bool find_fault(const char *log_path, char *line, int size);

#endif
