// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl - see and change the worker threads of vhost devices
 *
 * The first word is an object, the second a command of it; words are never
 * abbreviated. Each object has a file with its table of commands.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int version_run(struct args *args)
{
	int code = args_end(args);

	if (code)
		return code;
	if (opt.json) {
		json_object *root = json_object_new_object();

		json_object_object_add(root, "version", json_object_new_string(VHOST_CTL_VERSION));
		return out_json(root, true);
	}
	puts("vhost-ctl " VHOST_CTL_VERSION);
	return out_flush();
}

static const struct command version_commands[] = {
	{ .name = "", .args = "", .help = "Print the version of this program.",
	  .run = version_run },
	{ 0 },
};

const struct topic topics[] = {
	{ "attach", "give virtqueues to workers", attach_commands },
	{ "dev", "the vhost devices", dev_commands },
	{ "worker", "their workers", worker_commands },
	{ "vq", "their virtqueues", vq_commands },
	{ "stats", "what the workers do", stats_commands },
	{ "monitor", "what changes, as it happens", monitor_commands },
	{ "save", "write down the map of a device", save_commands },
	{ "restore", "apply what was written down", restore_commands },
	{ "policy", "the workers of those who choose none", policy_commands },
	{ "module", "the kernel modules behind all this", module_commands },
	{ "version", "the version of this program", version_commands },
	{ 0 },
};

static const struct topic *find_topic(const char *name)
{
	for (const struct topic *topic = topics; topic->name; topic++)
		if (!strcmp(topic->name, name))
			return topic;
	return NULL;
}

static const struct command *find_command(const struct topic *topic, const char *name)
{
	for (const struct command *command = topic->commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}

static bool is_help(const char *word)
{
	return word && !strcmp(word, "help");
}

static int run_command(const struct topic *topic, const struct command *command, struct args *args)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", topic->name, *command->name ? " " : "",
		 command->name);
	running = name;
	if (opt.columns && !command->views[0])
		return usage("-o: this has no columns");
	if (opt.dry_run && !command->dry_run)
		return usage("--dry-run: only for what changes a whole map");
	if (opt.columns && !command->views[1] && out_check(command->views[0]))
		return EXIT_USAGE;
	return command->run(args);
}

/* The words after the topic's. */
static int run_topic(const struct topic *topic, struct args *args, bool want_help)
{
	const struct command *command = find_command(topic, "");

	running = topic->name;
	if (!command && *args->words && !is_help(*args->words)) {
		command = find_command(topic, *args->words);
		if (!command)
			return usage("unknown command '%s'", *args->words);
		args->words++;
	}
	if (want_help || is_help(*args->words))
		return help_topic(topic, command);
	if (!command)
		return usage("a command is missing");
	return run_command(topic, command, args);
}

static int run(struct args *args, bool want_help)
{
	const struct topic *topic;
	char *word = args_next(args);

	if (is_help(word)) {
		want_help = true;
		word = args_next(args);
	}
	if (!word)
		return want_help ? help_all() : usage("an object is missing");
	topic = find_topic(word);
	if (!topic)
		return usage("unknown object '%s'", word);
	return run_topic(topic, args, want_help);
}

enum { OPT_DRY_RUN = 256 };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "no-headings", no_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* What getopt_long() did not understand: a letter, or the word before optind. */
static int bad_option(int result, char **argv)
{
	const char *problem = result == ':' ? "needs a value" : "is unknown";

	if (optopt > 0 && optopt < OPT_DRY_RUN)
		return usage("option '-%c' %s", optopt, problem);
	return usage("option '%s' %s", argv[optind - 1], problem);
}

static int parse_options(int argc, char **argv, bool *want_help, bool *want_version)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":jno:hV", long_options, NULL)) >= 0) {
		switch (c) {
		case 'j':
			opt.json = true;
			break;
		case 'n':
			opt.no_headings = true;
			break;
		case 'o':
			opt.columns = optarg;
			break;
		case OPT_DRY_RUN:
			opt.dry_run = true;
			break;
		case 'h':
			*want_help = true;
			break;
		case 'V':
			*want_version = true;
			break;
		default:
			return bad_option(c, argv);
		}
	}
	return 0;
}

/* What is opened later must not become stdout, so that what is printed goes there. */
static void keep_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	bool want_help = false, want_version = false;
	struct args args;
	int code, flushed;

	keep_standard_files();
	signal(SIGPIPE, SIG_IGN);	/* a reader that is gone must not end a change halfway */
	code = parse_options(argc, argv, &want_help, &want_version);
	if (code)
		return code;
	args.words = argv + optind;
	if (want_version)
		code = version_run(&args);
	else
		code = run(&args, want_help);
	flushed = out_flush();
	return code ? code : flushed;
}
