/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kicks.h - virtqueues that come into use, and the workers that they have then
 */
#ifndef GUEST_KICKS_H
#define GUEST_KICKS_H

#include <stdint.h>

/* Give virtqueue @vq of a device a new kick eventfd, or take it away: 0 or what the kernel answered. */
int kicks_give(int fd, uint32_t vq);
int kicks_take(int fd, uint32_t vq);

/* The same for those from @first to @last; stops at an error. */
int kicks_give_range(int fd, uint32_t first, uint32_t last);

/* 0 if virtqueue @first and those behind it have the workers in @map, @n of them. */
int kicks_expect_map(int fd, uint32_t first, const uint32_t *map, unsigned int n);

/* 0 if each of those has a worker of its own, which is not the first one. */
int kicks_expect_own(int fd, uint32_t first, uint32_t last);

#endif /* GUEST_KICKS_H */
