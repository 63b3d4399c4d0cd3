// SPDX-License-Identifier: GPL-2.0
/*
 * vscsi_cmd.c - SCSI commands, task management, notification and events on top of vscsi.c
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "vscsi.h"
#include "vscsi_hdr.h"

#define OP_TEST_UNIT_READY	0x00
#define OP_INQUIRY		0x12
#define OP_READ_CAPACITY_10	0x25
#define OP_READ_10		0x28
#define OP_WRITE_10		0x2a
#define OP_SYNCHRONIZE_CACHE_10	0x35
#define OP_READ_16		0x88
#define OP_WRITE_16		0x8a
#define OP_SERVICE_ACTION_IN_16	0x9e
#define SAI_READ_CAPACITY_16	0x10

#define SAM_CHECK_CONDITION	2
#define SAM_BUSY		8
#define SENSE_UNIT_ATTENTION	6
#define REFUSED_TRIES		8

#define BLOCK_BYTES		512
#define CTL_BYTES_MAX		4096
#define CTL_FILL		0xa5

static void put_be(uint8_t *to, unsigned int bytes, uint64_t value)
{
	while (bytes--) {
		to[bytes] = value;
		value >>= 8;
	}
}

static uint64_t get_be(const uint8_t *from, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

bool vscsi_refused(uint8_t response, uint8_t status, const uint8_t *sense)
{
	if (response != VIRTIO_SCSI_S_OK)
		return false;
	return status == SAM_BUSY ||
	       (status == SAM_CHECK_CONDITION && (sense[2] & 15) == SENSE_UNIT_ATTENTION);
}

/* Run @cmd and accept only OK and GOOD. */
static int exec_good(struct vscsi *dev, unsigned int q, unsigned int lun, struct vscsi_cmd *cmd,
		     const char *name)
{
	unsigned int tries = REFUSED_TRIES;
	int err;

	vscsi_lun(cmd->lun, dev->target, lun);
	do {
		err = vscsi_exec(dev, q, cmd);
	} while (!err && vscsi_refused(cmd->response, cmd->status, cmd->sense) && --tries);
	if (err)
		return err;
	if (cmd->response == VIRTIO_SCSI_S_OK && !cmd->status)
		return 0;
	return guest_fail(EIO, "%s on vq %u: response %u status 0x%02x sense %x/%02x/%02x", name,
			  vscsi_vq(dev, q), cmd->response, cmd->status, cmd->sense[2] & 15,
			  cmd->sense[12], cmd->sense[13]);
}

int vscsi_test_unit_ready(struct vscsi *dev, unsigned int q, unsigned int lun)
{
	struct vscsi_cmd cmd = { .cdb = { OP_TEST_UNIT_READY } };

	return exec_good(dev, q, lun, &cmd, "TEST UNIT READY");
}

int vscsi_inquiry(struct vscsi *dev, unsigned int q, unsigned int lun, void *buf, uint32_t len)
{
	struct vscsi_cmd cmd = { .cdb = { OP_INQUIRY }, .in = buf, .len = len };

	put_be(cmd.cdb + 3, 2, len);
	return exec_good(dev, q, lun, &cmd, "INQUIRY");
}

static int read_capacity_16(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t *blocks,
			    uint32_t *block_size)
{
	struct vscsi_cmd cmd = { .cdb = { OP_SERVICE_ACTION_IN_16, SAI_READ_CAPACITY_16 } };
	uint8_t buf[32];
	int err;

	cmd.in = buf;
	cmd.len = sizeof(buf);
	put_be(cmd.cdb + 10, 4, sizeof(buf));
	err = exec_good(dev, q, lun, &cmd, "READ CAPACITY(16)");
	if (err)
		return err;
	*blocks = get_be(buf, 8) + 1;
	*block_size = get_be(buf + 8, 4);
	return 0;
}

int vscsi_read_capacity(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t *blocks,
			uint32_t *block_size)
{
	struct vscsi_cmd cmd = { .cdb = { OP_READ_CAPACITY_10 } };
	uint8_t buf[8];
	int err;

	cmd.in = buf;
	cmd.len = sizeof(buf);
	err = exec_good(dev, q, lun, &cmd, "READ CAPACITY(10)");
	if (err)
		return err;
	if (get_be(buf, 4) == 0xffffffff)
		return read_capacity_16(dev, q, lun, blocks, block_size);
	*blocks = get_be(buf, 4) + 1;
	*block_size = get_be(buf + 4, 4);
	return 0;
}

void vscsi_rw_cdb(uint8_t *cdb, bool write, unsigned int width, uint64_t lba, uint32_t blocks)
{
	memset(cdb, 0, 16);
	if (width == 16) {
		cdb[0] = write ? OP_WRITE_16 : OP_READ_16;
		put_be(cdb + 2, 8, lba);
		put_be(cdb + 10, 4, blocks);
	} else {
		cdb[0] = write ? OP_WRITE_10 : OP_READ_10;
		put_be(cdb + 2, 4, lba);
		put_be(cdb + 7, 2, blocks);
	}
}

void vscsi_sync_cdb(uint8_t *cdb)
{
	memset(cdb, 0, VIRTIO_SCSI_CDB_SIZE);
	cdb[0] = OP_SYNCHRONIZE_CACHE_10;
}

int vscsi_read(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba, uint32_t blocks,
	       void *buf)
{
	struct vscsi_cmd cmd = { .in = buf, .len = blocks * BLOCK_BYTES };

	vscsi_rw_cdb(cmd.cdb, false, 10, lba, blocks);
	return exec_good(dev, q, lun, &cmd, "READ(10)");
}

int vscsi_write(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba, uint32_t blocks,
		const void *buf)
{
	struct vscsi_cmd cmd = { .out = buf, .len = blocks * BLOCK_BYTES };

	vscsi_rw_cdb(cmd.cdb, true, 10, lba, blocks);
	return exec_good(dev, q, lun, &cmd, "WRITE(10)");
}

int vscsi_read16(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba,
		 uint32_t blocks, void *buf)
{
	struct vscsi_cmd cmd = { .in = buf, .len = blocks * BLOCK_BYTES };

	vscsi_rw_cdb(cmd.cdb, false, 16, lba, blocks);
	return exec_good(dev, q, lun, &cmd, "READ(16)");
}

int vscsi_write16(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba,
		  uint32_t blocks, const void *buf)
{
	struct vscsi_cmd cmd = { .out = buf, .len = blocks * BLOCK_BYTES };

	vscsi_rw_cdb(cmd.cdb, true, 16, lba, blocks);
	return exec_good(dev, q, lun, &cmd, "WRITE(16)");
}

/*
 * The control queue's buffers: one page out, one page in, made anew after a call that gave up,
 * since the device may still write the old ones.
 */
static int ctl_buffers(struct vscsi *dev)
{
	if (!dev->ctl.bounce)
		dev->ctl.bounce = gmem_alloc(dev->mem, 2 * CTL_BYTES_MAX, CTL_BYTES_MAX);
	return dev->ctl.bounce ? 0 : -ENOMEM;
}

static int ctl_send(struct vscsi *dev, const void *req, uint32_t req_len, uint32_t resp_len,
		    void *cookie)
{
	char *out = dev->ctl.bounce, *in = out + CTL_BYTES_MAX;
	struct gvq_sg sg[2];
	unsigned int n = 0;
	int ret;

	memcpy(out, req, req_len);
	memset(in, CTL_FILL, CTL_BYTES_MAX);
	if (req_len)
		sg[n++] = (struct gvq_sg){ gmem_gpa(dev->mem, out), req_len };
	if (resp_len)
		sg[n++] = (struct gvq_sg){ gmem_gpa(dev->mem, in), resp_len };
	ret = gvq_add(dev->ctl.vq, sg, req_len != 0, resp_len != 0, cookie);
	if (ret < 0)
		return ret;
	ret = gvq_kick(dev->ctl.vq);
	return ret < 0 ? ret : 0;
}

int vscsi_ctl_raw(struct vscsi *dev, const void *req, uint32_t req_len, void *resp,
		  uint32_t resp_len, int timeout_ms)
{
	void *cookie = vscsi_next_cookie();
	int err;

	if (req_len > CTL_BYTES_MAX || resp_len > CTL_BYTES_MAX)
		return guest_fail(EINVAL, "control request of %u + %u bytes", req_len, resp_len);
	err = ctl_buffers(dev);
	if (!err)
		err = ctl_send(dev, req, req_len, resp_len, cookie);
	if (err)
		return err;
	err = vscsi_wait_for(dev->ctl.vq, cookie, timeout_ms ?: VSCSI_TIMEOUT_MS);
	if (!err && resp_len)
		memcpy(resp, (char *)dev->ctl.bounce + CTL_BYTES_MAX, resp_len);
	if (err)
		dev->ctl.bounce = NULL;
	return err;
}

int vscsi_tmf(struct vscsi *dev, uint32_t subtype, unsigned int target, unsigned int lun,
	      uint64_t tag, int timeout_ms, uint8_t *response)
{
	struct virtio_scsi_ctrl_tmf_req req = {
		.type = VIRTIO_SCSI_T_TMF,
		.subtype = subtype,
		.tag = tag,
	};
	struct virtio_scsi_ctrl_tmf_resp resp;
	int err;

	vscsi_lun(req.lun, target, lun);
	err = vscsi_ctl_raw(dev, &req, sizeof(req), &resp, sizeof(resp), timeout_ms);
	if (!err)
		*response = resp.response;
	return err;
}

int vscsi_an(struct vscsi *dev, bool subscribe, unsigned int target, unsigned int lun,
	     uint32_t event, int timeout_ms, uint32_t *actual, uint8_t *response)
{
	struct virtio_scsi_ctrl_an_req req = {
		.type = subscribe ? VIRTIO_SCSI_T_AN_SUBSCRIBE : VIRTIO_SCSI_T_AN_QUERY,
		.event_requested = event,
	};
	struct virtio_scsi_ctrl_an_resp resp;
	int err;

	vscsi_lun(req.lun, target, lun);
	err = vscsi_ctl_raw(dev, &req, sizeof(req), &resp, sizeof(resp), timeout_ms);
	if (err)
		return err;
	*actual = resp.event_actual;
	*response = resp.response;
	return 0;
}

int vscsi_evt_post(struct vscsi *dev, unsigned int count)
{
	struct virtio_scsi_event *event;
	struct gvq_sg sg;
	int ret;

	while (count--) {
		event = gmem_alloc(dev->mem, sizeof(*event), 64);
		if (!event)
			return -ENOMEM;
		sg = (struct gvq_sg){ gmem_gpa(dev->mem, event), sizeof(*event) };
		ret = gvq_add(dev->evt.vq, &sg, 0, 1, event);
		if (ret < 0)
			return ret;
	}
	ret = gvq_kick(dev->evt.vq);
	return ret < 0 ? ret : 0;
}

int vscsi_evt_wait(struct vscsi *dev, int timeout_ms, struct virtio_scsi_event *event)
{
	void *got;
	int ret;

	ret = gvq_wait(dev->evt.vq, timeout_ms);
	if (ret)
		return ret;
	ret = gvq_pop(dev->evt.vq, &got, NULL);
	if (ret < 0)
		return ret;
	memcpy(event, got, sizeof(*event));
	return 0;
}
