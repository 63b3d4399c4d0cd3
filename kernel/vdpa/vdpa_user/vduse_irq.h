/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the interrupt callbacks of a VDUSE device run: what vduse_dev.c needs.
 */
#ifndef _VDUSE_IRQ_H
#define _VDUSE_IRQ_H

#include <linux/types.h>

struct cpumask;
struct device;
struct vduse_irqs;
struct vduse_vq_irq;
struct work_struct;
struct workqueue_struct;

int vduse_irq_init(void);
void vduse_irq_exit(void);

struct vduse_irqs *vduse_irqs_create(struct device *dev, u32 nr_vqs);
void vduse_irqs_destroy(struct vduse_irqs *irqs);
struct vduse_vq_irq *vduse_irqs_vq(struct vduse_irqs *irqs, u32 vq);

void vduse_irq_inject(struct vduse_vq_irq *irq, struct work_struct *work,
		      struct workqueue_struct *unbound);
int vduse_irq_set_affinity(struct vduse_vq_irq *irq,
			   const struct cpumask *mask);
const struct cpumask *vduse_irq_affinity(const struct vduse_vq_irq *irq);

#endif
