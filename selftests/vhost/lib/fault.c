// SPDX-License-Identifier: GPL-2.0
/*
 * fault.c - allocations of the calling thread fail, by /proc/.../fail-nth
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "fault.h"
#include "put.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define FAIL_SLEEPERS	"/sys/kernel/debug/failslab/ignore-gfp-wait"

/* Open from the beginning to the end: opening it takes memory, too. */
static __thread int nth_fd = -1;

bool fault_is_possible(void)
{
	return !access(FAIL_NTH, W_OK);
}

int fault_spare_sleepers(bool spare)
{
	return put_text(FAIL_SLEEPERS, spare ? "Y" : "N");
}

int fault_begin(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	nth_fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		return guest_fail(errno, "open " FAIL_NTH);
	if (write(nth_fd, text, len) == len)
		return 0;
	close(nth_fd);
	return guest_fail(errno, "write " FAIL_NTH);
}

int fault_end(bool *fired)
{
	char text[16] = "";
	int len = pread(nth_fd, text, sizeof(text) - 1, 0), err = 0;

	*fired = len > 0 && atoi(text) == 0;
	if (write(nth_fd, "0", 1) != 1)
		err = guest_fail(errno, "write " FAIL_NTH);
	close(nth_fd);
	return err;
}
