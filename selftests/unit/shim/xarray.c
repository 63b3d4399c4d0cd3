// SPDX-License-Identifier: GPL-2.0
/* xarray as a table: writers lock it, readers do not. */
#include <linux/xarray.h>

static struct shim_xa_slot *find_slot(struct xarray *xa, long index)
{
	struct shim_xa_slot *slot;

	for (slot = xa->slots; slot < xa->slots + SHIM_XA_SLOTS; slot++)
		if (__atomic_load_n(&slot->index, __ATOMIC_ACQUIRE) == index)
			return slot;
	return NULL;
}

void xa_init_flags(struct xarray *xa, unsigned int flags)
{
	unsigned int i;

	xa->lock.locked = 0;
	xa->lowest = flags == XA_FLAGS_ALLOC1;
	for (i = 0; i < SHIM_XA_SLOTS; i++) {
		xa->slots[i].index = -1;
		xa->slots[i].entry = NULL;
	}
}

bool xa_empty(struct xarray *xa)
{
	unsigned int i;

	for (i = 0; i < SHIM_XA_SLOTS; i++)
		if (READ_ONCE(xa->slots[i].index) >= 0)
			return false;
	return true;
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	struct shim_xa_slot *slot = index > LONG_MAX ? NULL : find_slot(xa, index);

	return slot ? __atomic_load_n(&slot->entry, __ATOMIC_ACQUIRE) : NULL;
}

/* Only for an index that was reserved, since then it needs no memory. */
void *xa_store(struct xarray *xa, unsigned long index, void *entry,
	       unsigned int gfp)
{
	struct shim_xa_slot *slot;
	void *old;

	(void)gfp;
	shim_spin_lock(&xa->lock);
	slot = find_slot(xa, index);
	if (!slot)
		shim_bug("xa_store() of an index that was not reserved");
	old = __atomic_exchange_n(&slot->entry, entry, __ATOMIC_RELEASE);
	shim_spin_unlock(&xa->lock);
	return old;
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	struct shim_xa_slot *slot;
	void *old = NULL;

	shim_spin_lock(&xa->lock);
	slot = find_slot(xa, index);
	if (slot) {
		old = __atomic_exchange_n(&slot->entry, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->index, -1, __ATOMIC_RELEASE);
	}
	shim_spin_unlock(&xa->lock);
	return old;
}

static long first_free(struct xarray *xa, u32 min, u32 max)
{
	u64 index;

	for (index = min; index <= max; index++)
		if (!find_slot(xa, index))
			return index;
	return -EBUSY;
}

int xa_alloc_cyclic(struct xarray *xa, u32 *id, void *entry,
		    struct xa_limit limit, u32 *next, unsigned int gfp)
{
	struct shim_xa_slot *slot;
	bool wrapped = false;
	long index;

	(void)gfp;
	shim_might_sleep("xa_alloc_cyclic()");
	if (shim_should_fail())
		return -ENOMEM;

	limit.min = max(limit.min, xa->lowest);
	shim_spin_lock(&xa->lock);
	index = first_free(xa, max(limit.min, *next), limit.max);
	if (index < 0) {
		wrapped = true;
		index = first_free(xa, limit.min, limit.max);
	}
	if (index >= 0) {
		slot = find_slot(xa, -1);
		if (!slot)
			shim_bug("xarray of the shim is full");
		__atomic_store_n(&slot->entry, entry, __ATOMIC_RELAXED);
		__atomic_store_n(&slot->index, index, __ATOMIC_RELEASE);
		*id = index;
		*next = index + 1;
	}
	shim_spin_unlock(&xa->lock);
	return index < 0 ? index : wrapped;
}

void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max,
	      unsigned int filter)
{
	unsigned long best = ULONG_MAX;
	void *found = NULL;
	unsigned int i;

	(void)filter;
	for (i = 0; i < SHIM_XA_SLOTS; i++) {
		long at = __atomic_load_n(&xa->slots[i].index, __ATOMIC_ACQUIRE);
		void *entry = __atomic_load_n(&xa->slots[i].entry, __ATOMIC_ACQUIRE);

		if (at < 0 || !entry || (unsigned long)at < *index ||
		    (unsigned long)at > max || (unsigned long)at >= best)
			continue;
		best = at;
		found = entry;
	}
	if (found)
		*index = best;
	return found;
}

void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long max,
		    unsigned int filter)
{
	unsigned long after = *index + 1;
	void *found = xa_find(xa, &after, max, filter);

	if (found)
		*index = after;
	return found;
}
