// SPDX-License-Identifier: GPL-2.0
/*
 * Help at every level, made from the tables of commands and columns.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char intro[] =
	"Usage: vhost-ctl [-j] [-n] [-o COLUMNS] OBJECT { COMMAND | help }\n"
	"See and change the worker threads of the vhost devices of running virtual machines.\n";

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

/* Print "OBJECT COMMAND ARGS". Returns its length. */
static int print_grammar(const struct topic *topic, const struct command *command)
{
	return printf("%s%s%s%s%s", topic->name, *command->name ? " " : "", command->name,
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
			putchar('\n');
		}
	}
	fputs(options, stdout);
	return out_flush();
}

static void print_command(const struct topic *topic, const struct command *command)
{
	putchar('\n');
	print_grammar(topic, command);
	printf("\n    %s\n", command->help);
	if (command->details)
		printf("\n%s", command->details);
	if (command->view)
		out_columns(stdout, command->view);
}

int help_topic(const struct topic *topic, const struct command *only)
{
	const char *intro_word = "Usage: ";

	for (const struct command *c = topic->commands; c->name; c++) {
		if (only && c != only)
			continue;
		printf("%svhost-ctl [OPTION]... ", intro_word);
		print_grammar(topic, c);
		putchar('\n');
		intro_word = "       ";
	}
	if (!only)
		printf("%s\n", topic->help);
	for (const struct command *c = topic->commands; c->name; c++)
		if (!only || c == only)
			print_command(topic, c);
	return out_flush();
}
