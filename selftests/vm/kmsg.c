// SPDX-License-Identifier: GPL-2.0
/*
 * Look for signs of a kernel fault: in the kernel log, in the taint flags, in
 * lockdep's state and in kmemleak's report.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm.h"

/* Any of these in a log line is a fault. */
static const char * const faults[] = {
	"WARNING: CPU",
	"WARNING: possible",
	"WARNING: suspicious",
	"WARNING: bad unlock",
	"WARNING: inconsistent",
	"WARNING: held lock",
	"WARNING: lock held",
	"WARNING: Nested lock",
	"BUG: ",
	"kernel BUG at",
	"Oops",
	"KASAN",
	"KCSAN",
	"UBSAN",
	"use-after-free",
	"refcount_t: ",
	"general protection fault",
	"unable to handle kernel",
	"possible circular locking",
	"possible recursive locking",
	"turning off the locking correctness validator",
	"detected stall",
	"self-detected stall",
	"blocked for more than",
	"soft lockup",
	"hard LOCKUP",
	"list_add corruption",
	"list_del corruption",
	"ODEBUG",
	"scheduling while atomic",
	"sleeping function called from invalid context",
	"Kernel panic",
};

/* Lines that a healthy kernel prints when such a checker is set up. */
static const char * const harmless[] = {
	"KernelAddressSanitizer initialized",
	"kasan: ",
};

/* TAINT_BAD_PAGE, TAINT_DIE, TAINT_WARN, TAINT_SOFTLOCKUP */
#define BAD_TAINTS (1UL << 5 | 1UL << 7 | 1UL << 9 | 1UL << 14)

int kmsg_fd = -1;

void kmsg_open(void)
{
	kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg_fd < 0)
		give_up("/dev/kmsg: %s", strerror(errno));
}

static bool contains_any(const char *text, const char * const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool is_fault(const char *text)
{
	return contains_any(text, faults, sizeof(faults) / sizeof(*faults)) &&
	       !contains_any(text, harmless, sizeof(harmless) / sizeof(*harmless));
}

/* Read what is new in the log. False and the first bad line if there is one. */
bool kmsg_scan(char *note)
{
	char record[8192];
	bool clean = true;
	ssize_t n;

	for (;;) {
		n = read(kmsg_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)	/* overrun: go on with the oldest */
			continue;
		if (n <= 0)
			return clean;
		record[n] = '\0';

		char *text = strchr(record, ';');

		text = text ? text + 1 : record;
		text[strcspn(text, "\n")] = '\0';
		if (clean && is_fault(text)) {
			snprintf(note, NOTE_LEN, "kernel log: %.200s", text);
			clean = false;
		}
	}
}

static bool lockdep_is_on(void)
{
	char stats[8192];
	char *line;

	if (!read_file("/proc/lockdep_stats", stats, sizeof(stats)))
		return true;	/* a kernel without lockdep */
	line = strstr(stats, "debug_locks:");
	return !line || atoi(line + strlen("debug_locks:")) == 1;
}

static bool kmemleak_is_clean(char *note)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	char report[4096];

	if (access(path, R_OK) || !write_file(path, "scan"))
		return true;
	/* An object counts as leaked in the second scan, and 5 s after its birth. */
	sleep(6);
	write_file(path, "scan");
	if (!read_file(path, report, sizeof(report)) || !report[0])
		return true;
	console(report);
	snprintf(note, NOTE_LEN, "kmemleak: %.*s", (int)strcspn(report, "\n"), report);
	return false;
}

/* The last look: faults that need not have left a line in the log. */
bool leftovers_scan(char *note)
{
	char taint[32];

	if (!read_file("/proc/sys/kernel/tainted", taint, sizeof(taint)) ||
	    strtoul(taint, NULL, 10) & BAD_TAINTS) {
		snprintf(note, NOTE_LEN, "the kernel is tainted: %s", taint);
		return false;
	}
	if (!lockdep_is_on()) {
		snprintf(note, NOTE_LEN, "lockdep turned itself off");
		return false;
	}
	return kmemleak_is_clean(note);
}
