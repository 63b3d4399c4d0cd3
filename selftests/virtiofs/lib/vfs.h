/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vfs.h - virtio-fs devices of the VM, as seen in sysfs and by the daemon behind them
 *
 * What returns an int returns 0 or a negative errno, with guest_error() as text.
 */
#ifndef VFS_H
#define VFS_H

#include <sched.h>
#include <stdbool.h>

#define VFS_MAX_QUEUES	16
#define VFS_BLOCK	4096

struct vfs {
	char tag[32];
	char dir[48];			/* where it is mounted, or "" */
	int index;			/* of the virtio device */
	unsigned int nr_queues;		/* for requests */
	cpu_set_t cpus[VFS_MAX_QUEUES];	/* that use them, as sysfs says */
	cpu_set_t hiprio;		/* the same, of the queue for urgent things */
};

/* Load the modules, and bring all CPUs online that an earlier test left offline. */
int vfs_load(void);

/* Look up a device by its tag. -ENOENT if there is none. */
int vfs_find(const char *tag, struct vfs *vfs);

/* vfs_find(), then mount it at /tmp/TAG; unmount it. */
int vfs_mount(const char *tag, struct vfs *vfs);
int vfs_umount(struct vfs *vfs);

/* The request queue of a CPU, or -1. */
int vfs_queue_of(const struct vfs *vfs, int cpu);

/* Interrupts so far of each request queue, all CPUs together. */
int vfs_interrupts(const struct vfs *vfs, unsigned long *counts);
/* CPUs that the interrupt of a virtqueue may go to; NAME is "hiprio" or "requests.N". */
int vfs_affinity(const struct vfs *vfs, const char *name, cpu_set_t *cpus);

/* Requests so far of each request queue, counted by the daemon. */
int vfs_requests(const struct vfs *vfs, unsigned long *counts);

/* Take the device from its driver, or give it. */
int vfs_unbind(int index);
int vfs_bind(int index);
bool vfs_is_bound(int index);

/*
 * Write to the registers of the device (virtio_pci_common_cfg), behind the back of a driver. The register is one
 * of 1, 2 or 4 bytes at OFFSET.
 */
int vfs_poke(int index, unsigned int offset, unsigned int size, unsigned int value);
/* Interrupts that the device has, set up or not. */
int vfs_nr_irqs(int index);

/* Tell QEMU something in its own language, QMP, through the daemon of a mounted device: -EIO if it refuses. */
int vfs_monitor(const struct vfs *by, const char *command);

int vfs_set_online(int cpu, bool online);
int vfs_nr_online(void);
/* How many CPUs there may ever be. */
int vfs_nr_possible(void);

/* The calling thread runs on that CPU only. */
int vfs_pin(int cpu);

/*
 * Write blocks of a file past the page cache, read them back and compare: 0 or a negative errno, -EILSEQ
 * if they differ.
 */
int vfs_io(const struct vfs *vfs, const char *name, unsigned int blocks, unsigned int seed);

#endif
