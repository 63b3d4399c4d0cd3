/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kmods.h - the vhost modules of this kernel and of others that are installed: there, loaded, whose
 */
#ifndef VHOST_CTL_KMODS_H
#define VHOST_CTL_KMODS_H

#include "record.h"

struct kmod_ctx;
struct kmod_module;

enum {
	MODULE_KERNEL,
	MODULE_NAME,
	MODULE_STATE,
	MODULE_BUILD,
	MODULE_BLACKLISTED,
	MODULE_STALE,
	MODULE_PATH,
	MODULE_SRCVERSION,
	MODULE_LOADED_SRCVERSION,
};

struct module {
	struct record rec;
	char *kernel;
	char *name;
	char *state;		/* a text of enum module_state */
	char *build;		/* a text of enum module_build */
	char *path;
	char *srcversion;	/* of the file, or of what is built in */
	char *loaded_srcversion;
};

extern const struct object module_object;

enum module_state { STATE_MISSING, STATE_AVAILABLE, STATE_LOADED, STATE_BUILTIN };
/* Who built it: this project, the distribution with its kernel, or somebody else. */
enum module_build { BUILD_UNKNOWN, BUILD_WORKERS, BUILD_DISTRIBUTION, BUILD_OTHER };

/* What is known of one module of one kernel. */
struct kmod_facts {
	enum module_state state;
	enum module_build build;	/* of the one loaded, else of the one that would be */
	enum module_build file_build;	/* of the one that would be loaded */
	bool blacklisted;		/* modprobe's configuration says not to load it by itself */
};

/* The modules of one kernel; free with kmods_close(). */
struct kmods {
	struct kmod_ctx *ctx;
	char *release;
	bool running;		/* it is the kernel that runs */
	bool has_family;	/* and it has the netlink family, where we are */
	struct kmod_facts core;	/* of the module vhost */
};

/* Of the kernel @release, or of the one that runs for NULL: 0 or an exit code, told. */
int kmods_open(struct kmods *kmods, const char *release);
void kmods_close(struct kmods *kmods);

/* Learn of the module @name, and append a row to @rows unless that is NULL. */
struct kmod_facts kmods_look(const struct kmods *kmods, const char *name, struct rows *rows);

/* Append the modules of all vhost drivers that this project has. */
void kmods_list(const struct kmods *kmods, struct rows *rows);

/*
 * Say why workers cannot be controlled and what would help, in one line. Returns EXIT_LACKING.
 * kmods_lacking() finds out about the kernel that runs by itself.
 */
int kmods_explain(const struct kmods *kmods);
int kmods_lacking(void);

#endif /* VHOST_CTL_KMODS_H */
