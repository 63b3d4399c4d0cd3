/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vscsi.h - a virtio-scsi guest on /dev/vhost-scsi: synchronous commands and the control queue
 *
 * Kernel vq numbers: 0 control, 1 event, 2.. I/O. Functions here that take an I/O queue count from
 * 0: I/O queue q of the guest is vq `first_vq + q` of the device.
 *
 * Synchronous calls sleep on the queue's call eventfd. One thread at a time per queue; different
 * queues (control included) may be used by different threads at once. A call that timed out leaves
 * its request in flight; its late answer is dropped by a later call on the queue.
 */
#ifndef GUEST_VSCSI_H
#define GUEST_VSCSI_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/virtio_scsi.h>
#include "vdev.h"

#define VSCSI_TIMEOUT_MS	guest_patience(10000)	/* used where the caller gives 0 */
#define VSCSI_SYNC_BYTES	(256 * 1024)	/* most data of one synchronous command */

struct vscsi_opts {
	const char *wwpn;	/* of the target; NULL = do not set the endpoint */
	unsigned int queues;	/* I/O queues; 0 = 1 */
	unsigned int first_vq;	/* vq of I/O queue 0; 0 = VDEV_SCSI_VQ_IO */
	unsigned int ring_size;	/* of each I/O queue; 0 = 128 (161 KB of kernel memory per entry) */
	bool indirect, event_idx;
	enum vdev_thread thread;
	size_t mem_size;	/* bytes of guest memory, 0 = 64 MiB */
	struct gmem *mem;	/* use this instead of making one (stays the caller's) */
	unsigned int target;	/* id that commands of a LUN go to; 0 = VSCSI_TARGET */
};

struct vscsi_queue {
	struct gvq *vq;
	void *hdr;		/* request and response of one command per head */
	void *bounce;		/* data of a synchronous call; NULL until used */
	void *load_buf;		/* buffers of load.h, kept from one load to the next */
	size_t load_bytes;
};

struct vscsi {
	int fd;			/* the vhost descriptor, -1 after vscsi_close_fd() */
	struct gmem *mem;
	bool own_mem;
	uint64_t features;	/* acknowledged */
	char wwpn[64];		/* "" = no endpoint was ever set */
	bool endpoint;		/* endpoint is set */
	struct vscsi_queue ctl, evt;
	unsigned int queues, first_vq, target;
	struct vscsi_queue *io;	/* `queues` of them */
};

/*
 * Open, SET_OWNER, features (VERSION_1 and those asked for), memory table, all rings, endpoint.
 * On failure nothing is left open.
 */
int vscsi_start(const struct vscsi_opts *opts, struct vscsi **dev);

/*
 * The same up to and including SET_OWNER and memory; rings and endpoint are then the test's:
 * vscsi_setup_queues() gives all rings to the device, vscsi_set_endpoint() starts it.
 */
int vscsi_open(const struct vscsi_opts *opts, struct vscsi **dev);
int vscsi_setup_queues(struct vscsi *dev);
/* I/O queue @q anew, before that: with a ring of another size or in another place. */
int vscsi_replace_ring(struct vscsi *dev, unsigned int q, const struct gvq_opts *opts);
int vscsi_set_endpoint(struct vscsi *dev, const char *wwpn);
int vscsi_clear_endpoint(struct vscsi *dev);

/*
 * Clear the endpoint, close, free. vscsi_close_fd() only closes the descriptor (as a crash would).
 */
void vscsi_stop(struct vscsi *dev);
void vscsi_close_fd(struct vscsi *dev);

/* vq number of I/O queue @q. */
static inline unsigned int vscsi_vq(const struct vscsi *dev, unsigned int q)
{
	return dev->first_vq + q;
}

/* Fill the 8-byte LUN field: first byte 1, @target (the tpgt, 1 for a target of lio.h), @lun. */
void vscsi_lun(uint8_t field[8], unsigned int target, unsigned int lun);

#define VSCSI_TARGET	1	/* target id of every target made by lio.h */

struct vscsi_cmd {
	/* asked */
	uint8_t lun[8];		/* vscsi_lun() */
	uint8_t cdb[VIRTIO_SCSI_CDB_SIZE];
	uint64_t tag;
	const void *out;	/* data to the device (from anywhere in our memory), or */
	void *in;		/* data from the device, or both NULL */
	uint32_t len;		/* bytes of either, <= VSCSI_SYNC_BYTES */
	uint64_t data_gpa;	/* not 0: use this guest memory as it is instead of copying */
	bool data_in;		/* direction of data_gpa: true = the device writes it */
	int timeout_ms;		/* 0 = VSCSI_TIMEOUT_MS */
	/* answered */
	uint8_t response;	/* VIRTIO_SCSI_S_* */
	uint8_t status;		/* SAM status: 0 good, 2 check condition, 0x28 task set full */
	uint32_t resid;		/* bytes not transferred */
	uint32_t sense_len;
	uint8_t sense[VIRTIO_SCSI_SENSE_SIZE];
	uint64_t latency_ns;
	uint64_t sent_ns;	/* private, as is the next */
	void *hdr;
};

/*
 * Send @cmd on I/O queue @q and wait. 0 when an answer came, whatever it says; -ETIMEDOUT;
 * -EBADMSG for a used id that was never sent; -ENOSPC when the ring is full.
 */
int vscsi_exec(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd);

/*
 * The same in two steps, for many commands at once. @cmd stays the library's until collected and
 * must have no data of its own (data_gpa or none). vscsi_collect() gives the next answered command
 * of the queue, -EAGAIN when there is none with @timeout_ms 0, -ETIMEDOUT.
 */
int vscsi_send(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd);

/* vscsi_send() in two steps, for many commands with one kick: the second is the device's due. */
int vscsi_add(struct vscsi *dev, unsigned int q, struct vscsi_cmd *cmd);
int vscsi_kick(struct vscsi *dev, unsigned int q);

int vscsi_collect(struct vscsi *dev, unsigned int q, int timeout_ms, struct vscsi_cmd **cmd);

/*
 * The command was not executed and a driver sends it again: UNIT ATTENTION, or BUSY. The second is
 * what LIO answers to a command that saw the attention but came too late to report it.
 */
bool vscsi_refused(uint8_t response, uint8_t status, const uint8_t *sense);

/*
 * Commands on LUN @lun of the device's target. 0 only for response OK and status GOOD; -EIO for any other
 * answer (guest_error() has the sense key and ASC), otherwise as vscsi_exec(). Like a driver they
 * try again after UNIT ATTENTION, which the first command after a reset gets.
 */
int vscsi_test_unit_ready(struct vscsi *dev, unsigned int q, unsigned int lun);
int vscsi_inquiry(struct vscsi *dev, unsigned int q, unsigned int lun, void *buf, uint32_t len);
int vscsi_read_capacity(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t *blocks,
			uint32_t *block_size);

/*
 * @blocks of 512 bytes; @buf is theirs. The CDB is READ(10)/WRITE(10), the 16s READ(16)/WRITE(16).
 */
int vscsi_read(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba, uint32_t blocks,
	       void *buf);
int vscsi_write(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba, uint32_t blocks,
		const void *buf);
int vscsi_read16(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba,
		 uint32_t blocks, void *buf);
int vscsi_write16(struct vscsi *dev, unsigned int q, unsigned int lun, uint64_t lba,
		  uint32_t blocks, const void *buf);

/* Build a READ/WRITE CDB of 10 or 16 bytes, SYNCHRONIZE CACHE of all. */
void vscsi_rw_cdb(uint8_t *cdb, bool write, unsigned int width, uint64_t lba, uint32_t blocks);
void vscsi_sync_cdb(uint8_t *cdb);

/*
 * Task management on the control queue: @subtype VIRTIO_SCSI_T_TMF_*, any value is sent as it is.
 * 0 when an answer came; @response then is VIRTIO_SCSI_S_*. @timeout_ms 0 = VSCSI_TIMEOUT_MS.
 */
int vscsi_tmf(struct vscsi *dev, uint32_t subtype, unsigned int target, unsigned int lun,
	      uint64_t tag, int timeout_ms, uint8_t *response);

/* Asynchronous notification: query (or subscribe to) @event on a LUN. */
int vscsi_an(struct vscsi *dev, bool subscribe, unsigned int target, unsigned int lun,
	     uint32_t event, int timeout_ms, uint32_t *actual, uint8_t *response);

/*
 * Any control request: @req_len bytes out, @resp_len bytes in (either may be 0, at most 4096 each).
 * The answer buffer is filled with 0xa5 before, so that a test sees what was written.
 */
int vscsi_ctl_raw(struct vscsi *dev, const void *req, uint32_t req_len, void *resp,
		  uint32_t resp_len, int timeout_ms);

/* Event queue: post @count empty buffers (and kick); wait for one event. */
int vscsi_evt_post(struct vscsi *dev, unsigned int count);
int vscsi_evt_wait(struct vscsi *dev, int timeout_ms, struct virtio_scsi_event *event);

#endif /* GUEST_VSCSI_H */
