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
#include "linux.h"

#define FIO_MS		240000
#define FIO_S		15
#define NEIGHBOUR_FIO_S	30
#define RUN_MS		5000
#define MOVES		3	/* there and back, at least */
#define BETWEEN		4	/* works of each queue between two moves */

/*
 * A job per CPU, and so per queue, each with a part of the disk. What was written is read back and compared.
 * Latencies are not taken: clocks are slow under emulation.
 */
#define FIO_ON_ALL_QUEUES \
	"fio --name=verify --filename=/dev/sda --direct=1 --ioengine=libaio --thread " \
	"--numjobs=" TEXT(MACHINE_QUEUES) " --cpus_allowed=0-" TEXT(LAST_CPU) \
	" --cpus_allowed_policy=split --offset_increment=2m --rw=randwrite --bs=4k " \
	"--verify=crc32c --verify_fatal=1 --group_reporting --gtod_reduce=1 --disk_util=0 --eta=never"
/* For some time, with comparing after every 32 blocks. */
#define FIO(seconds) \
	FIO_ON_ALL_QUEUES " --iodepth=8 --size=2m --verify_backlog=32 --time_based --runtime=" TEXT(seconds)
/* So many requests of each queue, half of them writes, one at a time. */
#define REQUESTS	64
#define FIO_REQUESTS	FIO_ON_ALL_QUEUES " --iodepth=1 --size=128k"
#define WORKS_OF_REQUEST	2	/* at least: its kick, and its completion */
#define LAST_CPU	3
_Static_assert(LAST_CPU == MACHINE_QUEUES - 1, "a job per CPU");

/* --- steps */

static int wait_fio(struct rig *rig)
{
	int err = machine_wait_text(rig->m, "err= 0", FIO_MS);

	return err ?: machine_wait_text(rig->m, RIG_DONE " 0", FIO_MS);
}

static int moves_under_fio(struct rig *rig)
{
	unsigned int moves = 0;
	int err = machine_say(rig->m, FIO(FIO_S));

	err = err ?: rig_wait_works(rig, BETWEEN);
	while (!err) {
		err = rig_spread(rig) ?: rig_wait_works(rig, BETWEEN);
		err = err ?: rig_gather(rig) ?: rig_wait_works(rig, BETWEEN);
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
	int err = rig_gather(rig) ?: rig_spread(rig);

	err = err ?: rig_map(rig, &before);
	err = err ?: machine_say(rig->m, FIO(300));
	err = err ?: rig_wait_works(rig, BETWEEN);
	err = err ?: machine_command(rig->m, "system_reset");
	err = err ?: rig_wait_linux(rig);
	err = err ?: rig_map(rig, &after);
	if (!err && memcmp(&before, &after, sizeof(before)))
		err = guest_fail(EPROTO, "the map is another after the reset");
	err = err ?: machine_say(rig->m, FIO_REQUESTS);
	return err ?: wait_fio(rig);
}

/* Works that the worker of each I/O queue has run. */
static int works_run(struct rig *rig, const struct rig_map *map, uint64_t run[RIG_VQS])
{
	struct vctl_worker worker;
	unsigned int i;
	int err = 0;

	for (i = RIG_FIRST_VQ; !err && i < RIG_VQS; i++) {
		err = vctl_worker_get(&rig->v, rig->dev.id, map->worker[i], &worker);
		run[i] = worker.works;
	}
	return err;
}

/* A worker says what it has run after it has run it, and so maybe after the guest's fio has ended. */
static int wait_run(struct rig *rig, const struct rig_map *map, unsigned int vq, uint64_t least)
{
	uint64_t run[RIG_VQS], begun = guest_now_ns();
	int err;

	for (;;) {
		err = works_run(rig, map, run);
		if (err || run[vq] >= least)
			return err;
		if (!guest_left_ms(begun, RUN_MS))
			return guest_fail(EPROTO, "worker %u has run %llu works, %llu short of what was queued",
					  map->worker[vq], (unsigned long long)run[vq],
					  (unsigned long long)(least - run[vq]));
		guest_sleep_ms(20);
	}
}

/*
 * What is queued for a virtqueue is counted there, what is run by the worker: known numbers of requests must
 * make at least so many works of each queue, and each worker must have run all works of its queues.
 */
static int each_worker_works(struct rig *rig)
{
	uint64_t before[RIG_VQS], after[RIG_VQS], run[RIG_VQS], queued;
	struct rig_map map;
	unsigned int i, j;
	int err = rig_map(rig, &map);

	if (!err && rig_workers_in(&map) != MACHINE_QUEUES)
		err = guest_fail(EPROTO, "%u workers of QEMU", rig_workers_in(&map));
	err = err ?: works_run(rig, &map, run);
	err = err ?: rig_works(rig, before);
	err = err ?: machine_say(rig->m, FIO_REQUESTS);
	err = err ?: wait_fio(rig);
	err = err ?: rig_works(rig, after);
	for (i = RIG_FIRST_VQ; !err && i < RIG_VQS; i++) {
		for (queued = 0, j = 0; j < RIG_VQS; j++)
			queued += map.worker[j] == map.worker[i] ? after[j] - before[j] : 0;
		printf("# virtqueue %u: %llu works for %u requests\n", i,
		       (unsigned long long)(after[i] - before[i]), REQUESTS);
		if (after[i] - before[i] < WORKS_OF_REQUEST * REQUESTS)
			err = guest_fail(EPROTO, "virtqueue %u: %llu works for %u requests", i,
					 (unsigned long long)(after[i] - before[i]), REQUESTS);
		err = err ?: wait_run(rig, &map, i, run[i] + queued);
	}
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
	{ "comes up", rig_wait_linux },
	{ "moves under fio", moves_under_fio },
	{ "reset", comes_back_from_reset },
	{ 0 }
};

static const struct step new_steps[] = {
	{ "comes up", rig_wait_linux },
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
