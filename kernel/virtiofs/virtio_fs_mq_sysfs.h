/* SPDX-License-Identifier: GPL-2.0 */
/* What virtio_fs_mq.c needs of virtio_fs_mq_sysfs.c. */
#ifndef _VIRTIO_FS_MQ_SYSFS_H
#define _VIRTIO_FS_MQ_SYSFS_H

struct virtio_fs_mq;

int virtio_fs_mq_sysfs_create(void);
void virtio_fs_mq_sysfs_destroy(void);
void virtio_fs_mq_sysfs_init(struct virtio_fs_mq *mq);
void virtio_fs_mq_unpublish(struct virtio_fs_mq *mq);

#endif
