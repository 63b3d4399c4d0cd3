// SPDX-License-Identifier: GPL-2.0
/*
 * fake-vhost.c - preloaded into QEMU: every vhost ioctl succeeds, whatever the descriptor is
 *
 * So a vhost-scsi-pci can be made on a machine without /dev/vhost-scsi, and be asked what it chose. No
 * guest runs.
 */
#include <linux/ioctl.h>
#include <linux/vhost.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
	void *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) != VHOST_VIRTIO)
		return syscall(SYS_ioctl, fd, request, arg);
	if (request == VHOST_GET_FEATURES)
		*(uint64_t *)arg = 1ULL << 32;	/* VIRTIO_F_VERSION_1 */
	else if (request == VHOST_SCSI_GET_ABI_VERSION)
		*(int *)arg = VHOST_SCSI_ABI_VERSION;
	return 0;
}
