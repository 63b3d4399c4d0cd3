// SPDX-License-Identifier: GPL-2.0
/*
 * storm.c - threads that do one thing again and again, with a watchdog
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "put.h"
#include "storm.h"
#include "vdev.h"

#define STEP_MS		20
#define NS_PER_MS	1000000ULL
#define SLOW_RUNS	4	/* a run is over by then, done or not */

static void *storm_main(void *arg)
{
	struct storm *s = arg;
	int err = 0;

	while (!err && !__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&s->began_ns, guest_now_ns(), __ATOMIC_RELAXED);
		err = s->round(s);
		__atomic_add_fetch(&s->rounds, 1, __ATOMIC_RELAXED);
	}
	if (err)
		snprintf(s->text, sizeof(s->text), "%s", guest_error());
	s->error = err;
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int storm_start(struct storm *s)
{
	int err;

	s->seed = s->seed ?: 1;
	s->began_ns = guest_now_ns();
	err = pthread_create(&s->thread, NULL, storm_main, s);
	if (err)
		return guest_fail(err, "thread for %s", s->name);
	s->started = true;
	return 0;
}

static int check_one(const struct storm *s, uint64_t now_ns, unsigned int stall_ms)
{
	uint64_t began_ns = __atomic_load_n(&s->began_ns, __ATOMIC_RELAXED);

	if (!s->started)
		return 0;
	if (__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE))
		return s->error ? guest_fail(s->error, "%s, round %llu: %s", s->name,
					     (unsigned long long)s->rounds, s->text) : 0;
	if (now_ns > began_ns && now_ns - began_ns > stall_ms * NS_PER_MS)
		return guest_fail(ETIMEDOUT, "%s hangs in round %llu", s->name,
				  (unsigned long long)storm_rounds(s));
	return 0;
}

int storm_check(const struct storm *storms, unsigned int n, unsigned int stall_ms)
{
	uint64_t now_ns = guest_now_ns();
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = check_one(&storms[i], now_ns, stall_ms);
	return err;
}

static bool all_ended(const struct storm *storms, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (storms[i].started && !__atomic_load_n(&storms[i].ended, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

int storm_stop(struct storm *storms, unsigned int n, unsigned int stall_ms)
{
	unsigned int i;
	int err;

	for (i = 0; i < n; i++)
		__atomic_store_n(&storms[i].stop, true, __ATOMIC_RELAXED);
	while (!all_ended(storms, n)) {
		err = storm_check(storms, n, stall_ms);
		if (err == -ETIMEDOUT)
			return err;
		guest_sleep_ms(STEP_MS);
	}
	err = storm_check(storms, n, stall_ms);
	for (i = 0; i < n; i++)
		if (storms[i].started)
			pthread_join(storms[i].thread, NULL);
	return err;
}

struct load_watch {
	struct load *load;
	uint64_t completed, since_ns;
};

static int check_load(struct load_watch *watch, unsigned int stall_ms)
{
	uint64_t now_ns = guest_now_ns(), completed;

	if (!watch->load)
		return 0;
	completed = load_completed(watch->load);
	if (completed != watch->completed || !watch->since_ns) {
		watch->completed = completed;
		watch->since_ns = now_ns;
	}
	if (now_ns - watch->since_ns <= stall_ms * NS_PER_MS)
		return 0;
	return guest_fail(ETIMEDOUT, "the load stands still at %llu requests",
			  (unsigned long long)completed);
}

static const struct storm *behind(const struct storm *storms, unsigned int n)
{
	while (n--)
		if (storm_rounds(&storms[n]) < storms[n].least)
			return &storms[n];
	return NULL;
}

/* 1 when the run may end, 0 when it goes on, -ETIME when it has taken too long. */
static int is_over(const struct storm *storms, unsigned int n, uint64_t start_ns, int run_ms)
{
	const struct storm *late;

	if (guest_left_ms(start_ns, run_ms))
		return 0;
	late = behind(storms, n);
	if (!late)
		return 1;
	if (guest_left_ms(start_ns, guest_patience(SLOW_RUNS * run_ms)))
		return 0;
	return guest_fail(ETIME, "%s did %llu rounds and not %llu", late->name,
			  (unsigned long long)storm_rounds(late), (unsigned long long)late->least);
}

int storm_run(struct storm *storms, unsigned int n, unsigned int run_ms, unsigned int stall_ms,
	      struct load *load)
{
	struct load_watch watch = { .load = load };
	uint64_t start_ns = guest_now_ns();
	unsigned int i;
	int err = 0, stopped;
	char text[200];

	for (i = 0; i < n && !err; i++)
		err = storm_start(&storms[i]);
	while (!err) {
		guest_sleep_ms(STEP_MS);
		err = storm_check(storms, n, stall_ms) ?: check_load(&watch, stall_ms) ?:
		      is_over(storms, n, start_ns, run_ms);
	}
	if (err == -ETIMEDOUT)
		return err;
	snprintf(text, sizeof(text), "%s", guest_error());
	stopped = storm_stop(storms, n, stall_ms);
	if (err > 0)
		return stopped;
	guest_keep(text);
	return err;
}

uint32_t storm_random(struct storm *s, uint32_t below)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 17;
	s->seed ^= s->seed << 5;
	return s->seed % below;
}

uint64_t storm_rounds(const struct storm *s)
{
	return __atomic_load_n(&s->rounds, __ATOMIC_RELAXED);
}

int swap_round(struct storm *s)
{
	const struct swap_map *map = s->arg;

	return vdev_attach_worker(map->fd, map->vqs[storm_random(s, map->nr_vqs)],
				  map->workers[storm_random(s, map->nr_workers)]);
}

int swap_make_workers(struct swap_map *map, unsigned int count)
{
	int err = 0;

	if (!map->nr_workers)
		map->workers[map->nr_workers++] = 0;
	while (map->nr_workers < count && !err) {
		err = vdev_new_worker(map->fd, &map->workers[map->nr_workers]);
		if (!err)
			map->nr_workers++;
	}
	return err;
}

int reset_round(struct storm *s)
{
	const struct reset_map *map = s->arg;
	uint8_t response = 0;
	int err;

	if (map->load)
		load_reset_begin(map->load);
	err = vscsi_tmf(map->dev, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET, VSCSI_TARGET, map->lun, 0, 0,
			&response);
	if (map->load)
		load_reset_end(map->load);
	if (!err && response != VIRTIO_SCSI_S_FUNCTION_SUCCEEDED)
		err = guest_fail(EIO, "LUN RESET answered %u", response);
	return err;
}

int flush_round(struct storm *s)
{
	const struct vscsi *dev = s->arg;
	int none = -1;

	if (ioctl(dev->fd, VHOST_SET_LOG_FD, &none))
		return guest_fail(errno, "VHOST_SET_LOG_FD");
	return 0;
}

int storm_expedite(bool on)
{
	return put_text("/sys/kernel/rcu_expedited", on ? "1" : "0");
}

/* Threads below @base whose name is one of a worker. */
static int count_in(const char *base)
{
	struct dirent *entry;
	char path[320], comm[64];
	DIR *dir = opendir(base);
	int count = 0;

	if (!dir)
		return guest_fail(errno, "read %s", base);
	while ((entry = readdir(dir))) {
		if (!isdigit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%s/comm", base, entry->d_name);
		if (!put_read(path, comm, sizeof(comm)) && !strncmp(comm, "vhost-", 6))
			count++;
	}
	closedir(dir);
	return count;
}

int storm_count_threads(void)
{
	int kthreads = count_in("/proc"), tasks;

	if (kthreads < 0)
		return kthreads;
	tasks = count_in("/proc/self/task");
	return tasks < 0 ? tasks : kthreads + tasks;
}

int storm_wait_threads(int count, int timeout_ms)
{
	uint64_t start_ns = guest_now_ns();
	int found;

	for (;;) {
		found = storm_count_threads();
		if (found < 0 || found == count)
			return found < 0 ? found : 0;
		if (!guest_left_ms(start_ns, timeout_ms))
			return guest_fail(ETIMEDOUT, "%d worker threads instead of %d", found, count);
		guest_sleep_ms(STEP_MS);
	}
}

int64_t storm_cpu_ns(pid_t tid)
{
	char path[48], buf[128];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	err = put_read(path, buf, sizeof(buf));
	return err ?: strtoll(buf, NULL, 10);
}

int storm_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return guest_fail(errno, "open /dev/kmsg");
	lseek(fd, 0, SEEK_END);
	return fd;
}

int storm_log_lines(int fd)
{
	return storm_log_count(fd, "");
}

int storm_log_count(int fd, const char *words)
{
	char line[8192];
	int count = 0;
	ssize_t n;

	do {
		n = read(fd, line, sizeof(line) - 1);
		if (n > 0) {
			line[n] = 0;
			count += !!strstr(line, words);
		}
	} while (n > 0 || (n < 0 && errno == EPIPE));
	return count;
}
