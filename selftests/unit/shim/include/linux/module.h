/* SPDX-License-Identifier: GPL-2.0 */
/* One program: a module says nothing of itself. */
#include <linux/export.h>

#define MODULE_LICENSE(text)		_Static_assert(sizeof(text) > 1, "")
#define MODULE_DESCRIPTION(text)	_Static_assert(sizeof(text) > 1, "")
