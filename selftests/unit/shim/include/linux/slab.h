/* SPDX-License-Identifier: GPL-2.0 */
/* Memory: the C library's, counted, and failing when a test asks for it. */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <linux/compiler.h>

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	1	/* counts against a cgroup */
/* How hard the kernel tries. */
#define __GFP_RETRY_MAYFAIL	2
#define __GFP_NORETRY		4
#define __GFP_NOWARN		8

#define PAGE_SIZE		4096

void *kzalloc(size_t size, unsigned int gfp);
/* Not among what shim_fail_nth() counts: it fails where the cgroup is full. */
void *kmalloc(size_t size, unsigned int gfp);
#define kcalloc(n, size, gfp)	kzalloc((n) * (size), gfp)
void kfree(void *ptr);

#endif
