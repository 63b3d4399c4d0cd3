/* SPDX-License-Identifier: GPL-2.0 */
/* static_assert() whose message is the condition. */
#undef static_assert
#define static_assert(cond)	_Static_assert(cond, #cond)
