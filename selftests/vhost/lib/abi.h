/* SPDX-License-Identifier: GPL-2.0 */
/*
 * abi.h - the vhost uAPI with the worker ioctls, whatever the age of the system's own headers
 */
#ifndef GUEST_ABI_H
#define GUEST_ABI_H

#include <linux/types.h>
#include <linux/vhost.h>
#include <linux/vhost_worker.h>

#endif /* GUEST_ABI_H */
