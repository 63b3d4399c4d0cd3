/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stage.h - a preloaded library that plays the kernel for vhost-ctl, or writes down what it says
 *
 * VHOST_CTL_RECORD=FILE	append all netlink messages to FILE: "> hex" sent, "< hex" received
 * VHOST_CTL_REPLAY=FILE	answer with what FILE says; no netlink socket is opened
 * VHOST_CTL_ROOT=DIR	read /proc, /sys, /lib/modules and modprobe's configuration below DIR; no
 *			module is loaded, and waiting takes no time
 */
#ifndef STAGE_H
#define STAGE_H

#include <dlfcn.h>
#include <stdlib.h>

#define EXIT_STAGE 70	/* the play does not go by the book */

/* Define real_NAME(), which finds the C library's function of that name. */
#define REAL(name) \
	static __typeof__(&name) real_##name(void) \
	{ \
		static __typeof__(&name) fn; \
		if (!fn) \
			*(void **)&fn = dlsym(RTLD_NEXT, #name); \
		return fn; \
	}

/* Say what is wrong on stderr, and end the program with EXIT_STAGE. */
_Noreturn void stage_stop(const char *what, const char *detail);

#endif /* STAGE_H */
