/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vdev.h - vhost devices: open, own, negotiate; thin wrappers for the ioctls about workers
 *
 * The wrappers take a plain descriptor, so that a test can use them on a copy of it in another
 * process. They return 0 or -errno exactly as the kernel answered.
 */
#ifndef GUEST_VDEV_H
#define GUEST_VDEV_H

#include <stdbool.h>
#include <stdint.h>
#include "abi.h"
#include "gmem.h"
#include "gvq.h"

enum vdev_type { VDEV_SCSI, VDEV_NET, VDEV_VSOCK };

enum vdev_thread {		/* what runs the workers */
	VDEV_THREAD_DEFAULT,	/* whatever the kernel does when not asked */
	VDEV_THREAD_KTHREAD,	/* kernel threads */
	VDEV_THREAD_TASK,	/* threads of the owner */
};

#define VDEV_SCSI_VQ_CTL	0
#define VDEV_SCSI_VQ_EVT	1
#define VDEV_SCSI_VQ_IO		2
#define VDEV_NET_VQ_RX		0
#define VDEV_NET_VQ_TX		1
#define VDEV_VSOCK_VQ_RX	0
#define VDEV_VSOCK_VQ_TX	1

#define VDEV_F_VERSION_1	(1ULL << 32)
#define VDEV_F_EVENT_IDX	(1ULL << VIRTIO_RING_F_EVENT_IDX)
#define VDEV_F_INDIRECT		(1ULL << VIRTIO_RING_F_INDIRECT_DESC)

/* "scsi", "net", "vsock"; "default", "kthread", "task". */
const char *vdev_type_name(enum vdev_type type);
const char *vdev_thread_name(enum vdev_thread thread);

/* Open /dev/vhost-<type>, nothing else. Returns the descriptor (O_CLOEXEC) or -errno. */
int vdev_open(enum vdev_type type);

/*
 * Open and choose the thread kind (which must happen before SET_OWNER). A kernel without
 * VHOST_SET_FORK_FROM_OWNER has one kind, kthread: DEFAULT and KTHREAD then open as they are, TASK
 * gives -EOPNOTSUPP. Returns the descriptor.
 */
int vdev_open_thread(enum vdev_type type, enum vdev_thread thread);

/*
 * Does the kernel have VHOST_SET_FORK_FROM_OWNER? 1, 0, or -errno when the device cannot be opened.
 */
int vdev_has_fork_control(enum vdev_type type);

/*
 * The kind that @fd's workers have or would get: VDEV_THREAD_KTHREAD or VDEV_THREAD_TASK, -errno.
 * Without fork control the answer is KTHREAD.
 */
int vdev_thread_kind(int fd);

/*
 * Does the driver behind a fresh @fd (no owner yet) support workers? Uses a probe without side
 * effect: GET_VRING_WORKER answers EINVAL where it does, EPERM (or ENOTTY) where it does not.
 * 1, 0, or -errno for another answer.
 */
int vdev_has_workers(int fd);

/* Worker ioctls. */
int vdev_new_worker(int fd, uint32_t *id);
int vdev_free_worker(int fd, uint32_t id);
int vdev_attach_worker(int fd, uint32_t vq, uint32_t id);
int vdev_get_worker(int fd, uint32_t vq, uint32_t *id);
int vdev_set_fork(int fd, uint8_t value);
int vdev_get_fork(int fd, uint8_t *value);

/*
 * Owner and features. vdev_set_features() sets exactly @features; _ack() what the device offers of
 * it.
 */
int vdev_set_owner(int fd);
int vdev_reset_owner(int fd);
int vdev_get_features(int fd, uint64_t *features);
int vdev_set_features(int fd, uint64_t features);
int vdev_ack_features(int fd, uint64_t wanted, uint64_t *acked);
static inline int vdev_set_mem(int fd, const struct gmem *mem)
{
	return gmem_set_table(mem, fd);
}

/* Backends. @wwpn as lio.wwpn; net: @tap_fd -1 takes the backend away; vsock: @cid > 2. */
int vdev_scsi_set_endpoint(int fd, const char *wwpn);
int vdev_scsi_clear_endpoint(int fd, const char *wwpn);
int vdev_net_set_backend(int fd, uint32_t vq, int tap_fd);
int vdev_vsock_set_cid(int fd, uint64_t cid);
int vdev_vsock_set_running(int fd, int running);

#endif /* GUEST_VDEV_H */
