// SPDX-License-Identifier: GPL-2.0
/*
 * gvq.c - a split virtqueue, the guest's side
 *
 * Barriers: the device reads avail->idx and then the entries; we publish the index with a release
 * store. We read used->idx with an acquire load and then the entries. Between publishing an index
 * and reading whether the device wants a kick (and between asking for a call and looking once more)
 * stands a full fence; its partner is the one in vhost_enable_notify() (and vhost_signal()).
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "abi.h"
#include "error.h"
#include "gvq.h"

#define GVQ_POLL_STEP_MS	1	/* gvq_wait() without a call eventfd */

static uint16_t *used_event(const struct gvq *vq)
{
	return (uint16_t *)&vq->avail->ring[vq->num];
}

static uint16_t *avail_event(const struct gvq *vq)
{
	return (uint16_t *)&vq->used->ring[vq->num];
}

static void init_private(struct gvq *vq)
{
	unsigned int i;

	for (i = 0; i < vq->num; i++)
		vq->next[i] = i + 1;
	memset(vq->busy, 0, vq->num * sizeof(*vq->busy));
	vq->free_head = 0;
	vq->num_free = vq->num;
	vq->in_flight = 0;
	vq->avail_idx = 0;
	vq->kicked_idx = 0;
	vq->used_idx = 0;
}

static int alloc_private(struct gvq *vq)
{
	vq->next = calloc(vq->num, sizeof(*vq->next));
	vq->chain_len = calloc(vq->num, sizeof(*vq->chain_len));
	vq->busy = calloc(vq->num, sizeof(*vq->busy));
	vq->cookie = calloc(vq->num, sizeof(*vq->cookie));
	if (!vq->next || !vq->chain_len || !vq->busy || !vq->cookie)
		return guest_fail(ENOMEM, "virtqueue of %u entries", vq->num);
	init_private(vq);
	return 0;
}

static int alloc_ring(struct gvq *vq, const struct gvq_opts *opts)
{
	size_t table_bytes = GVQ_INDIRECT_MAX * sizeof(struct vring_desc);

	vq->desc = opts->desc ?: gmem_alloc(vq->mem, vq->num * sizeof(struct vring_desc), 4096);
	vq->avail = opts->avail ?: gmem_alloc(vq->mem, 6 + vq->num * 2, 64);
	vq->used = opts->used ?: gmem_alloc(vq->mem, 6 + vq->num * 8, 4096);
	if (!vq->desc || !vq->avail || !vq->used)
		return -ENOMEM;
	if (!vq->indirect)
		return 0;
	vq->tables = gmem_alloc(vq->mem, vq->num * table_bytes, 64);
	return vq->tables ? 0 : -ENOMEM;
}

static int open_eventfds(struct gvq *vq, const struct gvq_opts *opts)
{
	vq->kick_fd = opts->no_kick ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	vq->call_fd = opts->no_call ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if ((vq->kick_fd < 0 && !opts->no_kick) || (vq->call_fd < 0 && !opts->no_call))
		return guest_fail(errno, "eventfd");
	return 0;
}

int gvq_create(struct gmem *mem, unsigned int index, const struct gvq_opts *opts,
	       struct gvq **vqp)
{
	static const struct gvq_opts defaults;
	struct gvq *vq;
	int err;

	opts = opts ?: &defaults;
	vq = calloc(1, sizeof(*vq));
	if (!vq)
		return guest_fail(ENOMEM, "virtqueue");
	vq->mem = mem;
	vq->index = index;
	vq->num = opts->num ?: 128;
	vq->indirect = opts->indirect;
	vq->event_idx = opts->event_idx;
	vq->guest_addr = opts->guest_addr;
	vq->kick_fd = -1;
	vq->call_fd = -1;
	if (vq->num > 32768 || vq->num & (vq->num - 1))
		err = guest_fail(EINVAL, "virtqueue of %u entries", vq->num);
	else
		err = alloc_private(vq);
	if (!err)
		err = alloc_ring(vq, opts);
	if (!err)
		err = open_eventfds(vq, opts);
	if (err)
		gvq_destroy(vq);
	else
		*vqp = vq;
	return err;
}

void gvq_destroy(struct gvq *vq)
{
	if (!vq)
		return;
	if (vq->kick_fd >= 0)
		close(vq->kick_fd);
	if (vq->call_fd >= 0)
		close(vq->call_fd);
	free(vq->next);
	free(vq->chain_len);
	free(vq->busy);
	free(vq->cookie);
	free(vq);
}

void gvq_reset(struct gvq *vq)
{
	memset(vq->desc, 0, vq->num * sizeof(*vq->desc));
	memset(vq->avail, 0, 6 + vq->num * 2);
	memset(vq->used, 0, 6 + vq->num * 8);
	init_private(vq);
}

int gvq_set_num(struct gvq *vq, int fd, unsigned int num)
{
	struct vhost_vring_state state = { vq->index, num };

	if (ioctl(fd, VHOST_SET_VRING_NUM, &state))
		return guest_fail(errno, "VHOST_SET_VRING_NUM vq %u to %u", vq->index, num);
	return 0;
}

int gvq_set_base(struct gvq *vq, int fd, unsigned int base)
{
	struct vhost_vring_state state = { vq->index, base };

	if (ioctl(fd, VHOST_SET_VRING_BASE, &state))
		return guest_fail(errno, "VHOST_SET_VRING_BASE vq %u to %u", vq->index, base);
	return 0;
}

int gvq_get_base(struct gvq *vq, int fd, unsigned int *base)
{
	struct vhost_vring_state state = { vq->index, 0 };

	if (ioctl(fd, VHOST_GET_VRING_BASE, &state))
		return guest_fail(errno, "VHOST_GET_VRING_BASE vq %u", vq->index);
	*base = state.num;
	return 0;
}

static uint64_t part_addr(const struct gvq *vq, const void *part)
{
	return vq->guest_addr ? gmem_gpa(vq->mem, part) : (uintptr_t)part;
}

int gvq_set_addr(struct gvq *vq, int fd)
{
	struct vhost_vring_addr addr = {
		.index = vq->index,
		.desc_user_addr = part_addr(vq, vq->desc),
		.avail_user_addr = part_addr(vq, vq->avail),
		.used_user_addr = part_addr(vq, vq->used),
	};

	if (ioctl(fd, VHOST_SET_VRING_ADDR, &addr))
		return guest_fail(errno, "VHOST_SET_VRING_ADDR vq %u", vq->index);
	return 0;
}

int gvq_set_kick(struct gvq *vq, int fd, int kick_fd)
{
	struct vhost_vring_file file = { vq->index, kick_fd };

	if (ioctl(fd, VHOST_SET_VRING_KICK, &file))
		return guest_fail(errno, "VHOST_SET_VRING_KICK vq %u", vq->index);
	return 0;
}

int gvq_set_call(struct gvq *vq, int fd, int call_fd)
{
	struct vhost_vring_file file = { vq->index, call_fd };

	if (ioctl(fd, VHOST_SET_VRING_CALL, &file))
		return guest_fail(errno, "VHOST_SET_VRING_CALL vq %u", vq->index);
	return 0;
}

int gvq_setup(struct gvq *vq, int fd)
{
	int err = gvq_set_num(vq, fd, vq->num);

	if (!err)
		err = gvq_set_base(vq, fd, (uint16_t)(vq->avail_idx - vq->in_flight));
	if (!err)
		err = gvq_set_addr(vq, fd);
	if (!err && vq->call_fd >= 0)
		err = gvq_set_call(vq, fd, vq->call_fd);
	if (!err && vq->kick_fd >= 0)
		err = gvq_set_kick(vq, fd, vq->kick_fd);
	return err;
}

static void fill_desc(struct vring_desc *desc, const struct gvq_sg *sg, bool write, bool more,
		      uint16_t next)
{
	desc->addr = sg->gpa;
	desc->len = sg->len;
	desc->flags = (write ? VRING_DESC_F_WRITE : 0) | (more ? VRING_DESC_F_NEXT : 0);
	desc->next = more ? next : 0;
}

static void add_direct(struct gvq *vq, uint16_t head, const struct gvq_sg *sg, unsigned int out,
		       unsigned int total)
{
	uint16_t slot = head;
	unsigned int i;

	for (i = 0; i < total; i++) {
		fill_desc(&vq->desc[slot], &sg[i], i >= out, i + 1 < total, vq->next[slot]);
		slot = vq->next[slot];
	}
	vq->free_head = slot;
	vq->chain_len[head] = total;
}

static void add_indirect(struct gvq *vq, uint16_t head, const struct gvq_sg *sg, unsigned int out,
			 unsigned int total)
{
	struct vring_desc *table = &vq->tables[head * GVQ_INDIRECT_MAX];
	struct vring_desc *desc = &vq->desc[head];
	unsigned int i;

	for (i = 0; i < total; i++)
		fill_desc(&table[i], &sg[i], i >= out, i + 1 < total, i + 1);
	desc->addr = gmem_gpa(vq->mem, table);
	desc->len = total * sizeof(*table);
	desc->flags = VRING_DESC_F_INDIRECT;
	desc->next = 0;
	vq->free_head = vq->next[head];
	vq->chain_len[head] = 1;
}

int gvq_add(struct gvq *vq, const struct gvq_sg *sg, unsigned int out, unsigned int in,
	    void *cookie)
{
	unsigned int total = out + in, need = vq->indirect ? 1 : total;
	uint16_t head = vq->free_head;

	if (!total || (vq->indirect && total > GVQ_INDIRECT_MAX))
		return guest_fail(EINVAL, "request of %u segments on vq %u", total, vq->index);
	if (need > vq->num_free)
		return guest_fail(ENOSPC, "vq %u: %u descriptors wanted, %u free", vq->index, need,
				  vq->num_free);
	if (vq->indirect)
		add_indirect(vq, head, sg, out, total);
	else
		add_direct(vq, head, sg, out, total);
	vq->num_free -= need;
	vq->in_flight++;
	vq->busy[head] = true;
	vq->cookie[head] = cookie;
	gvq_add_raw(vq, head);
	return head;
}

void gvq_write_desc(struct gvq *vq, unsigned int slot, uint64_t gpa, uint32_t len, uint16_t flags,
		    uint16_t next)
{
	vq->desc[slot] = (struct vring_desc){ gpa, len, flags, next };
}

void gvq_add_raw(struct gvq *vq, uint16_t head)
{
	vq->avail->ring[vq->avail_idx & (vq->num - 1)] = head;
	gvq_set_avail_idx(vq, vq->avail_idx + 1);
}

void gvq_set_avail_idx(struct gvq *vq, uint16_t idx)
{
	vq->avail_idx = idx;
	__atomic_store_n(&vq->avail->idx, idx, __ATOMIC_RELEASE);
}

int gvq_kick_force(struct gvq *vq)
{
	static const uint64_t one = 1;

	if (vq->kick_fd < 0)
		return guest_fail(EBADF, "vq %u has no kick eventfd", vq->index);
	if (write(vq->kick_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return guest_fail(errno, "kick of vq %u", vq->index);
	vq->kicks++;
	return 0;
}

static bool kick_wanted(const struct gvq *vq)
{
	if (vq->event_idx)
		return vring_need_event(__atomic_load_n(avail_event(vq), __ATOMIC_RELAXED),
					vq->avail_idx, vq->kicked_idx);
	return !(__atomic_load_n(&vq->used->flags, __ATOMIC_RELAXED) & VRING_USED_F_NO_NOTIFY);
}

int gvq_kick(struct gvq *vq)
{
	bool wanted;
	int err;

	if (vq->avail_idx == vq->kicked_idx)
		return 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wanted = kick_wanted(vq);
	vq->kicked_idx = vq->avail_idx;
	if (!wanted)
		return 0;
	err = gvq_kick_force(vq);
	return err ?: 1;
}

bool gvq_has_used(const struct gvq *vq)
{
	return __atomic_load_n(&vq->used->idx, __ATOMIC_ACQUIRE) != vq->used_idx;
}

int gvq_pop_raw(struct gvq *vq, uint32_t *id, uint32_t *len)
{
	struct vring_used_elem *elem;

	if (!gvq_has_used(vq))
		return -EAGAIN;
	elem = &vq->used->ring[vq->used_idx & (vq->num - 1)];
	if (id)
		*id = elem->id;
	if (len)
		*len = elem->len;
	vq->used_idx++;
	return 0;
}

static void free_chain(struct gvq *vq, uint16_t head)
{
	unsigned int i, len = vq->chain_len[head];
	uint16_t last = head;

	for (i = 1; i < len; i++)
		last = vq->next[last];
	vq->next[last] = vq->free_head;
	vq->free_head = head;
	vq->num_free += len;
}

int gvq_pop(struct gvq *vq, void **cookie, uint32_t *len)
{
	uint32_t id;

	if (gvq_pop_raw(vq, &id, len))
		return -EAGAIN;
	if (id >= vq->num || !vq->busy[id]) {
		vq->doubled++;
		return guest_fail(EBADMSG, "vq %u: used id %u at index %u is not in flight",
				  vq->index, id, (uint16_t)(vq->used_idx - 1));
	}
	if (cookie)
		*cookie = vq->cookie[id];
	vq->busy[id] = false;
	vq->in_flight--;
	free_chain(vq, id);
	return id;
}

bool gvq_arm(struct gvq *vq)
{
	if (vq->event_idx)
		__atomic_store_n(used_event(vq), vq->used_idx, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&vq->avail->flags, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return gvq_has_used(vq);
}

void gvq_disarm(struct gvq *vq)
{
	/* With the event index, an event in the past already means "no call for now". */
	if (!vq->event_idx)
		__atomic_store_n(&vq->avail->flags, VRING_AVAIL_F_NO_INTERRUPT, __ATOMIC_RELAXED);
}

static void sleep_once(struct gvq *vq, int left_ms)
{
	struct pollfd pfd = { .fd = vq->call_fd, .events = POLLIN };
	uint64_t count;

	if (vq->call_fd < 0) {
		guest_sleep_ms(GVQ_POLL_STEP_MS);
		return;
	}
	if (poll(&pfd, 1, left_ms) > 0 && read(vq->call_fd, &count, sizeof(count)) > 0)
		vq->calls++;
}

int gvq_wait(struct gvq *vq, int timeout_ms)
{
	uint64_t start = guest_now_ns();
	int left;

	while (!gvq_arm(vq)) {
		left = guest_left_ms(start, timeout_ms);
		if (!left)
			return guest_fail(ETIMEDOUT, "vq %u: nothing used in %d ms, %u in flight",
					  vq->index, timeout_ms, vq->in_flight);
		sleep_once(vq, left);
	}
	gvq_disarm(vq);
	return 0;
}
