// SPDX-License-Identifier: GPL-2.0
/*
 * vctl.c - the netlink family "vhost"
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "vctl.h"

int vctl_open(struct vctl *v)
{
	return genl_open(VHOST_FAMILY_NAME, VHOST_FAMILY_VERSION, &v->genl);
}

void vctl_close(struct vctl *v)
{
	genl_close(&v->genl);
}

bool vctl_present(void)
{
	struct vctl v;
	bool present = !vctl_open(&v);

	if (present)
		vctl_close(&v);
	return present;
}

/* Reading ------------------------------------------------------------------- */

void vctl_parse_dev(const struct genl_msg *msg, struct vctl_dev *dev)
{
	dev->id = genl_u32(msg, VHOST_A_DEV_ID);
	dev->owner_pid = genl_u32(msg, VHOST_A_DEV_OWNER_PID);
	dev->thread_kind = genl_u32(msg, VHOST_A_DEV_THREAD_KIND);
	dev->vqs = genl_u32(msg, VHOST_A_DEV_VQS);
	dev->vqs_used = genl_u32(msg, VHOST_A_DEV_VQS_USED);
	dev->workers = genl_u32(msg, VHOST_A_DEV_WORKERS);
	dev->max_workers = genl_u32(msg, VHOST_A_DEV_MAX_WORKERS);
	snprintf(dev->backend, sizeof(dev->backend), "%s", genl_string(msg, VHOST_A_DEV_BACKEND));
	snprintf(dev->owner_comm, sizeof(dev->owner_comm), "%s",
		 genl_string(msg, VHOST_A_DEV_OWNER_COMM));
	snprintf(dev->wwpn, sizeof(dev->wwpn), "%s", genl_string(msg, VHOST_A_DEV_WWPN));
	snprintf(dev->policy, sizeof(dev->policy), "%s", genl_string(msg, VHOST_A_DEV_POLICY));
	dev->policy_failed = genl_u32(msg, VHOST_A_DEV_POLICY_FAILED);
}

void vctl_parse_worker(const struct genl_msg *msg, struct vctl_worker *w)
{
	w->dev_id = genl_u32(msg, VHOST_A_WORKER_DEV_ID);
	w->id = genl_u32(msg, VHOST_A_WORKER_ID);
	w->tid = genl_u32(msg, VHOST_A_WORKER_TID);
	w->thread_kind = genl_u32(msg, VHOST_A_WORKER_THREAD_KIND);
	w->killed = genl_find(msg, NULL, VHOST_A_WORKER_KILLED);
	w->works = genl_u64(msg, VHOST_A_WORKER_WORKS);
	w->runs = genl_u64(msg, VHOST_A_WORKER_RUNS);
	w->wakeups = genl_u64(msg, VHOST_A_WORKER_WAKEUPS);
	w->busy_ns = genl_u64(msg, VHOST_A_WORKER_BUSY_NS);
	w->longest_run_ns = genl_u64(msg, VHOST_A_WORKER_LONGEST_RUN_NS);
	snprintf(w->cpus, sizeof(w->cpus), "%s", genl_string(msg, VHOST_A_WORKER_CPUS));
	snprintf(w->vqs, sizeof(w->vqs), "%s", genl_string(msg, VHOST_A_WORKER_VQS));
}

void vctl_parse_vq(const struct genl_msg *msg, struct vctl_vq *vq)
{
	vq->dev_id = genl_u32(msg, VHOST_A_VQ_DEV_ID);
	vq->index = genl_u32(msg, VHOST_A_VQ_INDEX);
	vq->worker_id = genl_find(msg, NULL, VHOST_A_VQ_WORKER_ID) ?
			genl_u32(msg, VHOST_A_VQ_WORKER_ID) : VCTL_NONE;
	vq->used = genl_find(msg, NULL, VHOST_A_VQ_USED);
	vq->kicks = genl_u64(msg, VHOST_A_VQ_KICKS);
	vq->works = genl_u64(msg, VHOST_A_VQ_WORKS);
}

void vctl_parse_policy(const struct genl_msg *msg, struct vctl_policy *policy)
{
	policy->kind = genl_u32(msg, VHOST_A_POLICY_KIND);
	policy->count = genl_u32(msg, VHOST_A_POLICY_COUNT);
}

static uint32_t number_in(const struct genl_msg *msg, const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr = genl_find(msg, nest, type);
	uint32_t number = VCTL_NONE;

	if (attr && genl_len(attr) == sizeof(number))
		memcpy(&number, genl_data(attr), sizeof(number));
	return number;
}

int vctl_parse_map(const struct genl_msg *msg, struct vctl_entry *list, unsigned int max)
{
	const struct nlattr *attr = NULL;
	unsigned int n = 0;

	while ((attr = genl_next(msg, NULL, attr))) {
		if ((attr->nla_type & NLA_TYPE_MASK) != VHOST_A_MAP_ENTRY)
			continue;
		if (n < max)
			list[n] = (struct vctl_entry){
				.vq = number_in(msg, attr, VHOST_A_ENTRY_VQ),
				.worker = number_in(msg, attr, VHOST_A_ENTRY_WORKER_ID),
			};
		n++;
	}
	return n;
}

/* Telling ------------------------------------------------------------------- */

/* Everywhere the device is the first attribute, and its part the second. */
enum { A_DEV = 1, A_PART };
_Static_assert((int)VHOST_A_DEV_ID == A_DEV && (int)VHOST_A_WORKER_DEV_ID == A_DEV &&
	       (int)VHOST_A_VQ_DEV_ID == A_DEV, "device");
_Static_assert((int)VHOST_A_WORKER_ID == A_PART && (int)VHOST_A_VQ_INDEX == A_PART, "part");

/* A request about one object: its device and, unless it is a device itself, its number in there. */
static int get_one(struct vctl *v, uint8_t command, uint32_t dev, const uint32_t *id,
		   struct genl_msg *answer)
{
	struct genl_msg msg;
	int err;

	genl_begin(&v->genl, &msg, command, 0);
	genl_put_u32(&msg, A_DEV, dev);
	if (id)
		genl_put_u32(&msg, A_PART, *id);
	err = genl_transact(&v->genl, &msg, answer);
	if (!err && !answer->nl.nlmsg_len)
		err = guest_fail(EBADMSG, "netlink command %u has no answer", command);
	return err;
}

int vctl_dev_get(struct vctl *v, uint32_t id, struct vctl_dev *dev)
{
	struct genl_msg answer;
	int err = get_one(v, VHOST_CMD_DEV_GET, id, NULL, &answer);

	if (!err)
		vctl_parse_dev(&answer, dev);
	return err;
}

int vctl_worker_get(struct vctl *v, uint32_t dev, uint32_t id, struct vctl_worker *worker)
{
	struct genl_msg answer;
	int err = get_one(v, VHOST_CMD_WORKER_GET, dev, &id, &answer);

	if (!err)
		vctl_parse_worker(&answer, worker);
	return err;
}

int vctl_vq_get(struct vctl *v, uint32_t dev, uint32_t index, struct vctl_vq *vq)
{
	struct genl_msg answer;
	int err = get_one(v, VHOST_CMD_VQ_GET, dev, &index, &answer);

	if (!err)
		vctl_parse_vq(&answer, vq);
	return err;
}

struct listing {
	void *list;
	unsigned int max, count;
};

static int list_dev(const struct genl_msg *part, void *arg)
{
	struct listing *l = arg;

	if (l->count < l->max)
		vctl_parse_dev(part, (struct vctl_dev *)l->list + l->count);
	l->count++;
	return 0;
}

static int list_worker(const struct genl_msg *part, void *arg)
{
	struct listing *l = arg;

	if (l->count < l->max)
		vctl_parse_worker(part, (struct vctl_worker *)l->list + l->count);
	l->count++;
	return 0;
}

static int list_vq(const struct genl_msg *part, void *arg)
{
	struct listing *l = arg;

	if (l->count < l->max)
		vctl_parse_vq(part, (struct vctl_vq *)l->list + l->count);
	l->count++;
	return 0;
}

static int get_all(struct vctl *v, uint8_t command, uint32_t dev, genl_each each,
		   void *list, unsigned int max)
{
	struct listing l = { list, max, 0 };
	struct genl_msg msg;
	int err;

	genl_begin(&v->genl, &msg, command, 0);
	if (dev)
		genl_put_u32(&msg, A_DEV, dev);
	err = genl_dump(&v->genl, &msg, each, &l);
	return err ?: (int)l.count;
}

int vctl_devs(struct vctl *v, struct vctl_dev *list, unsigned int max)
{
	return get_all(v, VHOST_CMD_DEV_GET, 0, list_dev, list, max);
}

int vctl_workers(struct vctl *v, uint32_t dev, struct vctl_worker *list, unsigned int max)
{
	return get_all(v, VHOST_CMD_WORKER_GET, dev, list_worker, list, max);
}

int vctl_vqs(struct vctl *v, uint32_t dev, struct vctl_vq *list, unsigned int max)
{
	return get_all(v, VHOST_CMD_VQ_GET, dev, list_vq, list, max);
}

struct search {
	pid_t pid;
	struct vctl_dev *dev;
	bool found;
};

static int look(const struct genl_msg *part, void *arg)
{
	struct search *s = arg;
	struct vctl_dev dev;

	vctl_parse_dev(part, &dev);
	if ((pid_t)dev.owner_pid == s->pid && (!s->found || dev.id > s->dev->id)) {
		*s->dev = dev;
		s->found = true;
	}
	return 0;
}

int vctl_dev_of(struct vctl *v, pid_t pid, struct vctl_dev *dev)
{
	struct search s = { .pid = pid, .dev = dev };
	struct genl_msg msg;
	int err;

	genl_begin(&v->genl, &msg, VHOST_CMD_DEV_GET, 0);
	err = genl_dump(&v->genl, &msg, look, &s);
	if (!err && !s.found)
		err = guest_fail(ENODEV, "vhost device of process %d", pid);
	return err;
}

/* Changing ------------------------------------------------------------------ */

/* Send it; the numbers of attribute @type in the answer go to @ids. */
static int transact_for_ids(struct vctl *v, struct genl_msg *msg, uint16_t type, uint32_t *ids)
{
	const struct nlattr *attr = NULL;
	struct genl_msg answer;
	int err = genl_transact(&v->genl, msg, &answer);

	if (!answer.nl.nlmsg_len || !ids)
		return err;
	while ((attr = genl_next(&answer, NULL, attr)))
		if (attr->nla_type == type)
			memcpy(ids++, genl_data(attr), sizeof(*ids));
	return err;
}

int vctl_worker_new(struct vctl *v, uint32_t dev, uint32_t count, const char *cpus, uint32_t *ids)
{
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_WORKER_NEW, 0);
	genl_put_u32(&msg, VHOST_A_WORKER_DEV_ID, dev);
	if (count)
		genl_put_u32(&msg, VHOST_A_WORKER_COUNT, count);
	if (cpus)
		genl_put_string(&msg, VHOST_A_WORKER_CPUS, cpus);
	return transact_for_ids(v, &msg, VHOST_A_WORKER_NEW_ID, ids);
}

int vctl_worker_set(struct vctl *v, uint32_t dev, uint32_t id, const char *cpus)
{
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_WORKER_SET, 0);
	genl_put_u32(&msg, VHOST_A_WORKER_DEV_ID, dev);
	genl_put_u32(&msg, VHOST_A_WORKER_ID, id);
	if (cpus)
		genl_put_string(&msg, VHOST_A_WORKER_CPUS, cpus);
	return genl_transact(&v->genl, &msg, NULL);
}

int vctl_worker_del(struct vctl *v, uint32_t dev, uint32_t id)
{
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_WORKER_DEL, 0);
	genl_put_u32(&msg, VHOST_A_WORKER_DEV_ID, dev);
	genl_put_u32(&msg, VHOST_A_WORKER_ID, id);
	return genl_transact(&v->genl, &msg, NULL);
}

int vctl_vq_set(struct vctl *v, uint32_t dev, uint32_t vq, uint32_t worker)
{
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_VQ_SET, 0);
	genl_put_u32(&msg, VHOST_A_VQ_DEV_ID, dev);
	genl_put_u32(&msg, VHOST_A_VQ_INDEX, vq);
	genl_put_u32(&msg, VHOST_A_VQ_WORKER_ID, worker);
	return genl_transact(&v->genl, &msg, NULL);
}

int vctl_policy_get(struct vctl *v, struct vctl_policy *policy)
{
	struct genl_msg msg, answer;
	int err;

	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_GET, 0);
	err = genl_transact(&v->genl, &msg, &answer);
	if (!err && !answer.nl.nlmsg_len)
		err = guest_fail(EBADMSG, "policy-get has no answer");
	if (!err)
		vctl_parse_policy(&answer, policy);
	return err;
}

int vctl_policy_set(struct vctl *v, const struct vctl_policy *policy)
{
	struct genl_msg msg;

	genl_begin(&v->genl, &msg, VHOST_CMD_POLICY_SET, 0);
	genl_put_u32(&msg, VHOST_A_POLICY_KIND, policy->kind);
	if (policy->count)
		genl_put_u32(&msg, VHOST_A_POLICY_COUNT, policy->count);
	return genl_transact(&v->genl, &msg, NULL);
}

int vctl_put_entry(struct genl_msg *msg, const struct vctl_entry *entry)
{
	int nest = genl_nest(msg, VHOST_A_MAP_ENTRY);

	genl_put_u32(msg, VHOST_A_ENTRY_VQ, entry->vq);
	genl_put_u32(msg, entry->is_new ? VHOST_A_ENTRY_NEW_WORKER : VHOST_A_ENTRY_WORKER_ID,
		     entry->worker);
	genl_nest_end(msg, nest);
	return nest;
}

int vctl_map_set(struct vctl *v, uint32_t dev, const struct vctl_entry *map, unsigned int n,
		 uint32_t *ids)
{
	struct genl_msg msg;
	unsigned int i;

	genl_begin(&v->genl, &msg, VHOST_CMD_MAP_SET, 0);
	genl_put_u32(&msg, VHOST_A_MAP_DEV_ID, dev);
	for (i = 0; i < n; i++)
		vctl_put_entry(&msg, &map[i]);
	return transact_for_ids(v, &msg, VHOST_A_MAP_NEW_ID, ids);
}

/* Refusals ------------------------------------------------------------------ */

static int ignore(const struct genl_msg *part, void *arg)
{
	(void)part;
	(void)arg;
	return 0;
}

int vctl_refused(struct vctl *v, struct genl_msg *msg, int want, int blame, const char *word)
{
	const struct genl *g = &v->genl;
	int err, named;

	if ((msg->nl.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		err = genl_dump(&v->genl, msg, ignore, NULL);
	else
		err = genl_transact(&v->genl, msg, NULL);
	named = g->missing < 0 ? g->offset : VCTL_MISSING(g->missing);
	if (err != want)
		return guest_fail(EPROTO, "answer %d and not %d (%s)", err, want, g->text);
	if (!g->text[0] || !strstr(g->text, word))
		return guest_fail(EPROTO, "the text is '%s', without '%s'", g->text, word);
	if (blame != VCTL_ANY && named != blame)
		return guest_fail(EPROTO, "attribute %#x is blamed and not %#x (%s)", named, blame,
				  g->text);
	return 0;
}
