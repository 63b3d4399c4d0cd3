/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guest.h - the whole guest library: a program plays the guest of a vhost device
 *
 * Conventions that hold in every header of this directory:
 *
 * - A function that can fail returns 0 (or a count) or a negative errno, never exits, never prints.
 *   guest_error() then gives one line of text about the last failure in the calling thread.
 * - Times named _ms are milliseconds, _ns nanoseconds (CLOCK_MONOTONIC). A timeout of 0 means
 *   "look once", a negative one "no limit"; passing a timeout gives -ETIMEDOUT.
 * - An object made by x_create()/x_open()/x_start() belongs to the caller until he gives it to
 *   x_destroy()/x_close()/x_stop(), all of which accept NULL.
 * - No object has a lock: one thread at a time per object. Two queues of one device are two
 *   objects.
 */
#ifndef GUEST_H
#define GUEST_H

#include "error.h"	/* one-line error texts, time */
#include "gmem.h"	/* guest memory: special pages, memory table */
#include "gvq.h"	/* split virtqueues */
#include "vdev.h"	/* /dev/vhost-{scsi,net,vsock}, worker ioctls */
#include "vscsi.h"	/* virtio-scsi: commands, task management, events */
#include "load.h"	/* asynchronous I/O load with verification */
#include "lio.h"	/* a LIO target, undone on every exit */
#include "threads.h"	/* which threads serve a device */
#include "vnet.h"	/* a tap as backend of vhost-net */

#endif /* GUEST_H */
