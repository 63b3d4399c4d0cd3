/* SPDX-License-Identifier: GPL-2.0 */
/*
 * device.h - vhost-scsi devices that jobs of one process share, a virtqueue each
 *
 * A target serves one vhost device at a time, so the jobs that run at once on a target must share
 * a device. Functions return 0 or a negative errno, with guest_error() telling more.
 */
#ifndef FIO_VHOST_SCSI_DEVICE_H
#define FIO_VHOST_SCSI_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/vscsi.h"

#define DEVICE_PER_VQ	UINT32_MAX	/* workers: one for each queue */

struct device_shape {
	const char *wwpn;
	unsigned int wave;	/* jobs of one wave share; waves run one after another */
	unsigned int queues;
	unsigned int ring_size;
	unsigned int workers;	/* at most one for each queue is made */
	size_t buffers;		/* bytes of data buffers of all jobs */
};

/* Take the device of this target and wave; the first who asks starts it. */
int device_get(const struct device_shape *shape, struct vscsi **dev);

/* Give it back; the last who does stops it. */
void device_put(struct vscsi *dev);

/* Memory for data, page aligned; it lives as long as the device. NULL when there is no more. */
void *device_buffer(struct vscsi *dev, size_t bytes);

struct device_lun {
	const char *wwpn;
	unsigned int tpgt, lun;
	uint64_t blocks;	/* told by device_capacity(), as is the next */
	uint32_t block_size;
};

/* Ask a LUN for its size, through a device that is gone on return. A LUN is asked once. */
int device_capacity(struct device_lun *lun);

#endif /* FIO_VHOST_SCSI_DEVICE_H */
