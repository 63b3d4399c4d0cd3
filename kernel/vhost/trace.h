/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the vhost worker subsystem.
 *
 * A device is told apart by its address, which is hashed like every pointer
 * that a trace shows; the same device has the same value in all events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vhost

#if !defined(_VHOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VHOST_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(vhost_worker,
	TP_PROTO(const struct vhost_worker *worker),
	TP_ARGS(worker),
	TP_STRUCT__entry(
		__field(const void *, dev)
		__field(u32, id)
		__field(unsigned int, attached)
	),
	TP_fast_assign(
		__entry->dev = worker->dev;
		__entry->id = worker->id;
		__entry->attached = worker->attached;
	),
	TP_printk("dev=%p worker=%u attached=%u",
		  __entry->dev, __entry->id, __entry->attached)
);

/* A worker became visible. */
DEFINE_EVENT(vhost_worker, vhost_worker_create,
	TP_PROTO(const struct vhost_worker *worker),
	TP_ARGS(worker)
);

/* A worker was taken out of the set, its work done; its thread ends next. */
DEFINE_EVENT(vhost_worker, vhost_worker_free,
	TP_PROTO(const struct vhost_worker *worker),
	TP_ARGS(worker)
);

/* A worker's process was killed; attached: how many virtqueues lost it. */
DEFINE_EVENT(vhost_worker, vhost_worker_kill,
	TP_PROTO(const struct vhost_worker *worker),
	TP_ARGS(worker)
);

/* A worker ran all that was on its list. */
TRACE_EVENT(vhost_worker_run,
	TP_PROTO(const struct vhost_worker *worker, unsigned int works),
	TP_ARGS(worker, works),
	TP_STRUCT__entry(
		__field(const void *, dev)
		__field(u32, id)
		__field(unsigned int, works)
	),
	TP_fast_assign(
		__entry->dev = worker->dev;
		__entry->id = worker->id;
		__entry->works = works;
	),
	TP_printk("dev=%p worker=%u works=%u",
		  __entry->dev, __entry->id, __entry->works)
);

/* A virtqueue moved to a worker; from: -1 if it had none. */
TRACE_EVENT(vhost_vq_attach,
	TP_PROTO(const struct vhost_dev *dev, u32 vq, s64 from, u32 to),
	TP_ARGS(dev, vq, from, to),
	TP_STRUCT__entry(
		__field(const void *, dev)
		__field(s64, from)
		__field(u32, vq)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->from = from;
		__entry->vq = vq;
		__entry->to = to;
	),
	TP_printk("dev=%p vq=%u from=%lld to=%u",
		  __entry->dev, __entry->vq, __entry->from, __entry->to)
);

#endif /* _VHOST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
