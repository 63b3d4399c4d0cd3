// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of structs, filled from netlink messages by tables of fields.
 */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "args.h"
#include "record.h"

#define LIST_MAX 65536

void no_memory(void)
{
	fail(EXIT_REFUSED, "out of memory");
	exit(EXIT_REFUSED);
}

void *xrealloc(void *old, size_t nr, size_t size)
{
	void *new = reallocarray(old, nr ? nr : 1, size);

	if (!new)
		no_memory();
	return new;
}

/*
 * Room for one more of @nr elements. There is always room for the next power of two, so that a long
 * list is copied a few times only.
 */
static void *grow(void *old, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return old;
	return xrealloc(old, nr ? 2 * nr : 1, size);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		no_memory();
	return text;
}

void list_add(struct list *list, uint32_t value)
{
	list->v = grow(list->v, list->nr, sizeof(*list->v));
	list->v[list->nr++] = value;
}

bool list_parse(struct list *list, const char *text)
{
	uint32_t first, last;

	for (;;) {
		const char *end = strchrnul(text, ',');

		if (!parse_range(text, end, &first, &last, NULL) ||
		    (uint64_t)last - first >= LIST_MAX - list->nr)
			return false;
		for (uint32_t i = 0; i <= last - first; i++)
			list_add(list, first + i);
		if (!*end)
			return true;
		text = end + 1;
	}
}

void *rows_add(struct rows *rows)
{
	size_t size = rows->object->size;
	char *row;

	rows->data = grow(rows->data, rows->nr, size);
	row = (char *)rows->data + rows->nr++ * size;
	return memset(row, 0, size);
}

static void *field_slot(const struct field *field, void *record)
{
	return (char *)record + field->offset;
}

const void *field_at(const struct field *field, const void *record)
{
	return (const char *)record + field->offset;
}

static void record_free(const struct object *object, void *record)
{
	for (const struct field *f = object->fields; f->name; f++) {
		if (f->kind == FIELD_TEXT)
			free(*(char **)field_slot(f, record));
		else if (f->kind == FIELD_LIST || f->kind == FIELD_RANGES)
			free(((struct list *)field_slot(f, record))->v);
		else if (f->kind == FIELD_ROWS)
			rows_free(field_slot(f, record));
	}
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		record_free(rows->object, (char *)rows->data + i * rows->object->size);
	free(rows->data);
	rows->data = NULL;
	rows->nr = 0;
}

void rows_keep(struct rows *rows, const void *record)
{
	size_t size = rows->object->size;
	char *row = rows->data;

	for (size_t i = 0; i < rows->nr; i++, row += size)
		if (row != record)
			record_free(rows->object, row);
	memmove(rows->data, record, size);
	rows->nr = 1;
}

const struct field *field_by_attr(const struct object *object, unsigned int attr)
{
	for (const struct field *f = object->fields; f->name; f++)
		if (f->attr == attr)
			return f;
	return NULL;
}

const struct field *field_by_name(const struct object *object, const char *name, size_t len)
{
	for (const struct field *f = object->fields; f->name; f++)
		if (!f->internal && strlen(f->name) == len && !strncasecmp(f->name, name, len))
			return f;
	return NULL;
}

char *printable(char *text)
{
	for (char *c = text; c && *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return text;
}

static bool record_decode(const struct object *object, void *record, const struct nlattr *attr);

/* The attributes of a nest; those of a message are decoded by rows_decode(). */
static bool nest_decode(const struct object *object, struct rows *rows, const struct nlattr *nest)
{
	struct nlattr *attr;
	void *record;

	rows->object = object;
	record = rows_add(rows);
	mnl_attr_for_each_nested(attr, nest)
		if (!record_decode(object, record, attr))
			return false;
	return true;
}

static enum mnl_attr_data_type wire_type(const struct field *field)
{
	switch (field->kind) {
	case FIELD_U64:
		return MNL_TYPE_U64;
	case FIELD_TEXT:
	case FIELD_RANGES:
		return MNL_TYPE_NUL_STRING;
	case FIELD_FLAG:
		return MNL_TYPE_FLAG;
	case FIELD_ROWS:
		return MNL_TYPE_NESTED;
	default:
		return MNL_TYPE_U32;
	}
}

static bool value_decode(const struct field *field, void *slot, const struct nlattr *attr)
{
	switch (field->kind) {
	case FIELD_U64:
		*(uint64_t *)slot = mnl_attr_get_u64(attr);
		return true;
	case FIELD_TEXT:
		free(*(char **)slot);
		*(char **)slot = printable(xasprintf("%s", mnl_attr_get_str(attr)));
		return true;
	case FIELD_LIST:
		list_add(slot, mnl_attr_get_u32(attr));
		return true;
	case FIELD_RANGES:
		return list_parse(slot, mnl_attr_get_str(attr));
	case FIELD_ROWS:
		return nest_decode(field->nest, slot, attr);
	case FIELD_FLAG:
		return true;
	default:
		*(uint32_t *)slot = mnl_attr_get_u32(attr);
		return true;
	}
}

/* A newer kernel may tell more than we know: that is passed over. */
static bool record_decode(const struct object *object, void *record, const struct nlattr *attr)
{
	const struct field *field = field_by_attr(object, mnl_attr_get_type(attr));

	if (!field)
		return true;
	if (mnl_attr_validate(attr, wire_type(field)) < 0)
		return false;
	record_set(record, field->attr);
	return value_decode(field, field_slot(field, record), attr);
}

bool rows_decode(struct rows *rows, const struct nlmsghdr *nlh)
{
	void *record = rows_add(rows);
	struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (!record_decode(rows->object, record, attr))
			return false;
	return true;
}
