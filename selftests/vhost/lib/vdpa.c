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
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/vdpa.h>
#include <sys/socket.h>

#include "error.h"
#include "vdpa.h"

#define CHAR_DEVICE	"vhost-vdpa-"

/* A request, then its answer. */
struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char attrs[4096];
};

static void begin(struct message *msg, uint16_t family, uint8_t command, uint8_t version)
{
	memset(msg, 0, sizeof(*msg));
	msg->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg->nl.nlmsg_type = family;
	msg->nl.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg->genl.cmd = command;
	msg->genl.version = version;
}

/* Names are short: there is always room. */
static void put_string(struct message *msg, uint16_t type, const char *text)
{
	struct nlattr *attr = (struct nlattr *)((char *)msg + NLMSG_ALIGN(msg->nl.nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + strlen(text) + 1;
	strcpy((char *)attr + NLA_HDRLEN, text);
	msg->nl.nlmsg_len = NLMSG_ALIGN(msg->nl.nlmsg_len) + NLA_ALIGN(attr->nla_len);
}

static const struct nlattr *find_attr(const struct message *msg, uint16_t type)
{
	size_t at = NLMSG_LENGTH(GENL_HDRLEN);

	while (at + NLA_HDRLEN <= msg->nl.nlmsg_len) {
		const struct nlattr *attr = (const struct nlattr *)((const char *)msg + at);

		if (attr->nla_len < NLA_HDRLEN)
			break;
		if (attr->nla_type == type)
			return attr;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

/* Send @msg; @msg becomes the last answer before the acknowledgement, if there is one. */
static int transact(int sock, struct message *msg)
{
	struct message answer;
	struct nlmsgerr result;
	ssize_t n;

	if (send(sock, msg, msg->nl.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		n = recv(sock, &answer, sizeof(answer), 0);
		if (n < 0)
			return -errno;
		if (n < (ssize_t)NLMSG_LENGTH(sizeof(answer.genl)))
			return -EBADMSG;
		if (answer.nl.nlmsg_type != NLMSG_ERROR) {
			*msg = answer;
			continue;
		}
		memcpy(&result, NLMSG_DATA(&answer.nl), sizeof(result));
		return result.error;
	}
}

static int find_family(int sock, uint16_t *family)
{
	const struct nlattr *attr;
	struct message msg;
	int err;

	begin(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	put_string(&msg, CTRL_ATTR_FAMILY_NAME, VDPA_GENL_NAME);
	err = transact(sock, &msg);
	attr = err ? NULL : find_attr(&msg, CTRL_ATTR_FAMILY_ID);
	if (!attr)
		return guest_fail(err == -ENOENT ? ENODEV : err ?: EBADMSG, "netlink family vdpa");
	memcpy(family, (const char *)attr + NLA_HDRLEN, sizeof(*family));
	return 0;
}

static int command(uint8_t number, const char *mgmtdev, const char *name)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct message msg;
	uint16_t family = 0;
	int err;

	if (sock < 0)
		return guest_fail(errno, "generic netlink");
	err = find_family(sock, &family);
	if (!err) {
		begin(&msg, family, number, VDPA_GENL_VERSION);
		if (mgmtdev)
			put_string(&msg, VDPA_ATTR_MGMTDEV_DEV_NAME, mgmtdev);
		put_string(&msg, VDPA_ATTR_DEV_NAME, name);
		err = transact(sock, &msg);
		if (err)
			guest_fail(err, "vdpa: %s device %s", mgmtdev ? "add" : "delete", name);
	}
	close(sock);
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
