// SPDX-License-Identifier: GPL-2.0
/*
 * The bounce buffer of a VDUSE device: its size can be chosen until the device
 * is added to the vdpa bus, and its IOVA domain is made at that time.
 *
 * A domain, once made, stays until the device is destroyed, also when it leaves
 * the bus and comes back. A device is destroyed only when no daemon has
 * it open, so that an ioctl that has seen the domain can use it without a lock.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/sizes.h>
#include <linux/sysfs.h>
#include <uapi/linux/vduse.h>

#include "iova_domain.h"
#include "vduse_bounce.h"

#define BOUNCE_MIN	SZ_1M
#define BOUNCE_MAX	SZ_1G
#define BOUNCE_DEFAULT	SZ_64M

/* Beside the bounce buffer there are the rings. */
#define IOVA_LIMIT	(BOUNCE_MAX + SZ_128M - 1)

/**
 * vduse_bounce_init - begin with the default size
 * @bounce: of a new device
 */
void vduse_bounce_init(struct vduse_bounce *bounce)
{
	mutex_init(&bounce->lock);
	bounce->size = BOUNCE_DEFAULT;
}

/**
 * vduse_bounce_domain - make the IOVA domain unless there is one
 * @bounce: gives the size, which is fixed from now on
 * @domain: where the device has it
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM, with which the size can still be changed.
 */
int vduse_bounce_domain(struct vduse_bounce *bounce,
			struct vduse_iova_domain **domain)
{
	int ret = 0;

	mutex_lock(&bounce->lock);
	if (!bounce->fixed) {
		struct vduse_iova_domain *new;

		new = vduse_domain_create(IOVA_LIMIT, bounce->size);
		if (new) {
			/* Pairs with the acquire of vduse_bounce_ready(). */
			smp_store_release(domain, new);
			bounce->fixed = true;
		} else {
			ret = -ENOMEM;
		}
	}
	mutex_unlock(&bounce->lock);
	return ret;
}

/**
 * vduse_bounce_ready - may the daemon make this ioctl?
 * @cmd: the ioctl
 * @domain: where the device has its IOVA domain
 *
 * Return: false for an ioctl about memory while there is no domain.
 */
bool vduse_bounce_ready(unsigned int cmd, struct vduse_iova_domain **domain)
{
	switch (cmd) {
	case VDUSE_IOTLB_GET_FD:
	case VDUSE_IOTLB_GET_INFO:
	case VDUSE_IOTLB_REG_UMEM:
	case VDUSE_IOTLB_DEREG_UMEM:
		/* Pairs with the release of vduse_bounce_domain(). */
		return smp_load_acquire(domain);
	default:
		return true;
	}
}

static ssize_t bounce_size_show(struct device *device,
				struct device_attribute *attr, char *buf)
{
	struct vduse_bounce *bounce = vduse_device_bounce(device);

	return sysfs_emit(buf, "%u\n", READ_ONCE(bounce->size));
}

static ssize_t bounce_size_store(struct device *device,
				 struct device_attribute *attr,
				 const char *buf, size_t n)
{
	struct vduse_bounce *bounce = vduse_device_bounce(device);
	unsigned int size;
	int ret = -EPERM;

	mutex_lock(&bounce->lock);
	if (bounce->fixed)
		goto unlock;
	ret = kstrtouint(buf, 10, &size);
	if (!ret && (size < BOUNCE_MIN || size > BOUNCE_MAX))
		ret = -EINVAL;
	if (!ret)
		WRITE_ONCE(bounce->size, size & PAGE_MASK);
unlock:
	mutex_unlock(&bounce->lock);
	return ret ?: n;
}

struct device_attribute vduse_attr_bounce_size = __ATTR_RW(bounce_size);
