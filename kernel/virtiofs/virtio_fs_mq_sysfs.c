// SPDX-License-Identifier: GPL-2.0
/*
 * Show devices and their queues: /sys/fs/virtiofs/N/{device,tag} and
 * /sys/fs/virtiofs/N/mqs/Q/{name,cpu_list}, N being the number of the virtio
 * device and Q that of the virtqueue, as newer kernels do.
 */
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "virtio_fs_mq.h"
#include "virtio_fs_mq_sysfs.h"

/* The directory of a virtqueue; it keeps the map. */
struct virtio_fs_mq_dir {
	struct kobject kobj;
	struct virtio_fs_mq *mq;
	struct virtqueue *vq;
};

static struct kset *virtio_fs_mq_kset;

/* A virtqueue --------------------------------------------------------------- */

static struct virtio_fs_mq_dir *virtio_fs_mq_dir_of(struct kobject *kobj)
{
	return container_of(kobj, struct virtio_fs_mq_dir, kobj);
}

static ssize_t name_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%s\n", virtio_fs_mq_dir_of(kobj)->vq->name);
}

/* Any CPU uses the queues that are not for requests. */
static bool virtio_fs_mq_uses(const struct virtio_fs_mq *mq, unsigned int cpu,
			      unsigned int index)
{
	return index < mq->first || mq->map[cpu] == index - mq->first;
}

static ssize_t cpu_list_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	struct virtio_fs_mq_dir *dir = virtio_fs_mq_dir_of(kobj);
	unsigned int cpu;
	int len = 0;

	for_each_possible_cpu(cpu)
		if (virtio_fs_mq_uses(dir->mq, cpu, dir->vq->index))
			len += sysfs_emit_at(buf, len, len ? ", %u" : "%u", cpu);

	return len + sysfs_emit_at(buf, len, "\n");
}

static struct kobj_attribute virtio_fs_mq_name = __ATTR_RO(name);
static struct kobj_attribute virtio_fs_mq_cpu_list = __ATTR_RO(cpu_list);

static struct attribute *virtio_fs_mq_dir_attrs[] = {
	&virtio_fs_mq_name.attr,
	&virtio_fs_mq_cpu_list.attr,
	NULL
};
ATTRIBUTE_GROUPS(virtio_fs_mq_dir);

static void virtio_fs_mq_dir_release(struct kobject *kobj)
{
	struct virtio_fs_mq_dir *dir = virtio_fs_mq_dir_of(kobj);

	virtio_fs_mq_put(dir->mq);
	kfree(dir);
}

static struct kobj_type virtio_fs_mq_dir_type = {
	.release = virtio_fs_mq_dir_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = virtio_fs_mq_dir_groups,
};

static int virtio_fs_mq_add_dir(struct virtio_fs_mq *mq, struct virtqueue *vq)
{
	struct virtio_fs_mq_dir *dir;
	int ret;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;

	kobject_get(&mq->kobj);
	dir->mq = mq;
	dir->vq = vq;
	ret = kobject_init_and_add(&dir->kobj, &virtio_fs_mq_dir_type, mq->dirs,
				   "%u", vq->index);
	if (ret)
		kobject_put(&dir->kobj);
	else
		mq->queues[mq->nr_dirs++] = dir;

	return ret;
}

static void virtio_fs_mq_del_dirs(struct virtio_fs_mq *mq)
{
	while (mq->nr_dirs) {
		struct kobject *kobj = &mq->queues[--mq->nr_dirs]->kobj;

		kobject_del(kobj);
		kobject_put(kobj);
	}
	kfree(mq->queues);
	mq->queues = NULL;
}

static int virtio_fs_mq_add_dirs(struct virtio_fs_mq *mq)
{
	struct virtqueue *vq;
	int ret;

	mq->queues = kcalloc(mq->nr_vqs, sizeof(*mq->queues), GFP_KERNEL);
	if (!mq->queues)
		return -ENOMEM;

	virtio_device_for_each_vq(mq->vdev, vq) {
		ret = virtio_fs_mq_add_dir(mq, vq);
		if (ret) {
			virtio_fs_mq_del_dirs(mq);
			return ret;
		}
	}

	return 0;
}

/* A device ------------------------------------------------------------------ */

static struct virtio_fs_mq *virtio_fs_mq_of(struct kobject *kobj)
{
	return container_of(kobj, struct virtio_fs_mq, kobj);
}

static ssize_t tag_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%s\n", virtio_fs_mq_of(kobj)->tag);
}

static struct kobj_attribute virtio_fs_mq_tag = __ATTR_RO(tag);

static struct attribute *virtio_fs_mq_attrs[] = {
	&virtio_fs_mq_tag.attr,
	NULL
};
ATTRIBUTE_GROUPS(virtio_fs_mq);

static void virtio_fs_mq_release(struct kobject *kobj)
{
	kfree(virtio_fs_mq_of(kobj));
}

static struct kobj_type virtio_fs_mq_type = {
	.release = virtio_fs_mq_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = virtio_fs_mq_groups,
};

static int virtio_fs_mq_uevent(struct kobject *kobj, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "TAG=%s", virtio_fs_mq_of(kobj)->tag);
}

static const struct kset_uevent_ops virtio_fs_mq_uevent_ops = {
	.uevent = virtio_fs_mq_uevent,
};

/**
 * virtio_fs_mq_publish - show a device in sysfs, and tell user space
 * @mq: the map of the device's queues
 * @tag: the device's tag, valid until virtio_fs_mq_retire()
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what sysfs returned.
 */
int virtio_fs_mq_publish(struct virtio_fs_mq *mq, const char *tag)
{
	int ret;

	mq->tag = tag;
	ret = kobject_add(&mq->kobj, NULL, "%u", mq->vdev->index);
	if (ret)
		return ret;

	ret = sysfs_create_link(&mq->kobj, &mq->vdev->dev.kobj, "device");
	if (ret)
		goto del;

	ret = -ENOMEM;
	mq->dirs = kobject_create_and_add("mqs", &mq->kobj);
	if (!mq->dirs)
		goto remove_link;

	ret = virtio_fs_mq_add_dirs(mq);
	if (ret)
		goto put_dirs;

	kobject_uevent(&mq->kobj, KOBJ_ADD);

	return 0;

put_dirs:
	kobject_put(mq->dirs);
	mq->dirs = NULL;
remove_link:
	sysfs_remove_link(&mq->kobj, "device");
del:
	kobject_del(&mq->kobj);

	return ret;
}

/**
 * virtio_fs_mq_unpublish - undo virtio_fs_mq_publish(), if that was done
 * @mq: the map of the device's queues
 *
 * Context: may sleep.
 */
void virtio_fs_mq_unpublish(struct virtio_fs_mq *mq)
{
	if (!mq->dirs)
		return;

	virtio_fs_mq_del_dirs(mq);
	kobject_put(mq->dirs);
	mq->dirs = NULL;
	sysfs_remove_link(&mq->kobj, "device");
	kobject_del(&mq->kobj);
}

/**
 * virtio_fs_mq_sysfs_init - begin the life of a map
 * @mq: the map; from now on virtio_fs_mq_put() frees it
 *
 * Context: any.
 */
void virtio_fs_mq_sysfs_init(struct virtio_fs_mq *mq)
{
	kobject_init(&mq->kobj, &virtio_fs_mq_type);
	mq->kobj.kset = virtio_fs_mq_kset;
}

/**
 * virtio_fs_mq_sysfs_create - make /sys/fs/virtiofs
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int virtio_fs_mq_sysfs_create(void)
{
	virtio_fs_mq_kset = kset_create_and_add("virtiofs",
						&virtio_fs_mq_uevent_ops, fs_kobj);

	return virtio_fs_mq_kset ? 0 : -ENOMEM;
}

/**
 * virtio_fs_mq_sysfs_destroy - remove /sys/fs/virtiofs
 *
 * Context: may sleep.
 */
void virtio_fs_mq_sysfs_destroy(void)
{
	kset_unregister(virtio_fs_mq_kset);
}
