/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the vhost-user-fs daemon: protocol, rings, file system. */
#ifndef DAEMON_H
#define DAEMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <linux/virtio_ring.h>

#define MAX_QUEUES	65	/* hiprio and 64 for requests */
#define MAX_REGIONS	8
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* memory.c: the memory of the VM */
struct region {
	uint64_t guest, size, user;	/* address in the VM, length, address in QEMU */
	char *at;			/* here */
	void *map;
	size_t map_size;
};

bool memory_add(uint64_t guest, uint64_t size, uint64_t user, uint64_t offset, int fd);
void memory_clear(void);
/* NULL unless all of it is in one region */
void *memory_at(uint64_t guest, uint64_t len);
void *memory_at_user(uint64_t user, uint64_t len);

/* ring.c: a virtqueue and its thread */
struct ring {
	unsigned int index;
	unsigned int num;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	uint16_t last_avail;
	int kick, call;
	bool running;
	int stop;			/* eventfd, ends the thread */
	pthread_t thread;
};

void ring_init(struct ring *ring, unsigned int index);
/* From now on every request takes so long. */
void ring_set_delay(unsigned int ms);
/* Requests of each queue so far: text, a number and a space for each. */
int ring_counts(char *buf, size_t size);
bool ring_start(struct ring *ring);
void ring_stop(struct ring *ring);

/* fuse.c: one request to libfuse; returns the bytes of the answer that is now in reply */
size_t fuse_request(const struct iovec *request, int nr_request,
		    const struct iovec *reply, int nr_reply);

/* files.c: the file system, all in memory and without directories */
struct fuse_lowlevel_ops;
extern const struct fuse_lowlevel_ops files_ops;
extern __thread bool files_dying;	/* end when this thread's request is answered */

/* monitor.c: who may be told something, then tell it: 0 or an errno */
void monitor_set(const char *path);
int monitor_tell(const char *command, size_t len);

/* server.c: talk vhost-user on a connection until that ends */
struct server {
	unsigned int nr_queues;		/* with hiprio */
	int refused;			/* index of a queue that is not started, or -1 */
};

void serve(int fd, const struct server *server);

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
