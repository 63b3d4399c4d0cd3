// SPDX-License-Identifier: GPL-2.0
/*
 * lio_configfs.c - single steps in configfs, and taking things away
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "error.h"
#include "lio_priv.h"

int lio_mount(void)
{
	struct stat st;

	if (!stat(LIO_CORE, &st))
		return 0;
	if (stat(LIO_CONFIGFS "/target", &st) &&
	    mount("configfs", LIO_CONFIGFS, "configfs", 0, NULL) && errno != EBUSY)
		return guest_fail(errno, "mount configfs on " LIO_CONFIGFS
				  " (root and module configfs are needed)");
	if (stat(LIO_CORE, &st))
		return guest_fail(ENODEV, LIO_CORE " (module target_core_mod not loaded?)");
	return 0;
}

int lio_mkdir(const char *path)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return 0;
	if (errno == ENOENT || errno == EINVAL)
		return guest_fail(ENODEV, "mkdir %s (module of that name not loaded?)", path);
	return guest_fail(errno, "mkdir %s", path);
}

int lio_rmdir(const char *path)
{
	if (!rmdir(path) || errno == ENOENT)
		return 0;
	return guest_fail(errno, "rmdir %s", path);
}

int lio_write(const char *dir, const char *name, const char *text)
{
	char path[LIO_PATH + 64];
	ssize_t len = strlen(text);
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	if (write(fd, text, len) != len)
		err = guest_fail(errno, "write %s to %s", text, path);
	close(fd);
	return err;
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Call @step for each entry of @dir whose name begins with @prefix; the first error ends it. */
static int for_each(const char *dir, const char *prefix, int (*step)(const char *path))
{
	char path[2 * LIO_PATH];
	struct dirent *entry;
	DIR *handle = opendir(dir);
	int err = 0;

	if (!handle)
		return errno == ENOENT ? 0 : guest_fail(errno, "read %s", dir);
	while (!err && (entry = readdir(handle))) {
		if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		err = step(path);
	}
	closedir(handle);
	return err;
}

static int remove_link(const char *path)
{
	if (is_link(path) && unlink(path) && errno != ENOENT)
		return guest_fail(errno, "unlink %s", path);
	return 0;
}

int lio_remove_lun_dir(const char *path)
{
	int err = for_each(path, "", remove_link);

	return err ?: lio_rmdir(path);
}

static int remove_lun_step(const char *path)
{
	return is_dir(path) ? lio_remove_lun_dir(path) : 0;
}

/* A portal group without nexus answers EINVAL or ENODEV to taking it away. */
static int remove_nexus(const char *tpg)
{
	int err = lio_write(tpg, "nexus", "NULL");

	return err == -EINVAL || err == -ENODEV || err == -ENOENT ? 0 : err;
}

int lio_remove_tpg(const char *wwpn)
{
	char tpg[LIO_PATH], path[LIO_PATH + 8];
	int err;

	snprintf(tpg, sizeof(tpg), LIO_FABRIC "/%s/tpgt_1", wwpn);
	snprintf(path, sizeof(path), "%s/lun", tpg);
	err = for_each(path, "lun_", remove_lun_step);
	if (!err)
		err = remove_nexus(tpg);	/* -EBUSY while a vhost device uses the target */
	if (!err)
		err = lio_rmdir(tpg);
	snprintf(path, sizeof(path), LIO_FABRIC "/%s", wwpn);
	return err ?: lio_rmdir(path);
}

int lio_remove_stores(const char *hba)
{
	int err = for_each(hba, LIO_STORE, lio_rmdir);

	return err ?: lio_rmdir(hba);
}

static int count_in(const char *dir, const char *prefix)
{
	struct dirent *entry;
	DIR *handle = opendir(dir);
	int count = 0;

	if (!handle)
		return errno == ENOENT ? 0 : guest_fail(errno, "read %s", dir);
	while ((entry = readdir(handle)))
		count += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(handle);
	return count;
}

static int leftovers;

static int count_stores(const char *hba)
{
	int count = is_dir(hba) ? count_in(hba, LIO_STORE) : 0;

	if (count > 0)
		leftovers += count;
	return 0;
}

int lio_count_leftovers(void)
{
	int count = count_in(LIO_FABRIC, LIO_WWPN), err;

	if (count < 0)
		return count;
	leftovers = count;
	err = for_each(LIO_CORE, "", count_stores);
	return err ?: leftovers;
}
