// SPDX-License-Identifier: GPL-2.0
/*
 * vscsi.c - a virtio-scsi guest: the device's life and synchronous commands
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "vscsi.h"
#include "vscsi_hdr.h"

#define CTL_RING	64
#define EVT_RING	16

static int make_queue(struct vscsi *dev, struct vscsi_queue *queue, unsigned int index,
		      unsigned int num, bool indirect)
{
	struct gvq_opts opts = {
		.num = num,
		.indirect = indirect,
		.event_idx = dev->features & VDEV_F_EVENT_IDX,
	};
	int err = gvq_create(dev->mem, index, &opts, &queue->vq);

	if (err)
		return err;
	queue->hdr = gmem_alloc(dev->mem, num * sizeof(struct vscsi_hdr), 64);
	return queue->hdr ? 0 : -ENOMEM;
}

static int make_queues(struct vscsi *dev, const struct vscsi_opts *opts)
{
	unsigned int i;
	int err;

	dev->target = opts->target ?: VSCSI_TARGET;
	dev->first_vq = opts->first_vq ?: VDEV_SCSI_VQ_IO;
	dev->io = calloc(opts->queues ?: 1, sizeof(*dev->io));
	if (!dev->io)
		return guest_fail(ENOMEM, "%u I/O queues", opts->queues);
	err = make_queue(dev, &dev->ctl, VDEV_SCSI_VQ_CTL, CTL_RING, false);
	if (!err)
		err = make_queue(dev, &dev->evt, VDEV_SCSI_VQ_EVT, EVT_RING, false);
	for (i = 0; !err && i < (opts->queues ?: 1); i++) {
		dev->queues = i + 1;
		err = make_queue(dev, &dev->io[i], vscsi_vq(dev, i), opts->ring_size ?: 128,
				 opts->indirect);
	}
	return err;
}

int vscsi_replace_ring(struct vscsi *dev, unsigned int q, const struct gvq_opts *opts)
{
	gvq_destroy(dev->io[q].vq);
	dev->io[q].vq = NULL;
	return gvq_create(dev->mem, vscsi_vq(dev, q), opts, &dev->io[q].vq);
}

static int negotiate(struct vscsi *dev, const struct vscsi_opts *opts)
{
	uint64_t wanted = VDEV_F_VERSION_1 | (1ULL << VIRTIO_SCSI_F_HOTPLUG);

	if (opts->indirect)
		wanted |= VDEV_F_INDIRECT;
	if (opts->event_idx)
		wanted |= VDEV_F_EVENT_IDX;
	return vdev_ack_features(dev->fd, wanted, &dev->features);
}

static int take_mem(struct vscsi *dev, const struct vscsi_opts *opts)
{
	dev->mem = opts->mem;
	if (dev->mem)
		return 0;
	dev->own_mem = true;
	return gmem_create(opts->mem_size ?: 64 << 20, &dev->mem);
}

int vscsi_open(const struct vscsi_opts *opts, struct vscsi **devp)
{
	struct vscsi *dev = calloc(1, sizeof(*dev));
	int err;

	if (!dev)
		return guest_fail(ENOMEM, "virtio-scsi device");
	dev->fd = vdev_open_thread(VDEV_SCSI, opts->thread);
	err = dev->fd < 0 ? dev->fd : take_mem(dev, opts);
	if (!err)
		err = vdev_set_owner(dev->fd);
	if (!err)
		err = negotiate(dev, opts);
	if (!err)
		err = make_queues(dev, opts);
	if (!err)
		err = vdev_set_mem(dev->fd, dev->mem);
	if (err)
		vscsi_stop(dev);
	else
		*devp = dev;
	return err;
}

int vscsi_setup_queues(struct vscsi *dev)
{
	unsigned int i;
	int err;

	err = gvq_setup(dev->ctl.vq, dev->fd);
	if (!err)
		err = gvq_setup(dev->evt.vq, dev->fd);
	for (i = 0; !err && i < dev->queues; i++)
		err = gvq_setup(dev->io[i].vq, dev->fd);
	return err;
}

int vscsi_set_endpoint(struct vscsi *dev, const char *wwpn)
{
	int err = vdev_scsi_set_endpoint(dev->fd, wwpn);

	if (err)
		return err;
	snprintf(dev->wwpn, sizeof(dev->wwpn), "%s", wwpn);
	dev->endpoint = true;
	return 0;
}

int vscsi_clear_endpoint(struct vscsi *dev)
{
	int err;

	if (!dev->endpoint)
		return 0;
	err = vdev_scsi_clear_endpoint(dev->fd, dev->wwpn);
	if (!err)
		dev->endpoint = false;
	return err;
}

int vscsi_start(const struct vscsi_opts *opts, struct vscsi **devp)
{
	struct vscsi *dev;
	int err;

	err = vscsi_open(opts, &dev);
	if (err)
		return err;
	err = vscsi_setup_queues(dev);
	if (!err && opts->wwpn)
		err = vscsi_set_endpoint(dev, opts->wwpn);
	if (err)
		vscsi_stop(dev);
	else
		*devp = dev;
	return err;
}

void vscsi_close_fd(struct vscsi *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
	dev->endpoint = false;
}

void vscsi_stop(struct vscsi *dev)
{
	unsigned int i;

	if (!dev)
		return;
	if (dev->fd >= 0)
		vscsi_clear_endpoint(dev);
	vscsi_close_fd(dev);
	gvq_destroy(dev->ctl.vq);
	gvq_destroy(dev->evt.vq);
	for (i = 0; i < dev->queues; i++)
		gvq_destroy(dev->io[i].vq);
	free(dev->io);
	if (dev->own_mem)
		gmem_destroy(dev->mem);
	free(dev);
}

void vscsi_lun(uint8_t field[8], unsigned int target, unsigned int lun)
{
	memset(field, 0, 8);
	field[0] = 1;
	field[1] = target;
	field[2] = lun >= 256 ? (lun >> 8) | 0x40 : 0;
	field[3] = lun;
}

/*
 * Cookies: a synchronous call has an odd number, vscsi_send() the address of the command, which is
 * even. Wait for the answer to @cookie; others are late ones of calls that gave up: dropped.
 */
int vscsi_wait_for(struct gvq *vq, void *cookie, int timeout_ms)
{
	uint64_t start = guest_now_ns();
	void *got;
	int ret;

	for (;;) {
		ret = gvq_pop(vq, &got, NULL);
		if (ret >= 0 && got == cookie)
			return 0;
		if (ret >= 0)
			continue;
		if (ret != -EAGAIN)
			return ret;
		ret = gvq_wait(vq, guest_left_ms(start, timeout_ms));
		if (ret)
			return guest_fail(ret, "vq %u: no answer within %d ms", vq->index,
					  timeout_ms);
	}
}

void *vscsi_next_cookie(void)
{
	static uintptr_t counter;

	return (void *)(__atomic_add_fetch(&counter, 2, __ATOMIC_RELAXED) | 1);
}

static int prepare_data(struct vscsi *dev, struct vscsi_queue *queue, struct vscsi_cmd *cmd,
			struct gvq_sg *sg)
{
	if (cmd->data_gpa) {
		*sg = (struct gvq_sg){ cmd->data_gpa, cmd->len };
		return 0;
	}
	if (cmd->len > VSCSI_SYNC_BYTES)
		return guest_fail(EINVAL, "command with %u bytes of data", cmd->len);
	if (cmd->len && !queue->bounce)
		queue->bounce = gmem_alloc(dev->mem, VSCSI_SYNC_BYTES, 4096);
	if (cmd->len && !queue->bounce)
		return -ENOMEM;
	if (cmd->out)
		memcpy(queue->bounce, cmd->out, cmd->len);
	if (cmd->len)
		*sg = (struct gvq_sg){ gmem_gpa(dev->mem, queue->bounce), cmd->len };
	return 0;
}

static void fill_request(struct vscsi_hdr *hdr, const struct vscsi_cmd *cmd)
{
	memset(hdr, 0, sizeof(*hdr));
	memcpy(hdr->req.lun, cmd->lun, sizeof(hdr->req.lun));
	memcpy(hdr->req.cdb, cmd->cdb, sizeof(hdr->req.cdb));
	hdr->req.tag = cmd->tag;
	hdr->resp.response = VSCSI_UNANSWERED;
}

static void take_answer(struct vscsi_cmd *cmd, const void *bounce)
{
	const struct vscsi_hdr *hdr = cmd->hdr;

	cmd->latency_ns = guest_now_ns() - cmd->sent_ns;
	cmd->response = hdr->resp.response;
	cmd->status = hdr->resp.status;
	cmd->resid = hdr->resp.resid;
	cmd->sense_len = hdr->resp.sense_len;
	memcpy(cmd->sense, hdr->resp.sense, sizeof(cmd->sense));
	if (cmd->in && cmd->len && !cmd->data_gpa)
		memcpy(cmd->in, bounce, cmd->len);
}

static int add_command(struct vscsi *dev, struct vscsi_queue *queue, struct vscsi_cmd *cmd,
			void *cookie)
{
	bool data_in = cmd->data_gpa ? cmd->data_in : !!cmd->in;
	struct gvq_sg data = { 0 }, sg[3];
	unsigned int out = 1, in = 1;
	struct vscsi_hdr *hdr;
	int ret;

	ret = prepare_data(dev, queue, cmd, &data);
	if (ret)
		return ret;
	/* The head that gvq_add() will take is the one whose header is free. */
	hdr = (struct vscsi_hdr *)queue->hdr + queue->vq->free_head;
	if (!queue->vq->num_free)
		return guest_fail(ENOSPC, "vq %u is full", queue->vq->index);
	fill_request(hdr, cmd);
	cmd->sent_ns = guest_now_ns();
	sg[0] = (struct gvq_sg){ gmem_gpa(dev->mem, &hdr->req), sizeof(hdr->req) };
	if (data.len && !data_in)
		sg[out++] = data;
	sg[out] = (struct gvq_sg){ gmem_gpa(dev->mem, &hdr->resp), sizeof(hdr->resp) };
	if (data.len && data_in)
		sg[out + in++] = data;
	ret = gvq_add(queue->vq, sg, out, in, cookie);
	if (ret < 0)
		return ret;
	cmd->hdr = hdr;
	return 0;
}

static int kick_queue(struct vscsi_queue *queue)
{
	int ret = gvq_kick(queue->vq);

	return ret < 0 ? ret : 0;
}

int vscsi_exec(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd)
{
	void *cookie = vscsi_next_cookie();
	struct vscsi_queue *queue;
	int err;

	if (q >= dev->queues)
		return guest_fail(EINVAL, "I/O queue %u of %u", q, dev->queues);
	queue = &dev->io[q];
	err = add_command(dev, queue, cmd, cookie);
	if (!err)
		err = kick_queue(queue);
	if (err)
		return err;
	err = vscsi_wait_for(queue->vq, cookie, cmd->timeout_ms ?: VSCSI_TIMEOUT_MS);
	if (err == -ETIMEDOUT)
		queue->bounce = NULL;	/* the device may still write it */
	if (err)
		return err;
	take_answer(cmd, queue->bounce);
	return 0;
}

int vscsi_add(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd)
{
	if (q >= dev->queues || (cmd->len && !cmd->data_gpa))
		return guest_fail(EINVAL, "command for I/O queue %u of %u", q, dev->queues);
	return add_command(dev, &dev->io[q], cmd, cmd);
}

int vscsi_kick(struct vscsi *dev, unsigned int q)
{
	if (q >= dev->queues)
		return guest_fail(EINVAL, "kick of I/O queue %u of %u", q, dev->queues);
	return kick_queue(&dev->io[q]);
}

int vscsi_send(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd)
{
	int err = vscsi_add(dev, q, cmd);

	return err ?: vscsi_kick(dev, q);
}

int vscsi_collect(struct vscsi *dev, unsigned int q, int timeout_ms, struct vscsi_cmd **cmd)
{
	struct gvq *vq = dev->io[q].vq;
	uint64_t start = guest_now_ns();
	void *got;
	int ret;

	for (;;) {
		ret = gvq_pop(vq, &got, NULL);
		if (ret >= 0 && !((uintptr_t)got & 1)) {
			*cmd = got;
			take_answer(*cmd, NULL);
			return 0;
		}
		if (ret >= 0)
			continue;
		if (ret != -EAGAIN || !timeout_ms)
			return ret;
		ret = gvq_wait(vq, guest_left_ms(start, timeout_ms));
		if (ret)
			return ret;
	}
}
