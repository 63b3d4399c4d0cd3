// SPDX-License-Identifier: GPL-2.0
/*
 * vdev.c - vhost devices and the ioctls about workers
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include "error.h"
#include "vdev.h"

static const char *const type_names[] = { "scsi", "net", "vsock" };
static const char *const thread_names[] = { "default", "kthread", "task" };

const char *vdev_type_name(enum vdev_type type)
{
	return type_names[type];
}

const char *vdev_thread_name(enum vdev_thread thread)
{
	return thread_names[thread];
}

int vdev_open(enum vdev_type type)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/vhost-%s", type_names[type]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	return fd;
}

int vdev_open_thread(enum vdev_type type, enum vdev_thread thread)
{
	int fd = vdev_open(type), err;

	if (fd < 0 || thread == VDEV_THREAD_DEFAULT)
		return fd;
	err = vdev_set_fork(fd, thread == VDEV_THREAD_TASK ? VHOST_FORK_OWNER_TASK :
							     VHOST_FORK_OWNER_KTHREAD);
	if (!err)
		return fd;
	if (err == -ENOTTY || err == -EPERM || err == -EINVAL) {
		/* No such ioctl in this kernel. */
		if (thread == VDEV_THREAD_KTHREAD)
			return fd;
		err = guest_fail(EOPNOTSUPP, "this kernel has no task workers");
	}
	close(fd);
	return err;
}

int vdev_has_fork_control(enum vdev_type type)
{
	int fd = vdev_open(type), err;
	uint8_t value;

	if (fd < 0)
		return fd;
	err = vdev_get_fork(fd, &value);
	close(fd);
	return !err;
}

int vdev_thread_kind(int fd)
{
	uint8_t value;

	if (vdev_get_fork(fd, &value))
		return VDEV_THREAD_KTHREAD;
	return value == VHOST_FORK_OWNER_TASK ? VDEV_THREAD_TASK : VDEV_THREAD_KTHREAD;
}

int vdev_has_workers(int fd)
{
	uint32_t id;
	int err = vdev_get_worker(fd, 0, &id);

	if (err == -EINVAL)
		return 1;
	if (err == -EPERM || err == -ENOTTY)
		return 0;
	return err ?: guest_fail(EBUSY, "probe for workers: the device has an owner already");
}

static int simple_ioctl(int fd, unsigned long request, void *arg, const char *name)
{
	if (ioctl(fd, request, arg) < 0)
		return guest_fail(errno, "%s", name);
	return 0;
}

int vdev_new_worker(int fd, uint32_t *id)
{
	struct vhost_worker_state state = { 0 };
	int err = simple_ioctl(fd, VHOST_NEW_WORKER, &state, "VHOST_NEW_WORKER");

	if (!err)
		*id = state.worker_id;
	return err;
}

int vdev_free_worker(int fd, uint32_t id)
{
	struct vhost_worker_state state = { .worker_id = id };

	if (ioctl(fd, VHOST_FREE_WORKER, &state) < 0)
		return guest_fail(errno, "VHOST_FREE_WORKER %u", id);
	return 0;
}

int vdev_attach_worker(int fd, uint32_t vq, uint32_t id)
{
	struct vhost_vring_worker ring = { .index = vq, .worker_id = id };

	if (ioctl(fd, VHOST_ATTACH_VRING_WORKER, &ring) < 0)
		return guest_fail(errno, "VHOST_ATTACH_VRING_WORKER vq %u to %u", vq, id);
	return 0;
}

int vdev_get_worker(int fd, uint32_t vq, uint32_t *id)
{
	struct vhost_vring_worker ring = { .index = vq };

	if (ioctl(fd, VHOST_GET_VRING_WORKER, &ring) < 0)
		return guest_fail(errno, "VHOST_GET_VRING_WORKER vq %u", vq);
	*id = ring.worker_id;
	return 0;
}

int vdev_set_fork(int fd, uint8_t value)
{
	return simple_ioctl(fd, VHOST_SET_FORK_FROM_OWNER, &value, "VHOST_SET_FORK_FROM_OWNER");
}

int vdev_get_fork(int fd, uint8_t *value)
{
	return simple_ioctl(fd, VHOST_GET_FORK_FROM_OWNER, value, "VHOST_GET_FORK_FROM_OWNER");
}

int vdev_set_owner(int fd)
{
	return simple_ioctl(fd, VHOST_SET_OWNER, NULL, "VHOST_SET_OWNER");
}

int vdev_reset_owner(int fd)
{
	return simple_ioctl(fd, VHOST_RESET_OWNER, NULL, "VHOST_RESET_OWNER");
}

int vdev_get_features(int fd, uint64_t *features)
{
	return simple_ioctl(fd, VHOST_GET_FEATURES, features, "VHOST_GET_FEATURES");
}

int vdev_set_features(int fd, uint64_t features)
{
	return simple_ioctl(fd, VHOST_SET_FEATURES, &features, "VHOST_SET_FEATURES");
}

int vdev_ack_features(int fd, uint64_t wanted, uint64_t *acked)
{
	int err = vdev_get_features(fd, acked);

	if (err)
		return err;
	*acked &= wanted;
	return vdev_set_features(fd, *acked);
}

static void fill_target(struct vhost_scsi_target *target, const char *wwpn)
{
	memset(target, 0, sizeof(*target));
	target->abi_version = VHOST_SCSI_ABI_VERSION;
	snprintf(target->vhost_wwpn, sizeof(target->vhost_wwpn), "%s", wwpn);
}

int vdev_scsi_set_endpoint(int fd, const char *wwpn)
{
	struct vhost_scsi_target target;

	fill_target(&target, wwpn);
	return simple_ioctl(fd, VHOST_SCSI_SET_ENDPOINT, &target, "VHOST_SCSI_SET_ENDPOINT");
}

int vdev_scsi_clear_endpoint(int fd, const char *wwpn)
{
	struct vhost_scsi_target target;

	fill_target(&target, wwpn);
	return simple_ioctl(fd, VHOST_SCSI_CLEAR_ENDPOINT, &target, "VHOST_SCSI_CLEAR_ENDPOINT");
}

int vdev_net_set_backend(int fd, uint32_t vq, int tap_fd)
{
	struct vhost_vring_file file = { .index = vq, .fd = tap_fd };

	return simple_ioctl(fd, VHOST_NET_SET_BACKEND, &file, "VHOST_NET_SET_BACKEND");
}

int vdev_vsock_set_cid(int fd, uint64_t cid)
{
	return simple_ioctl(fd, VHOST_VSOCK_SET_GUEST_CID, &cid, "VHOST_VSOCK_SET_GUEST_CID");
}

int vdev_vsock_set_running(int fd, int running)
{
	return simple_ioctl(fd, VHOST_VSOCK_SET_RUNNING, &running, "VHOST_VSOCK_SET_RUNNING");
}
