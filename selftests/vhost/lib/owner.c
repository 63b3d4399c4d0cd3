// SPDX-License-Identifier: GPL-2.0
/*
 * owner.c - a process that owns a vhost-scsi device and knows nothing of workers
 */
#include <errno.h>

#include "error.h"
#include "load.h"
#include "owner.h"

#define DEPTH		4
#define STALL_MS	guest_patience(9000)

int owner_open(struct proc *me, const struct owner *owner, struct vscsi **dev)
{
	struct vscsi_opts opts = {
		.queues = OWNER_QUEUES, .ring_size = OWNER_RING, .thread = owner->thread,
	};
	int err;

	proc_step(me, "the owner opens its device");
	err = vscsi_open(&opts, dev) ?: vscsi_setup_queues(*dev);
	if (!err)
		me->page->word[OWNER_FD] = (*dev)->fd;
	return err;
}

int owner_holds(struct proc *me, void *arg)
{
	const struct owner *owner = arg;
	unsigned int i = 0;
	int fd;

	proc_step(me, "the owner opens its devices");
	do {
		fd = vdev_open_thread(VDEV_SCSI, owner->thread);
		if (fd < 0 || vdev_set_owner(fd))
			return guest_fail(errno, "device %u: %s", i, guest_error());
	} while (++i < owner->devices);
	me->page->word[OWNER_FD] = fd;
	proc_pause(me);
}

int owner_does_io(struct proc *me, void *arg)
{
	const struct owner *owner = arg;
	struct load_opts opts = { .depth = DEPTH, .blocks = 2, .stall_ms = STALL_MS };
	struct load_stats stats = { 0 };
	struct load *load;
	int err;

	err = owner_open(me, owner, &opts.dev) ?: vscsi_set_endpoint(opts.dev, owner->wwpn) ?:
	      load_start(&opts, &load);
	if (err)
		return err;
	proc_step(me, "the owner does I/O");
	proc_ready(me);
	while (!__atomic_load_n(&me->page->word[OWNER_STOP], __ATOMIC_ACQUIRE)) {
		guest_sleep_ms(5);
		__atomic_store_n(&me->page->progress, OWNER_QUEUES * load_completed_by_each(load),
				 __ATOMIC_RELEASE);
	}
	proc_step(me, "the owner ends its I/O");
	load_stop(load);
	err = load_wait(load, &stats);
	me->page->word[OWNER_VERIFIED] = stats.verified;
	me->page->word[OWNER_LATENCY_MS] = stats.latency_max_ns / 1000000;
	if (!err && stats.submitted != stats.completed)
		err = guest_fail(EIO, "%llu requests are missing",
				 (unsigned long long)(stats.submitted - stats.completed));
	vscsi_stop(opts.dev);
	return err;
}

int owner_stop_io(struct proc *proc)
{
	__atomic_store_n(&proc->page->word[OWNER_STOP], 1, __ATOMIC_RELEASE);
	return proc_wait(proc, OWNER_MS);
}

int owner_start(proc_fn fn, struct owner *owner, struct vctl *v, struct proc **proc,
		struct vctl_dev *dev)
{
	int err = proc_start(fn, owner, proc);

	return err ?: proc_wait_ready(*proc, OWNER_MS) ?: vctl_dev_of(v, (*proc)->pid, dev);
}
