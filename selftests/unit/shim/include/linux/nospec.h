/* SPDX-License-Identifier: GPL-2.0 */
/* Speculation is not modelled; a missing bounds check before it is found. */
#ifndef _SHIM_LINUX_NOSPEC_H
#define _SHIM_LINUX_NOSPEC_H

#include <linux/compiler.h>

#define array_index_nospec(index, size) ({				\
	if ((unsigned long)(index) >= (unsigned long)(size))		\
		shim_bug("index %lu of %lu", (unsigned long)(index),	\
			 (unsigned long)(size));			\
	index;								\
})

#endif
