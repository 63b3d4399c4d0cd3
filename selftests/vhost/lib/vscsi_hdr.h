/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vscsi_hdr.h - private to the library: request and response of one command, waiting for answers
 */
#ifndef GUEST_VSCSI_HDR_H
#define GUEST_VSCSI_HDR_H

#include "vscsi.h"

#define VSCSI_UNANSWERED	0xee	/* response byte before the device has written it */

struct vscsi_hdr {
	struct virtio_scsi_cmd_req req;
	struct virtio_scsi_cmd_resp resp __attribute__((aligned(8)));
} __attribute__((aligned(64)));

int vscsi_wait_for(struct gvq *vq, void *cookie, int timeout_ms);
void *vscsi_next_cookie(void);

#endif /* GUEST_VSCSI_HDR_H */
