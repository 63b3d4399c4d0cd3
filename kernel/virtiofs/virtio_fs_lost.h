/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The removal of a device that does not answer. virtio_fs.c includes this once,
 * behind its own structures: it is a part of that file and no interface.
 *
 * Whoever sent a request sleeps until it is answered, and nothing but an answer
 * wakes him. A device whose other side is gone never answers; so its removal is
 * the moment to end such requests.
 */
#ifndef _VIRTIO_FS_LOST_H
#define _VIRTIO_FS_LOST_H

#define VIRTIO_FS_LOST_LOOK_MS	10	/* between two looks at the queues */

static long virtio_fs_count_in_flight(struct virtio_fs *fs)
{
	unsigned int i;
	long nr = 0;

	for (i = 0; i < fs->nvqs; i++) {
		spin_lock(&fs->vqs[i].lock);
		nr += fs->vqs[i].in_flight;
		spin_unlock(&fs->vqs[i].lock);
	}

	return nr;
}

/* Wait for the answers to all requests. Returns how many did not come. */
static long virtio_fs_await_answers(struct virtio_fs *fs)
{
	unsigned long patience = virtio_fs_mq_patience();
	unsigned long start = jiffies;
	long nr;

	while ((nr = virtio_fs_count_in_flight(fs)) &&
	       jiffies - start < patience)
		msleep(VIRTIO_FS_LOST_LOOK_MS);

	return nr;
}

static void virtio_fs_cancel_req(struct virtio_fs_vq *fsvq, struct fuse_req *req)
{
	struct fuse_pqueue *fpq = &fsvq->fud->pq;

	spin_lock(&fpq->lock);
	list_del_init(&req->list);
	spin_unlock(&fpq->lock);

	req->out.h.len = sizeof(req->out.h);
	req->out.h.error = -ENOTCONN;
	virtio_fs_request_complete(req, fsvq);
}

/* Take back what a device that was reset has left in a queue. */
static void virtio_fs_cancel_vq(struct virtio_fs_vq *fsvq, bool forgets)
{
	void *buf;

	do {
		spin_lock(&fsvq->lock);
		buf = virtqueue_detach_unused_buf(fsvq->vq);
		if (buf && forgets) {
			kfree(buf);
			dec_in_flight_req(fsvq);
		}
		spin_unlock(&fsvq->lock);

		if (buf && !forgets)
			virtio_fs_cancel_req(fsvq, buf);
	} while (buf);
}

/*
 * Let no request begin, wait a while for the answers to those that did, and end
 * the others with an error. The device is reset first, so that it does not
 * write to memory that is no longer a request's.
 *
 * One who unmounts can wait for answers, too, and holds virtio_fs_mutex. So
 * this is done once without it, and once more with it, for a mount between.
 */
static void virtio_fs_end_requests(struct virtio_device *vdev,
				   struct virtio_fs *fs)
{
	unsigned int i;
	long nr;

	virtio_fs_stop_all_queues(fs);
	nr = virtio_fs_await_answers(fs);
	if (!nr)
		return;

	dev_warn(&vdev->dev, "no answer to %ld requests, they fail\n", nr);
	virtio_reset_device(vdev);
	for (i = 0; i < fs->nvqs; i++)
		virtio_fs_cancel_vq(&fs->vqs[i], i == VQ_HIPRIO);
}

#endif
