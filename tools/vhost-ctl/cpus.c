// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of CPUs. A wrong one is refused before the kernel is asked, so that the
 * message can say what is wrong with which CPU; what the kernel made of a right
 * one is read back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpus.h"
#include "cpuset.h"
#include "find.h"
#include "out.h"

static const char possible_path[] = "/sys/devices/system/cpu/possible";
static const char online_path[] = "/sys/devices/system/cpu/online";

enum parsed { PARSED, NOT_A_LIST, TOO_LARGE, TWICE };

/* Add one item, which ends at @end. */
static enum parsed parse_item(const char *text, const char *end, struct cpus *cpus)
{
	uint32_t first, last;

	if (!parse_range(text, end, &first, &last, NULL))
		return NOT_A_LIST;
	if (last >= CPUS_LIMIT)
		return TOO_LARGE;
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		if (cpus->has[cpu])
			return TWICE;
		cpus->has[cpu] = true;
	}
	return PARSED;
}

/* On failure, *@item is the item at fault and *@len its length. */
static enum parsed parse_list(const char *text, struct cpus *cpus, const char **item, int *len)
{
	enum parsed result;

	memset(cpus, 0, sizeof(*cpus));
	for (;;) {
		const char *end = strchrnul(text, ',');

		*item = text;
		*len = end - text;
		result = parse_item(text, end, cpus);
		if (result != PARSED || !*end)
			return result;
		text = end + 1;
	}
}

bool cpus_parse(const char *text, struct cpus *cpus)
{
	const char *item;
	int len;

	return parse_list(text, cpus, &item, &len) == PARSED;
}

bool cpus_read(const char *path, struct cpus *cpus)
{
	char line[4096];
	FILE *file = fopen(path, "re");
	bool good;

	if (!file)
		return false;
	good = fgets(line, sizeof(line), file);
	fclose(file);
	if (!good)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return cpus_parse(line, cpus);
}

bool cpus_cover(const struct cpus *cpus, const struct cpus *others)
{
	struct cpus online;
	bool known = cpus_read(online_path, &online);

	for (size_t i = 0; i < CPUS_LIMIT; i++)
		if (others->has[i] && !cpus->has[i] && (!known || online.has[i]))
			return false;
	return true;
}

/* Those of @cpus that @others lacks, as a list, or NULL if there is none. */
static char *cpus_beyond(const struct cpus *cpus, const struct cpus *others)
{
	struct cpus left;
	bool any = false;

	for (size_t i = 0; i < CPUS_LIMIT; i++) {
		left.has[i] = cpus->has[i] && !others->has[i];
		any |= left.has[i];
	}
	return any ? cpus_text(&left) : NULL;
}

char *cpus_text(const struct cpus *cpus)
{
	struct list list = { 0 };
	char *text;

	for (uint32_t i = 0; i < CPUS_LIMIT; i++)
		if (cpus->has[i])
			list_add(&list, i);
	text = list_text(&list);
	free(list.v);
	return text;
}

/* Are all of them in the file's list? @complaint stands between the missing ones and the list. */
static int check_file(const struct cpus *cpus, const char *path, int code, const char *complaint)
{
	struct cpus there;
	char *beyond, *text;

	if (!cpus_read(path, &there))
		return fail(EXIT_REFUSED, "cannot read %s", path);
	beyond = cpus_beyond(cpus, &there);
	if (!beyond)
		return 0;
	text = cpus_text(&there);
	fail(code, "CPU %s: %s %s", beyond, complaint, text);
	free(text);
	free(beyond);
	return code;
}

/* Only a list with very many gaps is longer than a request may carry. */
static int check_length(const struct cpus *cpus)
{
	char *text = cpus_text(cpus);
	size_t len = strlen(text);

	free(text);
	if (len <= VHOST_CPUS_MAX)
		return 0;
	return usage("the CPU list is %zu characters long, %d at most can be", len, VHOST_CPUS_MAX);
}

int cpus_check(const struct cpus *cpus)
{
	int code = check_length(cpus);

	if (!code)
		code = check_file(cpus, possible_path, EXIT_USAGE, "not in this host, which has");
	if (!code)
		code = check_file(cpus, online_path, EXIT_REFUSED, "offline, online are");
	return code;
}

int arg_cpus(const char *text, struct cpus *cpus)
{
	const char *item;
	int len;

	switch (parse_list(text, cpus, &item, &len)) {
	case NOT_A_LIST:
		return usage("'%.*s' in the CPU list '%s' is neither a CPU nor a range such as 0-3",
			     len, item, text);
	case TOO_LARGE:
		return usage("'%.*s' in the CPU list '%s': no Linux has a CPU above %d",
			     len, item, text, CPUS_LIMIT - 1);
	case TWICE:
		return usage("'%.*s' in the CPU list '%s' names a CPU again", len, item, text);
	case PARSED:
		break;
	}
	return cpus_check(cpus);
}

int cpus_allowed(const struct cpus *cpus, uint32_t tid)
{
	struct cpus allowed;
	char *group, *beyond, *text;

	if (!tid || !cpuset_of(tid, &allowed, &group))
		return 0;
	beyond = cpus_beyond(cpus, &allowed);
	if (beyond) {
		text = cpus_text(&allowed);
		fail(EXIT_REFUSED, "CPU %s: outside the cpuset of thread %u, which has %s (%s)",
		     beyond, tid, text, group);
		free(text);
	}
	free(group);
	free(beyond);
	return beyond ? EXIT_REFUSED : 0;
}

int cpus_verify(struct nl *nl, uint32_t dev_id, uint32_t id, const struct cpus *cpus)
{
	struct rows rows = { .object = &worker_object };
	const struct worker *worker;
	const char *item, *has;
	struct cpus real;
	char *wanted;
	int len, code = get_worker(nl, dev_id, id, &rows);

	worker = rows.data;
	if (!code) {
		has = worker && worker->cpus ? worker->cpus : "";
		if (parse_list(has, &real, &item, &len) != PARSED ||
		    memcmp(&real, cpus, sizeof(real))) {
			wanted = cpus_text(cpus);
			code = fail(EXIT_REFUSED, "worker %u is not on CPU %s: the kernel has '%s'",
				    id, wanted, has);
			free(wanted);
		}
	}
	rows_free(&rows);
	return code;
}

int cpus_pin(struct nl *nl, uint32_t dev_id, uint32_t id, const struct cpus *cpus)
{
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_WORKER_SET);
	char *text = cpus_text(cpus);
	int code;

	nl_put_u32(nlh, VHOST_A_WORKER_DEV_ID, dev_id);
	nl_put_u32(nlh, VHOST_A_WORKER_ID, id);
	nl_put_text(nlh, VHOST_A_WORKER_CPUS, text);
	free(text);
	code = nl_do(nl, nlh, NULL);
	return code ? code : cpus_verify(nl, dev_id, id, cpus);
}
