/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vduse_priv.h - private to the VDUSE device: its state
 */
#ifndef GUEST_VDUSE_PRIV_H
#define GUEST_VDUSE_PRIV_H

#include <pthread.h>
#include <linux/vduse.h>

#include "proc.h"
#include "vduse.h"

#define VDUSE_MAPS	8
#define VDUSE_SECTOR	512

struct vduse_map {		/* guest memory that the player has mapped */
	uint64_t start, last;
	char *va;
};

struct vduse_queue {
	struct vduse *dev;
	unsigned int index;
	int kick_fd;
	bool live;			/* the driver has started it */
	struct vduse_vq_info ring;	/* where it is */
	uint16_t next_avail, used_idx;
};

struct vduse {			/* shared by maker and player */
	char name[32], path[64];
	int maker;
	int ctl_fd;		/* /dev/vduse/control */
	int fd;			/* /dev/vduse/NAME, -1 before it exists */
	int stop_fd;		/* eventfd, readable once the threads shall end */
	int watch_fd;
	struct proc *player;

	pthread_mutex_t lock;	/* for what follows, and live and ring of the queues; a pass holds it */
	struct vduse_queue queue[VDUSE_QUEUES];
	struct vduse_map map[VDUSE_MAPS];
	unsigned int nr_maps;
	bool held;
	struct vduse_counts counts;
	char disk[VDUSE_SECTORS * VDUSE_SECTOR];
};

/* vduse_vq.c */
void *vduse_queue_main(void *queue);

/* Forget what is mapped of [@start, @last]. */
void vduse_drop_maps(struct vduse *dev, uint64_t start, uint64_t last);

#endif /* GUEST_VDUSE_PRIV_H */
