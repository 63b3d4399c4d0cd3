// SPDX-License-Identifier: GPL-2.0
/*
 * vnet.c - vhost-net on a tap
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "error.h"
#include "vnet.h"

#define BUF_BYTES	2048
#define ETHERTYPE	0x88b5	/* IEEE: for local experiments */
#define FRAME_BYTES	256
#define TAP_FEATURES	(VDEV_F_VERSION_1 | VDEV_F_INDIRECT)

static int set_up(const char *ifname)
{
	struct ifreq ifr = { 0 };
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (sock < 0)
		return guest_fail(errno, "socket");
	memcpy(ifr.ifr_name, ifname, IFNAMSIZ);
	if (!ioctl(sock, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP | IFF_NOARP;
		if (ioctl(sock, SIOCSIFFLAGS, &ifr))
			err = guest_fail(errno, "set %s up", ifname);
	} else {
		err = guest_fail(errno, "flags of %s", ifname);
	}
	close(sock);
	return err;
}

static int open_tap(struct vnet *net)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int hdr = VNET_HDR_BYTES;

	net->tap_fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (net->tap_fd < 0)
		return guest_fail(errno == ENOENT ? ENODEV : errno,
				  "open /dev/net/tun (module tun not loaded?)");
	if (ioctl(net->tap_fd, TUNSETIFF, &ifr))
		return guest_fail(errno, "TUNSETIFF");
	if (ioctl(net->tap_fd, TUNSETVNETHDRSZ, &hdr))
		return guest_fail(errno, "TUNSETVNETHDRSZ");
	memcpy(net->ifname, ifr.ifr_name, sizeof(net->ifname));
	return set_up(net->ifname);
}

static int open_packet_socket(struct vnet *net)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE),
		.sll_ifindex = if_nametoindex(net->ifname),
	};

	net->sock_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETHERTYPE));
	if (net->sock_fd < 0)
		return guest_fail(errno, "packet socket (CONFIG_PACKET?)");
	if (bind(net->sock_fd, (struct sockaddr *)&addr, sizeof(addr)))
		return guest_fail(errno, "bind packet socket to %s", net->ifname);
	return 0;
}

static int make_ring(struct vnet *net, unsigned int index, struct gvq **vq, char **bufs)
{
	struct gvq_opts opts = {
		.num = net->opts.ring_size,
		.event_idx = net->opts.event_idx,
	};
	int err = gvq_create(net->mem, index, &opts, vq);

	if (err)
		return err;
	*bufs = gmem_alloc(net->mem, (size_t)(*vq)->num * BUF_BYTES, 4096);
	return *bufs ? 0 : -ENOMEM;
}

static int own(struct vnet *net)
{
	uint64_t features = TAP_FEATURES, acked;
	int err = vdev_set_owner(net->fd);

	if (net->opts.event_idx)
		features |= VDEV_F_EVENT_IDX;
	if (!err)
		err = vdev_ack_features(net->fd, features, &acked);
	return err ?: vdev_set_mem(net->fd, net->mem);
}

int vnet_open(const struct vnet_opts *opts, struct vnet **netp)
{
	struct vnet *net = calloc(1, sizeof(*net));
	int err;

	if (!net)
		return guest_fail(ENOMEM, "vhost-net device");
	if (opts)
		net->opts = *opts;
	net->tap_fd = -1;
	net->sock_fd = -1;
	net->fd = vdev_open_thread(VDEV_NET, net->opts.thread);
	err = net->fd < 0 ? net->fd : open_tap(net);
	if (!err)
		err = open_packet_socket(net);
	if (!err)
		err = gmem_create(4 << 20, &net->mem);
	if (!err)
		err = make_ring(net, VDEV_NET_VQ_RX, &net->rx, &net->rx_bufs);
	if (!err)
		err = make_ring(net, VDEV_NET_VQ_TX, &net->tx, &net->tx_bufs);
	if (!err)
		err = own(net);
	if (err)
		vnet_close(net);
	else
		*netp = net;
	return err;
}

static int post_rx(struct vnet *net, char *buf)
{
	struct gvq_sg sg = { gmem_gpa(net->mem, buf), BUF_BYTES };
	int ret = gvq_add(net->rx, &sg, 0, 1, buf);

	return ret < 0 ? ret : 0;
}

int vnet_start(struct vnet *net)
{
	unsigned int i;
	int err = gvq_setup(net->rx, net->fd);

	if (!err)
		err = gvq_setup(net->tx, net->fd);
	for (i = 0; !err && i < net->rx->num && net->rx->num_free; i++)
		err = post_rx(net, net->rx_bufs + (size_t)i * BUF_BYTES);
	if (!err)
		err = vdev_net_set_backend(net->fd, VDEV_NET_VQ_RX, net->tap_fd);
	if (!err)
		err = vdev_net_set_backend(net->fd, VDEV_NET_VQ_TX, net->tap_fd);
	if (!err)
		err = gvq_kick_force(net->rx);
	return err;
}

int vnet_unset(struct vnet *net)
{
	int err = vdev_net_set_backend(net->fd, VDEV_NET_VQ_RX, -1);

	return err ?: vdev_net_set_backend(net->fd, VDEV_NET_VQ_TX, -1);
}

int vnet_reset(struct vnet *net)
{
	int err = vnet_unset(net);

	if (!err)
		err = vdev_reset_owner(net->fd);
	if (err)
		return err;
	gvq_reset(net->rx);
	gvq_reset(net->tx);
	return own(net);
}

void vnet_close(struct vnet *net)
{
	if (!net)
		return;
	if (net->fd >= 0)
		close(net->fd);
	if (net->tap_fd >= 0)
		close(net->tap_fd);
	if (net->sock_fd >= 0)
		close(net->sock_fd);
	gvq_destroy(net->rx);
	gvq_destroy(net->tx);
	gmem_destroy(net->mem);
	free(net);
}

int vnet_send(struct vnet *net, const void *frame, uint32_t len, int timeout_ms)
{
	char *buf = net->tx_bufs + (size_t)(net->tx->avail_idx % net->tx->num) * BUF_BYTES;
	struct gvq_sg sg = { gmem_gpa(net->mem, buf), VNET_HDR_BYTES + len };
	int ret;

	if (len > VNET_FRAME_MAX)
		return guest_fail(EINVAL, "frame of %u bytes", len);
	memset(buf, 0, VNET_HDR_BYTES);
	memcpy(buf + VNET_HDR_BYTES, frame, len);
	ret = gvq_add(net->tx, &sg, 1, 0, buf);
	if (ret >= 0)
		ret = gvq_kick(net->tx);
	if (ret >= 0)
		ret = gvq_wait(net->tx, timeout_ms);
	while (ret >= 0 && ret != -EAGAIN)
		ret = gvq_pop(net->tx, NULL, NULL);
	return ret == -EAGAIN ? 0 : ret;
}

/* The host's own traffic (it looks for IPv6 routers on every interface) is not for the test. */
static bool is_ours(const void *frame, uint32_t len)
{
	const struct ethhdr *eth = frame;

	return len >= sizeof(*eth) && eth->h_proto == htons(ETHERTYPE);
}

/* Take one frame of any kind and post its buffer again. */
static int recv_any(struct vnet *net, void *frame, uint32_t max, int timeout_ms)
{
	uint32_t len;
	void *buf;
	int ret;

	ret = gvq_wait(net->rx, timeout_ms);
	if (!ret)
		ret = gvq_pop(net->rx, &buf, &len);
	if (ret < 0)
		return ret;
	if (len < VNET_HDR_BYTES || len - VNET_HDR_BYTES > max)
		return guest_fail(EMSGSIZE, "frame of %u bytes received", len);
	len -= VNET_HDR_BYTES;
	memcpy(frame, (char *)buf + VNET_HDR_BYTES, len);
	ret = post_rx(net, buf);
	if (!ret)
		ret = gvq_kick(net->rx);
	return ret < 0 ? ret : (int)len;
}

int vnet_recv(struct vnet *net, void *frame, uint32_t max, int timeout_ms)
{
	uint64_t start = guest_now_ns();
	int len;

	do {
		len = recv_any(net, frame, max, guest_left_ms(start, timeout_ms));
	} while (len >= 0 && !is_ours(frame, len));
	return len;
}

int vnet_host_send(struct vnet *net, const void *frame, uint32_t len)
{
	if (send(net->sock_fd, frame, len, 0) != (ssize_t)len)
		return guest_fail(errno, "send of %u bytes on %s", len, net->ifname);
	return 0;
}

/* The socket sees our own frames too (PACKET_OUTGOING): passed over. */
int vnet_host_recv(struct vnet *net, void *frame, uint32_t max, int timeout_ms)
{
	struct pollfd pfd = { .fd = net->sock_fd, .events = POLLIN };
	uint64_t start = guest_now_ns();
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t len;

	do {
		if (poll(&pfd, 1, guest_left_ms(start, timeout_ms)) <= 0)
			continue;
		size = sizeof(from);
		len = recvfrom(net->sock_fd, frame, max, 0, (struct sockaddr *)&from, &size);
		if (len < 0)
			return guest_fail(errno, "receive on %s", net->ifname);
		if (from.sll_pkttype != PACKET_OUTGOING)
			return len;
	} while (guest_left_ms(start, timeout_ms));
	return guest_fail(ETIMEDOUT, "no frame on %s within %d ms", net->ifname, timeout_ms);
}

uint32_t vnet_frame(void *frame, uint32_t number)
{
	struct ethhdr *eth = frame;
	unsigned char *body = (unsigned char *)frame + sizeof(*eth);
	unsigned int i;

	memset(eth->h_dest, 0xff, sizeof(eth->h_dest));
	memcpy(eth->h_source, "\x02\x00\x00\x00\x00\x01", sizeof(eth->h_source));
	eth->h_proto = htons(ETHERTYPE);
	memcpy(body, &number, sizeof(number));
	for (i = sizeof(number); i < FRAME_BYTES - sizeof(*eth); i++)
		body[i] = number * 31 + i;
	return FRAME_BYTES;
}

int vnet_frame_check(const void *frame, uint32_t len, uint32_t number)
{
	unsigned char want[FRAME_BYTES];

	if (len != vnet_frame(want, number) || memcmp(want, frame, len))
		return guest_fail(EILSEQ, "frame of %u bytes is not number %u", len, number);
	return 0;
}
