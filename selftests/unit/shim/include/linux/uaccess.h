/* SPDX-License-Identifier: GPL-2.0 */
/* Copies from and to user space; return the number of bytes not copied. */
#ifndef _SHIM_LINUX_UACCESS_H
#define _SHIM_LINUX_UACCESS_H

#include <linux/compiler.h>

unsigned long copy_from_user(void *to, const void __user *from, size_t n);
unsigned long copy_to_user(void __user *to, const void *from, size_t n);

#endif
