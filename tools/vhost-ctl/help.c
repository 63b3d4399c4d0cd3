// SPDX-License-Identifier: GPL-2.0
/*
 * Help at every level, made from the tables of commands and columns.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char intro[] =
	"Usage: vhost-ctl [-j] [-n] [-o COLUMNS] OBJECT { COMMAND | help }\n"
	"See and change the worker threads of the vhost devices of running virtual machines.\n"
	"Begin with 'vhost-ctl dev show'; 'vhost-ctl OBJECT help' tells more of each.\n";

static const char options[] =
	"\n"
	"Options, anywhere on the line:\n"
	"  -j, --json            JSON on stdout\n"
	"  -n, --no-headings     tables without headings\n"
	"  -o, --output COLUMNS  comma-separated columns; +COLUMNS adds to the default ones\n"
	"      --dry-run         attach, restore: show what would be, change nothing\n"
	"  -h, --help            help for the words before it\n"
	"  -V, --version         the same as the object version\n"
	"\n"
	"DEV is a device id, the pid of its owner, or a wwpn (naa.5001405...). A number that is\n"
	"the id of one device and the pid of another's owner is refused: say id:N or pid:N.\n"
	"\n"
	"Exit status: 0 done, 1 mistake on the command line, 2 refused by the kernel,\n"
	"3 the kernel or its vhost module lacks what it takes.\n";

/* Print "OBJECT COMMAND ARGS". */
static void print_grammar(const struct topic *topic, const struct command *command)
{
	printf("%s%s%s%s%s", topic->name, *command->name ? " " : "", command->name,
	       *command->args ? " " : "", command->args);
}

int help_all(void)
{
	fputs(intro, stdout);
	for (const struct topic *topic = topics; topic->name; topic++) {
		printf("\n%s: %s\n", topic->name, topic->help);
		for (const struct command *c = topic->commands; c->name; c++) {
			fputs("  ", stdout);
			print_grammar(topic, c);
			printf("\n        %s\n", c->help);
		}
	}
	fputs(options, stdout);
	return out_flush();
}

static void print_command(const struct command *command)
{
	printf("    %s\n", command->help);
	if (command->details)
		printf("\n%s", command->details);
	for (const struct view *const *view = command->views; *view; view++)
		out_columns(stdout, *view);
}

int help_topic(const struct topic *topic, const struct command *only)
{
	if (!only)
		printf("vhost-ctl %s: %s\n", topic->name, topic->help);
	for (const struct command *c = topic->commands; c->name; c++) {
		if (only && c != only)
			continue;
		printf("%sUsage: vhost-ctl [OPTION]... ", only ? "" : "\n");
		print_grammar(topic, c);
		fputs("\n\n", stdout);
		print_command(c);
	}
	return out_flush();
}
