// SPDX-License-Identifier: GPL-2.0
/*
 * linux.c - what Linux guests do: fio with verification on all queues, while things happen to them
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "lib/error.h"
#include "lib/shell.h"
#include "lib/threads.h"
#include "linux.h"

#define UP_MS		240000
#define FIO_MS		240000
#define FIO_S		15
#define NEIGHBOUR_FIO_S	30
#define MOVES		3	/* there and back, at least */
#define BETWEEN		4	/* works of each queue between two moves */

/*
 * A job per CPU, and so per queue, each with a part of the disk. What was written is read back and compared
 * after every 32 blocks. Latencies are not taken: clocks are slow under emulation.
 */
#define FIO(seconds) \
	"fio --name=verify --filename=/dev/sda --direct=1 --ioengine=libaio --iodepth=8 --thread " \
	"--numjobs=" TEXT(MACHINE_QUEUES) " --cpus_allowed=0-" TEXT(LAST_CPU) \
	" --cpus_allowed_policy=split --offset_increment=2m --size=2m --rw=randwrite --bs=4k " \
	"--verify=crc32c --verify_backlog=32 --verify_fatal=1 --time_based --runtime=" TEXT(seconds) \
	" --group_reporting --gtod_reduce=1 --disk_util=0 --eta=never"
#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LAST_CPU	3
_Static_assert(LAST_CPU == MACHINE_QUEUES - 1, "a job per CPU");

/* --- steps */

static int wait_up(struct rig *rig)
{
	int err = machine_wait_text(rig->m, "guest: up, queues: " TEXT(MACHINE_QUEUES), UP_MS);

	return err ?: vctl_dev_of(&rig->v, rig->m->pid, &rig->dev);
}

static int wait_fio(struct rig *rig)
{
	int err = machine_wait_text(rig->m, "err= 0", FIO_MS);

	return err ?: machine_wait_text(rig->m, RIG_DONE " 0", FIO_MS);
}

static int comes_up(struct rig *rig)
{
	return wait_up(rig);
}

static int ctl(const char *line)
{
	char out[SHELL_OUTPUT];
	int code = shell_run(out, sizeof(out), "%s 2>&1", line);

	return code ? guest_fail(EPROTO, "%s: exit code %d: %s", line, code, out) : 0;
}

/* Give each I/O queue a worker of its own. */
static int spread(struct rig *rig)
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

static int gather(struct rig *rig)
{
	char line[128];
	int err;

	snprintf(line, sizeof(line), "vhost-ctl attach id:%u all=w0 && vhost-ctl worker del %u unused",
		 rig->dev.id, rig->dev.id);
	err = ctl(line);
	return err ?: threads_wait_count(rig->m->pid, 1, RIG_GONE_MS);
}

static int moves_under_fio(struct rig *rig)
{
	unsigned int moves = 0;
	int err = machine_say(rig->m, FIO(FIO_S));

	err = err ?: rig_wait_works(rig, BETWEEN);
	while (!err) {
		err = spread(rig) ?: rig_wait_works(rig, BETWEEN);
		err = err ?: gather(rig) ?: rig_wait_works(rig, BETWEEN);
		moves += !err;
	}
	printf("# moved there and back %u times\n", moves);
	if (err != -ENODATA)
		return err;
	if (moves < MOVES)
		return guest_fail(ERANGE, "only %u moves there and back while fio ran", moves);
	return wait_fio(rig);
}

static int comes_back_from_reset(struct rig *rig)
{
	struct rig_map before, after;
	int err = gather(rig) ?: spread(rig);

	err = err ?: rig_map(rig, &before);
	err = err ?: machine_say(rig->m, FIO(300));
	err = err ?: rig_wait_works(rig, BETWEEN);
	err = err ?: machine_command(rig->m, "system_reset");
	err = err ?: wait_up(rig);
	err = err ?: rig_map(rig, &after);
	if (!err && memcmp(&before, &after, sizeof(before)))
		err = guest_fail(EPROTO, "the map is another after the reset");
	err = err ?: machine_say(rig->m, FIO(1));
	return err ?: wait_fio(rig);
}

static int each_worker_works(struct rig *rig)
{
	struct vctl_worker before[MACHINE_QUEUES + 1], after[MACHINE_QUEUES + 1];
	int err = machine_say(rig->m, FIO(1)), n, i;

	n = vctl_workers(&rig->v, rig->dev.id, before, MACHINE_QUEUES + 1);
	if (n != MACHINE_QUEUES)
		return guest_fail(EPROTO, "%d workers of QEMU", n);
	err = err ?: wait_fio(rig);
	n = vctl_workers(&rig->v, rig->dev.id, after, MACHINE_QUEUES + 1);
	for (i = 0; !err && i < n; i++)
		if (after[i].works - before[i].works < BETWEEN)
			err = guest_fail(EPROTO, "worker %u did nothing while fio used all queues", i);
	return err;
}

/* Another guest on another disk is reset and killed, while ours verifies. */
static int neighbour_resets_and_dies(struct rig *rig)
{
	struct machine_opts opts = { .qemu = QEMU_DEBIAN };
	struct rig other = { 0 };
	int err = machine_say(rig->m, FIO(NEIGHBOUR_FIO_S));

	err = err ?: rig_wait_works(rig, BETWEEN);
	err = err ?: rig_start(&other, &opts, E2E_RESET);
	err = err ?: rig_wait_resets(&other, 1);
	err = err ?: rig_wait_works(rig, BETWEEN);
	err = err ?: rig_kill(&other);
	if (!err && machine_said(rig->m, RIG_DONE))
		err = guest_fail(ERANGE, "fio ended too early");
	err = err ?: wait_fio(rig);
	if (other.target)
		err = rig_end(&other) ?: err;
	return err;
}

static const struct step debian_steps[] = {
	{ "comes up", comes_up },
	{ "moves under fio", moves_under_fio },
	{ "reset", comes_back_from_reset },
	{ 0 }
};

static const struct step new_steps[] = {
	{ "comes up", comes_up },
	{ "each worker", each_worker_works },
	{ "neighbour", neighbour_resets_and_dies },
	{ 0 }
};

const struct session debian_session = {
	"debian", { .qemu = QEMU_DEBIAN, .linux_guest = true }, debian_steps,
};

const struct session new_session = {
	"new", { .qemu = QEMU_NEW, .own_workers = true, .linux_guest = true }, new_steps,
};

/* --- sessions: "STEP|TEXT" per step that was run, the text empty when it was good */

static void session_path(const struct session *session, char *path, size_t size)
{
	snprintf(path, size, "/tmp/e2e-%s.session", session->name);
}

static void run_steps(const struct session *session, struct rig *rig, FILE *log)
{
	const struct step *step;
	uint64_t begun;
	int err = 0;

	for (step = session->steps; !err && step->name; step++) {
		begun = guest_now_ns();
		err = step->run(rig);
		printf("# %s: %s: %llu s\n", session->name, step->name,
		       (unsigned long long)(guest_now_ns() - begun) / 1000000000);
		fprintf(log, "%s|%s\n", step->name, err ? guest_error() : "");
		fflush(log);
	}
}

static void run_session(const struct session *session, FILE *log)
{
	struct rig rig;
	int err = rig_start(&rig, &session->opts, E2E_ONCE);

	if (err) {
		fprintf(log, "start|%s\n", guest_error());
		fflush(log);
		return;
	}
	run_steps(session, &rig, log);
	if (rig_end(&rig))
		fprintf(log, "end|%s\n", guest_error());
}

int session_step(const struct session *session, const char *name)
{
	char path[64], line[512], last[512] = "nothing";
	size_t len = strlen(name);
	int err = -ENOENT;
	FILE *log;

	session_path(session, path, sizeof(path));
	if (access(path, F_OK)) {
		log = fopen(path, "we");
		if (!log)
			return guest_fail(errno, "create %s", path);
		run_session(session, log);
		fclose(log);
	}
	log = fopen(path, "re");
	while (log && err == -ENOENT && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(last, sizeof(last), "%s", line);
		if (strncmp(line, name, len) || line[len] != '|')
			continue;
		guest_keep(line + len + 1);
		err = line[len + 1] ? -EPROTO : 0;
	}
	if (log)
		fclose(log);
	return err == -ENOENT ? guest_fail(ENOENT, "not reached, because of %s", last) : err;
}
