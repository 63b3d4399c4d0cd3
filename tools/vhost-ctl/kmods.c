// SPDX-License-Identifier: GPL-2.0
/*
 * The vhost modules of a kernel, by libkmod: are they there, loaded, and whose build.
 *
 * The module vhost of this project carries the alias of the netlink family. Its
 * drivers carry no mark, but were built as it was: all in the kernel's tree, as
 * the distribution does, or all out of it.
 */
#include <errno.h>
#include <libkmod.h>
#include <linux/vhost_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "args.h"
#include "kmods.h"
#include "nl.h"

#define MODULE(member_, attr_, help_) \
	{ .name = #member_, .attr = MODULE_##attr_, .kind = FIELD_TEXT, \
	  .offset = offsetof(struct module, member_), .help = help_ }

static const struct field module_fields[] = {
	MODULE(kernel, KERNEL, "release of the kernel that it is for"),
	MODULE(name, NAME, "name of the module"),
	MODULE(state, STATE, "loaded, builtin, available (not loaded) or missing"),
	MODULE(build, BUILD, "whose it is: workers (with control), distribution or other"),
	{ .name = "blacklisted", .attr = MODULE_BLACKLISTED, .kind = FIELD_FLAG,
	  .help = "modprobe's configuration keeps it from being loaded" },
	{ .name = "stale", .attr = MODULE_STALE, .kind = FIELD_FLAG,
	  .help = "the file is another build than what is loaded" },
	MODULE(path, PATH, "file that is loaded next time"),
	MODULE(srcversion, SRCVERSION, "checksum of the sources of that file"),
	MODULE(loaded_srcversion, LOADED_SRCVERSION, "checksum of the sources of what is loaded"),
	{ 0 },
};

const struct object module_object = { "modules", sizeof(struct module), module_fields };

static const char core_name[] = "vhost";
static const char *const names[] = {
	core_name, "vhost_iotlb", "vhost_scsi", "vhost_net", "vhost_vsock", "vhost_vdpa",
};

static const char *const state_words[] = {
	[STATE_MISSING] = "missing",
	[STATE_AVAILABLE] = "available",
	[STATE_LOADED] = "loaded",
	[STATE_BUILTIN] = "builtin",
};

static const char *const build_words[] = {
	[BUILD_UNKNOWN] = NULL,
	[BUILD_WORKERS] = "workers",
	[BUILD_DISTRIBUTION] = "distribution",
	[BUILD_OTHER] = "other",
};

/* What a module tells of where it comes from. */
struct origin {
	bool known;
	bool in_tree;		/* built together with the kernel */
	bool control;		/* has the netlink family */
	char *srcversion;
};

/* --- origins */

static bool has_family(const char *alias)
{
	static const char suffix[] = "-family-" VHOST_FAMILY_NAME;
	size_t len = strlen(alias);

	return len >= strlen(suffix) && !strcmp(alias + len - strlen(suffix), suffix);
}

/* Of the file, or of what is built in. */
static struct origin file_origin(struct kmod_module *mod)
{
	struct origin origin = { 0 };
	struct kmod_list *info = NULL, *item;

	if (kmod_module_get_info(mod, &info) < 0)
		return origin;
	origin.known = true;
	kmod_list_foreach(item, info) {
		const char *key = kmod_module_info_get_key(item);
		const char *value = kmod_module_info_get_value(item);

		if (!strcmp(key, "intree"))
			origin.in_tree = true;
		else if (!strcmp(key, "alias"))
			origin.control |= has_family(value);
		else if (!strcmp(key, "srcversion") && !origin.srcversion)
			origin.srcversion = xasprintf("%s", value);
	}
	kmod_module_info_free_list(info);
	return origin;
}

/* The first line of a file of the module in /sys, or NULL; the caller frees it. */
static char *read_sys(const char *name, const char *file)
{
	char *path = xasprintf("/sys/module/%s/%s", name, file);
	char line[128], *text = NULL;
	FILE *in = fopen(path, "re");

	free(path);
	if (!in)
		return NULL;
	if (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		text = xasprintf("%s", line);
	}
	fclose(in);
	return text;
}

static bool kernel_has_family(void)
{
	struct nl nl;

	if (nl_probe(&nl))
		return false;
	nl_close(&nl);
	return true;
}

static bool is_same(const struct origin *a, const struct origin *b)
{
	return a->srcversion && b->srcversion && !strcmp(a->srcversion, b->srcversion);
}

/* Not every kernel is built with checksums. */
static bool is_other(const struct origin *a, const struct origin *b)
{
	if (!a->known || !b->known)
		return false;
	return a->in_tree != b->in_tree || (a->srcversion && b->srcversion && !is_same(a, b));
}

/* Of what is loaded. Outside the first network namespace the file says whether it has control. */
static struct origin loaded_origin(const struct kmods *kmods, const char *name,
				   const struct origin *file)
{
	struct origin origin = { .known = true, .srcversion = read_sys(name, "srcversion") };
	char *taint = read_sys(name, "taint");

	origin.in_tree = !taint || !strchr(taint, 'O');
	origin.control = kmods->has_family || (file->control && is_same(file, &origin));
	free(taint);
	return origin;
}

static enum module_build build_of_core(const struct origin *origin)
{
	if (!origin->known)
		return BUILD_UNKNOWN;
	if (origin->control)
		return BUILD_WORKERS;
	return origin->in_tree ? BUILD_DISTRIBUTION : BUILD_OTHER;
}

/* A driver is whose the core is if it was built in the same way. */
static enum module_build build_of(const struct origin *origin, const struct origin *core)
{
	if (!origin->known)
		return BUILD_UNKNOWN;
	if (core->known && origin->in_tree == core->in_tree)
		return build_of_core(core);
	return origin->in_tree ? BUILD_DISTRIBUTION : BUILD_OTHER;
}

/* --- one module */

/* All that can be found out about it. */
struct sight {
	enum module_state state;
	struct origin file, loaded;
	char *path;
};

static void sight_free(struct sight *sight)
{
	free(sight->file.srcversion);
	free(sight->loaded.srcversion);
	free(sight->path);
}

static struct sight see(const struct kmods *kmods, const char *name)
{
	struct sight sight = { .state = STATE_MISSING };
	struct kmod_module *mod;
	int state;

	if (kmod_module_new_from_name(kmods->ctx, name, &mod) < 0)
		no_memory();
	if (kmod_module_get_path(mod)) {
		sight.path = xasprintf("%s", kmod_module_get_path(mod));
		sight.state = STATE_AVAILABLE;
	}
	state = kmod_module_get_initstate(mod);
	if (state == KMOD_MODULE_BUILTIN)
		sight.state = STATE_BUILTIN;
	else if (kmods->running && state == KMOD_MODULE_LIVE)
		sight.state = STATE_LOADED;

	if (sight.path || sight.state == STATE_BUILTIN)
		sight.file = file_origin(mod);
	if (sight.state == STATE_LOADED)
		sight.loaded = loaded_origin(kmods, name, &sight.file);
	else if (sight.state == STATE_BUILTIN)
		sight.file.control |= kmods->has_family;
	kmod_module_unref(mod);
	return sight;
}

static bool is_blacklisted(struct kmod_ctx *ctx, const char *name)
{
	struct kmod_config_iter *iter = kmod_config_get_blacklists(ctx);
	bool found = false;

	while (!found && iter && kmod_config_iter_next(iter))
		found = !strcmp(kmod_config_iter_get_key(iter), name);
	kmod_config_iter_free_iter(iter);
	return found;
}

static void set_text(struct module *module, char **slot, unsigned int attr, const char *text)
{
	if (!text)
		return;
	*slot = xasprintf("%s", text);
	record_set(&module->rec, attr);
}

static void add_row(struct rows *rows, const struct kmods *kmods, const char *name,
		    const struct sight *sight, const struct kmod_facts *facts)
{
	struct module *module = rows_add(rows);

	set_text(module, &module->kernel, MODULE_KERNEL, kmods->release);
	set_text(module, &module->name, MODULE_NAME, name);
	set_text(module, &module->state, MODULE_STATE, state_words[facts->state]);
	set_text(module, &module->build, MODULE_BUILD, build_words[facts->build]);
	set_text(module, &module->path, MODULE_PATH, sight->path);
	set_text(module, &module->srcversion, MODULE_SRCVERSION, sight->file.srcversion);
	set_text(module, &module->loaded_srcversion, MODULE_LOADED_SRCVERSION,
		 sight->loaded.srcversion);
	if (facts->blacklisted)
		record_set(&module->rec, MODULE_BLACKLISTED);
	if (is_other(&sight->file, &sight->loaded))
		record_set(&module->rec, MODULE_STALE);
}

struct kmod_facts kmods_look(const struct kmods *kmods, const char *name, struct rows *rows)
{
	struct sight sight = see(kmods, name), core = see(kmods, core_name);
	struct kmod_facts facts = {
		.state = sight.state,
		.file_build = build_of(&sight.file, &core.file),
		.blacklisted = is_blacklisted(kmods->ctx, name),
	};

	facts.build = sight.state == STATE_LOADED ?
		      build_of(&sight.loaded, core.loaded.known ? &core.loaded : &core.file) :
		      facts.file_build;
	if (rows)
		add_row(rows, kmods, name, &sight, &facts);
	sight_free(&sight);
	sight_free(&core);
	return facts;
}

/* --- a kernel */

void kmods_list(const struct kmods *kmods, struct rows *rows)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		kmods_look(kmods, names[i], rows);
}

/* libkmod has its own idea of what is worth a line on stderr. */
static void keep_quiet(void *data, int priority, const char *file, int line, const char *fn,
		       const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn, (void)format, (void)args;
}

int kmods_open(struct kmods *kmods, const char *release)
{
	struct utsname system;
	char *dir;

	if (uname(&system))
		return fail_errno(EXIT_REFUSED, errno, "uname");
	*kmods = (struct kmods){
		.release = xasprintf("%s", release ? release : system.release),
		.running = !release || !strcmp(release, system.release),
	};
	kmods->has_family = kmods->running && kernel_has_family();
	dir = xasprintf("/lib/modules/%s", kmods->release);
	kmods->ctx = kmod_new(dir, NULL);
	free(dir);
	if (!kmods->ctx)
		no_memory();
	kmod_set_log_fn(kmods->ctx, keep_quiet, NULL);
	kmods->core = kmods_look(kmods, core_name, NULL);
	return 0;
}

void kmods_close(struct kmods *kmods)
{
	kmod_unref(kmods->ctx);
	free(kmods->release);
}

/* --- why there is no control */

/* Are we where the netlink family is, or can that not be known? */
static bool in_first_netns(void)
{
	char first[64], own[64];
	ssize_t len = readlink("/proc/1/ns/net", first, sizeof(first));

	if (len <= 0 || readlink("/proc/self/ns/net", own, sizeof(own)) != len)
		return true;
	return !memcmp(first, own, len);
}

static int explain_file(const struct kmods *kmods)
{
	if (kmods->core.file_build != BUILD_WORKERS)
		return fail(EXIT_LACKING, "workers cannot be controlled: the vhost module "
			    "installed for kernel %s is not that of vhost-workers, install it",
			    kmods->release);
	return fail(EXIT_LACKING, "workers cannot be controlled: the vhost module is not loaded, "
		    "'vhost-ctl module load' does that");
}

static int explain_loaded(const struct kmods *kmods)
{
	if (!in_first_netns())
		return fail(EXIT_LACKING, "workers can be controlled from the first network "
			    "namespace only: 'nsenter -t 1 -n vhost-ctl'");
	if (kmods->core.file_build == BUILD_WORKERS)
		return fail(EXIT_LACKING, "workers cannot be controlled: the vhost module that is "
			    "loaded is not that of vhost-workers, which is installed: reboot, or "
			    "unload it and 'vhost-ctl module load'");
	return fail(EXIT_LACKING, "workers cannot be controlled: the vhost module that is loaded "
		    "is not that of vhost-workers, install it for kernel %s", kmods->release);
}

int kmods_explain(const struct kmods *kmods)
{
	switch (kmods->core.state) {
	case STATE_MISSING:
		return fail(EXIT_LACKING, "workers cannot be controlled: kernel %s has no vhost "
			    "module, install that of vhost-workers", kmods->release);
	case STATE_BUILTIN:
		return fail(EXIT_LACKING, "workers cannot be controlled: vhost is built into "
			    "kernel %s, no module can take its place", kmods->release);
	case STATE_AVAILABLE:
		return explain_file(kmods);
	default:
		return explain_loaded(kmods);
	}
}

int kmods_lacking(void)
{
	struct kmods kmods;
	int code = kmods_open(&kmods, NULL);

	if (code)
		return code;
	code = kmods_explain(&kmods);
	kmods_close(&kmods);
	return code;
}
