// SPDX-License-Identifier: GPL-2.0
/*
 * vsock.c - vhost-vsock has one worker, and stands packets that come before there is any
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/virtio_vsock.h>
#include <linux/vm_sockets.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define CID		42
#define PORT		1234
#define ANSWER_MS	guest_patience(5000)
#define STORM_MS	6000
#define BUF_BYTES	4096
#define RING		16
#define CREDIT		65536

FIXTURE(vsock) {
	struct gmem *mem;
	struct gvq *rx, *tx;
	int fd, sock;
	int threads;
};

FIXTURE_THREADS(vsock);

FIXTURE_SETUP(vsock)
{
	struct gvq_opts opts = { .num = RING };

	SKIP_WITHOUT(variant->thread);
	self->threads = storm_count_threads();
	self->sock = -1;
	ASSERT_OK(gmem_create(1 << 20, &self->mem));
	ASSERT_OK(gvq_create(self->mem, VDEV_VSOCK_VQ_RX, &opts, &self->rx));
	ASSERT_OK(gvq_create(self->mem, VDEV_VSOCK_VQ_TX, &opts, &self->tx));
	self->fd = vdev_open_thread(VDEV_VSOCK, variant->thread);
	ASSERT_VALID(self->fd);
}

FIXTURE_TEARDOWN(vsock)
{
	close(self->fd);
	if (self->sock >= 0)
		close(self->sock);
	gvq_destroy(self->rx);
	gvq_destroy(self->tx);
	gmem_destroy(self->mem);
	EXPECT_OK(storm_wait_threads(self->threads, ANSWER_MS));
}

/* Begin to connect to the guest, without waiting. */
static int connect_to(unsigned int cid)
{
	struct sockaddr_vm addr = { .svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = PORT };
	int sock = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (sock < 0)
		return guest_fail(errno, "vsock socket");
	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) && errno != EINPROGRESS) {
		int err = guest_fail(errno, "connect to CID %u", cid);

		close(sock);
		return err;
	}
	return sock;
}

/* Owner, memory, rings, buffers; then the device runs. */
static int start(int fd, struct gmem *mem, struct gvq *rx, struct gvq *tx)
{
	uint64_t acked;
	unsigned int i;
	int err = vdev_set_owner(fd);

	if (!err)
		err = vdev_ack_features(fd, VDEV_F_VERSION_1, &acked);
	if (!err)
		err = vdev_set_mem(fd, mem);
	if (!err)
		err = gvq_setup(rx, fd);
	if (!err)
		err = gvq_setup(tx, fd);
	for (i = 0; i < RING && !err; i++) {
		void *buf = gmem_alloc(mem, BUF_BYTES, 64);
		struct gvq_sg sg = { buf ? gmem_gpa(mem, buf) : 0, BUF_BYTES };
		int ret = buf ? gvq_add(rx, &sg, 0, 1, buf) : -ENOMEM;

		err = ret < 0 ? ret : 0;
	}
	return err ?: vdev_vsock_set_running(fd, 1);
}

/* The next packet of operation @op; others are passed over. */
static int await_packet(struct gvq *rx, uint16_t op, struct virtio_vsock_hdr **hdr)
{
	int ret;

	do {
		ret = gvq_wait(rx, ANSWER_MS);
		if (!ret)
			ret = gvq_pop(rx, (void **)hdr, NULL);
	} while (ret >= 0 && (*hdr)->op != op);
	return ret < 0 ? ret : 0;
}

/* Answer a packet: addresses swapped. */
static int reply(struct gvq *tx, const struct virtio_vsock_hdr *to, uint16_t op)
{
	struct virtio_vsock_hdr *hdr = gmem_alloc(tx->mem, sizeof(*hdr), 64);
	struct gvq_sg sg = { hdr ? gmem_gpa(tx->mem, hdr) : 0, sizeof(*hdr) };
	int ret;

	if (!hdr)
		return -ENOMEM;
	*hdr = (struct virtio_vsock_hdr){
		.src_cid = to->dst_cid, .dst_cid = to->src_cid,
		.src_port = to->dst_port, .dst_port = to->src_port,
		.type = to->type, .op = op, .buf_alloc = CREDIT,
	};
	ret = gvq_add(tx, &sg, 1, 0, hdr);
	if (ret >= 0)
		ret = gvq_kick(tx);
	return ret < 0 ? ret : 0;
}

/* covers: W2 */
TEST_F(vsock, packet_queued_before_there_is_an_owner_is_delivered_after_start)
{
	static const char text[] = "early bird";
	struct virtio_vsock_hdr *hdr;
	struct pollfd pfd;

	ASSERT_OK(vdev_vsock_set_cid(self->fd, CID));
	self->sock = connect_to(CID);
	ASSERT_VALID(self->sock);
	guest_sleep_ms(50);
	ASSERT_OK(start(self->fd, self->mem, self->rx, self->tx));
	ASSERT_OK(await_packet(self->rx, VIRTIO_VSOCK_OP_REQUEST, &hdr));
	EXPECT_EQ(CID, hdr->dst_cid);
	EXPECT_EQ(PORT, hdr->dst_port);

	/* And the connection works. */
	ASSERT_OK(reply(self->tx, hdr, VIRTIO_VSOCK_OP_RESPONSE));
	pfd = (struct pollfd){ self->sock, POLLOUT, 0 };
	ASSERT_EQ(1, poll(&pfd, 1, ANSWER_MS));
	ASSERT_EQ(sizeof(text), send(self->sock, text, sizeof(text), MSG_NOSIGNAL));
	ASSERT_OK(await_packet(self->rx, VIRTIO_VSOCK_OP_RW, &hdr));
	EXPECT_EQ(sizeof(text), hdr->len);
	EXPECT_EQ(0, memcmp(hdr + 1, text, sizeof(text)));
}

/* covers: W2 */
TEST_F(vsock, packet_queued_before_the_device_runs_is_delivered_after_start)
{
	struct virtio_vsock_hdr *hdr;

	ASSERT_OK(vdev_vsock_set_cid(self->fd, CID));
	ASSERT_OK(start(self->fd, self->mem, self->rx, self->tx));
	ASSERT_OK(vdev_vsock_set_running(self->fd, 0));
	self->sock = connect_to(CID);
	ASSERT_VALID(self->sock);
	guest_sleep_ms(100);
	EXPECT_FALSE(gvq_has_used(self->rx));
	ASSERT_OK(vdev_vsock_set_running(self->fd, 1));
	ASSERT_OK(await_packet(self->rx, VIRTIO_VSOCK_OP_REQUEST, &hdr));
	EXPECT_EQ(CID, hdr->dst_cid);
}

/* covers: W11 */
TEST_F(vsock, device_has_one_worker_and_says_so)
{
	uint32_t id;

	EXPECT_EQ(0, vdev_has_workers(self->fd));
	ASSERT_OK(vdev_set_owner(self->fd));
	EXPECT_OK(storm_wait_threads(self->threads + 1, 0));
	EXPECT_EQ(-ENOTTY, vdev_new_worker(self->fd, &id));
	EXPECT_EQ(-ENOTTY, vdev_attach_worker(self->fd, 0, 0));
	EXPECT_EQ(-ENOTTY, vdev_get_worker(self->fd, 0, &id));
	EXPECT_EQ(-ENOTTY, vdev_free_worker(self->fd, 0));
	EXPECT_OK(storm_wait_threads(self->threads + 1, 0));
}

static int connect_round(struct storm *s)
{
	int sock = connect_to(CID + storm_random(s, 2));

	/* Between close() and open() nobody has the CID. */
	if (sock >= 0)
		close(sock);
	else if (sock != -ENODEV && sock != -ECONNRESET && sock != -ETIMEDOUT)
		return sock;
	return 0;
}

struct life {
	enum vdev_thread thread;
	struct gmem *mem;
	struct gvq *rx, *tx;
};

/* A device that comes to life and goes, at any stage. */
static int life_round(struct storm *s)
{
	struct life *life = s->arg;
	unsigned int stage = storm_random(s, 4);
	int fd = vdev_open_thread(VDEV_VSOCK, life->thread), err;

	if (fd < 0)
		return fd;
	err = vdev_vsock_set_cid(fd, CID);
	if (!err && stage == 1) {
		err = vdev_set_owner(fd);
	} else if (!err && stage > 1) {
		gvq_reset(life->rx);
		gvq_reset(life->tx);
		life->mem->used = 64 << 10;	/* the buffers of the round before */
		err = start(fd, life->mem, life->rx, life->tx);
	}
	if (!err && stage > 2)
		err = vdev_vsock_set_running(fd, 0);
	if (!err)
		usleep(storm_random(s, 2000));
	close(fd);
	return err;
}

/* covers: W2 */
TEST_F_TIMEOUT(vsock, packets_at_any_stage_of_life_do_no_harm, 60)
{
	struct life life = { variant->thread, self->mem, self->rx, self->tx };
	struct storm storms[] = {
		{ .name = "life", .round = life_round, .arg = &life, .least = 10 },
		{ .name = "connect", .round = connect_round, .least = 100 },
		{ .name = "connect 2", .round = connect_round, .seed = 77 },
	};

	ASSERT_GT(64 << 10, self->mem->used);
	ASSERT_OK(storm_expedite(true));
	EXPECT_OK(storm_run(storms, 3, STORM_MS, ANSWER_MS, NULL));
	TH_LOG("%llu lives, %llu connects", (unsigned long long)storm_rounds(&storms[0]),
	       (unsigned long long)storm_rounds(&storms[1]));
	storm_expedite(false);
}

TEST_HARNESS_MAIN
