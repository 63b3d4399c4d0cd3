// SPDX-License-Identifier: GPL-2.0
/*
 * put.c - a word is written into a file of the kernel's, or read from it
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "put.h"

int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = guest_fail(errno, "write '%s' to %s", text, path);
	close(fd);
	return err;
}

int put_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return guest_fail(errno, "open %s", path);
	n = read(fd, text, size - 1);
	if (n < 0)
		err = guest_fail(errno, "read %s", path);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	text[strcspn(text, "\n")] = 0;
	return err;
}
