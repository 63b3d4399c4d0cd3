// SPDX-License-Identifier: GPL-2.0
/* The memory of the VM, as far as QEMU shares it with us. */
#include <sys/mman.h>

#include "daemon.h"

static struct region regions[MAX_REGIONS];
static unsigned int nr_regions;

bool memory_add(uint64_t guest, uint64_t size, uint64_t user, uint64_t offset, int fd)
{
	struct region *region = &regions[nr_regions];

	if (nr_regions == MAX_REGIONS)
		return false;
	*region = (struct region){
		.guest = guest, .size = size, .user = user, .map_size = size + offset,
	};
	region->map = mmap(NULL, region->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region->map == MAP_FAILED)
		return false;
	region->at = (char *)region->map + offset;
	nr_regions++;
	return true;
}

void memory_clear(void)
{
	while (nr_regions) {
		nr_regions--;
		munmap(regions[nr_regions].map, regions[nr_regions].map_size);
	}
}

static bool within(uint64_t start, uint64_t size, uint64_t addr, uint64_t len)
{
	return addr >= start && addr - start < size && len <= size - (addr - start);
}

void *memory_at(uint64_t guest, uint64_t len)
{
	for (unsigned int i = 0; i < nr_regions; i++)
		if (within(regions[i].guest, regions[i].size, guest, len))
			return regions[i].at + (guest - regions[i].guest);
	return NULL;
}

void *memory_at_user(uint64_t user, uint64_t len)
{
	for (unsigned int i = 0; i < nr_regions; i++)
		if (within(regions[i].user, regions[i].size, user, len))
			return regions[i].at + (user - regions[i].user);
	return NULL;
}
