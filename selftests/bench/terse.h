/* SPDX-License-Identifier: GPL-2.0 */
/*
 * terse.h - what fio --minimal prints
 */
#ifndef BENCH_TERSE_H
#define BENCH_TERSE_H

#include <stdlib.h>
#include <string.h>

#define TERSE_NAME	3	/* fields, from 1 */
#define TERSE_READ	8	/* reads per second */
#define TERSE_WRITE	49

/*
 * The next group of jobs in *@rest, lines of which other kinds are skipped and which are cut up: its
 * name, and in @iops its reads and writes per second. NULL after the last.
 */
static inline const char *terse_next(char **rest, double *iops)
{
	char *line, *field, *name;
	unsigned int n;

	while ((line = strsep(rest, "\n"))) {
		name = NULL;
		*iops = 0;
		for (n = 1; (field = strsep(&line, ";")); n++) {
			if (n == TERSE_NAME)
				name = field;
			if (n == TERSE_READ || n == TERSE_WRITE)
				*iops += strtod(field, NULL);
		}
		if (n > TERSE_WRITE)
			return name;
	}
	return NULL;
}

#endif /* BENCH_TERSE_H */
