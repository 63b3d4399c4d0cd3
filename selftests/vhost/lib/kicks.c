// SPDX-License-Identifier: GPL-2.0
/*
 * kicks.c - virtqueues that come into use
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi.h"
#include "error.h"
#include "kicks.h"
#include "vdev.h"

static int set_kick(int fd, uint32_t vq, int kick)
{
	struct vhost_vring_file file = { .index = vq, .fd = kick };

	return ioctl(fd, VHOST_SET_VRING_KICK, &file) ?
	       guest_fail(errno, "SET_VRING_KICK of virtqueue %u", vq) : 0;
}

int kicks_give(int fd, uint32_t vq)
{
	int kick = eventfd(0, EFD_CLOEXEC), err;

	if (kick < 0)
		return guest_fail(errno, "eventfd");
	err = set_kick(fd, vq, kick);
	close(kick);
	return err;
}

int kicks_take(int fd, uint32_t vq)
{
	return set_kick(fd, vq, VHOST_FILE_UNBIND);
}

int kicks_give_range(int fd, uint32_t first, uint32_t last)
{
	int err = 0;

	while (!err && first <= last)
		err = kicks_give(fd, first++);
	return err;
}

int kicks_expect_map(int fd, uint32_t first, const uint32_t *map, unsigned int n)
{
	unsigned int i;
	uint32_t id;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		err = vdev_get_worker(fd, first + i, &id);
		if (!err && id != map[i])
			err = guest_fail(EPROTO, "virtqueue %u has worker %u and not %u", first + i,
					 id, map[i]);
	}
	return err;
}

int kicks_expect_own(int fd, uint32_t first, uint32_t last)
{
	uint32_t id, before = 0;
	int err = 0;

	/* Each is younger than the one before. */
	for (; !err && first <= last; first++, before = id) {
		err = vdev_get_worker(fd, first, &id);
		if (!err && id <= before)
			err = guest_fail(EPROTO, "virtqueue %u has worker %u", first, id);
	}
	return err;
}
