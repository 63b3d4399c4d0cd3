/* SPDX-License-Identifier: GPL-2.0 */
/*
 * proc.h - what /proc tells of devices and workers, for kernels whose vhost module tells nothing
 *
 * Functions give 0 or an exit code, after they have told why on stderr. On success they have said,
 * too, that there is no control, and why.
 */
#ifndef VHOST_CTL_PROC_H
#define VHOST_CTL_PROC_H

#include "record.h"

/*
 * Devices that have an owner and its threads, or those of one owner: @text is a DEV, which must be
 * a pid here. Ids, virtqueues and wwpns are not known.
 */
int proc_devs(const char *text, struct rows *devs);

/* Threads that serve devices, with their owner instead of their device. */
int proc_workers(const char *text, struct rows *workers);

/* The CPUs that a thread may run on, as a list; NULL if it is not there. The caller frees it. */
char *proc_cpus(uint32_t tid);

#endif /* VHOST_CTL_PROC_H */
