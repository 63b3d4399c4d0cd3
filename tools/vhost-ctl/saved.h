/* SPDX-License-Identifier: GPL-2.0 */
/*
 * saved.h - the file of save and restore: the map and the pinning of a device as JSON
 *
 *	{ "version": 1, "backend": "scsi", "wwpn": "naa.5001405..." or null,
 *	  "workers": [ { "id": 0, "cpus": "0-1" or null, "vqs": [ 0, 1, 2 ] }, ... ] }
 *
 * Null for CPUs: the worker may run wherever its owner may. A worker serves at least one virtqueue.
 */
#ifndef VHOST_CTL_SAVED_H
#define VHOST_CTL_SAVED_H

#include "record.h"

#define SAVED_VERSION 1

struct saved_worker {
	struct record rec;
	uint32_t id;		/* that it had */
	char *cpus;		/* or NULL */
	struct list vqs;
};

struct saved {
	const char *file;	/* for messages */
	char *backend;
	char *wwpn;		/* or NULL */
	struct rows workers;	/* struct saved_worker */
};

/* Read and check the file @name, "-" for stdin: 0 or EXIT_USAGE, told with the key at fault. */
int saved_read(const char *name, struct saved *saved);
/* Print it: 0 or an exit code. */
int saved_write(const struct saved *saved);

void saved_init(struct saved *saved);
void saved_free(struct saved *saved);

#endif /* VHOST_CTL_SAVED_H */
