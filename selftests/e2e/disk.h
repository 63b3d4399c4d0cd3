/* SPDX-License-Identifier: GPL-2.0 */
/*
 * disk.h - what is on the disk of a guest
 */
#ifndef E2E_DISK_H
#define E2E_DISK_H

#include "lib/lio.h"

/* Write the boot sector, with this byte for what it does after a round, and the sectors it reads to a file. */
int disk_write(const char *path, unsigned char then);

/* A target whose LUN is a file with that; it goes on every exit. */
int disk_create(unsigned char then, struct lio **target);

/* Spoil a sector, so that a guest which checks it has to complain. */
int disk_spoil(const struct lio *target, unsigned int sector);

#endif /* E2E_DISK_H */
