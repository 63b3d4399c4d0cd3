// SPDX-License-Identifier: GPL-2.0
/*
 * disk.c - what is on the disk of a guest
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "disk.h"
#include "lib/error.h"

#define SECTOR		512
#define SIZE		(32 << 20)
#define BOOT_SECTOR	"/tests/boot-sector"

static int read_boot_sector(unsigned char *sector)
{
	int fd = open(BOOT_SECTOR, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return guest_fail(errno, "open " BOOT_SECTOR);
	n = read(fd, sector, SECTOR);
	close(fd);
	return n == SECTOR ? 0 : guest_fail(EIO, BOOT_SECTOR " is no sector");
}

static int write_sector(int fd, unsigned int number, const void *sector)
{
	ssize_t n = pwrite(fd, sector, SECTOR, (off_t)number * SECTOR);

	return n == SECTOR ? 0 : guest_fail(errno, "write sector %u", number);
}

int disk_write(const char *path, unsigned char then)
{
	unsigned char sector[SECTOR];
	unsigned int i;
	int err, fd;

	err = read_boot_sector(sector);
	if (err)
		return err;
	sector[E2E_THEN] = then;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	err = write_sector(fd, 0, sector);
	memset(sector, 0, sizeof(sector));
	for (i = 1; !err && i <= E2E_SECTORS; i++) {
		uint32_t number = i ^ E2E_MAGIC;

		memcpy(sector, &number, sizeof(number));
		err = write_sector(fd, i, sector);
	}
	close(fd);
	return err;
}

int disk_create(unsigned char then, struct lio **target)
{
	struct lio_opts opts = { .backend = LIO_FILEIO, .size = SIZE };
	char path[256];
	int err = lio_create(&opts, target);

	if (err)
		return err;
	lio_file(*target, 0, path, sizeof(path));
	return disk_write(path, then);
}

int disk_spoil(const struct lio *target, unsigned int number)
{
	unsigned char sector[SECTOR] = { 0 };
	char path[256];
	int fd, err;

	lio_file(target, 0, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	err = write_sector(fd, number, sector);
	close(fd);
	return err;
}
