// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPUs the control group of a thread leaves it, of either hierarchy.
 *
 * A group without the controller has the cpuset of the nearest one above it
 * that has.
 */
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpuset.h"

struct hierarchy {
	const char *type;	/* of its mount */
	const char *option;	/* that the mount has, or NULL */
	const char *file;
};

static const struct hierarchy unified = { "cgroup2", NULL, "cpuset.cpus.effective" };
static const struct hierarchy legacy = { "cgroup", "cpuset", "cpuset.effective_cpus" };

/* The mount point of the hierarchy, or NULL; the caller frees it. */
static char *mount_point(const struct hierarchy *hierarchy)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	char *dir = NULL;

	while (mounts && !dir && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, hierarchy->type) &&
		    (!hierarchy->option || hasmntopt(mount, hierarchy->option)))
			dir = xasprintf("%s", mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return dir;
}

/* Is @word one of the comma-separated @list, which ends at @end? */
static bool list_names(const char *list, const char *end, const char *word)
{
	size_t len = strlen(word);

	while (list < end) {
		size_t item = strcspn(list, ",:");

		if (item == len && !strncmp(list, word, len))
			return true;
		list += item + 1;
	}
	return false;
}

/*
 * The path of the thread's group, from a line "ID:CONTROLLERS:PATH" of its cgroup file, and which
 * hierarchy that is; the caller frees it. NULL if there is none.
 */
static char *group_path(uint32_t tid, const struct hierarchy **hierarchy)
{
	char name[64], line[4352], *found = NULL;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", tid);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		bool is_legacy;

		if (!path)
			continue;
		is_legacy = list_names(controllers + 1, path, "cpuset");
		if (!is_legacy && (path != controllers + 1 || found))
			continue;
		line[strcspn(line, "\n")] = '\0';
		free(found);
		found = xasprintf("%s", path + 1);
		*hierarchy = is_legacy ? &legacy : &unified;
		if (is_legacy)
			break;
	}
	if (file)
		fclose(file);
	return found;
}

/* The cpuset of the group at @path below @mount, or of the nearest above. Cuts @path short. */
static bool read_upwards(const char *mount, char *path, const char *file, struct cpus *cpus)
{
	for (;;) {
		char *name = xasprintf("%s%s/%s", mount, path, file);
		bool good = cpus_read(name, cpus);
		char *slash = strrchr(path, '/');

		free(name);
		if (good || !slash)
			return good;
		*slash = '\0';
	}
}

bool cpuset_of(uint32_t tid, struct cpus *cpus, char **group)
{
	const struct hierarchy *hierarchy;
	char *path = group_path(tid, &hierarchy), *mount;
	bool good = false;

	*group = NULL;
	if (!path)
		return false;
	mount = mount_point(hierarchy);
	if (mount)
		good = read_upwards(mount, path, hierarchy->file, cpus);
	if (good)
		*group = xasprintf("%s%s", mount, path);
	free(mount);
	free(path);
	return good;
}
