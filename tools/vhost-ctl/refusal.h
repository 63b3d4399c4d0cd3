/* SPDX-License-Identifier: GPL-2.0 */
/*
 * refusal.h - why the kernel did not do what it was asked for
 */
#ifndef VHOST_CTL_REFUSAL_H
#define VHOST_CTL_REFUSAL_H

#include <libmnl/libmnl.h>

struct refusal {
	int err;			/* positive, 0 if the request was done */
	char text[256];			/* the kernel's words, or "" */
	uint32_t offset;		/* of the attribute at fault in the request, or 0 */
	uint32_t missing;		/* the attribute that the request lacks, or 0 */
};

/* Read the error or the acknowledgement @nlh, or the end of a dump. False if it is malformed. */
bool refusal_parse(struct refusal *refusal, const struct nlmsghdr *nlh);

/* Tell it, for @request, on stderr. Returns the exit code. */
int refusal_tell(const struct refusal *refusal, const struct nlmsghdr *request);

#endif /* VHOST_CTL_REFUSAL_H */
