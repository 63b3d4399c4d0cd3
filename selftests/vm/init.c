// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the test VM: mounts, loads the modules, then runs the tests of
 * /tests/list or a shell, and gives its verdict on the second serial port.
 *
 * Parameters on the kernel's command line:
 *	vm.shell	a shell on the console instead of tests
 *	vm.first=N	leave out the first N tests (they ran in an earlier boot)
 *	vm.disk		the root file system is on a virtio disk; ours stays for what is ours
 *	vm.output	send the programs' output to the verdict channel, too
 *	PATIENCE=N	the tests' limits are N times as long: our environment, and theirs
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "vm.h"

#define ROOT	"/disk"
#define DISK_MS	10000

static const char * const mounts[][2] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "tmpfs", "/tmp" },
	{ "tmpfs", "/run" },
	{ "devpts", "/dev/pts" },
	{ "tmpfs", "/dev/shm" },
	{ "cgroup2", "/sys/fs/cgroup" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "tracefs", "/sys/kernel/tracing" },
};

static const char * const settings[][2] = {
	{ "kernel/hung_task_timeout_secs", "60" },
	{ "kernel/hung_task_panic", "1" },
	{ "kernel/softlockup_panic", "1" },
	{ "kernel/panic_on_rcu_stall", "1" },
	{ "kernel/watchdog_thresh", "30" },
	{ "kernel/sysrq", "1" },
	{ "vm/unprivileged_userfaultfd", "1" },
	{ "kernel/printk", "7" },
};

static int verdict_fd = -1, console_fd = -1;

void console(const char *text)
{
	if (write(console_fd, text, strlen(text)) < 0)
		return;	/* nowhere left to say it */
}

/* One line on the verdict channel; it is on its way when this returns. */
void say(const char *fmt, ...)
{
	char line[1200];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(verdict_fd, line, n) == n)
		tcdrain(verdict_fd);
	if (strncmp(line, "OUT ", 4)) {
		line[n] = '\0';
		console(line);
	}
}

bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

bool read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return true;
}

void power_off(void)
{
	reboot(RB_POWER_OFF);
	_exit(0);	/* process 1 must not end: this panics, which ends QEMU */
}

void give_up(const char *fmt, ...)
{
	char note[NOTE_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
	say("VERDICT FAIL %s", note);
	power_off();
}

static void on_poweroff(int signal)
{
	(void)signal;
	power_off();
}

static void set_up_files(void)
{
	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console_fd = open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC);
	verdict_fd = open("/dev/ttyS1", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		dup2(console_fd, fd);

	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 01777);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i][1], 0755);
		mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL);
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char path[80];

		snprintf(path, sizeof(path), "/proc/sys/%s", settings[i][0]);
		write_file(path, settings[i][1]);	/* not every kernel has each */
	}
}

static void set_raw(int fd)
{
	struct termios tio;

	if (tcgetattr(fd, &tio))
		return;
	cfmakeraw(&tio);
	tcsetattr(fd, TCSANOW, &tio);
}

static void load_modules(void)
{
	int status = system("modprobe -a $(cat /etc/modules)");

	if (status)
		give_up("modprobe of the modules in /etc/modules failed, see the console");
	mount("configfs", "/sys/kernel/config", "configfs", 0, NULL);
}

/*
 * Go over to the root file system on the disk. The mounts, the tests and the modules come along, so that all
 * looks there as it does here.
 */
static void enter_disk(void)
{
	static const char * const kept[] = { "/proc", "/sys", "/dev", "/tmp", "/run", "/tests",
					     "/lib/modules" };
	long end = now_ms() + DISK_MS;

	if (system("modprobe -a virtio_pci virtio_blk ext4"))
		give_up("the modules for the disk cannot be loaded, see the console");
	mkdir(ROOT, 0755);
	while (mount("/dev/vda", ROOT, "ext4", 0, NULL)) {
		if (now_ms() > end)
			give_up("mount of the disk: %s", strerror(errno));
		usleep(10000);
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		char path[80];

		snprintf(path, sizeof(path), ROOT "%s", kept[i]);
		mkdir(path, 0755);
		if (mount(kept[i], path, NULL, MS_BIND | MS_REC, NULL))
			give_up("%s cannot be put into the disk's files: %s", kept[i],
				strerror(errno));
	}
	if (chroot(ROOT) || chdir("/"))
		give_up("chroot: %s", strerror(errno));
	setenv("PATH", "/tests:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", 1);
}

static void run_shell(void)
{
	static char * const argv[] = { "-sh", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		ioctl(0, TIOCSCTTY, 1);
		setenv("PS1", "vm# ", 1);
		execv("/bin/sh", argv);
		_exit(127);
	}
	while (waitpid(-1, NULL, 0) != pid)
		;
}

/* Run one line of the list: NAME SECONDS COMMAND. */
static void run_line(char *line, bool output)
{
	static const char * const words[] = { "PASS", "FAIL", "SKIP" };
	char *name = strtok(line, " "), *timeout = strtok(NULL, " ");
	char *command = strtok(NULL, "\n");
	struct job job = { .name = name, .command = command, .output = output };
	char note[NOTE_LEN] = "";
	enum outcome outcome;
	long start;

	if (!name || !timeout || !command)
		give_up("bad line in /tests/list");
	job.timeout_s = atoi(timeout);
	say("BEGIN %s", name);
	start = now_ms();
	outcome = run_job(&job, note);
	say("END %s %s %ld %s", name, words[outcome], now_ms() - start, note);
}

static void run_list(int first, bool output)
{
	FILE *list = fopen("/tests/list", "re");
	char line[1024];

	if (!list)
		give_up("/tests/list: %s", strerror(errno));
	for (int i = 0; fgets(line, sizeof(line), list); i++)
		if (i >= first)
			run_line(line, output);
	fclose(list);
}

int main(void)
{
	char cmdline[2048] = "", note[NOTE_LEN] = "";
	char *first;

	set_up_files();
	set_raw(verdict_fd);
	kmsg_open();
	signal(SIGUSR1, on_poweroff);	/* busybox halt, poweroff, reboot */
	signal(SIGUSR2, on_poweroff);
	signal(SIGTERM, on_poweroff);
	setenv("PATH", "/tests:/bin", 1);
	setenv("HOME", "/tmp", 1);
	read_file("/proc/cmdline", cmdline, sizeof(cmdline));
	load_modules();
	if (strstr(cmdline, "vm.disk"))
		enter_disk();
	say("READY");
	if (strstr(cmdline, "vm.shell")) {
		run_shell();
		power_off();
	}
	first = strstr(cmdline, "vm.first=");
	run_list(first ? atoi(first + strlen("vm.first=")) : 0, strstr(cmdline, "vm.output"));
	if (!leftovers_scan(note) || !kmsg_scan(note))
		give_up("%s", note);
	say("VERDICT PASS");
	power_off();
}
