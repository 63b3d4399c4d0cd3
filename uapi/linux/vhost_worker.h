/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The worker ioctls of vhost devices.
 *
 * A vhost device serves its virtqueues with worker threads. SET_OWNER makes
 * the first one (id 0) and attaches every virtqueue to it; the ioctls below
 * make more, move virtqueues between them while the guest runs, and remove
 * the ones that are not used any more. Numbers and layouts are those of
 * Linux 6.5 and later, so that a program which includes <linux/vhost.h> of
 * such a kernel sees one definition only.
 *
 * Checks are made in this order: the driver uses workers (or -EINVAL), the
 * device has an owner (or -EINVAL), the caller shares the owner's mm (or
 * -EPERM), then what each ioctl says. A driver that did not opt in to more
 * than one worker answers -EPERM to a stranger and -ENOTTY to its owner.
 * The whole table, errno by errno, is in docs/uapi.md.
 */
#ifndef _UAPI_LINUX_VHOST_WORKER_H
#define _UAPI_LINUX_VHOST_WORKER_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include <linux/vhost.h>

#ifndef VHOST_NEW_WORKER

/**
 * struct vhost_worker_state - argument of VHOST_NEW_WORKER, VHOST_FREE_WORKER
 * @worker_id: id of the worker; unique in its device, handed out cyclically,
 *	so that the id of a freed worker does not name another one soon
 */
struct vhost_worker_state {
	unsigned int worker_id;
};

/**
 * struct vhost_vring_worker - argument of the vring worker ioctls
 * @index: virtqueue index, less than the device's number of virtqueues
 * @worker_id: id of the worker that serves the virtqueue
 */
struct vhost_vring_worker {
	unsigned int index;
	unsigned int worker_id;
};

/*
 * VHOST_NEW_WORKER - make a worker that serves no virtqueue yet; its id is
 * written to worker_id. If that write fails, no worker stays behind.
 *
 * -EFAULT: the argument cannot be written. -ENOSPC: the device has as many
 * workers as it may (module parameter vhost.max_workers; 0, the default,
 * means one per virtqueue). -EAGAIN: RLIMIT_NPROC or pids.max. -EINTR: the
 * caller is being killed. -ENOMEM: no memory. A signal that is not fatal
 * restarts the ioctl.
 */
#define VHOST_NEW_WORKER	_IOR(VHOST_VIRTIO, 0x8, struct vhost_worker_state)

/*
 * VHOST_FREE_WORKER - end a worker that serves no virtqueue. All work that
 * was queued on it has run when the ioctl returns. The worker of id 0 is not
 * special, and neither is one whose thread was killed.
 *
 * -EFAULT: the argument cannot be read. -ENODEV: no such worker. -EBUSY: a
 * virtqueue is attached to it. -EINTR: the caller is being killed; the worker
 * stays.
 */
#define VHOST_FREE_WORKER	_IOW(VHOST_VIRTIO, 0x9, struct vhost_worker_state)

/*
 * VHOST_ATTACH_VRING_WORKER - move a virtqueue to a worker. Work queued
 * before the call has run when it returns, and the virtqueue keeps running
 * meanwhile. On a virtqueue with neither backend nor kick eventfd this is a
 * pointer swap only. Attaching the worker that it already has does nothing.
 *
 * -EFAULT: the argument cannot be read. -ENOBUFS: index is not less than the
 * number of virtqueues. -ENODEV: no such worker. -EOWNERDEAD: the thread of
 * that worker was killed; free it and make another. -ENOMEM: no memory,
 * nothing changed. -EINTR: the caller is being killed; the virtqueue moved,
 * but work queued before may still be running.
 */
#define VHOST_ATTACH_VRING_WORKER _IOW(VHOST_VIRTIO, 0x15, struct vhost_vring_worker)

/*
 * VHOST_GET_VRING_WORKER - tell the worker of a virtqueue: index in, both out.
 *
 * -EFAULT: the argument cannot be read or written. -ENOBUFS: index is not
 * less than the number of virtqueues. -EINVAL: the virtqueue has no worker,
 * since its thread was killed.
 */
#define VHOST_GET_VRING_WORKER	_IOWR(VHOST_VIRTIO, 0x16, struct vhost_vring_worker)

#endif /* VHOST_NEW_WORKER */

#ifndef VHOST_SET_FORK_FROM_OWNER

/* Kinds of worker thread: a kernel thread, or a thread of the owner */
#define VHOST_FORK_OWNER_KTHREAD	0
#define VHOST_FORK_OWNER_TASK		1

/*
 * VHOST_SET_FORK_FROM_OWNER - choose the kind of thread of the device's
 * workers, before SET_OWNER. Exists only where the kernel has threads of the
 * owner (Linux 6.4 and later) and was built to let programs choose.
 *
 * -EBUSY: the device has an owner. -EFAULT: the argument cannot be read.
 * -EINVAL: neither VHOST_FORK_OWNER_KTHREAD nor VHOST_FORK_OWNER_TASK.
 */
#define VHOST_SET_FORK_FROM_OWNER	_IOW(VHOST_VIRTIO, 0x84, __u8)

/* VHOST_GET_FORK_FROM_OWNER - tell the kind. -EFAULT: cannot be written. */
#define VHOST_GET_FORK_FROM_OWNER	_IOR(VHOST_VIRTIO, 0x85, __u8)

#endif /* VHOST_SET_FORK_FROM_OWNER */

#endif /* _UAPI_LINUX_VHOST_WORKER_H */
