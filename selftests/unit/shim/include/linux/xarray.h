/* SPDX-License-Identifier: GPL-2.0 */
/* xarray: a short table of (index, entry) pairs, searched from end to end. */
#ifndef _SHIM_LINUX_XARRAY_H
#define _SHIM_LINUX_XARRAY_H

#include <linux/compiler.h>
#include <shim.h>

#define SHIM_XA_SLOTS	64

/* index: -1 if free. entry: NULL if reserved only. */
struct shim_xa_slot {
	long index;
	void *entry;
};

struct xarray {
	struct shim_spin lock;
	u32 lowest;		/* that is given out */
	struct shim_xa_slot slots[SHIM_XA_SLOTS];
};

struct xa_limit {
	u32 max;
	u32 min;
};

#define XA_FLAGS_ALLOC	1
#define XA_FLAGS_ALLOC1	2
#define XA_PRESENT	8
#define xa_limit_31b	((struct xa_limit){ .max = INT_MAX })

#define DEFINE_XARRAY_ALLOC1(xa)					\
	struct xarray xa;						\
	__attribute__((constructor)) static void shim_init_##xa(void)	\
	{								\
		xa_init_flags(&xa, XA_FLAGS_ALLOC1);			\
	}								\
	extern struct xarray xa

void xa_init_flags(struct xarray *xa, unsigned int flags);
bool xa_empty(struct xarray *xa);
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_store(struct xarray *xa, unsigned long index, void *entry,
	       unsigned int gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
int xa_alloc_cyclic(struct xarray *xa, u32 *id, void *entry,
		    struct xa_limit limit, u32 *next, unsigned int gfp);
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max,
	      unsigned int filter);
void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long max,
		    unsigned int filter);

#define xa_for_each_start(xa, index, entry, start)			 \
	for (index = start, entry = xa_find(xa, &index, ULONG_MAX, XA_PRESENT); \
	     entry; entry = xa_find_after(xa, &index, ULONG_MAX, XA_PRESENT))

#define xa_for_each(xa, index, entry)	xa_for_each_start(xa, index, entry, 0)

#endif
