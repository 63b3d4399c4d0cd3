/* SPDX-License-Identifier: GPL-2.0 */
/* References to tasks: see shim.h. */
#include <linux/sched.h>
