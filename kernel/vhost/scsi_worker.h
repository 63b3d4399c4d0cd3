/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What vhost-scsi needs besides calls to the workers, the same for every
 * kernel. scsi.c includes this once, behind its own structures: it is a part of
 * that file and no interface.
 */
#ifndef _VHOST_SCSI_WORKER_H
#define _VHOST_SCSI_WORKER_H

/* LUN resets -------------------------------------------------------------- */

/* Whether a command to the same LUN that came before a tmf has the tag. */
static bool vhost_scsi_tag_is_early(struct vhost_scsi_virtqueue *svq, int tag,
				    struct vhost_scsi_tmf *tmf)
{
	struct vhost_scsi_cmd *cmd = &svq->scsi_cmds[tag];

	return sbitmap_test_bit(&svq->scsi_tags, tag) &&
	       cmd->tvc_lun == tmf->se_cmd.orig_fe_lun &&
	       cmd->tvc_nexus->tvn_se_sess == tmf->se_cmd.se_sess &&
	       time_before_eq(cmd->tvc_start, tmf->start);
}

/* Pass tags of a queue up to one that is early; false if there is none. */
static bool vhost_scsi_vq_is_early(struct vhost_scsi_virtqueue *svq,
				   struct vhost_scsi_tmf *tmf)
{
	while (tmf->next_tag < svq->max_cmds &&
	       !vhost_scsi_tag_is_early(svq, tmf->next_tag, tmf))
		tmf->next_tag++;

	return tmf->next_tag < svq->max_cmds;
}

/*
 * Whether a command to the same LUN that came before a tmf is unanswered. Goes
 * on at the tag where it stopped the last time, and so passes each tag once.
 *
 * A tag that was passed needs no second look. It is given to a command when
 * that arrives, under vq->mutex: what has it now came after our look, and we
 * look when LIO is done with the reset. tvc_start alone cannot tell that within
 * a jiffy; therefore a command of the same jiffy is waited for if it is seen.
 */
static bool vhost_scsi_tmf_is_early(struct vhost_scsi *vs,
				    struct vhost_scsi_tmf *tmf)
{
	struct vhost_scsi_virtqueue *svq;
	bool early;

	for (; tmf->next_vq < vs->dev.nvqs; tmf->next_vq++, tmf->next_tag = 0) {
		svq = &vs->vqs[tmf->next_vq];
		if (!svq->scsi_cmds)
			continue;

		vhost_vq_lock(&svq->vq);
		early = vhost_scsi_vq_is_early(svq, tmf);
		mutex_unlock(&svq->vq.mutex);
		if (early)
			return true;
	}
	return false;
}

/*
 * A reset must not be answered before the commands that it ended. LIO may not
 * have handed all of them back yet, and those that it has are answered by
 * other workers. One work item waits for all tmfs of a device, so that a
 * device occupies one thread of the system at most.
 */
static void vhost_scsi_tmf_flush_work(struct work_struct *work)
{
	struct vhost_scsi *vs = container_of(to_delayed_work(work),
					     struct vhost_scsi, vs_tmf_work);
	struct vhost_scsi_tmf *tmf, *t;
	struct llist_node *llnode;
	LLIST_HEAD(ready);

	llnode = llist_del_all(&vs->vs_tmf_list);
	llist_for_each_entry_safe(tmf, t, llnode, flush_entry) {
		if (!vhost_scsi_tmf_is_early(vs, tmf)) {
			llist_add(&tmf->flush_entry, &ready);
			continue;
		}
		llist_add(&tmf->flush_entry, &vs->vs_tmf_list);
		queue_delayed_work(system_unbound_wq, &vs->vs_tmf_work, 1);
	}
	if (llist_empty(&ready))
		return;

	vhost_dev_flush(&vs->dev);
	llnode = llist_del_all(&ready);
	llist_for_each_entry_safe(tmf, t, llnode, flush_entry)
		if (!vhost_vq_work_queue(&tmf->svq->vq, &tmf->vwork))
			vhost_scsi_release_tmf_res(tmf);
}

/* Target portal groups ---------------------------------------------------- */

static void vhost_scsi_free_tpg(struct kref *kref)
{
	kfree(container_of(kref, struct vhost_scsi_tpg, kref));
}

/*
 * Make a tpg ours. Return 1 if that worked, 0 if the tpg cannot be used (being
 * removed, without a nexus, taken by another device) or -errno.
 */
static int vhost_scsi_take_tpg(struct vhost_scsi *vs,
			       struct vhost_scsi_tpg *tpg)
{
	struct config_item *item = &tpg->se_tpg.tpg_group.cg_item;
	int ret;

	/*
	 * An explicit dependency keeps the configfs group from being removed.
	 * It takes a lock of configfs, which holds such locks when it calls
	 * us, so we hold none of those that we take there.
	 */
	ret = target_depend_item(item);
	if (ret)
		return ret == -ENOENT ? 0 : ret;

	mutex_lock(&tpg->tv_tpg_mutex);
	if (tpg->tpg_nexus && !tpg->tv_tpg_vhost_count) {
		tpg->tv_tpg_vhost_count++;
		tpg->vhost_scsi = vs;
		ret = 1;
	}
	mutex_unlock(&tpg->tv_tpg_mutex);

	if (!ret)
		target_undepend_item(item);
	return ret;
}

/* Give them back: nobody uses them for us any more. */
static void vhost_scsi_put_tpgs(struct vhost_scsi_tpg **vs_tpg)
{
	struct vhost_scsi_tpg *tpg;
	int i;

	for (i = 0; i < VHOST_SCSI_MAX_TARGET; i++) {
		tpg = vs_tpg[i];
		if (!tpg)
			continue;

		mutex_lock(&tpg->tv_tpg_mutex);
		tpg->tv_tpg_vhost_count--;
		tpg->vhost_scsi = NULL;
		mutex_unlock(&tpg->tv_tpg_mutex);
		target_undepend_item(&tpg->se_tpg.tpg_group.cg_item);
		vs_tpg[i] = NULL;
	}
}

/*
 * Find the tpgs of a wwpn and make them ours. One that was removed in between
 * is still there as memory, which is all that target_depend_item() needs to
 * notice. Return their number, or -errno with none of them ours.
 */
static int vhost_scsi_get_tpgs(struct vhost_scsi *vs,
			       struct vhost_scsi_tpg **vs_tpg,
			       const char *wwpn)
{
	struct vhost_scsi_tpg *tpg;
	int i, n = 0, ret = 0;

	mutex_lock(&vhost_scsi_mutex);
	list_for_each_entry(tpg, &vhost_scsi_list, tv_tpg_list) {
		if (vs_tpg[tpg->tport_tpgt] ||
		    strcmp(tpg->tport->tport_name, wwpn))
			continue;
		kref_get(&tpg->kref);
		vs_tpg[tpg->tport_tpgt] = tpg;
	}
	mutex_unlock(&vhost_scsi_mutex);

	for (i = 0; i < VHOST_SCSI_MAX_TARGET; i++) {
		tpg = vs_tpg[i];
		if (!tpg)
			continue;

		if (ret >= 0)
			ret = vhost_scsi_take_tpg(vs, tpg);
		if (ret > 0)
			n++;
		else
			vs_tpg[i] = NULL;
		kref_put(&tpg->kref, vhost_scsi_free_tpg);
	}

	if (ret < 0)
		vhost_scsi_put_tpgs(vs_tpg);
	return ret < 0 ? ret : n;
}

#endif /* _VHOST_SCSI_WORKER_H */
