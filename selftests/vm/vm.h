/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the VM's init share.
 *
 * The verdict channel (the second serial port) carries one line per event:
 *
 *	READY				init is up, modules are loaded
 *	BEGIN <name>
 *	OUT <text>			a line of the program's output, if asked for
 *	END <name> <PASS|FAIL|SKIP> <milliseconds> <note>
 *	VERDICT <PASS|FAIL> <note>	always the last line, after the log scan
 *
 * A line that is missing means failure, so nothing can pass by going silent.
 */
#ifndef VM_H
#define VM_H

#include <stdbool.h>
#include <stddef.h>

#define NOTE_LEN 240

/* init.c */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void console(const char *text);
bool write_file(const char *path, const char *text);
bool read_file(const char *path, char *buf, size_t size);
_Noreturn void power_off(void);
_Noreturn void give_up(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* kmsg.c */
extern int kmsg_fd;
void kmsg_open(void);
bool kmsg_scan(char *note);
bool leftovers_scan(char *note);

/* run.c */
struct job {
	const char *name;
	const char *command;
	int timeout_s;
	bool output;	/* send the output to the verdict channel, too */
};

enum outcome { PASS, FAIL, SKIP };

enum outcome run_job(const struct job *job, char *note);
long now_ms(void);

#endif
