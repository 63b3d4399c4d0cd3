// SPDX-License-Identifier: GPL-2.0
/* Tell QEMU something by QMP, on a connection for each command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon.h"

#define LINE_MAX_LEN	65536

static struct sockaddr_un monitor = { .sun_family = AF_UNIX };

void monitor_set(const char *path)
{
	if (strlen(path) >= sizeof(monitor.sun_path))
		die("%s: too long", path);
	strcpy(monitor.sun_path, path);
}

static bool begins_with(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* Skip the greeting and events; what is not an answer ends with the connection. */
static int read_answer(FILE *stream)
{
	static __thread char line[LINE_MAX_LEN];

	while (fgets(line, sizeof(line), stream)) {
		if (begins_with(line, "{\"return\""))
			return 0;
		if (begins_with(line, "{\"error\"")) {
			fprintf(stderr, "monitor: %s", line);
			return EIO;
		}
	}
	return EPIPE;
}

static int tell(FILE *stream, const char *command, size_t len)
{
	if (dprintf(fileno(stream), "%.*s\n", (int)len, command) < 0)
		return EPIPE;
	return read_answer(stream);
}

int monitor_tell(const char *command, size_t len)
{
	static const char hello[] = "{\"execute\":\"qmp_capabilities\"}";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
	FILE *stream;

	if (fd < 0 || connect(fd, (struct sockaddr *)&monitor, sizeof(monitor))) {
		err = errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	stream = fdopen(fd, "r");
	if (!stream)
		die("no memory");
	err = tell(stream, hello, strlen(hello));
	if (!err)
		err = tell(stream, command, len);
	fclose(stream);
	return err;
}
