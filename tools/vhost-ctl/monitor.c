// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl monitor - what happens to devices, workers and maps, as it happens
 */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "nl.h"
#include "objects.h"

struct event {
	const char *name;
	const struct object *object;
};

static const struct event events[] = {
	[VHOST_CMD_DEV_ADD_NTF] = { "dev-add", &dev_object },
	[VHOST_CMD_DEV_CHANGE_NTF] = { "dev-change", &dev_object },
	[VHOST_CMD_DEV_DEL_NTF] = { "dev-del", &dev_object },
	[VHOST_CMD_WORKER_ADD_NTF] = { "worker-add", &worker_object },
	[VHOST_CMD_WORKER_DEL_NTF] = { "worker-del", &worker_object },
	[VHOST_CMD_WORKER_KILLED_NTF] = { "worker-killed", &worker_object },
	[VHOST_CMD_MAP_NTF] = { "map", &map_object },
	[VHOST_CMD_POLICY_NTF] = { "policy", &policy_object },
};

#define NR_EVENTS (sizeof(events) / sizeof(*events))

static int print_json(const struct event *event, const void *record)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "event", json_object_new_string(event->name));
	if (record) {
		json_object *fields = out_record_json(event->object, record);

		json_object_object_foreach(fields, key, value)
			json_object_object_add(json, key, json_object_get(value));
		json_object_put(fields);
	}
	return out_json(json, false);
}

static void print_fields(const struct object *object, const void *record);

static void print_rows(const struct rows *rows)
{
	const char *row = rows->data;

	for (size_t i = 0; i < rows->nr; i++, row += rows->object->size) {
		fputs(" {", stdout);
		print_fields(rows->object, row);
		fputs(" }", stdout);
	}
}

/* " name=value" of what is there; a value with a blank in it stands in quotes. */
static void print_fields(const struct object *object, const void *record)
{
	for (const struct field *f = object->fields; f->name; f++) {
		char *text, *quote;

		if (f->internal || !record_has(record, f->attr))
			continue;
		if (f->kind == FIELD_ROWS) {
			print_rows(field_at(f, record));
			continue;
		}
		text = out_text(f, record);
		quote = strpbrk(text, " \"") ? "\"" : "";
		printf(" %s=%s%s%s", f->name, quote, text, quote);
		free(text);
	}
}

static int print_text(const struct event *event, const void *record)
{
	fputs(event->name, stdout);
	if (record)
		print_fields(event->object, record);
	putchar('\n');
	return out_flush();
}

static int print(const struct event *event, const void *record)
{
	return opt.json ? print_json(event, record) : print_text(event, record);
}

static int on_event(const struct nlmsghdr *nlh, void *arg)
{
	static const struct event lost = { "lost", NULL };
	const struct genlmsghdr *genl;
	struct rows rows = { 0 };
	int code;

	(void)arg;
	if (!nlh)
		return print(&lost, NULL);
	genl = mnl_nlmsg_get_payload(nlh);
	if (genl->cmd >= NR_EVENTS || !events[genl->cmd].object)
		return 0;	/* of a newer kernel */
	rows.object = events[genl->cmd].object;
	if (rows_decode(&rows, nlh))
		code = print(&events[genl->cmd], rows.data);
	else
		code = fail(EXIT_REFUSED, "the kernel sent a malformed event");
	rows_free(&rows);
	return code;
}

static int listen_on(struct nl *nl, void *arg)
{
	int code = nl_join(nl);

	return code ? code : nl_listen(nl, on_event, arg);
}

static int monitor_run(struct args *args)
{
	int code = args_end(args);

	return code ? code : nl_with(listen_on, NULL);
}

static const char details[] =
	"    Events: dev-add, dev-change, dev-del, worker-add, worker-del, worker-killed, map,\n"
	"    policy, and lost where they came faster than they were read.\n";

const struct command monitor_commands[] = {
	{ .name = "", .args = "",
	  .help = "Print what happens, one line for each event, until interrupted.",
	  .details = details, .run = monitor_run },
	{ 0 },
};
