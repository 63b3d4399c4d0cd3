/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint counts how often it was passed. */
#ifndef _SHIM_LINUX_TRACEPOINT_H
#define _SHIM_LINUX_TRACEPOINT_H

#include <shim.h>

#define TP_PROTO(args...)	args
#define TP_ARGS(args...)
#define TP_STRUCT__entry(args...)
#define TP_fast_assign(args...)
#define TP_printk(args...)

#define DECLARE_EVENT_CLASS(name, proto, args, fields, assign, print)

#define DEFINE_EVENT(class, name, proto, args)				\
static inline __attribute__((unused)) void trace_##name(proto)		\
{									\
	shim_trace(#name);						\
}

#define TRACE_EVENT(name, proto, args, fields, assign, print)		\
	DEFINE_EVENT(, name, TP_PROTO(proto), )

#endif
