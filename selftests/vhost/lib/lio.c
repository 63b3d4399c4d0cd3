// SPDX-License-Identifier: GPL-2.0
/*
 * lio.c - a LIO target for vhost-scsi, through configfs
 *
 * The order of making is backstore, target, portal group, nexus, LUNs; undoing goes the other way
 * and is written so that it can be repeated and started at any state: what is not there is no
 * error.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "lio.h"
#include "lio_priv.h"
#include "watch.h"

#define LIO_PAGE	4096
#define LIO_DEFAULT	(64 << 20)

static const char *plugin(const struct lio *target)
{
	return target->opts.backend == LIO_FILEIO ? "fileio" : "rd_mcp";
}

static void hba_path(const struct lio *target, char *path, size_t size)
{
	snprintf(path, size, LIO_CORE "/%s_%u", plugin(target), target->hba);
}

void lio_store_dir(const struct lio *target, unsigned int lun, char *path, size_t size)
{
	snprintf(path, size, LIO_CORE "/%s_%u/" LIO_STORE "%u", plugin(target), target->hba, lun);
}

void lio_lun_dir(const struct lio *target, unsigned int lun, char *path, size_t size)
{
	snprintf(path, size, LIO_FABRIC "/%s/tpgt_1/lun/lun_%u", target->wwpn, lun);
}

void lio_file(const struct lio *target, unsigned int lun, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.lun%u", target->opts.dir ?: "/tmp", target->wwpn, lun);
}

static int make_file(const struct lio *target, unsigned int lun)
{
	char path[LIO_PATH];
	FILE *file;
	int err = 0;

	lio_file(target, lun, path, sizeof(path));
	file = fopen(path, "we");
	if (!file)
		return guest_fail(errno, "create %s", path);
	if (ftruncate(fileno(file), target->opts.size))
		err = guest_fail(errno, "%s of %zu bytes", path, target->opts.size);
	fclose(file);
	return err;
}

static int control_text(const struct lio *target, unsigned int lun, char *text, size_t size)
{
	char path[LIO_PATH];

	if (target->opts.backend != LIO_FILEIO) {
		snprintf(text, size, "rd_pages=%zu%s", target->opts.size / LIO_PAGE,
			 target->opts.backend == LIO_NULLIO ? ",rd_nullio=1" : "");
		return 0;
	}
	lio_file(target, lun, path, sizeof(path));
	snprintf(text, size, "fd_dev_name=%s,fd_dev_size=%zu", path, target->opts.size);
	return make_file(target, lun);
}

static int make_store(const struct lio *target, unsigned int lun)
{
	char path[LIO_PATH], text[2 * LIO_PATH];
	int err;

	lio_store_dir(target, lun, path, sizeof(path));
	err = control_text(target, lun, text, sizeof(text));
	if (!err)
		err = lio_mkdir(path);
	if (!err)
		err = lio_write(path, "control", text);
	return err ?: lio_write(path, "enable", "1");
}

int lio_add_lun(struct lio *target, unsigned int lun)
{
	char path[LIO_PATH], store[LIO_PATH], link[LIO_PATH + 8];
	int err;

	if (lun >= LIO_LUNS_MAX)
		return guest_fail(EINVAL, "LUN %u", lun);
	err = make_store(target, lun);
	lio_lun_dir(target, lun, path, sizeof(path));
	lio_store_dir(target, lun, store, sizeof(store));
	if (!err)
		err = lio_mkdir(path);
	if (err)
		return err;
	snprintf(link, sizeof(link), "%s/store", path);
	if (symlink(store, link))
		return guest_fail(errno, "symlink %s to %s", link, store);
	target->lun[lun] = true;
	target->lun_mask_count++;
	return 0;
}

int lio_remove_lun(struct lio *target, unsigned int lun)
{
	char path[LIO_PATH], store[LIO_PATH], file[LIO_PATH];
	int err;

	lio_lun_dir(target, lun, path, sizeof(path));
	lio_store_dir(target, lun, store, sizeof(store));
	lio_file(target, lun, file, sizeof(file));
	err = lio_remove_lun_dir(path);
	if (!err)
		err = lio_rmdir(store);
	if (err)
		return err;
	if (target->opts.backend == LIO_FILEIO)
		unlink(file);
	if (target->lun[lun])
		target->lun_mask_count--;
	target->lun[lun] = false;
	return 0;
}

int lio_set_attrib(struct lio *target, unsigned int lun, const char *attribute, const char *value)
{
	char path[LIO_PATH];

	lio_store_dir(target, lun, path, sizeof(path));
	strncat(path, "/attrib", sizeof(path) - strlen(path) - 1);
	return lio_write(path, attribute, value);
}

static int make_target(struct lio *target)
{
	char path[LIO_PATH];
	unsigned int lun;
	int err;

	err = lio_mkdir(LIO_FABRIC);
	hba_path(target, path, sizeof(path));
	if (!err)
		err = lio_mkdir(path);
	snprintf(path, sizeof(path), LIO_FABRIC "/%s", target->wwpn);
	if (!err)
		err = lio_mkdir(path);
	snprintf(path, sizeof(path), LIO_FABRIC "/%s/tpgt_1", target->wwpn);
	if (!err)
		err = lio_mkdir(path);
	if (!err)
		err = lio_write(path, "nexus", target->wwpn);
	for (lun = 0; !err && lun < target->opts.luns; lun++)
		err = lio_add_lun(target, lun);
	return err;
}

/* Everything that make_target() and lio_add_lun() made, whatever of it is there. */
static int undo(const void *what)
{
	const struct lio *target = what;
	char path[LIO_PATH], file[LIO_PATH];
	unsigned int lun;
	int err;

	err = lio_remove_tpg(target->wwpn);
	if (err)
		return err;
	hba_path(target, path, sizeof(path));
	err = lio_remove_stores(path);
	if (err)
		return err;
	for (lun = 0; lun < LIO_LUNS_MAX && target->opts.backend == LIO_FILEIO; lun++) {
		lio_file(target, lun, file, sizeof(file));
		unlink(file);
	}
	return 0;
}

static void name_target(struct lio *target)
{
	static unsigned int counter;
	unsigned int number = __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED) & 0xff;

	target->maker = getpid();
	snprintf(target->wwpn, sizeof(target->wwpn), LIO_WWPN "%06x0%02x",
		 (unsigned int)target->maker & 0xffffff, number);
	target->hba = ((unsigned int)target->maker & 0xffffff) << 7 | (number & 0x7f);
}

/* Keeps the text of the failure that led here. */
static void undo_failed_create(struct lio *target)
{
	char text[200];

	snprintf(text, sizeof(text), "%s", guest_error());
	lio_destroy(target);
	guest_keep(text);
}

int lio_create(const struct lio_opts *opts, struct lio **targetp)
{
	struct lio *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return guest_fail(ENOMEM, "LIO target");
	if (opts)
		target->opts = *opts;
	target->opts.size = target->opts.size ?: LIO_DEFAULT;
	target->opts.luns = target->opts.luns ?: 1;
	name_target(target);
	err = lio_mount();
	if (!err) {
		target->watch_fd = watch_start("lio-watcher", undo, target);
		err = target->watch_fd < 0 ? target->watch_fd : 0;
	}
	if (err) {
		free(target);
		return err;
	}
	err = make_target(target);
	if (!err) {
		*targetp = target;
		return 0;
	}
	undo_failed_create(target);
	return err;
}

int lio_destroy(struct lio *target)
{
	int err;

	if (!target)
		return 0;
	if (target->maker != getpid())
		return guest_fail(EPERM, "target %s belongs to process %d", target->wwpn,
				  target->maker);
	err = undo(target);
	if (err)
		close(target->watch_fd);
	else
		watch_stop(target->watch_fd);
	free(target);
	return err;
}
