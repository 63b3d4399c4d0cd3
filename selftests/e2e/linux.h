/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux.h - what Linux guests do. To start one takes a minute, so that one guest serves several tests: a
 * session of steps. The first test of a session runs it all and writes down how each step ended; each
 * test then tells of its step.
 */
#ifndef E2E_LINUX_H
#define E2E_LINUX_H

#include "rig.h"

struct step {
	const char *name;
	int (*run)(struct rig *rig);	/* 0 or a negative errno, guest_error() has the text */
};

struct session {
	const char *name;
	struct machine_opts opts;
	const struct step *steps;	/* up to one without a name */
};

/* How step @name ended. Steps behind one that failed are not run. */
int session_step(const struct session *session, const char *name);

extern const struct session debian_session, new_session;

#endif /* E2E_LINUX_H */
