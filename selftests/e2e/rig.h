/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rig.h - a guest on a disk of its own, with its vhost device as an administrator sees it
 */
#ifndef E2E_RIG_H
#define E2E_RIG_H

#include "disk.h"
#include "lib/vctl.h"
#include "lib/vdev.h"
#include "machine.h"

#define RIG_FIRST_VQ	VDEV_SCSI_VQ_IO		/* I/O queue 0 */
#define RIG_VQS		(RIG_FIRST_VQ + MACHINE_QUEUES)

/* Limits of what takes long: this is emulation within emulation. */
#define RIG_START_MS	60000	/* from the start of QEMU to the first word of a boot sector */
#define RIG_LINUX_MS	240000	/* until Linux is up */
#define RIG_ROUND_MS	60000	/* until guests that read have come further */
#define RIG_GONE_MS	20000

#define RIG_DONE	"guest: done"	/* a Linux guest, after each command */

struct rig {
	struct vctl v;
	struct lio *target;
	struct machine *m;
	struct vctl_dev dev;
};

/* The map of a device: the worker of each virtqueue that the guest may use, and the thread of that. */
struct rig_map {
	uint32_t worker[RIG_VQS], tid[RIG_VQS];
};

/*
 * Make a disk whose boot sector goes on like @then after a round, start QEMU and wait until the guest
 * talks. rig_start() takes @opts->wwpn from the disk; rig_start_on() has a target already.
 */
int rig_start(struct rig *rig, const struct machine_opts *opts, unsigned char then);
int rig_start_on(struct rig *rig, const struct machine_opts *opts);

/* A boot sector that reads for ever has done so many rounds more, without complaint. */
int rig_wait_rounds(struct rig *rig, unsigned int more);
/* One that resets its machine has been started so often again. */
int rig_wait_resets(struct rig *rig, unsigned int more);

int rig_map(struct rig *rig, struct rig_map *map);
/* How many different workers serve the I/O queues? */
unsigned int rig_workers_in(const struct rig_map *map);

/* How many works were queued for each virtqueue so far. */
int rig_works(struct rig *rig, uint64_t works[RIG_VQS]);

/*
 * Every I/O queue has done at least so many works more; -ENODATA when a Linux guest is through with what it
 * was told to do.
 */
int rig_wait_works(struct rig *rig, unsigned int more);

/* A Linux guest is up, for the first time or after a reset. */
int rig_wait_linux(struct rig *rig);

/* With vhost-ctl: a worker of its own for each I/O queue; worker 0 for all, and no other. */
int rig_spread(struct rig *rig);
int rig_gather(struct rig *rig);

/* SIGKILL to QEMU: it ends, with its device and every thread of that. */
int rig_kill(struct rig *rig);

/* End QEMU if need be, and take the target away. */
int rig_end(struct rig *rig);

#endif /* E2E_RIG_H */
