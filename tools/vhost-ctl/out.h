/* SPDX-License-Identifier: GPL-2.0 */
/*
 * out.h - rows as a table or as JSON, with the columns that were asked for
 */
#ifndef VHOST_CTL_OUT_H
#define VHOST_CTL_OUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "record.h"

/* How a command shows an object. */
struct view {
	const struct object *object;
	const char *columns;	/* names of those in the table unless -o says otherwise */
	const char *title;	/* for help, where a command has several views */
	bool partial;		/* only these columns are known; others are refused */
};

/* Is what -o asks for there? 0 or EXIT_USAGE, told. */
int out_check(const struct view *view);

/* Write @rows as -j, -n and -o want it: 0 or an exit code. */
int out_rows(const struct view *view, const struct rows *rows);
/* The same without headings where @headings is false, and JSON in one line. */
int out_sample(const struct view *view, const struct rows *rows, bool headings);

/* The list of columns, for help. */
void out_columns(FILE *out, const struct view *view);

/* All fields of @record that the kernel tells and can be shown; one that is not there is null. */
json_object *out_record_json(const struct object *object, const void *record);
json_object *out_list_json(const struct list *list);
/* Write @root, indented or in one line, and let go of it. */
int out_json(json_object *root, bool indented);

/* What a cell shows; the caller frees it. */
char *out_text(const struct field *field, const void *record);
/* The word for an enum vhost_thread_kind, and for an enum vhost_policy_kind. */
const char *thread_kind_name(uint32_t kind);
const char *policy_kind_name(uint32_t kind);
/* A list of numbers, runs of them as 2-5. */
char *list_text(const struct list *list);

/* Flush stdout: 0, or EXIT_USAGE if something could not be written, told once. */
int out_flush(void);

#endif /* VHOST_CTL_OUT_H */
