/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qsd.h - a disk of qemu-storage-daemon, by VDUSE and virtio_vdpa a block device of this kernel
 *
 * One at a time. The daemon exports a file; `vdpa dev add` puts it on the vdpa bus. Whatever ends the test
 * process ends the daemon; what it leaves is removed by the next qsd_start().
 */
#ifndef GUEST_QSD_H
#define GUEST_QSD_H

#include <stddef.h>
#include <sys/types.h>

#define QSD_NAME	"vd0"			/* of the VDUSE and of the vdpa device */
#define QSD_DIR		"/sys/class/vduse/" QSD_NAME
#define QSD_VDPA	"/bin/vdpa"		/* iproute2's; a test has its name, too */

struct qsd {
	pid_t daemon;		/* 0 = none */
	unsigned int queues;
	char disk[32];		/* "/dev/vda" while the device is on the bus, else "" */
};

/* Start the daemon; the VDUSE device is there, not yet on the bus. @mb: size of the disk. */
int qsd_start(struct qsd *q, unsigned int queues, unsigned int mb);

/* Put the device on the bus and wait for its disk; take it off, which waits for the daemon's answers. */
int qsd_add(struct qsd *q);
int qsd_del(struct qsd *q);

/* SIGKILL the daemon and wait for its end; start another in its place, which goes on where it was. */
int qsd_kill(struct qsd *q);
int qsd_restart(struct qsd *q);

/* Take the device off the bus if need be, end the daemon, remove the VDUSE device. */
int qsd_stop(struct qsd *q);

/* A descriptor of the daemon's VDUSE device, or a negative errno. */
int qsd_take_fd(const struct qsd *q);

/* Write to, and read (without its newline) a file of the device, as "bounce_size" or "vq0/enable_irq_wq". */
int qsd_put(const char *file, const char *text);
int qsd_get(const char *file, char *text, size_t size);

#endif /* GUEST_QSD_H */
