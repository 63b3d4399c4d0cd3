// SPDX-License-Identifier: GPL-2.0
/*
 * Reading objects from the kernel, and finding the device that an argument means.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "find.h"

/* --- reading */

int get_devs(struct nl *nl, struct rows *devs)
{
	*devs = (struct rows){ .object = &dev_object };
	return nl_dump(nl, nl_request(nl, VHOST_CMD_DEV_GET), devs);
}

static int get_of_dev(struct nl *nl, uint8_t cmd, uint16_t attr, uint32_t dev_id, struct rows *rows)
{
	struct nlmsghdr *nlh = nl_request(nl, cmd);

	if (dev_id != EVERY_DEV)
		nl_put_u32(nlh, attr, dev_id);
	return nl_dump(nl, nlh, rows);
}

int get_workers(struct nl *nl, uint32_t dev_id, struct rows *workers)
{
	*workers = (struct rows){ .object = &worker_object };
	return get_of_dev(nl, VHOST_CMD_WORKER_GET, VHOST_A_WORKER_DEV_ID, dev_id, workers);
}

int get_vqs(struct nl *nl, uint32_t dev_id, struct rows *vqs)
{
	*vqs = (struct rows){ .object = &vq_object };
	return get_of_dev(nl, VHOST_CMD_VQ_GET, VHOST_A_VQ_DEV_ID, dev_id, vqs);
}

int get_worker(struct nl *nl, uint32_t dev_id, uint32_t id, struct rows *workers)
{
	struct nlmsghdr *nlh = nl_request(nl, VHOST_CMD_WORKER_GET);

	nl_put_u32(nlh, VHOST_A_WORKER_DEV_ID, dev_id);
	nl_put_u32(nlh, VHOST_A_WORKER_ID, id);
	return nl_do(nl, nlh, workers);
}

const struct worker *find_worker(const struct rows *workers, uint32_t id)
{
	const struct worker *worker;

	for_each_row(worker, workers)
		if (worker->id == id)
			return worker;
	return NULL;
}

static void name_owner(struct worker *worker, const struct dev *dev)
{
	worker->owner_pid = dev->owner_pid;
	record_set(&worker->rec, WORKER_OWNER_PID);
	if (!dev->owner_comm)
		return;
	worker->owner_comm = xasprintf("%s", dev->owner_comm);
	record_set(&worker->rec, WORKER_OWNER_COMM);
}

void name_owners(struct rows *workers, const struct rows *devs)
{
	struct worker *worker;
	const struct dev *dev;

	for_each_row(worker, workers)
		for_each_row(dev, devs)
			if (dev->id == worker->dev_id && !worker->owner_comm)
				name_owner(worker, dev);
}

/* --- finding */

/* What an argument asks for: a device is meant if any of these fits. */
struct wanted {
	bool by_id, by_pid;
	uint32_t number;
	const char *wwpn;
};

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static int parse_dev(const char *text, struct wanted *wanted)
{
	const char *number = text;

	*wanted = (struct wanted){ 0 };
	if (starts_with(text, "naa.")) {
		wanted->wwpn = text;
		return 0;
	}
	if (starts_with(text, "id:")) {
		wanted->by_id = true;
		number += strlen("id:");
	} else if (starts_with(text, "pid:")) {
		wanted->by_pid = true;
		number += strlen("pid:");
	} else {
		wanted->by_id = true;
		wanted->by_pid = true;
	}
	if (parse_u32(number, &wanted->number))
		return 0;
	return usage("DEV '%s' is neither the id of a device nor a pid nor a wwpn (naa...)", text);
}

static bool is_wanted(const struct dev *dev, const struct wanted *wanted)
{
	if (wanted->wwpn)
		return dev->wwpn && !strcmp(dev->wwpn, wanted->wwpn);
	if (wanted->by_id && dev->id == wanted->number)
		return true;
	/* Pid 0 stands for an owner that cannot be seen. */
	return wanted->by_pid && dev->owner_pid && dev->owner_pid == wanted->number;
}

static void list_candidates(const struct rows *devs, const struct wanted *wanted)
{
	const struct dev *dev;

	for_each_row(dev, devs)
		if (is_wanted(dev, wanted))
			fprintf(stderr, "  id:%u  %s  pid:%u %s  %s\n", dev->id,
				dev->backend ? dev->backend : "-", dev->owner_pid,
				dev->owner_comm ? dev->owner_comm : "-",
				dev->wwpn ? dev->wwpn : "-");
}

int find_dev(const struct rows *devs, const char *text, const struct dev **found)
{
	const struct dev *dev;
	struct wanted wanted;
	unsigned int count = 0;
	int code = parse_dev(text, &wanted);

	if (code)
		return code;
	for_each_row(dev, devs) {
		if (!is_wanted(dev, &wanted))
			continue;
		*found = dev;
		count++;
	}
	if (count == 1)
		return 0;
	if (!count)
		return fail(EXIT_USAGE, "there is no device '%s': see 'vhost-ctl dev show'", text);
	fail(EXIT_USAGE, "'%s' may mean any of these %u devices, say id:N", text, count);
	list_candidates(devs, &wanted);
	return EXIT_USAGE;
}

int get_dev(struct nl *nl, const char *text, struct rows *dev)
{
	const struct dev *found;
	int code = get_devs(nl, dev);

	if (!code)
		code = find_dev(dev, text, &found);
	if (!code)
		rows_keep(dev, found);
	return code;
}

int get_dev_id(struct nl *nl, const char *text, uint32_t *dev_id)
{
	struct rows dev = { .object = &dev_object };
	int code;

	*dev_id = EVERY_DEV;
	if (!text)
		return 0;
	code = get_dev(nl, text, &dev);
	if (!code)
		*dev_id = ((const struct dev *)dev.data)->id;
	rows_free(&dev);
	return code;
}

int arg_optional_dev(struct args *args, const char **text)
{
	struct wanted wanted;

	*text = args_next(args);
	return *text ? parse_dev(*text, &wanted) : 0;
}

int arg_dev(struct args *args, const char **text)
{
	int code = arg_optional_dev(args, text);

	return code || *text ? code : usage("DEV is missing");
}

int get_owned_workers(struct nl *nl, const char *text, struct rows *workers)
{
	struct rows devs;
	int code = text ? get_dev(nl, text, &devs) : get_devs(nl, &devs);

	if (!code)
		code = get_workers(nl, text ? ((const struct dev *)devs.data)->id : EVERY_DEV,
				   workers);
	if (!code)
		name_owners(workers, &devs);
	rows_free(&devs);
	return code;
}
