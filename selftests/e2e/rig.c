// SPDX-License-Identifier: GPL-2.0
/*
 * rig.c - a guest on a disk of its own, with its vhost device as an administrator sees it
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/shell.h"
#include "lib/threads.h"
#include "rig.h"

#define STEP_MS	20

int rig_start_on(struct rig *rig, const struct machine_opts *opts)
{
	int err = machine_start(opts, &rig->m);

	if (!err)
		err = opts->linux_guest ? 0 : machine_wait_count(rig->m, 'B', 1, RIG_START_MS);
	if (!err && !opts->linux_guest)
		err = vctl_dev_of(&rig->v, rig->m->pid, &rig->dev);
	return err;
}

int rig_start(struct rig *rig, const struct machine_opts *opts, unsigned char then)
{
	struct machine_opts on = *opts;
	int err;

	*rig = (struct rig){ 0 };
	err = vctl_open(&rig->v);
	if (!err)
		err = disk_create(then, &rig->target);
	if (err)
		return err;
	on.wwpn = rig->target->wwpn;
	return rig_start_on(rig, &on);
}

static int wait_more(struct rig *rig, char what, unsigned int more)
{
	unsigned int now = machine_count(rig->m, what);
	int err = machine_wait_count(rig->m, what, now + more, more * RIG_ROUND_MS);

	if (!err && machine_count(rig->m, 'X'))
		err = guest_fail(EILSEQ, "guest read something else than is on its disk");
	return err;
}

int rig_wait_rounds(struct rig *rig, unsigned int more)
{
	return wait_more(rig, '.', more);
}

int rig_wait_resets(struct rig *rig, unsigned int more)
{
	return wait_more(rig, 'B', more);
}

int rig_map(struct rig *rig, struct rig_map *map)
{
	struct vctl_worker worker;
	struct vctl_vq vq;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < RIG_VQS; i++) {
		err = vctl_vq_get(&rig->v, rig->dev.id, i, &vq);
		if (!err)
			err = vctl_worker_get(&rig->v, rig->dev.id, vq.worker_id, &worker);
		map->worker[i] = vq.worker_id;
		map->tid[i] = worker.tid;
	}
	return err;
}

unsigned int rig_workers_in(const struct rig_map *map)
{
	unsigned int count = 0, i, j;

	for (i = RIG_FIRST_VQ; i < RIG_VQS; i++) {
		for (j = RIG_FIRST_VQ; j < i && map->worker[j] != map->worker[i]; j++)
			;
		count += j == i;
	}
	return count;
}

int rig_works(struct rig *rig, uint64_t works[RIG_VQS])
{
	struct vctl_vq vq;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < RIG_VQS; i++) {
		err = vctl_vq_get(&rig->v, rig->dev.id, i, &vq);
		works[i] = vq.works;
	}
	return err;
}

int rig_wait_works(struct rig *rig, unsigned int more)
{
	uint64_t first[RIG_VQS], now[RIG_VQS], begun = guest_now_ns();
	unsigned int i;
	int err = rig_works(rig, first);

	for (;;) {
		err = err ?: rig_works(rig, now);
		if (err)
			return err;
		for (i = RIG_FIRST_VQ; i < RIG_VQS && now[i] - first[i] >= more; i++)
			;
		if (i == RIG_VQS)
			return 0;
		if (machine_said(rig->m, RIG_DONE))
			return guest_fail(ENODATA, "the guest's command ended too early");
		if (!guest_left_ms(begun, RIG_ROUND_MS))
			return guest_fail(ETIMEDOUT, "virtqueue %u has done %llu works in %d ms, not %u",
					  i, (unsigned long long)(now[i] - first[i]), RIG_ROUND_MS, more);
		guest_sleep_ms(STEP_MS);
	}
}

int rig_wait_linux(struct rig *rig)
{
	int err = machine_wait_text(rig->m, "guest: up, queues: " TEXT(MACHINE_QUEUES), RIG_LINUX_MS);

	return err ?: vctl_dev_of(&rig->v, rig->m->pid, &rig->dev);
}

static int ctl(const char *line)
{
	char out[SHELL_OUTPUT];
	int code = shell_run(out, sizeof(out), "%s 2>&1", line);

	return code ? guest_fail(EPROTO, "%s: exit code %d: %s", line, code, out) : 0;
}

int rig_spread(struct rig *rig)
{
	struct rig_map map;
	char line[128];
	int err;

	snprintf(line, sizeof(line), "vhost-ctl attach id:%u 2-5=new", rig->dev.id);
	err = ctl(line) ?: rig_map(rig, &map);
	if (!err && rig_workers_in(&map) != MACHINE_QUEUES)
		err = guest_fail(EPROTO, "%u workers after %s", rig_workers_in(&map), line);
	return err ?: threads_wait_count(rig->m->pid, 1 + MACHINE_QUEUES, RIG_GONE_MS);
}

int rig_gather(struct rig *rig)
{
	char line[128];
	int err;

	snprintf(line, sizeof(line), "vhost-ctl attach id:%u all=w0 && vhost-ctl worker del %u unused",
		 rig->dev.id, rig->dev.id);
	err = ctl(line);
	return err ?: threads_wait_count(rig->m->pid, 1, RIG_GONE_MS);
}

int rig_kill(struct rig *rig)
{
	struct vctl_dev dev;
	int err = machine_kill(rig->m, RIG_GONE_MS);

	if (err)
		return err;
	err = threads_wait_count(rig->m->pid, 0, RIG_GONE_MS);
	if (err)
		return err;
	if (!vctl_dev_of(&rig->v, rig->m->pid, &dev))
		return guest_fail(EBUSY, "device %u of killed QEMU is still there", dev.id);
	machine_free(rig->m);
	rig->m = NULL;
	return 0;
}

int rig_end(struct rig *rig)
{
	int err;

	machine_free(rig->m);
	rig->m = NULL;
	err = lio_destroy(rig->target);
	rig->target = NULL;
	vctl_close(&rig->v);
	return err;
}
