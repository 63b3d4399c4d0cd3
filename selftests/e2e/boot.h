/* SPDX-License-Identifier: GPL-2.0 */
/* What the boot sector and the tests that start it agree on. */
#ifndef E2E_BOOT_H
#define E2E_BOOT_H

#define E2E_MAGIC	0x56484f53
#define E2E_SECTORS	64	/* that are read, after the boot sector */

/* The byte at E2E_THEN: after a round, end, go on for ever, or reset the machine. */
#define E2E_THEN	509
#define E2E_ONCE	0
#define E2E_AGAIN	1
#define E2E_RESET	2

/* Written to isa-debug-exit, which makes 2 * N + 1 QEMU's exit code. */
#define E2E_EXIT_PORT	0xf4
#define E2E_GOOD	16
#define E2E_BAD		17
#define E2E_EXIT(value)	(2 * (value) + 1)

#endif /* E2E_BOOT_H */
