/* SPDX-License-Identifier: GPL-2.0 */
/* min() and its like are with the rest of the arithmetic. */
#include <linux/kernel.h>
