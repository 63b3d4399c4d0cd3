/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gmem.h - guest memory: one shared region, with pages that misbehave on request
 *
 * The region is a memfd mapped MAP_SHARED, so a child made by fork() sees the same rings and
 * buffers as its parent and can be the owner of a device whose rings the parent watches. It is
 * touched nowhere until used, so a generous size costs nothing.
 *
 * Guest (physical) address 0 is not mapped; the region begins at GMEM_BASE.
 */
#ifndef GUEST_GMEM_H
#define GUEST_GMEM_H

#include <stddef.h>
#include <stdint.h>

#define GMEM_BASE	0x100000ULL	/* guest address of the first byte */
#define GMEM_HOLES_MAX	16

enum gmem_kind {
	GMEM_STUCK,		/* userfaultfd: who touches it sleeps until it is resolved */
	GMEM_UNREADABLE,	/* PROT_NONE: EFAULT for the kernel, SIGSEGV for us */
	GMEM_READONLY,		/* the guest may read it, writes give EFAULT */
	GMEM_UNMAPPED,		/* in the memory table, but nothing is mapped there */
	GMEM_HOLE,		/* not in the memory table (ask before vdev_set_mem()) */
};

struct gmem_hole {
	uint64_t gpa;
	size_t size;
};

struct gmem {
	char *base;		/* our address of the guest address GMEM_BASE */
	size_t size;		/* bytes, whole pages */
	size_t used;		/* bytes handed out so far */
	int memfd;
	int uffd;		/* -1 before the first GMEM_STUCK */
	unsigned int nr_holes;
	struct gmem_hole holes[GMEM_HOLES_MAX];
};

/* Make a region of @size bytes (rounded up to pages). -ENOMEM or what memfd_create/mmap gave. */
int gmem_create(size_t size, struct gmem **mem);

/* Unmap and free. No device may use it any more (its mm keeps page references, nothing else). */
void gmem_destroy(struct gmem *mem);

/*
 * Hand out @size zeroed bytes, aligned to @align (a power of two, 0 = 64). There is no free: the
 * region lives as long as the test. NULL when the region is full (guest_error() set).
 */
void *gmem_alloc(struct gmem *mem, size_t size, size_t align);

/*
 * Hand out @pages whole pages of a @kind. GMEM_STUCK needs privilege and CONFIG_USERFAULTFD
 * (-EPERM/-ENOSYS/-EINVAL otherwise: skip the test); touching them from the test hangs it too.
 */
int gmem_alloc_special(struct gmem *mem, unsigned int pages, enum gmem_kind kind, void **va);

/*
 * The userfaultfd of the GMEM_STUCK pages, -1 if there are none. Pages stay stuck while any process
 * holds the descriptor, so a parent that keeps a copy (pidfd_getfd, SCM_RIGHTS) keeps a dead
 * child's worker stuck. After the last close they read as zero.
 */
int gmem_stuck_fd(const struct gmem *mem);

/*
 * Wait until somebody touched a stuck page: 0, or -ETIMEDOUT. @va (may be NULL) gets its address.
 */
int gmem_stuck_wait(struct gmem *mem, int timeout_ms, void **va);

/* End it: every stuck page in [@va, @va + @pages) becomes zeroes, sleepers wake. */
int gmem_stuck_resolve(struct gmem *mem, void *va, unsigned int pages);

/*
 * Translate. gmem_gpa() of an address outside of the region is 0; gmem_va() of one outside is NULL.
 */
uint64_t gmem_gpa(const struct gmem *mem, const void *va);
void *gmem_va(const struct gmem *mem, uint64_t gpa);

/* A guest address that no memory table made here contains. */
uint64_t gmem_bad_gpa(const struct gmem *mem);

/* VHOST_SET_MEM_TABLE with the region minus its holes, on the open vhost descriptor @fd. */
int gmem_set_table(const struct gmem *mem, int fd);

#endif /* GUEST_GMEM_H */
