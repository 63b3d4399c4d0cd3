/* SPDX-License-Identifier: GPL-2.0 */
/*
 * args.h - the words of the command line, and how a mistake in them is told
 */
#ifndef VHOST_CTL_ARGS_H
#define VHOST_CTL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	EXIT_DONE,
	EXIT_USAGE,		/* a mistake on the command line, or stdout cannot be written */
	EXIT_REFUSED,		/* the kernel said no */
	EXIT_LACKING,		/* the kernel or the module does not have it */
};

/* Options, the same for all commands. */
struct options {
	bool json;
	bool no_headings;
	bool dry_run;
	const char *columns;	/* of -o, or NULL */
};

extern struct options opt;

/* The command that is running, for messages: "worker set". */
extern const char *running;

struct args {
	char **words;		/* what is left, ends with NULL */
};

/* One line on stderr. Return @code, so that a function can end with it. */
int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a mistake on the command line: tells where to read on, too. */
int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for a system call: @err is an errno of either sign. */
int fail_errno(int code, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A line on stderr that is no failure. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Take the next word, or NULL. */
char *args_next(struct args *args);
/* Take the next word if it is @word. */
bool args_keyword(struct args *args, const char *word);
/* Take the next word, named @what in the message if there is none: 0 or EXIT_USAGE. */
int args_need(struct args *args, const char *what, const char **word);
/* Complain about what is left: 0 or EXIT_USAGE. */
int args_end(struct args *args);

/* A decimal number and nothing else. */
bool parse_u32(const char *text, uint32_t *value);
/* The same as an argument, named @what in the message: 0 or EXIT_USAGE. */
int arg_u32(const char *text, const char *what, uint32_t *value);
/* A worker, "3" or "w3": 0 or EXIT_USAGE. */
int arg_worker(const char *text, uint32_t *id);

/*
 * One item of a list, which ends at @end: "5", "2-5" or, where @open_end is not NULL, "2-". False
 * if it is anything else, or runs backwards.
 */
bool parse_range(const char *text, const char *end, uint32_t *first, uint32_t *last,
		 bool *open_end);

#endif /* VHOST_CTL_ARGS_H */
