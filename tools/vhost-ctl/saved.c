// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing what save has saved.
 *
 * A file may have been edited by hand: every key must be known, and every mistake
 * is told with the place where it is, such as workers[1].vqs[0].
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpus.h"
#include "out.h"
#include "saved.h"

#define FILE_MAX (1 << 20)

static const struct field worker_fields[] = {
	{ .name = "cpus", .kind = FIELD_TEXT, .offset = offsetof(struct saved_worker, cpus) },
	{ .name = "vqs", .kind = FIELD_LIST, .offset = offsetof(struct saved_worker, vqs) },
	{ 0 },
};

static const struct object worker_object = {
	"workers", sizeof(struct saved_worker), worker_fields,
};

void saved_init(struct saved *saved)
{
	*saved = (struct saved){ .workers.object = &worker_object };
}

void saved_free(struct saved *saved)
{
	free(saved->backend);
	free(saved->wwpn);
	rows_free(&saved->workers);
}

/* --- writing */

static json_object *text_or_null(const char *text)
{
	return text ? json_object_new_string(text) : NULL;
}

static json_object *worker_json(const struct saved_worker *worker)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "id", json_object_new_uint64(worker->id));
	json_object_object_add(json, "cpus", text_or_null(worker->cpus));
	json_object_object_add(json, "vqs", out_list_json(&worker->vqs));
	return json;
}

int saved_write(const struct saved *saved)
{
	json_object *root = json_object_new_object(), *workers = json_object_new_array();
	const struct saved_worker *worker;

	json_object_object_add(root, "version", json_object_new_int(SAVED_VERSION));
	json_object_object_add(root, "backend", text_or_null(saved->backend));
	json_object_object_add(root, "wwpn", text_or_null(saved->wwpn));
	for_each_row(worker, &saved->workers)
		json_object_array_add(workers, worker_json(worker));
	json_object_object_add(root, "workers", workers);
	return out_json(root, true);
}

/* --- checking */

/* Where in the file we are. */
struct place {
	const char *file;
	char key[64];
};

static int bad(const struct place *place, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int bad(const struct place *place, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fail(EXIT_USAGE, "%s: %s: %s", place->file, place->key, printable(text));
}

/* Go to a key of the present place, or to an item of its list. */
static struct place enter(const struct place *place, const char *key)
{
	struct place inner = *place;
	size_t len = strlen(inner.key);

	snprintf(inner.key + len, sizeof(inner.key) - len, "%s%s", len ? "." : "", key);
	return inner;
}

static struct place enter_item(const struct place *place, size_t index)
{
	struct place inner = *place;
	size_t len = strlen(inner.key);

	snprintf(inner.key + len, sizeof(inner.key) - len, "[%zu]", index);
	return inner;
}

/* Is @json an object with these keys and no others? @keys ends with NULL. */
static int check_keys(const struct place *place, json_object *json, const char *const *keys)
{
	if (!json_object_is_type(json, json_type_object))
		return bad(place, "is not an object { ... }");
	json_object_object_foreach(json, key, value) {
		const char *const *known = keys;

		(void)value;
		while (*known && strcmp(*known, key))
			known++;
		if (!*known)
			return bad(place, "has an unknown key '%s'", key);
	}
	for (; *keys; keys++)
		if (!json_object_object_get_ex(json, *keys, NULL))
			return bad(place, "lacks the key '%s'", *keys);
	return 0;
}

static int read_u32(const struct place *place, json_object *json, uint32_t *value)
{
	int64_t number = json_object_get_int64(json);

	if (!json_object_is_type(json, json_type_int) || number < 0 || number > UINT32_MAX)
		return bad(place, "%s is not a number from 0 to %u",
			   json_object_to_json_string(json), UINT32_MAX);
	*value = number;
	return 0;
}

static int read_text(const struct place *place, json_object *json, bool may_be_null, char **text)
{
	*text = NULL;
	if (!json && may_be_null)
		return 0;
	if (!json_object_is_type(json, json_type_string))
		return bad(place, "%s is not a string%s", json_object_to_json_string(json),
			   may_be_null ? " or null" : "");
	*text = printable(xasprintf("%s", json_object_get_string(json)));
	return 0;
}

static int check_array(const struct place *place, json_object *json)
{
	if (!json_object_is_type(json, json_type_array))
		return bad(place, "is not a list [ ... ]");
	if (!json_object_array_length(json))
		return bad(place, "is empty");
	return 0;
}

/* --- workers */

static bool list_has(const struct list *list, uint32_t value)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->v[i] == value)
			return true;
	return false;
}

static bool is_mapped(const struct saved *saved, uint32_t vq)
{
	const struct saved_worker *worker;

	for_each_row(worker, &saved->workers)
		if (list_has(&worker->vqs, vq))
			return true;
	return false;
}

static int read_vqs(const struct place *place, json_object *json, const struct saved *saved,
		    struct saved_worker *worker)
{
	int code = check_array(place, json);

	for (size_t i = 0; !code && i < json_object_array_length(json); i++) {
		struct place item = enter_item(place, i);
		uint32_t vq;

		code = read_u32(&item, json_object_array_get_idx(json, i), &vq);
		if (!code && is_mapped(saved, vq))
			code = bad(&item, "virtqueue %u is named twice", vq);
		if (!code)
			list_add(&worker->vqs, vq);
	}
	return code;
}

static int read_cpus(const struct place *place, json_object *json, struct saved_worker *worker)
{
	struct cpus cpus;
	int code = read_text(place, json, true, &worker->cpus);

	if (!code && worker->cpus && !cpus_parse(worker->cpus, &cpus))
		code = bad(place, "'%s' is not a list of CPUs such as 0-3,8", worker->cpus);
	return code;
}

static int read_id(const struct place *place, json_object *json, const struct saved *saved,
		   struct saved_worker *worker)
{
	const struct saved_worker *other;
	int code = read_u32(place, json, &worker->id);

	for_each_row(other, &saved->workers)
		if (!code && other != worker && other->id == worker->id)
			code = bad(place, "worker %u is named twice", worker->id);
	return code;
}

static int read_worker(const struct place *place, json_object *json, struct saved *saved)
{
	static const char *const keys[] = { "id", "cpus", "vqs", NULL };
	struct saved_worker *worker = rows_add(&saved->workers);
	struct place inner;
	int code = check_keys(place, json, keys);

	if (code)
		return code;
	inner = enter(place, "id");
	code = read_id(&inner, json_object_object_get(json, "id"), saved, worker);
	inner = enter(place, "cpus");
	if (!code)
		code = read_cpus(&inner, json_object_object_get(json, "cpus"), worker);
	inner = enter(place, "vqs");
	if (!code)
		code = read_vqs(&inner, json_object_object_get(json, "vqs"), saved, worker);
	return code;
}

static int read_workers(const struct place *place, json_object *json, struct saved *saved)
{
	int code = check_array(place, json);

	for (size_t i = 0; !code && i < json_object_array_length(json); i++) {
		struct place item = enter_item(place, i);

		code = read_worker(&item, json_object_array_get_idx(json, i), saved);
	}
	return code;
}

/* --- the file */

static int read_version(const struct place *place, json_object *json)
{
	uint32_t version;
	int code = read_u32(place, json, &version);

	if (!code && version != SAVED_VERSION)
		code = bad(place, "%u is not known, only %d is", version, SAVED_VERSION);
	return code;
}

/* Nothing else may stand there: it becomes a DEV, which could be a number. */
static int read_wwpn(const struct place *place, json_object *json, struct saved *saved)
{
	int code = read_text(place, json, true, &saved->wwpn);

	if (!code && saved->wwpn && strncmp(saved->wwpn, "naa.", strlen("naa.")))
		code = bad(place, "'%s' is not a wwpn (naa...)", saved->wwpn);
	return code;
}

static int read_root(const char *file, json_object *root, struct saved *saved)
{
	static const char *const keys[] = { "version", "backend", "wwpn", "workers", NULL };
	struct place top = { .file = file, .key = "the file" }, inner;
	int code = check_keys(&top, root, keys);

	if (code)
		return code;
	top.key[0] = '\0';
	inner = enter(&top, "version");
	code = read_version(&inner, json_object_object_get(root, "version"));
	inner = enter(&top, "backend");
	if (!code)
		code = read_text(&inner, json_object_object_get(root, "backend"), false,
				 &saved->backend);
	inner = enter(&top, "wwpn");
	if (!code)
		code = read_wwpn(&inner, json_object_object_get(root, "wwpn"), saved);
	inner = enter(&top, "workers");
	if (!code)
		code = read_workers(&inner, json_object_object_get(root, "workers"), saved);
	return code;
}

/* All of the file; NULL if that cannot be read, or is too much. */
static char *slurp(FILE *in, const char *file, size_t *len)
{
	char *text = xrealloc(NULL, FILE_MAX + 1, 1);

	*len = fread(text, 1, FILE_MAX + 1, in);
	if (!ferror(in) && *len <= FILE_MAX)
		return text;
	if (ferror(in))
		fail_errno(EXIT_USAGE, errno, "%s", file);
	else
		fail(EXIT_USAGE, "%s: is longer than any map can be", file);
	free(text);
	return NULL;
}

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

static int parse(const char *file, const char *text, size_t len, struct saved *saved)
{
	json_tokener *tokener = json_tokener_new();
	enum json_tokener_error error;
	json_object *root;
	int code;

	if (!tokener)
		no_memory();
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tokener, text, len);
	error = json_tokener_get_error(tokener);
	if (error == json_tokener_continue)
		code = fail(EXIT_USAGE, "%s: is not JSON: it ends too early", file);
	else if (error != json_tokener_success)
		code = fail(EXIT_USAGE, "%s: line %zu: is not JSON: %s", file,
			    line_of(text, json_tokener_get_parse_end(tokener)),
			    json_tokener_error_desc(error));
	else
		code = read_root(file, root, saved);
	json_object_put(root);
	json_tokener_free(tokener);
	return code;
}

int saved_read(const char *name, struct saved *saved)
{
	bool is_stdin = !strcmp(name, "-");
	const char *file = is_stdin ? "stdin" : name;
	FILE *in = is_stdin ? stdin : fopen(name, "re");
	size_t len;
	char *text;
	int code;

	saved_init(saved);
	saved->file = file;
	if (!in)
		return fail_errno(EXIT_USAGE, errno, "%s", file);
	text = slurp(in, file, &len);
	if (!is_stdin)
		fclose(in);
	code = text ? parse(file, text, len, saved) : EXIT_USAGE;
	free(text);
	return code;
}
