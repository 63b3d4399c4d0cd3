// SPDX-License-Identifier: GPL-2.0
/*
 * Judge and print the results of a VM run: a skip must be on the list of
 * allowed skips, and a test on the list of expected failures must fail.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"

static FILE *open_list(const char *path)
{
	FILE *file = path ? fopen(path, "r") : NULL;

	if (path && !file) {
		perror(path);
		exit(2);
	}
	return file;
}

/* Is there a line "BASE PATTERN REASON" that allows this skip? */
static bool skip_is_allowed(const struct report *report, const char *name)
{
	FILE *file = open_list(report->skips_path);
	char line[512], base[64], pattern[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = line[0] != '#' && sscanf(line, "%63s %255s", base, pattern) == 2 &&
			!fnmatch(base, report->base, FNM_EXTMATCH) && !fnmatch(pattern, name, 0);
	if (file)
		fclose(file);
	return found;
}

/* Is there a line "NAME REASON" for this test? The reason goes to *reason. */
static bool failure_is_expected(const struct report *report, const char *name, char *reason)
{
	FILE *file = open_list(report->xfails_path);
	char line[512], pattern[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || sscanf(line, "%255s %255[^\n]", pattern, reason) < 2)
			continue;
		found = !fnmatch(pattern, name, 0);
	}
	if (file)
		fclose(file);
	return found;
}

/* Skips are many and alike: keep them for a line per reason at the end. */
static struct skip {
	char reason[200];
	int count;
} skips[32];

static void count_skip(const char *reason)
{
	size_t i = 0, last = ARRAY_SIZE(skips) - 1;

	while (i < last && skips[i].count && strcmp(skips[i].reason, reason))
		i++;
	snprintf(skips[i].reason, sizeof(skips[i].reason), "%.199s",
		 i < last ? reason : "other reasons");
	skips[i].count++;
}

void report_skips(const struct report *report)
{
	for (size_t i = 0; i < ARRAY_SIZE(skips) && skips[i].count; i++)
		printf("SKIP  %-5s %d tests: %s\n", report->base, skips[i].count, skips[i].reason);
}

static void print_result(struct report *report, const char *name, const char *outcome,
			 double seconds, const char *note)
{
	bool failed = !strcmp(outcome, "FAIL");
	FILE *results;

	if (report->quiet && !failed)
		return;
	if (!strcmp(outcome, "SKIP"))
		count_skip(note);
	else
		printf("%s  %-5s %s (%.1f s)%s%s\n", outcome, report->base, name, seconds,
		       note[0] ? ": " : "", note);
	if (failed) {
		printf("      log: %s\n", report->log_path);
		report->failed++;
	}
	fflush(stdout);
	if (!report->results_path)
		return;
	results = fopen(report->results_path, "a");
	if (!results) {
		perror(report->results_path);
		exit(2);
	}
	fprintf(results, "%s %s %s\n", outcome, report->base, name);
	fclose(results);
}

void report_result(struct report *report, const char *name, const char *outcome, double seconds,
		   const char *note)
{
	char text[1024], reason[256] = "";

	snprintf(text, sizeof(text), "%s", note);
	if (!strcmp(outcome, "SKIP") && !skip_is_allowed(report, name)) {
		outcome = "FAIL";
		snprintf(text, sizeof(text), "it skipped itself (%s), but %s does not allow that",
			 note, report->skips_path ? report->skips_path : "nothing");
	} else if (failure_is_expected(report, name, reason)) {
		if (!strcmp(outcome, "FAIL")) {
			outcome = "PASS";
			snprintf(text, sizeof(text), "fails as expected: %s", reason);
		} else if (strncmp(reason, "sometimes, ", strlen("sometimes, "))) {
			snprintf(text, sizeof(text), "%s, but %s expects that it fails: %s",
				 outcome, report->xfails_path, reason);
			outcome = "FAIL";
		}
	}
	print_result(report, name, outcome, seconds, text);
}

/* The first line since the last test began that tells what killed the kernel. */
bool find_fault(const char *log_path, char *line, int size)
{
	static const char * const faults[] = {
		"BUG: ", "WARNING: ", "kernel BUG at", "Oops", "general protection fault",
		"soft lockup", "detected stall", "blocked for more than", "Kernel panic",
	};
	FILE *log = fopen(log_path, "r");
	char text[512];

	line[0] = '\0';
	while (log && fgets(text, sizeof(text), log)) {
		if (!strncmp(text, "BEGIN ", 6))
			line[0] = '\0';
		for (size_t i = 0; !line[0] && i < ARRAY_SIZE(faults); i++)
			if (strstr(text, faults[i]))
				snprintf(line, size, "%.*s", (int)strcspn(text, "\r\n"), text);
	}
	if (log)
		fclose(log);
	return line[0];
}
