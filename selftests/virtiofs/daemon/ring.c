// SPDX-License-Identifier: GPL-2.0
/*
 * A split virtqueue, served by a thread of its own, one request after the
 * other, so that a queue does no more than one CPU can.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon.h"

#define MAX_PARTS 1024		/* of one request and its answer */

/* The buffers of one request. */
struct chain {
	struct iovec parts[MAX_PARTS];
	int nr_out, nr_in;	/* first those that we read, then those that we write */
};

static unsigned long counts[MAX_QUEUES];
static unsigned int nr_counts;
static unsigned int delay_ms;

void ring_set_delay(unsigned int ms)
{
	delay_ms = ms;
}

int ring_counts(char *buf, size_t size)
{
	int len = 0;

	for (unsigned int i = 0; i < nr_counts; i++)
		len += snprintf(buf + len, size - len, "%lu ",
				__atomic_load_n(&counts[i], __ATOMIC_RELAXED));
	return len;
}

void ring_init(struct ring *ring, unsigned int index)
{
	if (index >= nr_counts)
		nr_counts = index + 1;
	*ring = (struct ring){ .index = index, .kick = -1, .call = -1, .stop = -1 };
}

static bool add_part(struct chain *chain, const struct vring_desc *desc)
{
	int nr = chain->nr_out + chain->nr_in;
	void *at = memory_at(desc->addr, desc->len);
	bool in = desc->flags & VRING_DESC_F_WRITE;

	if (!at || nr == MAX_PARTS || (!in && chain->nr_in))
		return false;
	chain->parts[nr] = (struct iovec){ at, desc->len };
	if (in)
		chain->nr_in++;
	else
		chain->nr_out++;
	return true;
}

/* Follow the descriptors from head on, here or in a table of their own. */
static bool collect(struct ring *ring, uint16_t head, struct chain *chain)
{
	const struct vring_desc *table = ring->desc;
	unsigned int size = ring->num, i = head;

	chain->nr_out = chain->nr_in = 0;
	for (unsigned int steps = 0; i < size && steps <= MAX_PARTS; steps++) {
		struct vring_desc desc = table[i];

		if (desc.flags & VRING_DESC_F_INDIRECT) {
			if (table != ring->desc)
				return false;
			table = memory_at(desc.addr, desc.len);
			size = table ? desc.len / sizeof(*table) : 0;
			i = 0;
			continue;
		}
		if (!add_part(chain, &desc))
			return false;
		if (!(desc.flags & VRING_DESC_F_NEXT))
			return true;
		i = desc.next;
	}
	return false;
}

/* With event indices, the place where the driver wants to be told is behind the ring. */
static bool wants_call(const struct ring *ring, uint16_t old, uint16_t new)
{
	uint16_t event = *(volatile uint16_t *)&ring->avail->ring[ring->num];

	return vring_need_event(event, new, old);
}

static void give_back(struct ring *ring, uint16_t head, size_t len)
{
	uint16_t old = ring->used->idx;

	ring->used->ring[old % ring->num] = (struct vring_used_elem){ head, len };
	__atomic_store_n(&ring->used->idx, old + 1, __ATOMIC_RELEASE);
	/* The driver sets the event, then looks at idx; we the other way round. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (wants_call(ring, old, old + 1))
		eventfd_write(ring->call, 1);
}

static bool take_one(struct ring *ring, struct chain *chain)
{
	uint16_t head;

	if (__atomic_load_n(&ring->avail->idx, __ATOMIC_ACQUIRE) == ring->last_avail)
		return false;
	head = ring->avail->ring[ring->last_avail++ % ring->num];
	if (!collect(ring, head, chain))
		die("queue %u: a request that makes no sense", ring->index);
	__atomic_fetch_add(&counts[ring->index], 1, __ATOMIC_RELAXED);
	if (delay_ms)
		usleep(delay_ms * 1000);
	give_back(ring, head, fuse_request(chain->parts, chain->nr_out,
					   chain->parts + chain->nr_out, chain->nr_in));
	if (files_dying)
		_exit(0);
	return true;
}

/* Ask to be kicked for the next request; false if that is there already. */
static bool ask_for_kick(struct ring *ring)
{
	volatile uint16_t *event = (uint16_t *)&ring->used->ring[ring->num];

	*event = ring->last_avail;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->avail->idx, __ATOMIC_ACQUIRE) == ring->last_avail;
}

static void *ring_thread(void *arg)
{
	struct ring *ring = arg;
	struct chain *chain = malloc(sizeof(*chain));
	struct pollfd fds[] = {
		{ .fd = ring->kick, .events = POLLIN },
		{ .fd = ring->stop, .events = POLLIN },
	};
	eventfd_t value;

	if (!chain)
		die("no memory");
	while (!fds[1].revents) {
		while (take_one(ring, chain))
			;
		if (!ask_for_kick(ring))
			continue;
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[0].revents)
			eventfd_read(ring->kick, &value);
	}
	free(chain);
	return NULL;
}

bool ring_start(struct ring *ring)
{
	ring->stop = eventfd(0, EFD_CLOEXEC);
	if (ring->stop < 0 || pthread_create(&ring->thread, NULL, ring_thread, ring))
		return false;
	ring->running = true;
	return true;
}

void ring_stop(struct ring *ring)
{
	if (ring->running) {
		eventfd_write(ring->stop, 1);
		pthread_join(ring->thread, NULL);
		close(ring->stop);
	}
	ring->running = false;
	if (ring->kick >= 0)
		close(ring->kick);
	ring->kick = -1;
}
