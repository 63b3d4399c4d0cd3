// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-ctl module - the kernel modules: whose they are, and loading them
 */
#include <dirent.h>
#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "kmods.h"
#include "nl.h"

static const struct view module_view = {
	.object = &module_object,
	.columns = "kernel,name,state,build,blacklisted,stale,path",
};

/* --- show */

static int show_kernel(const char *release, struct rows *rows)
{
	struct kmods kmods;
	int code = kmods_open(&kmods, release);

	if (code)
		return code;
	kmods_list(&kmods, rows);
	kmods_close(&kmods);
	return 0;
}

/* A directory of /lib/modules is a kernel if depmod has been there. */
static int is_kernel(const struct dirent *entry)
{
	char *path = xasprintf("/lib/modules/%s/modules.dep.bin", entry->d_name);
	FILE *file = fopen(path, "re");

	free(path);
	if (file)
		fclose(file);
	return entry->d_name[0] != '.' && file;
}

static int show_every_kernel(struct rows *rows)
{
	struct dirent **kernels;
	int nr = scandir("/lib/modules", &kernels, is_kernel, versionsort), code = 0;

	if (nr < 0)
		return fail_errno(EXIT_LACKING, errno, "/lib/modules");
	for (int i = 0; i < nr; i++) {
		if (!code)
			code = show_kernel(kernels[i]->d_name, rows);
		free(kernels[i]);
	}
	free(kernels);
	return code;
}

static int module_show(struct args *args)
{
	struct rows rows = { .object = &module_object };
	bool every = args_keyword(args, "all");
	int code = args_end(args);

	if (!code)
		code = every ? show_every_kernel(&rows) : show_kernel(NULL, &rows);
	if (!code)
		code = out_rows(&module_view, &rows);
	rows_free(&rows);
	return code;
}

/* --- load */

static const char *const drivers[] = { "vhost_scsi", "vhost_net", "vhost_vsock" };

#define NR_DRIVERS (sizeof(drivers) / sizeof(*drivers))

static int insert(const struct kmods *kmods, const char *name)
{
	struct kmod_module *mod;
	int err = kmod_module_new_from_name(kmods->ctx, name, &mod);

	if (err)
		return fail_errno(EXIT_REFUSED, err, "%s", name);
	/* A command of modprobe's configuration may end well without having loaded anything. */
	err = kmod_module_probe_insert_module(mod, 0, NULL, NULL, NULL, NULL);
	if (!err && kmod_module_get_initstate(mod) != KMOD_MODULE_LIVE)
		err = fail(EXIT_REFUSED, "%s: an install command in modprobe's configuration keeps "
			   "it from being loaded: see 'modprobe --showconfig'", name);
	else if (err)
		err = fail_errno(EXIT_REFUSED, err, "%s cannot be loaded (see also dmesg)", name);
	kmod_module_unref(mod);
	return err;
}

static int load(const struct kmods *kmods, const char *name)
{
	struct kmod_facts facts = kmods_look(kmods, name, NULL);

	switch (facts.state) {
	case STATE_MISSING:
		return fail(EXIT_LACKING, "%s is missing: kernel %s has no such module, install "
			    "that of vhost-workers", name, kmods->release);
	case STATE_BUILTIN:
		return facts.build == BUILD_WORKERS ? 0 :
		       fail(EXIT_LACKING, "%s is built into kernel %s, and is not that of "
			    "vhost-workers: no module can take its place", name, kmods->release);
	case STATE_LOADED:
		if (facts.build == BUILD_WORKERS)
			return 0;
		if (facts.file_build == BUILD_WORKERS)
			return fail(EXIT_LACKING, "%s is loaded, but is not that of vhost-workers: "
				    "reboot, or unload it ('modprobe -r %s') and try again", name,
				    name);
		break;
	default:
		break;
	}
	if (facts.blacklisted && facts.state != STATE_LOADED)
		return fail(EXIT_REFUSED, "%s is blacklisted: remove 'blacklist %s' from "
			    "modprobe's configuration (/etc/modprobe.d), or load it by hand with "
			    "'modprobe %s'",
			    name, name, name);
	if (facts.file_build != BUILD_WORKERS)
		return fail(EXIT_LACKING, "%s of kernel %s is not that of vhost-workers, which is "
			    "not installed for this kernel", name, kmods->release);
	return insert(kmods, name);
}

/* "scsi" is the same as "vhost_scsi". */
static const char *driver_name(const char *word)
{
	for (size_t i = 0; i < NR_DRIVERS; i++)
		if (!strcmp(word, drivers[i]) || !strcmp(word, drivers[i] + strlen("vhost_")))
			return drivers[i];
	return NULL;
}

/* Load each of them; what one lacks does not keep the others. */
static int load_all(const char *const *wanted, size_t nr)
{
	struct kmods kmods;
	int code = kmods_open(&kmods, NULL), worst = code;

	if (code)
		return code;
	for (size_t i = 0; i < nr; i++) {
		code = load(&kmods, wanted[i]);
		if (code > worst)
			worst = code;
	}
	kmods_close(&kmods);
	return worst;
}

static int module_load(struct args *args)
{
	const char *wanted[NR_DRIVERS];
	const char *word;
	size_t nr = 0;

	while ((word = args_next(args))) {
		if (nr == NR_DRIVERS)
			return usage("unexpected argument '%s'", word);
		wanted[nr] = driver_name(word);
		if (!wanted[nr++])
			return usage("DRIVER '%s' is not scsi, net or vsock", word);
	}
	return nr ? load_all(wanted, nr) : load_all(drivers, NR_DRIVERS);
}

const struct command module_commands[] = {
	{ .name = "show", .args = "[all]",
	  .help = "List the vhost modules of this kernel, or of all kernels that are installed.",
	  .views = { &module_view }, .run = module_show },
	{ .name = "load", .args = "[DRIVER]...",
	  .help = "Load the modules of these drivers: scsi, net, vsock; all three unless named.",
	  .details = "    One that is missing, built in, blacklisted, or not of vhost-workers is "
		     "told, and\n    nothing else is loaded in its place.\n",
	  .run = module_load },
	{ 0 },
};
