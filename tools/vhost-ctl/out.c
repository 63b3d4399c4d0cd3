// SPDX-License-Identifier: GPL-2.0
/*
 * Rows as a table (libsmartcols) or as JSON (json-c), both from the field table.
 */
#include <ctype.h>
#include <errno.h>
#include <libsmartcols.h>
#include <linux/vhost_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "out.h"

#define COLUMNS_MAX 64

struct columns {
	const struct field *field[COLUMNS_MAX];
	size_t nr;
};

/* --- which columns */

static bool has_column(const struct columns *columns, const struct field *field)
{
	for (size_t i = 0; i < columns->nr; i++)
		if (columns->field[i] == field)
			return true;
	return false;
}

static int unknown_column(const struct object *object, const char *name, size_t len)
{
	char *known = xasprintf("%s", ""), *more;

	for (const struct field *f = object->fields; f->name; f++) {
		if (f->internal)
			continue;
		more = xasprintf("%s%s%s", known, *known ? ", " : "", f->name);
		free(known);
		known = more;
	}
	usage("-o: there is no column '%.*s', but %s", (int)len, name, known);
	free(known);
	return EXIT_USAGE;
}

static int add_columns(const struct object *object, const char *names, struct columns *columns)
{
	for (;;) {
		size_t len = strcspn(names, ",");
		const struct field *field = field_by_name(object, names, len);

		if (!field)
			return unknown_column(object, names, len);
		if (has_column(columns, field))
			return usage("-o: column '%s' is named twice", field->name);
		columns->field[columns->nr++] = field;
		if (!names[len])
			return 0;
		names += len + 1;
	}
}

static int check_known(const struct view *view, const struct columns *columns)
{
	struct columns known = { .nr = 0 };

	add_columns(view->object, view->columns, &known);
	for (size_t i = 0; i < columns->nr; i++)
		if (!has_column(&known, columns->field[i]))
			return fail(EXIT_LACKING, "-o: column '%s' is not known without control",
				    columns->field[i]->name);
	return 0;
}

/* Those of -o, else the view's for a table and all for JSON. "+a,b" adds to them. */
static int choose_columns(const struct view *view, struct columns *columns)
{
	const char *asked = opt.columns;
	int code = 0;

	columns->nr = 0;
	if (!asked && opt.json && !view->partial) {
		for (const struct field *f = view->object->fields; f->name; f++)
			if (!f->internal)
				columns->field[columns->nr++] = f;
		return 0;
	}
	if (!asked || *asked == '+')
		add_columns(view->object, view->columns, columns);
	if (asked)
		code = add_columns(view->object, asked + (*asked == '+'), columns);
	return !code && view->partial ? check_known(view, columns) : code;
}

int out_check(const struct view *view)
{
	struct columns columns;

	return choose_columns(view, &columns);
}

/* --- values */

const char *thread_kind_name(uint32_t kind)
{
	switch (kind) {
	case VHOST_THREAD_KIND_KTHREAD:
		return "kthread";
	case VHOST_THREAD_KIND_TASK:
		return "task";
	default:
		return "unknown";
	}
}

const char *policy_kind_name(uint32_t kind)
{
	switch (kind) {
	case VHOST_POLICY_KIND_SINGLE:
		return "single";
	case VHOST_POLICY_KIND_PER_VQ:
		return "per-vq";
	case VHOST_POLICY_KIND_PER_CPU:
		return "per-cpu";
	case VHOST_POLICY_KIND_COUNT:
		return "count";
	default:
		return "unknown";
	}
}

char *list_text(const struct list *list)
{
	char *text = xasprintf("%s", ""), *more;

	for (size_t i = 0, last; i < list->nr; i = last + 1) {
		for (last = i; last + 1 < list->nr && list->v[last + 1] == list->v[last] + 1; )
			last++;
		more = last == i ? xasprintf("%s%s%u", text, i ? "," : "", list->v[i]) :
		       xasprintf("%s%s%u-%u", text, i ? "," : "", list->v[i], list->v[last]);
		free(text);
		text = more;
	}
	return text;
}

static char *rows_text(const struct rows *rows)
{
	return xasprintf("%zu", rows->nr);
}

char *out_text(const struct field *field, const void *record)
{
	const void *at = field_at(field, record);
	bool there = record_has(record, field->attr);

	if (field->kind == FIELD_FLAG)
		return xasprintf("%s", there ? "yes" : "no");
	if (!there)
		return xasprintf("-");
	switch (field->kind) {
	case FIELD_U64:
		return xasprintf("%llu", (unsigned long long)*(const uint64_t *)at);
	case FIELD_REAL:
		return xasprintf("%.1f", *(const double *)at);
	case FIELD_TEXT:
		return xasprintf("%s", *(char *const *)at);
	case FIELD_THREAD_KIND:
		return xasprintf("%s", thread_kind_name(*(const uint32_t *)at));
	case FIELD_POLICY_KIND:
		return xasprintf("%s", policy_kind_name(*(const uint32_t *)at));
	case FIELD_LIST:
	case FIELD_RANGES:
		return list_text(at);
	case FIELD_ROWS:
		return rows_text(at);
	default:
		return xasprintf("%u", *(const uint32_t *)at);
	}
}

/* A list of numbers stands in one line even where the rest is indented. */
static int print_numbers(json_object *array, struct printbuf *out, int level, int flags)
{
	(void)level;
	(void)flags;
	sprintbuf(out, "[");
	for (size_t i = 0; i < json_object_array_length(array); i++)
		sprintbuf(out, "%s%llu", i ? "," : "", (unsigned long long)
			  json_object_get_uint64(json_object_array_get_idx(array, i)));
	return sprintbuf(out, "]");
}

json_object *out_list_json(const struct list *list)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < list->nr; i++)
		json_object_array_add(array, json_object_new_uint64(list->v[i]));
	json_object_set_serializer(array, print_numbers, NULL, NULL);
	return array;
}

static json_object *rows_json(const struct rows *rows)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < rows->nr; i++)
		json_object_array_add(array, out_record_json(rows->object, (char *)rows->data +
							     i * rows->object->size));
	return array;
}

static json_object *real_json(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f", value);
	return json_object_new_double_s(value, text);
}

static json_object *field_json(const struct field *field, const void *record)
{
	const void *at = field_at(field, record);
	bool there = record_has(record, field->attr);

	switch (field->kind) {	/* what is never null */
	case FIELD_FLAG:
		return json_object_new_boolean(there);
	case FIELD_LIST:
	case FIELD_RANGES:
		return out_list_json(at);
	case FIELD_ROWS:
		return rows_json(at);
	}
	if (!there)
		return NULL;
	switch (field->kind) {
	case FIELD_U64:
		return json_object_new_uint64(*(const uint64_t *)at);
	case FIELD_REAL:
		return real_json(*(const double *)at);
	case FIELD_TEXT:
		return json_object_new_string(*(char *const *)at);
	case FIELD_THREAD_KIND:
		return json_object_new_string(thread_kind_name(*(const uint32_t *)at));
	case FIELD_POLICY_KIND:
		return json_object_new_string(policy_kind_name(*(const uint32_t *)at));
	default:
		return json_object_new_uint64(*(const uint32_t *)at);
	}
}

/* --- JSON */

json_object *out_record_json(const struct object *object, const void *record)
{
	json_object *json = json_object_new_object();

	for (const struct field *f = object->fields; f->name; f++)
		if (!f->internal && !f->computed)
			json_object_object_add(json, f->name, field_json(f, record));
	return json;
}

int out_json(json_object *root, bool indented)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (indented)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	puts(json_object_to_json_string_ext(root, flags));
	json_object_put(root);
	return out_flush();
}

static int print_json(const struct columns *columns, const struct rows *rows, bool indented)
{
	json_object *root = json_object_new_object(), *array = json_object_new_array();
	const char *row = rows->data;

	json_object_object_add(root, rows->object->plural, array);
	for (size_t i = 0; i < rows->nr; i++, row += rows->object->size) {
		json_object *json = json_object_new_object();

		for (size_t c = 0; c < columns->nr; c++)
			json_object_object_add(json, columns->field[c]->name,
					       field_json(columns->field[c], row));
		json_object_array_add(array, json);
	}
	return out_json(root, indented);
}

/* --- tables */

static void add_heading(struct libscols_table *table, const struct field *field)
{
	bool number = field->kind == FIELD_U32 || field->kind == FIELD_U64 ||
		      field->kind == FIELD_REAL;
	char name[32];
	size_t i;

	for (i = 0; field->name[i] && i < sizeof(name) - 1; i++)
		name[i] = toupper((unsigned char)field->name[i]);
	name[i] = '\0';
	if (!scols_table_new_column(table, name, 0, number ? SCOLS_FL_RIGHT : 0))
		no_memory();
}

static void add_line(struct libscols_table *table, const struct columns *columns, const void *row)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	for (size_t c = 0; c < columns->nr; c++)
		if (!line || scols_line_refer_data(line, c, out_text(columns->field[c], row)))
			no_memory();
}

static int print_table(const struct columns *columns, const struct rows *rows, bool headings)
{
	struct libscols_table *table = scols_new_table();
	const char *row = rows->data;

	if (!table)
		no_memory();
	scols_table_enable_noheadings(table, !headings);
	for (size_t c = 0; c < columns->nr; c++)
		add_heading(table, columns->field[c]);
	for (size_t i = 0; i < rows->nr; i++, row += rows->object->size)
		add_line(table, columns, row);
	scols_print_table(table);
	scols_unref_table(table);
	return out_flush();
}

/* --- both */

static int print(const struct view *view, const struct rows *rows, bool headings, bool indented)
{
	struct columns columns;
	int code = choose_columns(view, &columns);

	if (code)
		return code;
	return opt.json ? print_json(&columns, rows, indented) :
	       print_table(&columns, rows, headings && !opt.no_headings);
}

int out_rows(const struct view *view, const struct rows *rows)
{
	return print(view, rows, true, true);
}

int out_sample(const struct view *view, const struct rows *rows, bool headings)
{
	return print(view, rows, headings, false);
}

void out_columns(FILE *out, const struct view *view)
{
	struct columns defaults = { .nr = 0 };

	add_columns(view->object, view->columns, &defaults);
	fprintf(out, "\nColumns%s%s for -o (those with * are shown by default):\n",
		view->title ? " of " : "", view->title ? view->title : "");
	for (const struct field *f = view->object->fields; f->name; f++)
		if (!f->internal)
			fprintf(out, "  %c %-16s %s\n", has_column(&defaults, f) ? '*' : ' ',
				f->name, f->help);
}

int out_flush(void)
{
	static bool told;

	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	/* Whoever closes a pipe, as head does, has seen enough. */
	if (!told && errno != EPIPE)
		fail_errno(EXIT_USAGE, errno, "cannot write to stdout");
	told = true;
	return EXIT_USAGE;
}
