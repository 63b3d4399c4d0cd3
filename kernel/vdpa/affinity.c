// SPDX-License-Identifier: GPL-2.0
/*
 * Spread the virtqueues of a vdpa device over the CPUs, as the transports with
 * interrupts of their own have the interrupt core do it.
 */
#include <linux/cpu_groups.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vdpa.h>
#include <linux/virtio.h>

/* Virtqueue @i of @nvqs is one that the driver wants spread. */
static bool is_spread(const struct irq_affinity *desc, unsigned int i,
		      unsigned int nvqs)
{
	return i >= desc->pre_vectors && i < nvqs - desc->post_vectors;
}

/**
 * vdpa_spread_vqs - give each virtqueue its CPUs
 * @vdpa: the device, which need not support it
 * @vqs: its virtqueues, NULL where the driver has left one out
 * @nvqs: number of entries in @vqs
 * @desc: what the driver wants, or NULL for nothing. No virtio driver asks for
 *	several sets.
 *
 * The virtqueues before and behind those that are spread get all CPUs.
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM, or what the device says.
 */
int vdpa_spread_vqs(struct vdpa_device *vdpa, struct virtqueue *vqs[],
		    unsigned int nvqs, const struct irq_affinity *desc)
{
	const struct vdpa_config_ops *ops = vdpa->config;
	struct cpumask *groups;
	unsigned int i;
	int err;

	if (!desc || !ops->set_vq_affinity ||
	    nvqs <= desc->pre_vectors + desc->post_vectors)
		return 0;
	groups = kvcalloc(nvqs, sizeof(*groups), GFP_KERNEL);
	if (!groups)
		return -ENOMEM;
	err = cpu_groups_masks(groups + desc->pre_vectors,
			       nvqs - desc->pre_vectors - desc->post_vectors);
	for (i = 0; i < nvqs && !err; i++)
		if (vqs[i])
			err = ops->set_vq_affinity(vdpa, vqs[i]->index,
						   is_spread(desc, i, nvqs) ?
						   &groups[i] : NULL);
	kvfree(groups);
	return err;
}
EXPORT_SYMBOL_GPL(vdpa_spread_vqs);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Spread the virtqueues of vdpa devices over the CPUs");
