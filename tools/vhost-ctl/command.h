/* SPDX-License-Identifier: GPL-2.0 */
/*
 * command.h - the tables of commands: what main() runs and what help prints
 */
#ifndef VHOST_CTL_COMMAND_H
#define VHOST_CTL_COMMAND_H

#include <stdbool.h>

#include "args.h"
#include "out.h"

#define VIEWS_MAX 4

struct command {
	const char *name;		/* second word, "" where the first one is all */
	const char *args;		/* grammar of the rest, or "" */
	const char *help;		/* what it does, in a line */
	const char *details;		/* paragraphs for help, or NULL */
	const struct view *views[VIEWS_MAX + 1];	/* what -o chooses from */
	bool dry_run;			/* takes --dry-run */
	int (*run)(struct args *args);	/* gives the exit code */
};

struct topic {
	const char *name;		/* first word */
	const char *help;
	const struct command *commands;	/* ends with a nameless one */
};

extern const struct topic topics[];	/* ends with a nameless one */

extern const struct command attach_commands[], dev_commands[], worker_commands[], vq_commands[],
			    stats_commands[], monitor_commands[], save_commands[], restore_commands[],
			    policy_commands[], module_commands[];

/* Help of all, of a topic, or of one command of it, on stdout: 0 or an exit code. */
int help_all(void);
int help_topic(const struct topic *topic, const struct command *only);

#endif /* VHOST_CTL_COMMAND_H */
