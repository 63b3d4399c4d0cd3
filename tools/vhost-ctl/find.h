/* SPDX-License-Identifier: GPL-2.0 */
/*
 * find.h - read objects from the kernel, and find the device that an argument means
 *
 * Functions give 0 or the exit code, after they have told why on stderr.
 */
#ifndef VHOST_CTL_FIND_H
#define VHOST_CTL_FIND_H

#include "args.h"
#include "nl.h"
#include "objects.h"

#define EVERY_DEV UINT32_MAX

/* All devices; workers or virtqueues of device @dev_id or of EVERY_DEV. To be freed in any case. */
int get_devs(struct nl *nl, struct rows *devs);
int get_workers(struct nl *nl, uint32_t dev_id, struct rows *workers);
int get_vqs(struct nl *nl, uint32_t dev_id, struct rows *vqs);

/* Append one worker to @workers. */
int get_worker(struct nl *nl, uint32_t dev_id, uint32_t id, struct rows *workers);

/* The workers of the device that @text means, or of all for NULL, with their owners. */
int get_owned_workers(struct nl *nl, const char *text, struct rows *workers);
/* Say of each of @workers whose it is, from @devs. */
void name_owners(struct rows *workers, const struct rows *devs);

/* The one device among @devs that @text means: id, pid, id:N, pid:N or a wwpn. */
int find_dev(const struct rows *devs, const char *text, const struct dev **dev);

/* The device that @text means, as the only row of @dev. */
int get_dev(struct nl *nl, const char *text, struct rows *dev);

/* The worker numbered @id among @workers, or NULL. */
const struct worker *find_worker(const struct rows *workers, uint32_t id);

/* Take the word for DEV, and check that it can be one: 0 or EXIT_USAGE. */
int arg_dev(struct args *args, const char **text);
/* The same where DEV may be left out, which gives NULL. */
int arg_optional_dev(struct args *args, const char **text);

/* The id of the device that @text means, EVERY_DEV for NULL. */
int get_dev_id(struct nl *nl, const char *text, uint32_t *dev_id);

#endif /* VHOST_CTL_FIND_H */
