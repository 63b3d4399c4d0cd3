/* SPDX-License-Identifier: GPL-2.0 */
/*
 * put.h - a word is written into a file of the kernel's, or read from it
 */
#ifndef GUEST_PUT_H
#define GUEST_PUT_H

#include <stddef.h>

/* 0, or what open() or write() answered. */
int put_text(const char *path, const char *text);

/* The first line of what is there, without its end. */
int put_read(const char *path, char *text, size_t size);

/* max_workers of the vhost module. */
#define PUT_MAX_WORKERS	"/sys/module/vhost/parameters/max_workers"

/* default_workers of it: the default policy. */
#define PUT_DEFAULT_WORKERS	"/sys/module/vhost/parameters/default_workers"

/*
 * Off for tests that trace: with it, every start and end of tracing changes the code of the scheduler, in
 * which idle CPUs are, and a CPU that is emulated can be lost in there.
 */
#define PUT_TRACE_COMMANDS	"/sys/kernel/tracing/options/record-cmd"

#endif /* GUEST_PUT_H */
