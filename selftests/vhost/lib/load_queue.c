// SPDX-License-Identifier: GPL-2.0
/*
 * load_queue.c - one queue of the load: choose, submit, reap, verify
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "load_priv.h"

#define UNITS_PER_SLOT_MAX	64

static uint32_t request_bytes(const struct load_queue *q)
{
	return q->load->opts.blocks * LOAD_BLOCK;
}

/* Keep the first complaint. */
static void complain(struct load_queue *q, int err, const char *text)
{
	if (!q->stats.error) {
		q->stats.error = err;
		snprintf(q->stats.text, sizeof(q->stats.text), "I/O queue %u: %s", q->number, text);
	}
}

static uint32_t next_random(struct load_queue *q)
{
	q->random ^= q->random << 13;
	q->random ^= q->random >> 17;
	q->random ^= q->random << 5;
	return q->random;
}

/* Buffers stay with the device's queue, so that many short loads do not use up guest memory. */
static int take_buffers(struct load_queue *q, struct gmem *mem)
{
	size_t hdr_bytes = q->depth * sizeof(struct vscsi_hdr);
	size_t start = (hdr_bytes + 4095) & ~4095UL;
	size_t bytes = start + (size_t)q->depth * request_bytes(q);
	unsigned int i;
	char *buf;

	if (!q->queue->load_buf || q->queue->load_bytes < bytes) {
		q->queue->load_buf = gmem_alloc(mem, bytes, 4096);
		q->queue->load_bytes = bytes;
	}
	buf = q->queue->load_buf;
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < q->depth; i++) {
		struct load_slot *slot = &q->slots[i];

		slot->hdr = (struct vscsi_hdr *)buf + i;
		slot->buf = buf + start + (size_t)i * request_bytes(q);
		slot->req_gpa = gmem_gpa(mem, &slot->hdr->req);
		slot->resp_gpa = gmem_gpa(mem, &slot->hdr->resp);
		slot->buf_gpa = gmem_gpa(mem, slot->buf);
	}
	return 0;
}

static void take_share(struct load_queue *q, unsigned int i)
{
	const struct load *load = q->load;
	uint64_t units = load->opts.lba_count / load->opts.blocks;

	q->first_unit = units * i / load->nr_queues;
	q->units = units * (i + 1) / load->nr_queues - q->first_unit;
	q->own_units = q->units / q->depth;
	if (q->own_units > UNITS_PER_SLOT_MAX)
		q->own_units = UNITS_PER_SLOT_MAX;
}

int load_queue_init(struct load_queue *q, const struct load *load, unsigned int i)
{
	struct vscsi *dev = load->opts.dev;
	bool mixed = load->opts.mode == LOAD_MIXED;

	q->load = load;
	q->number = load->opts.first_queue + i;
	q->queue = &dev->io[q->number];
	q->depth = load->opts.depth;
	q->random = (load->opts.seed + 1) * 2654435761U ^ (q->number + 1) * 40503U;
	q->random = q->random ?: 1;
	take_share(q, i);
	if (mixed ? !q->own_units : !q->units)
		return guest_fail(EINVAL, "region of %llu blocks is too small for %u queues",
				  (unsigned long long)load->opts.lba_count, load->nr_queues);
	q->slots = calloc(q->depth, sizeof(*q->slots));
	q->generations = calloc(q->depth * q->own_units + 1, sizeof(*q->generations));
	if (!q->slots || !q->generations)
		return guest_fail(ENOMEM, "load with depth %u", q->depth);
	return take_buffers(q, dev->mem);
}

void load_queue_exit(struct load_queue *q)
{
	if (q->stats.lost || q->in_flight)
		q->queue->load_buf = NULL;	/* the device may still write there */
	free(q->slots);
	free(q->generations);
}

/* May @n more requests be submitted beside those that are owed? */
static bool has_room(const struct load_queue *q, unsigned int n)
{
	uint64_t count = q->load->opts.count;

	return !count || q->stats.submitted + q->owed + n <= count;
}

/*
 * Each write is read back by the slot's next request, before anything can cover it up; in between
 * older blocks are read, which finds writes that went to the wrong place.
 */
static bool choose_mixed(struct load_queue *q, struct load_slot *slot)
{
	slot->write = false;
	if (slot->owes) {
		slot->owes = false;
		q->owed--;
		return true;
	}
	if (!has_room(q, 1))
		return false;
	slot->unit = (slot - q->slots) * q->own_units + next_random(q) % q->own_units;
	slot->generation = q->generations[slot->unit];
	if (slot->generation && (!has_room(q, 2) || !(next_random(q) & 0x300)))
		return true;
	slot->write = true;
	slot->generation = ++q->next_generation;
	slot->owes = has_room(q, 2);
	q->owed += slot->owes;
	return true;
}

/* Choose what the slot does next; false when there is nothing for it. */
static bool choose(struct load_queue *q, struct load_slot *slot)
{
	const struct load_opts *opts = &q->load->opts;

	if (slot->again) {
		slot->again = false;
		return true;
	}
	if (opts->mode == LOAD_MIXED)
		return choose_mixed(q, slot);
	if (q->cursor == q->units) {
		q->closing = opts->mode == LOAD_FILL;
		if (q->closing)
			return false;
		q->cursor = 0;
	}
	slot->unit = q->cursor++;
	slot->write = opts->mode == LOAD_FILL;
	slot->generation = opts->generation;
	return true;
}

static uint64_t slot_lba(const struct load_queue *q, const struct load_slot *slot)
{
	return q->load->opts.lba + (q->first_unit + slot->unit) * q->load->opts.blocks;
}

static void prepare(struct load_queue *q, struct load_slot *slot)
{
	const struct load_opts *opts = &q->load->opts;
	struct virtio_scsi_cmd_req *req = &slot->hdr->req;
	uint64_t lba = slot_lba(q, slot);

	memset(req, 0, sizeof(*req));
	vscsi_lun(req->lun, VSCSI_TARGET, opts->lun);
	req->tag = q->stats.submitted + 1;
	vscsi_rw_cdb(req->cdb, slot->write, lba >> 32 ? 16 : 10, lba, opts->blocks);
	slot->hdr->resp.response = VSCSI_UNANSWERED;
	if (!slot->write)
		load_pattern_poison(slot->buf, request_bytes(q), opts->check);
	else
		load_pattern_put(slot->buf, request_bytes(q), lba, slot->generation,
				 opts->mode == LOAD_FILL ? LOAD_CHECK_FULL : opts->check);
}

static int send_slot(struct load_queue *q, struct load_slot *slot)
{
	struct gvq_sg req = { slot->req_gpa, sizeof(slot->hdr->req) };
	struct gvq_sg resp = { slot->resp_gpa, sizeof(slot->hdr->resp) };
	struct gvq_sg data = { slot->buf_gpa, request_bytes(q) };
	struct gvq_sg out[3] = { req, data, resp }, in[3] = { req, resp, data };

	return slot->write ? gvq_add(q->queue->vq, out, 2, 1, slot) :
			     gvq_add(q->queue->vq, in, 1, 2, slot);
}

static void kick(struct load_queue *q)
{
	int ret = gvq_kick(q->queue->vq);

	q->unkicked = 0;
	if (ret < 0)
		complain(q, ret, guest_error());
	if (ret > 0)
		q->stats.kicks++;
}

static bool submit(struct load_queue *q, struct load_slot *slot, uint64_t now_ns)
{
	int ret;

	if (!choose(q, slot))
		return false;
	prepare(q, slot);
	slot->resets = __atomic_load_n(&q->load->resets, __ATOMIC_SEQ_CST);
	ret = send_slot(q, slot);
	if (ret < 0) {
		complain(q, ret, guest_error());
		q->halted = true;
		return false;
	}
	slot->state = SLOT_BUSY;
	slot->start_ns = now_ns;
	if (!q->first_ns)
		q->first_ns = now_ns;
	q->in_flight++;
	q->stats.submitted++;
	if (++q->unkicked >= q->load->opts.batch)
		kick(q);
	return true;
}

/* Nobody knows any more what the unit contains: it is not read before it was written again. */
static void forget_content(struct load_queue *q, struct load_slot *slot)
{
	if (q->load->opts.mode != LOAD_MIXED)
		return;
	q->generations[slot->unit] = 0;
	q->owed -= slot->owes;
	slot->owes = false;
}

static void failed(struct load_queue *q, struct load_slot *slot)
{
	const struct virtio_scsi_cmd_resp *resp = &slot->hdr->resp;
	char text[120];

	snprintf(text, sizeof(text), "%s at LBA %llu: response %u status 0x%02x sense %x/%02x",
		 slot->write ? "write" : "read", (unsigned long long)slot_lba(q, slot),
		 resp->response, resp->status, resp->sense[2] & 15, resp->sense[12]);
	if (resp->response == VSCSI_UNANSWERED) {
		q->stats.doubled++;
		snprintf(text, sizeof(text), "request at LBA %llu was used but not answered",
			 (unsigned long long)slot_lba(q, slot));
	} else {
		q->stats.failed++;
	}
	complain(q, -EIO, text);
	if (slot->write)
		forget_content(q, slot);
}

/* A reset began before the answer was seen: the request may have been aborted. */
static bool met_reset(const struct load_queue *q, const struct load_slot *slot)
{
	return slot->resets & 1 ||
	       slot->resets != __atomic_load_n(&q->load->resets, __ATOMIC_SEQ_CST);
}

static void finish(struct load_queue *q, struct load_slot *slot)
{
	const struct load_opts *opts = &q->load->opts;
	const struct virtio_scsi_cmd_resp *resp = &slot->hdr->resp;

	if (vscsi_refused(resp->response, resp->status, resp->sense)) {
		q->stats.refused++;	/* not executed: the content is what it was */
		slot->again = true;
	} else if (resp->response != VSCSI_UNANSWERED && met_reset(q, slot)) {
		q->stats.aborted++;
		if (slot->write)
			forget_content(q, slot);
	} else if (resp->response != VIRTIO_SCSI_S_OK || resp->status) {
		failed(q, slot);
	} else if (slot->write) {
		if (opts->mode == LOAD_MIXED)
			q->generations[slot->unit] = slot->generation;
		q->stats.writes++;
	} else if (load_pattern_check(slot->buf, request_bytes(q), slot_lba(q, slot),
				      slot->generation, opts->check)) {
		q->stats.corrupt++;
		forget_content(q, slot);
		complain(q, -EILSEQ, guest_error());
	} else {
		q->stats.reads++;
		q->stats.verified++;
	}
}

static bool is_slot(const struct load_queue *q, const void *cookie)
{
	return (const struct load_slot *)cookie >= q->slots &&
	       (const struct load_slot *)cookie < q->slots + q->depth;
}

static void complete(struct load_queue *q, struct load_slot *slot, uint64_t now_ns)
{
	uint64_t latency = now_ns - slot->start_ns;

	if (slot->state != SLOT_BUSY)
		return;		/* came after it was given up: counted as lost already */
	slot->state = SLOT_FREE;
	q->in_flight--;
	q->last_ns = now_ns;
	q->stats.completed++;
	q->stats.latency_sum_ns += latency;
	if (latency > q->stats.latency_max_ns)
		q->stats.latency_max_ns = latency;
	finish(q, slot);
}

static bool reap(struct load_queue *q, uint64_t now_ns)
{
	bool any = false;
	void *cookie;
	int ret;

	while ((ret = gvq_pop(q->queue->vq, &cookie, NULL)) != -EAGAIN) {
		any = true;
		if (ret == -EBADMSG) {
			q->stats.doubled++;
			complain(q, ret, guest_error());
		} else if (is_slot(q, cookie)) {
			complete(q, cookie, now_ns);
		}
	}
	return any;
}

static bool time_is_up(const struct load_queue *q, uint64_t now_ns)
{
	const struct load *load = q->load;

	return (load->opts.count && q->stats.submitted >= load->opts.count) ||
	       (load->deadline_ns && now_ns >= load->deadline_ns) ||
	       __atomic_load_n(&load->stop, __ATOMIC_RELAXED);
}

static bool submit_all(struct load_queue *q, uint64_t now_ns)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < q->depth && !q->halted; i++) {
		struct load_slot *slot = &q->slots[i];

		q->closing |= time_is_up(q, now_ns);
		if (slot->state == SLOT_FREE && (!q->closing || slot->owes || slot->again))
			any |= submit(q, slot, now_ns);
	}
	if (q->unkicked)
		kick(q);
	return any;
}

static bool has_debts(const struct load_queue *q)
{
	unsigned int i;

	for (i = 0; i < q->depth; i++)
		if (q->slots[i].again || q->slots[i].owes)
			return true;
	return false;
}

bool load_queue_pump(struct load_queue *q, uint64_t now_ns)
{
	bool any = reap(q, now_ns);

	any |= submit_all(q, now_ns);
	if (q->closing && !q->in_flight && !has_debts(q))
		q->halted = true;
	if (q->halted && !q->in_flight) {
		q->stats.elapsed_ns = q->last_ns > q->first_ns ? q->last_ns - q->first_ns : 0;
		q->done = true;
	}
	return any;
}

void load_queue_find_lost(struct load_queue *q, uint64_t now_ns)
{
	uint64_t limit_ns = q->load->opts.stall_ms * 1000000ULL;
	unsigned int i;
	char text[120];

	for (i = 0; i < q->depth; i++) {
		struct load_slot *slot = &q->slots[i];

		if (slot->state != SLOT_BUSY || now_ns < slot->start_ns + limit_ns)
			continue;
		snprintf(text, sizeof(text), "%s at LBA %llu lost: no answer within %u ms",
			 slot->write ? "write" : "read", (unsigned long long)slot_lba(q, slot),
			 q->load->opts.stall_ms);
		complain(q, -ETIMEDOUT, text);
		slot->state = SLOT_LOST;
		q->in_flight--;
		q->stats.lost++;
		q->halted = true;
	}
}
