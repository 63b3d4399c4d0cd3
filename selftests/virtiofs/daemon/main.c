// SPDX-License-Identifier: GPL-2.0
/*
 * A vhost-user-fs device with any number of request queues, a thread for each.
 * It serves one connection after the other, until it is killed.
 *
 * usage: virtiofs-daemon -s SOCKET [-q REQUEST_QUEUES] [-r REFUSED_QUEUE] [-d DELAY_MS] [-m MONITOR]
 * MONITOR is the socket of QEMU's QMP, for the file "monitor".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <signal.h>
#include <unistd.h>

#include "daemon.h"

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("virtiofs-daemon: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path))
		die("%s: too long", path);
	strcpy(addr.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1))
		die("%s: %s", path, strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	struct server server = { .nr_queues = 2, .refused = -1 };
	const char *path = NULL;
	int opt, fd, conn;

	while ((opt = getopt(argc, argv, "s:q:r:d:m:")) != -1) {
		if (opt == 's')
			path = optarg;
		else if (opt == 'q')
			server.nr_queues = 1 + atoi(optarg);
		else if (opt == 'r')
			server.refused = atoi(optarg);
		else if (opt == 'd')
			ring_set_delay(atoi(optarg));
		else if (opt == 'm')
			monitor_set(optarg);
		else
			return 2;
	}
	if (!path || server.nr_queues < 2 || server.nr_queues > MAX_QUEUES)
		die("usage: virtiofs-daemon -s SOCKET [-q REQUEST_QUEUES] [-r REFUSED_QUEUE] "
		    "[-d DELAY_MS] [-m MONITOR]");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = listen_at(path);
	while ((conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve(conn, &server);
	die("accept: %s", strerror(errno));
}
