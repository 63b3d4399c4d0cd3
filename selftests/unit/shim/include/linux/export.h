/* SPDX-License-Identifier: GPL-2.0 */
/* One program: nothing to export. */
#define EXPORT_SYMBOL_GPL(name)	extern typeof(name) name
