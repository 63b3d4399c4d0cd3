/* SPDX-License-Identifier: GPL-2.0 */
/*
 * watch.h - a process that undoes what we made in the kernel when we end without doing so
 */
#ifndef GUEST_WATCH_H
#define GUEST_WATCH_H

/* Undo everything, from any state: 0, or a negative errno to be called again. */
typedef int (*watch_undo)(const void *what);

/*
 * When this process ends, by whatever cause, @undo is called with a copy of our memory as it is now, again
 * and again until it returns 0 or some seconds have passed. @name is the watcher's, for ps. Returns a
 * descriptor for watch_stop(), or a negative errno.
 */
int watch_start(const char *name, watch_undo undo, const void *what);

/* It is undone: the watcher ends. */
void watch_stop(int fd);

#endif /* GUEST_WATCH_H */
