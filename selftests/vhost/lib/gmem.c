// SPDX-License-Identifier: GPL-2.0
/*
 * gmem.c - guest memory
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi.h"
#include "error.h"
#include "gmem.h"

#define GMEM_PAGE	4096UL

static size_t round_to(size_t value, size_t align)
{
	return (value + align - 1) & ~(align - 1);
}

int gmem_create(size_t size, struct gmem **memp)
{
	struct gmem *mem = calloc(1, sizeof(*mem));
	int err;

	if (!mem)
		return guest_fail(ENOMEM, "guest memory");
	mem->size = round_to(size, GMEM_PAGE);
	mem->uffd = -1;
	mem->memfd = memfd_create("guest", MFD_CLOEXEC);
	if (mem->memfd < 0) {
		err = guest_fail(errno, "memfd_create");
		goto free_mem;
	}
	if (ftruncate(mem->memfd, mem->size)) {
		err = guest_fail(errno, "guest memory of %zu bytes", mem->size);
		goto close_memfd;
	}
	mem->base = mmap(NULL, mem->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 mem->memfd, 0);
	if (mem->base == MAP_FAILED) {
		err = guest_fail(errno, "mmap of %zu bytes of guest memory", mem->size);
		goto close_memfd;
	}
	*memp = mem;
	return 0;

close_memfd:
	close(mem->memfd);
free_mem:
	free(mem);
	return err;
}

void gmem_destroy(struct gmem *mem)
{
	if (!mem)
		return;
	if (mem->uffd >= 0)
		close(mem->uffd);
	munmap(mem->base, mem->size);
	close(mem->memfd);
	free(mem);
}

void *gmem_alloc(struct gmem *mem, size_t size, size_t align)
{
	size_t start = round_to(mem->used, align ? align : 64);

	if (size > mem->size || start > mem->size - size) {
		guest_fail(ENOMEM, "guest memory is full: %zu bytes wanted, %zu of %zu used", size,
			   mem->used, mem->size);
		return NULL;
	}
	mem->used = start + size;
	return mem->base + start;
}

static int open_uffd(struct gmem *mem)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd;

	if (mem->uffd >= 0)
		return 0;
	fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return guest_fail(errno, "userfaultfd");
	if (ioctl(fd, UFFDIO_API, &api)) {
		int err = guest_fail(errno, "UFFDIO_API");

		close(fd);
		return err;
	}
	mem->uffd = fd;
	return 0;
}

/* Anonymous pages, never touched, so that the first touch is a missing-page fault. */
static int make_stuck(struct gmem *mem, void *va, size_t bytes)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)va, bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int err = open_uffd(mem);

	if (err)
		return err;
	if (mmap(va, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return guest_fail(errno, "mmap of stuck pages");
	if (ioctl(mem->uffd, UFFDIO_REGISTER, &reg))
		return guest_fail(errno, "UFFDIO_REGISTER");
	return 0;
}

static int make_hole(struct gmem *mem, void *va, size_t bytes)
{
	if (mem->nr_holes == GMEM_HOLES_MAX)
		return guest_fail(ENOSPC, "more than %d holes in guest memory", GMEM_HOLES_MAX);
	mem->holes[mem->nr_holes].gpa = gmem_gpa(mem, va);
	mem->holes[mem->nr_holes++].size = bytes;
	return 0;
}

int gmem_alloc_special(struct gmem *mem, unsigned int pages, enum gmem_kind kind, void **va)
{
	size_t bytes = pages * GMEM_PAGE;
	char *start = gmem_alloc(mem, bytes, GMEM_PAGE);
	int err = 0;

	if (!start)
		return -ENOMEM;
	switch (kind) {
	case GMEM_STUCK:
		err = make_stuck(mem, start, bytes);
		break;
	case GMEM_UNREADABLE:
		if (mprotect(start, bytes, PROT_NONE))
			err = guest_fail(errno, "mprotect");
		break;
	case GMEM_READONLY:
		if (mprotect(start, bytes, PROT_READ))
			err = guest_fail(errno, "mprotect");
		break;
	case GMEM_UNMAPPED:
		/* Keep the address: a later mmap of anyone's must not land there. */
		if (mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			err = guest_fail(errno, "mmap of unmapped pages");
		break;
	case GMEM_HOLE:
		err = make_hole(mem, start, bytes);
		break;
	default:
		err = guest_fail(EINVAL, "unknown kind of guest page %d", kind);
	}
	*va = start;
	return err;
}

int gmem_stuck_fd(const struct gmem *mem)
{
	return mem->uffd;
}

int gmem_stuck_wait(struct gmem *mem, int timeout_ms, void **va)
{
	struct pollfd pfd = { .fd = mem->uffd, .events = POLLIN };
	uint64_t start = guest_now_ns();
	struct uffd_msg msg;
	int n;

	do {
		n = poll(&pfd, 1, guest_left_ms(start, timeout_ms));
		if (n > 0 && read(mem->uffd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg) &&
		    msg.event == UFFD_EVENT_PAGEFAULT) {
			if (va)
				*va = (void *)(uintptr_t)msg.arg.pagefault.address;
			return 0;
		}
	} while (guest_left_ms(start, timeout_ms));
	return guest_fail(ETIMEDOUT, "nobody touched a stuck page within %d ms", timeout_ms);
}

int gmem_stuck_resolve(struct gmem *mem, void *va, unsigned int pages)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)va, pages * GMEM_PAGE },
	};

	if (ioctl(mem->uffd, UFFDIO_ZEROPAGE, &zero))
		return guest_fail(errno, "UFFDIO_ZEROPAGE");
	return 0;
}

uint64_t gmem_gpa(const struct gmem *mem, const void *va)
{
	size_t offset = (const char *)va - mem->base;

	return offset < mem->size ? GMEM_BASE + offset : 0;
}

void *gmem_va(const struct gmem *mem, uint64_t gpa)
{
	uint64_t offset = gpa - GMEM_BASE;

	return offset < mem->size ? mem->base + offset : NULL;
}

uint64_t gmem_bad_gpa(const struct gmem *mem)
{
	return GMEM_BASE + mem->size + (1ULL << 40);
}

static void add_region(struct vhost_memory *table, const struct gmem *mem, uint64_t from,
		       uint64_t to)
{
	struct vhost_memory_region *region = &table->regions[table->nregions];

	if (from == to)
		return;
	region->guest_phys_addr = from;
	region->memory_size = to - from;
	region->userspace_addr = (uintptr_t)mem->base + (from - GMEM_BASE);
	table->nregions++;
}

int gmem_set_table(const struct gmem *mem, int fd)
{
	union {
		struct vhost_memory table;
		char room[sizeof(struct vhost_memory) +
			  (GMEM_HOLES_MAX + 1) * sizeof(struct vhost_memory_region)];
	} u;
	uint64_t from = GMEM_BASE;
	unsigned int i;

	memset(&u, 0, sizeof(u));
	for (i = 0; i < mem->nr_holes; i++) {	/* holes are in ascending order */
		add_region(&u.table, mem, from, mem->holes[i].gpa);
		from = mem->holes[i].gpa + mem->holes[i].size;
	}
	add_region(&u.table, mem, from, GMEM_BASE + mem->size);
	if (ioctl(fd, VHOST_SET_MEM_TABLE, &u.table))
		return guest_fail(errno, "VHOST_SET_MEM_TABLE with %u regions", u.table.nregions);
	return 0;
}
