/* SPDX-License-Identifier: GPL-2.0 */
/* The log: counted, so that a test can tell whether something was said. */
#ifndef _SHIM_LINUX_PRINTK_H
#define _SHIM_LINUX_PRINTK_H

__attribute__((format(printf, 1, 2))) void shim_warn(const char *fmt, ...);
unsigned int shim_warnings(void);

#define pr_warn_ratelimited	shim_warn

#endif
