/* SPDX-License-Identifier: GPL-2.0 */
/* The system's <linux/types.h>, plus the names that only kernel code sees. */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#endif
