/* SPDX-License-Identifier: GPL-2.0 */
/*
 * owner.h - a process that owns a vhost-scsi device and knows nothing of workers, as most VMMs do
 */
#ifndef GUEST_OWNER_H
#define GUEST_OWNER_H

#include "proc.h"
#include "vctl.h"
#include "vscsi.h"

#define OWNER_QUEUES	4	/* I/O queues */
#define OWNER_VQS	(VDEV_SCSI_VQ_IO + OWNER_QUEUES)	/* that it sets up */
#define OWNER_RING	16
#define OWNER_MS	guest_patience(10000)	/* most that a step takes */

enum {			/* words of the page that owner and test share */
	OWNER_FD,	/* of the device */
	OWNER_STOP,	/* of the test: end the load */
	OWNER_VERIFIED,	/* reads of the load that were compared and right */
	OWNER_LATENCY_MS,	/* longest request of it */
	OWNER_WORDS,	/* the first that is free for the test */
};

struct owner {
	enum vdev_thread thread;
	const char *wwpn;
	unsigned int devices;	/* owner_holds(): how many, 0 = 1 */
	void *arg;		/* of the test's */
};

/* Open the device: owner, memory and rings, no endpoint. */
int owner_open(struct proc *me, const struct owner *owner, struct vscsi **dev);

/*
 * What a child does; @arg is a struct owner. owner_holds() has devices that nobody uses, and sleeps.
 * owner_does_io() does I/O on all queues of one, each request checked, until it is told to stop; it ends with
 * 0 if none was lost, doubled, corrupt or failed. proc->page->progress counts what is done, as if all queues
 * had done what the slowest has: who waits for it knows that each had its part.
 */
int owner_holds(struct proc *me, void *arg);
int owner_does_io(struct proc *me, void *arg);

/* Tell owner_does_io() to stop, and wait for its verdict. */
int owner_stop_io(struct proc *proc);

/* Start a child and wait until it is ready; the device (its newest) goes to @dev. */
int owner_start(proc_fn fn, struct owner *owner, struct vctl *v, struct proc **proc,
		struct vctl_dev *dev);

#endif /* GUEST_OWNER_H */
