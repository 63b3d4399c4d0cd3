// SPDX-License-Identifier: GPL-2.0
/*
 * net.c - vhost-net: receive and transmit on different workers, moved under traffic, owner reset
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_ether.h>

#include "kselftest_harness.h"
#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/storm.h"

#define ANSWER_MS	guest_patience(5000)
#define TRAFFIC_MS	5000

FIXTURE(net) {
	struct vnet *net;
	int threads;		/* worker threads before the device was opened */
};

FIXTURE_VARIANT(net) {
	enum vdev_thread thread;
	bool event_idx;
};

FIXTURE_VARIANT_ADD(net, kthread) { VDEV_THREAD_KTHREAD, false };
FIXTURE_VARIANT_ADD(net, task) { VDEV_THREAD_TASK, false };
FIXTURE_VARIANT_ADD(net, task_event_index) { VDEV_THREAD_TASK, true };

FIXTURE_SETUP(net)
{
	struct vnet_opts opts = { .thread = variant->thread, .event_idx = variant->event_idx };

	SKIP_WITHOUT(variant->thread);
	self->threads = storm_count_threads();
	ASSERT_OK(vnet_open(&opts, &self->net));
	ASSERT_OK(vnet_start(self->net));
}

FIXTURE_TEARDOWN(net)
{
	storm_expedite(false);
	vnet_close(self->net);
	EXPECT_OK(storm_wait_threads(self->threads, ANSWER_MS));
}

struct flow {
	struct vnet *net;
	uint32_t number;
};

static int transmit_round(struct storm *s)
{
	struct flow *flow = s->arg;
	char frame[VNET_FRAME_MAX];
	int ret;

	ret = vnet_send(flow->net, frame, vnet_frame(frame, flow->number), ANSWER_MS);
	if (!ret)
		ret = vnet_host_recv(flow->net, frame, sizeof(frame), ANSWER_MS);
	return ret < 0 ? ret : vnet_frame_check(frame, ret, flow->number++);
}

/* The host's own protocols send frames, too: those are passed over. */
static int receive_round(struct storm *s)
{
	struct flow *flow = s->arg;
	char frame[VNET_FRAME_MAX], sent[VNET_FRAME_MAX];
	const struct ethhdr *got = (const void *)frame, *ours = (const void *)sent;
	int ret = vnet_host_send(flow->net, sent, vnet_frame(sent, flow->number));

	if (ret)
		return ret;
	do
		ret = vnet_recv(flow->net, frame, sizeof(frame), ANSWER_MS);
	while (ret >= (int)sizeof(*got) && got->h_proto != ours->h_proto);
	return ret < 0 ? ret : vnet_frame_check(frame, ret, flow->number++);
}

static int both_ways(struct vnet *net, unsigned int count)
{
	struct flow flow = { .net = net };
	struct storm s = { .arg = &flow };
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = transmit_round(&s);
	for (i = 0; i < count && !err; i++)
		err = receive_round(&s);
	return err;
}

/* covers: T5 */
TEST_F(net, program_that_knows_nothing_of_workers_has_one)
{
	uint32_t id = 99;

	EXPECT_OK(both_ways(self->net, 100));
	EXPECT_OK(storm_wait_threads(self->threads + 1, 0));
	ASSERT_OK(vdev_get_worker(self->net->fd, VDEV_NET_VQ_RX, &id));
	EXPECT_EQ(0, id);
	ASSERT_OK(vdev_get_worker(self->net->fd, VDEV_NET_VQ_TX, &id));
	EXPECT_EQ(0, id);
}

/* covers: W9 */
TEST_F(net, receive_and_transmit_run_on_different_workers)
{
	struct vthread list[4];
	int64_t before[4], used_ns;
	uint32_t id;
	int i, n;

	ASSERT_OK(vdev_new_worker(self->net->fd, &id));
	ASSERT_OK(vdev_attach_worker(self->net->fd, VDEV_NET_VQ_TX, id));
	n = threads_list(getpid(), list, 4);
	ASSERT_EQ(2, n);
	for (i = 0; i < n; i++)
		before[i] = storm_cpu_ns(list[i].tid);
	EXPECT_OK(both_ways(self->net, 200));
	for (i = 0; i < n; i++) {
		used_ns = storm_cpu_ns(list[i].tid) - before[i];
		EXPECT_LT(100000, used_ns) TH_LOG("thread %s did nothing", list[i].comm);
	}
}

/* covers: W9 */
TEST_F(net, queues_move_under_traffic_and_lose_nothing)
{
	struct swap_map map = { .fd = self->net->fd, .nr_vqs = 2,
				.vqs = { VDEV_NET_VQ_RX, VDEV_NET_VQ_TX } };
	struct flow out = { self->net, 0 }, in = { self->net, 1000000 };
	struct storm storms[] = {
		{ .name = "swap", .round = swap_round, .arg = &map, .least = 100 },
		{ .name = "transmit", .round = transmit_round, .arg = &out, .least = 200 },
		{ .name = "receive", .round = receive_round, .arg = &in, .least = 200 },
	};

	/* As many as a device of two virtqueues may have. */
	ASSERT_OK(swap_make_workers(&map, 2));
	ASSERT_OK(storm_expedite(true));
	EXPECT_OK(storm_run(storms, 3, TRAFFIC_MS, ANSWER_MS + 1000, NULL));
	TH_LOG("%llu swaps, %u frames out, %u in", (unsigned long long)storm_rounds(&storms[0]),
	       out.number, in.number - 1000000);
}

/* covers: W12 */
TEST_F(net, traffic_goes_on_after_owner_reset_and_new_owner)
{
	unsigned int round;
	uint32_t id;

	for (round = 0; round < 6; round++) {
		ASSERT_OK(both_ways(self->net, 20));
		ASSERT_OK(vdev_new_worker(self->net->fd, &id));
		EXPECT_EQ(1, id);	/* ids begin anew */
		ASSERT_OK(vdev_attach_worker(self->net->fd, round % 2, id));
		ASSERT_OK(both_ways(self->net, 20));
		ASSERT_OK(vnet_reset(self->net));
		EXPECT_OK(storm_wait_threads(self->threads + 1, ANSWER_MS));
		ASSERT_OK(vdev_get_worker(self->net->fd, round % 2, &id));
		EXPECT_EQ(0, id);
		EXPECT_EQ(-ENODEV, vdev_free_worker(self->net->fd, 1));
		ASSERT_OK(vnet_start(self->net));
	}
	EXPECT_OK(both_ways(self->net, 20));
}

/* covers: W12 */
TEST_F(net, owner_reset_with_several_workers_leaves_nothing)
{
	struct swap_map map = { .fd = self->net->fd };
	uint32_t id;

	ASSERT_OK(swap_make_workers(&map, 2));
	ASSERT_OK(vdev_attach_worker(map.fd, VDEV_NET_VQ_RX, map.workers[1]));
	ASSERT_OK(both_ways(self->net, 20));
	ASSERT_OK(vnet_unset(self->net));
	ASSERT_OK(vdev_reset_owner(map.fd));
	EXPECT_OK(storm_wait_threads(self->threads, ANSWER_MS));
	EXPECT_EQ(-EINVAL, vdev_get_worker(map.fd, VDEV_NET_VQ_RX, &id));
	EXPECT_EQ(-EINVAL, vdev_get_worker(map.fd, VDEV_NET_VQ_TX, &id));
	EXPECT_EQ(-EINVAL, vdev_new_worker(map.fd, &id));
	/* A kick without an owner does nothing. */
	EXPECT_OK(gvq_kick_force(self->net->tx));
	guest_sleep_ms(50);
	EXPECT_OK(storm_wait_threads(self->threads, 0));
}

TEST_HARNESS_MAIN
