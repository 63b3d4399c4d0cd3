/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock-less lists. Head changes are fully ordered, as in the kernel; ->next is
 * an ordinary field, so that ThreadSanitizer sees whoever reads it too late.
 */
#ifndef _SHIM_LINUX_LLIST_H
#define _SHIM_LINUX_LLIST_H

#include <linux/bitops.h>
#include <linux/compiler.h>

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

static inline void init_llist_head(struct llist_head *head)
{
	head->first = NULL;
}

static inline bool llist_empty(const struct llist_head *head)
{
	return !READ_ONCE(head->first);
}

/* Returns whether the list was empty. */
static inline bool llist_add(struct llist_node *node, struct llist_head *head)
{
	struct llist_node *first = READ_ONCE(head->first);

	shim_point(SHIM_LLIST_ADD);
	do {
		node->next = first;
	} while (!__atomic_compare_exchange_n(&head->first, &first, node, false,
					      __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	shim_point(SHIM_LLIST_ADDED);
	return !first;
}

static inline struct llist_node *llist_del_all(struct llist_head *head)
{
	struct llist_node *first;

	first = __atomic_exchange_n(&head->first, NULL, __ATOMIC_SEQ_CST);
	shim_point(first ? SHIM_LLIST_TAKEN : SHIM_LLIST_EMPTY);
	return first;
}

static inline struct llist_node *llist_reverse_order(struct llist_node *node)
{
	struct llist_node *reversed = NULL;

	while (node) {
		struct llist_node *next = node->next;

		node->next = reversed;
		reversed = node;
		node = next;
	}
	return reversed;
}

#define shim_llist_entry(node, type, member)				\
	({ struct llist_node *_n = (node);				\
	   _n ? container_of(_n, type, member) : NULL; })

#define llist_for_each_entry_safe(pos, n, first, member)		\
	for (pos = shim_llist_entry(first, typeof(*pos), member);	\
	     pos && (n = shim_llist_entry((pos)->member.next,		\
					  typeof(*pos), member), true);	\
	     pos = n)

#endif
