/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vnet.h - vhost-net with a tap as its backend: frames out, frames in
 *
 * The tap has the 12-byte virtio-net header. A frame that the guest sends can be read from the
 * tap's network side through a packet socket, and a frame sent there arrives in the guest's RX
 * ring.
 */
#ifndef GUEST_VNET_H
#define GUEST_VNET_H

#include <stdbool.h>
#include <stdint.h>
#include "vdev.h"

#define VNET_HDR_BYTES	12	/* virtio_net_hdr_v1 */
#define VNET_FRAME_MAX	1514

struct vnet_opts {
	unsigned int ring_size;	/* 0 = 128 */
	bool event_idx;
	enum vdev_thread thread;
};

struct vnet {
	int fd;			/* /dev/vhost-net */
	int tap_fd;
	int sock_fd;		/* packet socket on the tap's network side */
	char ifname[16];
	struct gmem *mem;
	struct gvq *rx, *tx;
	char *rx_bufs, *tx_bufs;	/* a frame buffer of 2 KiB per ring entry */
	struct vnet_opts opts;
};

/*
 * Tap (up), packet socket, device with owner, features and memory; then vnet_start(): rings, RX
 * buffers, backend of both queues. -ENODEV without the tun module.
 */
int vnet_open(const struct vnet_opts *opts, struct vnet **net);
int vnet_start(struct vnet *net);

/*
 * Backends away; vnet_reset() also VHOST_RESET_OWNER and SET_OWNER + set-up again (not
 * vnet_start()).
 */
int vnet_unset(struct vnet *net);
int vnet_reset(struct vnet *net);
void vnet_close(struct vnet *net);

/* Guest sends a frame of @len bytes (Ethernet header included) and waits for its used entry. */
int vnet_send(struct vnet *net, const void *frame, uint32_t len, int timeout_ms);
/* Guest takes a received frame of the library's type, others are dropped: its length or -errno. */
int vnet_recv(struct vnet *net, void *frame, uint32_t max, int timeout_ms);
/* The network side. */
int vnet_host_send(struct vnet *net, const void *frame, uint32_t len);
int vnet_host_recv(struct vnet *net, void *frame, uint32_t max, int timeout_ms);

/* A frame of the library's own Ethernet type with a number and a pattern; check = 0 or -EILSEQ. */
uint32_t vnet_frame(void *frame, uint32_t number);
int vnet_frame_check(const void *frame, uint32_t len, uint32_t number);

#endif /* GUEST_VNET_H */
