// SPDX-License-Identifier: GPL-2.0
/*
 * guest - holds vhost devices for the recordings: opens what is named, does a little I/O, waits
 *
 * Usage: guest READY { scsi | net | vsock }...
 * The file READY appears when all devices are there. Ends when it is killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/guest.h"

#define QUEUES	4
#define BLOCKS	8
#define PAUSE_US	100000

static struct vscsi *disk;

static int start_scsi(void)
{
	struct lio_opts lio = { .size = 4 << 20 };
	struct vscsi_opts opts = { .queues = QUEUES, .ring_size = 64 };
	struct lio *target;
	int err = lio_create(&lio, &target);

	if (err)
		return err;
	opts.wwpn = target->wwpn;
	return vscsi_start(&opts, &disk);
}

/* The later the queue, the more is read from it. */
static int read_a_little(void)
{
	char buf[BLOCKS * 512];
	int err = 0;

	for (unsigned int q = 0; q < QUEUES; q++)
		for (unsigned int i = 0; !err && i <= q; i++)
			err = vscsi_read(disk, q, 0, i, BLOCKS, buf);
	return err;
}

static int start_net(void)
{
	struct vnet_opts opts = { 0 };
	struct vnet *net;
	int err = vnet_open(&opts, &net);

	return err ? err : vnet_start(net);
}

static int start_vsock(void)
{
	int fd = vdev_open(VDEV_VSOCK);

	return fd < 0 ? fd : vdev_set_owner(fd);
}

static int start(const char *name)
{
	if (!strcmp(name, "scsi"))
		return start_scsi();
	if (!strcmp(name, "net"))
		return start_net();
	return start_vsock();
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (start(argv[i])) {
			fprintf(stderr, "guest: %s: %s\n", argv[i], guest_error());
			return 1;
		}
	}
	close(open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	while (!disk || !read_a_little())
		usleep(PAUSE_US);
	fprintf(stderr, "guest: %s\n", guest_error());
	return 1;
}
