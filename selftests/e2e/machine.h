/* SPDX-License-Identifier: GPL-2.0 */
/*
 * machine.h - a QEMU with a vhost-scsi disk, its guest's serial console and its monitor
 *
 * Functions return 0 or a negative errno, guest_error() has the text.
 */
#ifndef E2E_MACHINE_H
#define E2E_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MACHINE_QUEUES	4	/* I/O queues, and CPUs of the guest */

/* Numbers that are part of a text. */
#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)

enum machine_qemu {
	QEMU_DEBIAN,	/* Debian 12's own: knows nothing of workers */
	QEMU_NEW,	/* one that can make a worker per queue */
};

struct machine_opts {
	enum machine_qemu qemu;
	const char *wwpn;	/* of the target with its disk */
	bool own_workers;	/* worker_per_virtqueue=on */
	bool linux_guest;	/* start Linux; else what the disk has in its boot sector */
};

struct machine {
	struct machine_opts opts;
	pid_t pid;
	int serial, monitor;
	int status;		/* of waitpid(), once it is gone */
	bool gone;
	char *text;		/* what its guest has said so far */
	size_t len, size;
	size_t mark;		/* what was looked at by machine_wait_text() */
	size_t shown;
};

int machine_start(const struct machine_opts *opts, struct machine **machine);

/* Wait until the guest has said this since the last such call: its text goes on behind it. */
int machine_wait_text(struct machine *m, const char *text, int timeout_ms);
/* Has it? */
bool machine_said(struct machine *m, const char *text);

/* How often has the guest said this character, since it was started? */
unsigned int machine_count(struct machine *m, char what);
int machine_wait_count(struct machine *m, char what, unsigned int least, int timeout_ms);

/* A line to the guest's serial console; a command to QEMU's monitor. */
int machine_say(struct machine *m, const char *line);
int machine_command(struct machine *m, const char *command);

/* Its exit code, or a negative errno: -EINTR when it was killed, -ETIMEDOUT. */
int machine_wait_exit(struct machine *m, int timeout_ms);

/* SIGKILL, and wait for its end. */
int machine_kill(struct machine *m, int timeout_ms);

/* End it if need be, and free. */
void machine_free(struct machine *m);

#endif /* E2E_MACHINE_H */
