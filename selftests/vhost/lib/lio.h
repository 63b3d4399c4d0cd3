/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lio.h - a LIO target for vhost-scsi, made through configfs and undone on every exit
 *
 * The modules target_core_mod, vhost_scsi (and target_core_file for LIO_FILEIO) are loaded by
 * others; configfs is mounted when it is not. Names are unique per process and target, so tests and
 * programs run beside each other.
 *
 * lio_create() starts a small watcher process before it makes anything. When the process that
 * called it ends without lio_destroy() (exit, failed assertion, any signal, SIGKILL included), the
 * watcher takes the target away, waiting a few seconds for vhost devices that still use it. The
 * watcher is nobody's child, holds no descriptors of the caller, and ends with lio_destroy(). A
 * fork()ed child may use the target but must not destroy it.
 */
#ifndef GUEST_LIO_H
#define GUEST_LIO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LIO_LUNS_MAX	64

enum lio_backend {
	LIO_RAMDISK,		/* rd_mcp: memory */
	LIO_NULLIO,		/* rd_mcp with nullio: keeps no data */
	LIO_FILEIO,		/* a sparse file that is removed again */
};

struct lio_opts {
	enum lio_backend backend;
	size_t size;		/* bytes of each LUN; 0 = 64 MiB */
	unsigned int luns;	/* LUNs 0.., each with its own backstore; 0 = 1 */
	const char *dir;	/* LIO_FILEIO: directory for the files; NULL = /tmp */
};

struct lio {
	char wwpn[32];		/* naa.5001405<pid><counter> */
	unsigned int hba;	/* core/<plugin>_<hba> */
	struct lio_opts opts;
	unsigned int lun_mask_count;	/* LUNs that exist */
	bool lun[LIO_LUNS_MAX];
	pid_t maker;		/* process that called lio_create() */
	int watch_fd;		/* pipe to the watcher */
};

/* -ENODEV when the modules are not there, -ENOMEM, or what configfs answered. @opts may be NULL. */
int lio_create(const struct lio_opts *opts, struct lio **target);

/*
 * Undo; @target is freed in any case. 0, or the first errno: -EBUSY means that a vhost device still
 * has the endpoint set (the LUNs are gone then, and the rest stays for the watcher, which tries
 * again when this process ends).
 */
int lio_destroy(struct lio *target);

/* Add or take away a LUN while the target is in use (makes hotplug events). */
int lio_add_lun(struct lio *target, unsigned int lun);
int lio_remove_lun(struct lio *target, unsigned int lun);

/* Backstore attribute core/<plugin>_<hba>/<name>/attrib/<attribute>, e.g. "emulate_pr", "0". */
int lio_set_attrib(struct lio *target, unsigned int lun, const char *attribute, const char *value);

/* The file of a LUN on LIO_FILEIO; what is written to it, the LUN has. */
void lio_file(const struct lio *target, unsigned int lun, char *path, size_t size);

/* Where configfs has a LUN, and its backstore. */
void lio_lun_dir(const struct lio *target, unsigned int lun, char *path, size_t size);
void lio_store_dir(const struct lio *target, unsigned int lun, char *path, size_t size);

/* Number of LIO objects (targets, backstores) in configfs whose names are ours, of any process. */
int lio_count_leftovers(void);

#endif /* GUEST_LIO_H */
