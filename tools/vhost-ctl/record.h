/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record.h - what the kernel tells, as rows of structs described by tables of fields
 *
 * A field table is the one place that knows an attribute: it decodes messages, names attributes in
 * refusals, and is the list of columns and JSON keys.
 */
#ifndef VHOST_CTL_RECORD_H
#define VHOST_CTL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlattr;
struct nlmsghdr;

enum field_kind {
	FIELD_U32,		/* uint32_t */
	FIELD_U64,		/* uint64_t */
	FIELD_REAL,		/* double, shown with one decimal; never from the kernel */
	FIELD_TEXT,		/* char *, printable ASCII without control characters */
	FIELD_FLAG,		/* nothing is stored but that it is there */
	FIELD_THREAD_KIND,	/* uint32_t, enum vhost_thread_kind */
	FIELD_POLICY_KIND,	/* uint32_t, enum vhost_policy_kind */
	FIELD_LIST,		/* struct list, an attribute for each number */
	FIELD_RANGES,		/* struct list, one attribute such as "0-3,8" */
	FIELD_ROWS,		/* struct rows of .nest */
};

struct field {
	const char *name;	/* JSON key; heading in upper case, attribute with - for _ */
	const char *help;
	const struct object *nest;
	uint16_t attr;		/* netlink attribute, or of what the tool computes any number */
	uint16_t offset;
	uint8_t kind;		/* enum field_kind */
	bool internal;		/* part of requests and their replies, never shown */
	bool computed;		/* no attribute but added by the tool; not part of events */
};

struct object {
	const char *plural;		/* JSON key of a list of them */
	size_t size;
	const struct field *fields;	/* ends with a nameless one */
};

/* The first member of every struct that a field table describes. */
struct record {
	uint64_t has;		/* bit .attr of each field that is there */
};

struct list {
	uint32_t *v;
	size_t nr;
};

struct rows {
	const struct object *object;
	void *data;		/* nr structs of object->size */
	size_t nr;
};

static inline bool record_has(const struct record *rec, unsigned int attr)
{
	return rec->has >> attr & 1;
}

static inline void record_set(struct record *rec, unsigned int attr)
{
	rec->has |= 1ULL << attr;
}

/* Every record of @rows, which are structs of the type that @pos points to. */
#define for_each_row(pos, rows) \
	for ((pos) = (rows)->data; \
	     (pos) && (pos) < (__typeof__(pos))(rows)->data + (rows)->nr; (pos)++)

/* Memory or the end of the program. */
_Noreturn void no_memory(void);
void *xrealloc(void *old, size_t nr, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A process chooses its name: take out what a terminal could obey. Returns @text, which may be NULL. */
char *printable(char *text);

void list_add(struct list *list, uint32_t value);
/* Append the numbers of @text, such as "0-3,8". False if it is no list, or far too long a one. */
bool list_parse(struct list *list, const char *text);

/* A new record at the end, all zero. The rows before it may move. */
void *rows_add(struct rows *rows);
/* Make it empty, and ready to be filled again. */
void rows_free(struct rows *rows);

/* Forget all of them but @record. */
void rows_keep(struct rows *rows, const void *record);

/* Append what the generic netlink message @nlh says of one object. False if it is malformed. */
bool rows_decode(struct rows *rows, const struct nlmsghdr *nlh);

/* The field that attribute @attr is, or NULL. */
const struct field *field_by_attr(const struct object *object, unsigned int attr);
/* The field named @name (a JSON key, in any case) that can be shown, or NULL. */
const struct field *field_by_name(const struct object *object, const char *name, size_t len);
/* Where @field stands in @record. */
const void *field_at(const struct field *field, const void *record);

#endif /* VHOST_CTL_RECORD_H */
