// SPDX-License-Identifier: GPL-2.0
/*
 * vdpa.c - vdpa devices are added and deleted, by generic netlink
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/vdpa.h>

#include "error.h"
#include "genl.h"
#include "vdpa.h"

#define CHAR_DEVICE	"vhost-vdpa-"

static int command(uint8_t number, const char *mgmtdev, const char *name)
{
	struct genl_msg msg;
	struct genl g;
	int err = genl_open(VDPA_GENL_NAME, VDPA_GENL_VERSION, &g);

	if (err)
		return err == -ENOENT ? guest_fail(ENODEV, "netlink family " VDPA_GENL_NAME) : err;
	genl_begin(&g, &msg, number, 0);
	if (mgmtdev)
		genl_put_string(&msg, VDPA_ATTR_MGMTDEV_DEV_NAME, mgmtdev);
	genl_put_string(&msg, VDPA_ATTR_DEV_NAME, name);
	err = genl_transact(&g, &msg, NULL);
	if (err)
		guest_fail(err, "vdpa: %s device %s", mgmtdev ? "add" : "delete", name);
	genl_close(&g);
	return err;
}

int vdpa_add(const char *mgmtdev, const char *name)
{
	return command(VDPA_CMD_DEV_NEW, mgmtdev, name);
}

int vdpa_del(const char *name)
{
	return command(VDPA_CMD_DEV_DEL, NULL, name);
}

int vdpa_vhost_path(const char *name, char *path, size_t size)
{
	char dir_path[300];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(dir_path, sizeof(dir_path), "/sys/bus/vdpa/devices/%s", name);
	dir = opendir(dir_path);
	if (!dir)
		return guest_fail(errno, "%s", dir_path);
	while (!found && (entry = readdir(dir))) {
		found = !strncmp(entry->d_name, CHAR_DEVICE, strlen(CHAR_DEVICE));
		if (found)
			snprintf(path, size, "/dev/%s", entry->d_name);
	}
	closedir(dir);
	return found ? 0 : guest_fail(ENOENT, "vhost_vdpa does not serve %s", name);
}
