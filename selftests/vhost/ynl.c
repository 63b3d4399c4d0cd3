// SPDX-License-Identifier: GPL-2.0
/*
 * ynl.c - a client that we did not write gets along with the family
 *
 * vhost-user.[ch] is made from the contract by the kernel's own generator of clients, over the
 * kernel's own library; nothing of it knows our code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "vhost-user.h"
#include "ynl.h"

#include "lib/guest.h"
#include "lib/expect.h"
#include "lib/owner.h"
#include "lib/vctl.h"

#define EVENT_MS	5000

FIXTURE(ynl) {
	struct vctl v;		/* ours, which finds the device for us */
	struct owner owner;
	struct proc *proc;
	struct vctl_dev dev;
	struct ynl_sock *sock;
};

FIXTURE_THREADS(ynl);

FIXTURE_SETUP(ynl)
{
	struct ynl_error err;

	SKIP_WITHOUT(variant->thread);
	proc_watch("a test with the kernel's client", 60);
	ASSERT_OK(vctl_open(&self->v));
	self->owner.thread = variant->thread;
	ASSERT_OK(owner_start(owner_holds, &self->owner, &self->v, &self->proc, &self->dev));
	self->sock = ynl_sock_create(&ynl_vhost_family, &err);
	ASSERT_NE(NULL, self->sock) {
		TH_LOG("%s", err.msg);
	}
}

FIXTURE_TEARDOWN(ynl)
{
	ynl_sock_destroy(self->sock);
	proc_free(self->proc);
	vctl_close(&self->v);
}

TEST_F(ynl, device_is_told_as_to_other_clients)
{
	struct vhost_dev_get_req *req = vhost_dev_get_req_alloc();
	struct vctl_dev *dev = &self->dev;
	struct vhost_dev_get_rsp *rsp;

	vhost_dev_get_req_set_id(req, dev->id);
	rsp = vhost_dev_get(self->sock, req);
	ASSERT_NE(NULL, rsp) {
		TH_LOG("%s", self->sock->err.msg);
	}
	EXPECT_EQ(dev->id, rsp->id);
	EXPECT_STREQ(dev->backend, rsp->backend);
	EXPECT_EQ(dev->owner_pid, rsp->owner_pid);
	EXPECT_STREQ(dev->owner_comm, rsp->owner_comm);
	EXPECT_EQ(dev->thread_kind, rsp->thread_kind);
	EXPECT_EQ(dev->vqs, rsp->vqs);
	EXPECT_EQ(dev->vqs_used, rsp->vqs_used);
	EXPECT_EQ(dev->max_workers, rsp->max_workers);
	vhost_dev_get_rsp_free(rsp);
	vhost_dev_get_req_free(req);
}

TEST_F(ynl, dumps_list_every_object_once)
{
	struct vhost_worker_get_list *workers = vhost_worker_get_dump(self->sock);
	struct vhost_vq_get_list *vqs = vhost_vq_get_dump(self->sock);
	struct vhost_dev_get_list *devs = vhost_dev_get_dump(self->sock);
	unsigned int seen_workers = 0, seen_vqs = 0, seen_devs = 0;

	ASSERT_NE(NULL, devs);
	ASSERT_NE(NULL, workers);
	ASSERT_NE(NULL, vqs);
	ynl_dump_foreach(devs, dev)
		seen_devs += dev->id == self->dev.id;
	ynl_dump_foreach(workers, worker)
		seen_workers += worker->dev_id == self->dev.id;
	ynl_dump_foreach(vqs, vq) {
		if (vq->dev_id != self->dev.id)
			continue;
		EXPECT_EQ(seen_vqs, vq->index);
		EXPECT_EQ(0, vq->worker_id);
		seen_vqs++;
	}
	EXPECT_EQ(1, seen_devs);
	EXPECT_EQ(1, seen_workers);
	EXPECT_EQ(self->dev.vqs, seen_vqs);
	vhost_dev_get_list_free(devs);
	vhost_worker_get_list_free(workers);
	vhost_vq_get_list_free(vqs);
}

/* A map with one new worker for @count virtqueues from @first on. */
static struct vhost_map_set_req *share_a_new_worker(uint32_t dev, uint32_t first, unsigned int count)
{
	struct vhost_entry *entry = calloc(count, sizeof(*entry));
	struct vhost_map_set_req *req = vhost_map_set_req_alloc();
	unsigned int i;

	for (i = 0; i < count; i++) {
		entry[i]._present.vq = 1;
		entry[i].vq = first + i;
		entry[i]._present.new_worker = 1;
	}
	vhost_map_set_req_set_dev_id(req, dev);
	__vhost_map_set_req_set_entry(req, entry, count);
	return req;
}

/* Wait for an event of kind @cmd; the caller frees it. */
static struct ynl_ntf_base_type *await_event(struct ynl_sock *sock, uint8_t cmd)
{
	struct ynl_ntf_base_type *ntf;
	unsigned int ms;

	for (ms = 0; ms < EVENT_MS; ms++) {
		if (ynl_ntf_check(sock))
			return NULL;
		while ((ntf = ynl_ntf_dequeue(sock))) {
			if (ntf->cmd == cmd)
				return ntf;
			ynl_ntf_free(ntf);
		}
		usleep(1000);
	}
	return NULL;
}

TEST_F(ynl, map_with_a_new_worker_is_set_and_told)
{
	struct vhost_map_set_req *req = share_a_new_worker(self->dev.id, 2, 3);
	struct vhost_map_ntf *event;
	struct vhost_map_set_rsp *rsp;
	struct vctl_vq vq;
	unsigned int i;

	ASSERT_EQ(0, ynl_subscribe(self->sock, VHOST_MCGRP_EVENTS));
	rsp = vhost_map_set(self->sock, req);
	ASSERT_NE(NULL, rsp) {
		TH_LOG("%s", self->sock->err.msg);
	}
	ASSERT_EQ(1, rsp->n_new_id);
	for (i = 2; i < 5; i++) {
		ASSERT_OK(vctl_vq_get(&self->v, self->dev.id, i, &vq));
		EXPECT_EQ(rsp->new_id[0], vq.worker_id);
	}
	event = (struct vhost_map_ntf *)await_event(self->sock, VHOST_CMD_MAP_NTF);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->dev.id, event->obj.dev_id);
	ASSERT_EQ(3, event->obj.n_entry);
	EXPECT_EQ(rsp->new_id[0], event->obj.entry[2].worker_id);
	ynl_ntf_free((struct ynl_ntf_base_type *)event);
	vhost_map_set_rsp_free(rsp);
	vhost_map_set_req_free(req);
}

TEST_F(ynl, refusal_is_told_with_its_reason)
{
	struct vhost_worker_del_req *req = vhost_worker_del_req_alloc();

	vhost_worker_del_req_set_dev_id(req, self->dev.id);
	vhost_worker_del_req_set_id(req, 0);
	EXPECT_GT(0, vhost_worker_del(self->sock, req));
	EXPECT_EQ(EBUSY, self->sock->err.code);
	EXPECT_NE(NULL, strstr(self->sock->err.msg, "attached")) {
		TH_LOG("%s", self->sock->err.msg);
	}
	vhost_worker_del_req_free(req);
}

TEST_HARNESS_MAIN
