// SPDX-License-Identifier: GPL-2.0
/*
 * The field tables of what the kernel tells: the attribute sets of the netlink
 * family in the family's order, names and words.
 */
#include "objects.h"

#define DEV(member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = VHOST_A_DEV_##attr_, .kind = kind_, \
	  .offset = offsetof(struct dev, member_), .help = help_ }

static const struct field dev_fields[] = {
	DEV(id, ID, FIELD_U32, "number of the device; not used again"),
	DEV(backend, BACKEND, FIELD_TEXT, "its driver: scsi, net, vsock or test"),
	DEV(owner_pid, OWNER_PID, FIELD_U32, "process that owns it, 0 if not visible or gone"),
	DEV(owner_comm, OWNER_COMM, FIELD_TEXT, "name of that process"),
	DEV(thread_kind, THREAD_KIND, FIELD_THREAD_KIND, "what its workers are: kthread or task"),
	DEV(vqs, VQS, FIELD_U32, "number of virtqueues"),
	DEV(vqs_used, VQS_USED, FIELD_U32, "number of virtqueues in use"),
	DEV(workers, WORKERS, FIELD_U32, "number of workers"),
	DEV(max_workers, MAX_WORKERS, FIELD_U32, "most workers that it may have"),
	DEV(wwpn, WWPN, FIELD_TEXT, "name of the vhost-scsi target while the endpoint is set"),
	DEV(policy, POLICY, FIELD_TEXT, "by what its virtqueues got their workers, or explicit"),
	DEV(policy_failed, POLICY_FAILED, FIELD_U32, "workers of the policy that could not be made"),
	{ 0 },
};

#define WORKER(member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = VHOST_A_WORKER_##attr_, .kind = kind_, \
	  .offset = offsetof(struct worker, member_), .help = help_ }
#define WORKER_INTERNAL(member_, attr_, kind_) \
	{ .name = #member_, .attr = VHOST_A_WORKER_##attr_, .kind = kind_, \
	  .offset = offsetof(struct worker, member_), .internal = true }

static const struct field worker_fields[] = {
	WORKER(dev_id, DEV_ID, FIELD_U32, "number of the device"),
	WORKER(id, ID, FIELD_U32, "number of the worker in its device"),
	WORKER(tid, TID, FIELD_U32, "its thread, 0 if not visible or not running yet"),
	WORKER(thread_kind, THREAD_KIND, FIELD_THREAD_KIND, "what the thread is: kthread or task"),
	WORKER(cpus, CPUS, FIELD_TEXT, "CPUs that the thread may run on"),
	WORKER(vqs, VQS, FIELD_RANGES, "virtqueues that it serves"),
	{ .name = "killed", .attr = VHOST_A_WORKER_KILLED, .kind = FIELD_FLAG,
	  .help = "its process was killed; it serves nothing any more" },
	WORKER(works, WORKS, FIELD_U64, "pieces of work that it ran"),
	WORKER(runs, RUNS, FIELD_U64, "how often it emptied its list of work"),
	WORKER(wakeups, WAKEUPS, FIELD_U64, "how often it found work after it had slept"),
	WORKER(busy_ns, BUSY_NS, FIELD_U64, "nanoseconds that runs took, sleep included"),
	WORKER(longest_run_ns, LONGEST_RUN_NS, FIELD_U64, "longest run in nanoseconds"),
	WORKER_INTERNAL(count, COUNT, FIELD_U32),
	WORKER_INTERNAL(new_id, NEW_ID, FIELD_LIST),
	{ .name = "owner_pid", .attr = WORKER_OWNER_PID, .kind = FIELD_U32, .computed = true,
	  .offset = offsetof(struct worker, owner_pid),
	  .help = "process that owns the device, 0 if it is not visible or gone" },
	{ .name = "owner_comm", .attr = WORKER_OWNER_COMM, .kind = FIELD_TEXT, .computed = true,
	  .offset = offsetof(struct worker, owner_comm), .help = "name of that process" },
	{ 0 },
};

#define VQ(member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = VHOST_A_VQ_##attr_, .kind = kind_, \
	  .offset = offsetof(struct vq, member_), .help = help_ }

static const struct field vq_fields[] = {
	VQ(dev_id, DEV_ID, FIELD_U32, "number of the device"),
	VQ(index, INDEX, FIELD_U32, "number of the virtqueue in its device"),
	VQ(worker_id, WORKER_ID, FIELD_U32, "worker that serves it, if any"),
	{ .name = "used", .attr = VHOST_A_VQ_USED, .kind = FIELD_FLAG,
	  .help = "it has a kick eventfd or a backend" },
	VQ(kicks, KICKS, FIELD_U64, "how often the guest's kicks arrived"),
	VQ(works, WORKS, FIELD_U64, "pieces of work that were queued for it"),
	{ 0 },
};

#define ENTRY(member_, attr_, help_) \
	{ .name = #member_, .attr = VHOST_A_ENTRY_##attr_, .kind = FIELD_U32, \
	  .offset = offsetof(struct entry, member_), .help = help_ }

static const struct field entry_fields[] = {
	ENTRY(vq, VQ, "number of the virtqueue in its device"),
	ENTRY(worker_id, WORKER_ID, "worker that serves it"),
	ENTRY(new_worker, NEW_WORKER, "which of the new workers serves it"),
	{ 0 },
};

static const struct field map_fields[] = {
	{ .name = "dev_id", .attr = VHOST_A_MAP_DEV_ID, .kind = FIELD_U32,
	  .offset = offsetof(struct map, dev_id), .help = "number of the device" },
	{ .name = "entry", .attr = VHOST_A_MAP_ENTRY, .kind = FIELD_ROWS, .nest = &entry_object,
	  .offset = offsetof(struct map, entry), .help = "virtqueues and their workers" },
	{ .name = "new_id", .attr = VHOST_A_MAP_NEW_ID, .kind = FIELD_LIST,
	  .offset = offsetof(struct map, new_id), .internal = true },
	{ 0 },
};

#define POLICY(member_, attr_, kind_, help_) \
	{ .name = #member_, .attr = VHOST_A_POLICY_##attr_, .kind = kind_, \
	  .offset = offsetof(struct policy, member_), .help = help_ }

static const struct field policy_fields[] = {
	POLICY(kind, KIND, FIELD_POLICY_KIND, "single, per-vq, per-cpu or count"),
	POLICY(count, COUNT, FIELD_U32, "how many workers, if the kind is count"),
	{ 0 },
};

const struct object dev_object = { "devs", sizeof(struct dev), dev_fields };
const struct object worker_object = { "workers", sizeof(struct worker), worker_fields };
const struct object vq_object = { "vqs", sizeof(struct vq), vq_fields };
const struct object entry_object = { "entries", sizeof(struct entry), entry_fields };
const struct object map_object = { "maps", sizeof(struct map), map_fields };
const struct object policy_object = { "policies", sizeof(struct policy), policy_fields };
