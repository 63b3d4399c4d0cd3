/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gvq.h - a split virtqueue, the guest's side
 *
 * The ring itself is written only through gvq_add*() and friends; the library's own bookkeeping
 * (free descriptors, what is in flight) is private memory, so nothing that the device scribbles
 * into the ring can break it, and a ring part placed on a misbehaving page is touched only where a
 * function says so.
 *
 * A queue may be used by one thread at a time.
 */
#ifndef GUEST_GVQ_H
#define GUEST_GVQ_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/virtio_ring.h>
#include "gmem.h"

#define GVQ_INDIRECT_MAX	16	/* segments of one indirect chain */

struct gvq_opts {
	unsigned int num;	/* ring entries, a power of two; 0 = 128 */
	bool indirect;		/* gvq_add() uses an indirect table per request */
	bool event_idx;		/* VIRTIO_RING_F_EVENT_IDX was acknowledged by the device */
	bool no_call;		/* the device gets no call eventfd: gvq_wait() polls the ring */
	bool no_kick;		/* the device gets no kick eventfd */
	bool guest_addr;	/* it wants guest addresses of the ring, not ours (vhost-vdpa) */
	/* Ring parts on pages of the caller's (gmem_alloc_special()), NULL = ordinary memory. */
	void *desc;		/* num * 16 bytes; touched by gvq_add() and gvq_write_desc() */
	void *avail;		/* 6 + num * 2 bytes; touched by every add, kick (event) and wait */
	void *used;		/* 6 + num * 8 bytes; touched by kick, pop and wait */
};

struct gvq_sg {			/* one segment of a request */
	uint64_t gpa;
	uint32_t len;		/* bytes */
};

struct gvq {
	struct gmem *mem;	/* not owned */
	unsigned int index;	/* vq number in the device */
	unsigned int num;
	bool indirect, event_idx, guest_addr;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	struct vring_desc *tables;	/* num indirect tables of GVQ_INDIRECT_MAX, or NULL */
	int kick_fd, call_fd;	/* eventfds, -1 = none */
	uint16_t avail_idx;	/* next avail index to publish */
	uint16_t kicked_idx;	/* avail index at the last gvq_kick() */
	uint16_t used_idx;	/* next used entry to look at */
	unsigned int num_free;	/* free descriptors */
	unsigned int in_flight;	/* requests added and not popped */
	uint64_t kicks;		/* eventfd writes */
	uint64_t calls;		/* wake-ups by the call eventfd */
	uint64_t doubled;	/* used ids that were not in flight (seen by gvq_pop()) */
	uint16_t *next;		/* private: free list and chains */
	uint16_t free_head;
	uint16_t *chain_len;	/* private: descriptors of the request with this head */
	bool *busy;		/* private: head is in flight */
	void **cookie;		/* private */
};

/* Make ring and eventfds. @opts may be NULL. @mem must outlive the queue. -EINVAL, -ENOMEM, ... */
int gvq_create(struct gmem *mem, unsigned int index, const struct gvq_opts *opts, struct gvq **vq);

/*
 * Close the eventfds, free the bookkeeping. The ring's guest memory stays (a device may hold it).
 */
void gvq_destroy(struct gvq *vq);

/*
 * Give the queue to a device: VRING_NUM, BASE, ADDR, KICK, CALL, in this order. BASE is what
 * the device has used so far, 0 for a fresh queue. The memory table must be set.
 */
int gvq_setup(struct gvq *vq, int fd);

/* Single steps of gvq_setup(), for tests of their order and of wrong values. */
int gvq_set_num(struct gvq *vq, int fd, unsigned int num);
int gvq_set_base(struct gvq *vq, int fd, unsigned int base);
int gvq_get_base(struct gvq *vq, int fd, unsigned int *base);
int gvq_set_addr(struct gvq *vq, int fd);
int gvq_set_kick(struct gvq *vq, int fd, int kick_fd);	/* -1 unbinds */
int gvq_set_call(struct gvq *vq, int fd, int call_fd);	/* -1 unbinds */

/* Forget everything in flight and zero the ring. Only when no device serves the queue. */
void gvq_reset(struct gvq *vq);

/*
 * Add a request of @out segments that the device reads, then @in segments that it writes, and
 * publish it (no kick). @cookie comes back from gvq_pop(). Returns the head (>= 0), -ENOSPC when
 * there are too few free descriptors, -EINVAL for a bad number of segments.
 */
int gvq_add(struct gvq *vq, const struct gvq_sg *sg, unsigned int out, unsigned int in,
	    void *cookie);

/*
 * Raw access, for malformed rings. Descriptors written here are not taken from the free list and
 * heads published here are not "in flight": when the device uses them, gvq_pop() gives -EBADMSG and
 * counts `doubled`, gvq_pop_raw() gives them as they are. Use one kind of access per queue, or raw
 * heads from the end of the ring (gvq_add() takes descriptors from 0 upward).
 */
void gvq_write_desc(struct gvq *vq, unsigned int slot, uint64_t gpa, uint32_t len, uint16_t flags,
		    uint16_t next);
void gvq_add_raw(struct gvq *vq, uint16_t head);	/* ring entry and index, no desc */
void gvq_set_avail_idx(struct gvq *vq, uint16_t idx);	/* any value; later adds go on from it */

/*
 * Tell the device of what was added since the last kick, if it wants to know (event index or
 * NO_NOTIFY). Returns 1 when it was told, 0 when it did not want to be, negative errno.
 */
int gvq_kick(struct gvq *vq);

/* Write the kick eventfd, wanted or not. */
int gvq_kick_force(struct gvq *vq);

/*
 * Take one used request: returns its head with @cookie and @len (either may be NULL) set; -EAGAIN
 * when there is none; -EBADMSG when the device used an id that was not in flight (it is skipped).
 */
int gvq_pop(struct gvq *vq, void **cookie, uint32_t *len);

/* Take one used entry unchecked: 0 or -EAGAIN. Frees nothing. */
int gvq_pop_raw(struct gvq *vq, uint32_t *id, uint32_t *len);

/* True when the used ring has an entry that was not popped. */
bool gvq_has_used(const struct gvq *vq);

/*
 * Calls on or off (a hint, as in the specification). gvq_arm() asks for a call at the next used
 * entry and returns true when there is one already (do not sleep then).
 */
bool gvq_arm(struct gvq *vq);
void gvq_disarm(struct gvq *vq);

/* Sleep on the call eventfd until there is a used entry: 0 or -ETIMEDOUT. */
int gvq_wait(struct gvq *vq, int timeout_ms);

#endif /* GUEST_GVQ_H */
