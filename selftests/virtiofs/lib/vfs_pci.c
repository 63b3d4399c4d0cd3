// SPDX-License-Identifier: GPL-2.0
/*
 * vfs_pci.c - the PCI device behind a virtio-fs device: its registers, through the window that its
 * configuration space has for them, and its interrupts
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/virtio_pci.h>

#include "error.h"
#include "vfs.h"

#define PCI_CONFIG_SIZE	256

struct config {
	int fd;
	uint8_t bytes[PCI_CONFIG_SIZE];
};

static int open_config(int index, struct config *config)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/bus/virtio/devices/virtio%d/../config", index);
	config->fd = open(path, O_RDWR | O_CLOEXEC);
	if (config->fd < 0)
		return guest_fail(errno, "%s", path);
	if (pread(config->fd, config->bytes, PCI_CONFIG_SIZE, 0) == PCI_CONFIG_SIZE)
		return 0;
	close(config->fd);
	return guest_fail(errno, "%s", path);
}

/* Where the capability is that tells of a part of the device, 0 if there is none. */
static unsigned int find_part(const struct config *config, uint8_t type)
{
	unsigned int at = config->bytes[PCI_CAPABILITY_LIST];

	while (at && at < PCI_CONFIG_SIZE - sizeof(struct virtio_pci_cfg_cap)) {
		if (config->bytes[at] == PCI_CAP_ID_VNDR &&
		    config->bytes[at + offsetof(struct virtio_pci_cap, cfg_type)] == type)
			return at;
		at = config->bytes[at + PCI_CAP_LIST_NEXT];
	}
	return 0;
}

static int put(const struct config *config, unsigned int at, uint32_t value, unsigned int size)
{
	/* Little endian, as is the machine. */
	if (pwrite(config->fd, &value, size, at) != (ssize_t)size)
		return guest_fail(errno, "write to the configuration space");
	return 0;
}

int vfs_poke(int index, unsigned int offset, unsigned int size, unsigned int value)
{
	const size_t data = offsetof(struct virtio_pci_cfg_cap, pci_cfg_data);
	const struct virtio_pci_cap *common;
	struct config config;
	unsigned int window, at;
	int err = open_config(index, &config);

	if (err)
		return err;
	at = find_part(&config, VIRTIO_PCI_CAP_COMMON_CFG);
	window = find_part(&config, VIRTIO_PCI_CAP_PCI_CFG);
	if (!at || !window) {
		close(config.fd);
		return guest_fail(ENODEV, "virtio%d shows no registers", index);
	}
	common = (const void *)&config.bytes[at];
	err = put(&config, window + offsetof(struct virtio_pci_cap, bar), common->bar, 1) ?:
	      put(&config, window + offsetof(struct virtio_pci_cap, offset), common->offset + offset, 4) ?:
	      put(&config, window + offsetof(struct virtio_pci_cap, length), size, 4) ?:
	      put(&config, window + data, value, size);
	close(config.fd);
	return err;
}

int vfs_nr_irqs(int index)
{
	struct dirent *entry;
	char path[80];
	DIR *dir;
	int nr = 0;

	snprintf(path, sizeof(path), "/sys/bus/virtio/devices/virtio%d/../msi_irqs", index);
	dir = opendir(path);
	if (!dir)
		return 0;	/* the directory comes and goes with them */
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}
