// SPDX-License-Identifier: GPL-2.0
/*
 * Where the interrupt callbacks of a VDUSE device run, and how an
 * administrator decides it.
 *
 * A virtqueue has two sets of CPUs. Its affinity is what the driver asked for,
 * or what was written to irq_cb_affinity. Its effective affinity is the part of
 * it that is in use: all of it, unless irq_cb_effective_affinity says less.
 * Each injection goes to the next online CPU of the effective affinity, as work
 * of a bound workqueue. With enable_irq_wq off there is no work: the
 * callback runs in the VDUSE_VQ_INJECT_IRQ ioctl of the daemon.
 *
 * Locks, by letter:
 *   L  vduse_vq_irq.lock, innermost, nothing sleeps under it
 *   R  written under L, read without: see vduse_irq_affinity()
 *   A  atomic by itself: READ_ONCE() and WRITE_ONCE()
 *
 * An injection must not take the lock of CPU hotplug. Who takes a CPU down
 * holds it for writing, and waits for the requests of that CPU's block queues:
 * these may need this very injection to end. A CPU that goes down after it was
 * chosen does no harm, its pending work is then done on another one.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "vduse_irq.h"

#define NO_CPU	(-1)

/**
 * struct vduse_vq_irq - the interrupt of a virtqueue
 * @kobj: the directory vqN of the device, whose references keep this alive
 * @lock: L
 * @affinity: R, the CPUs that it may run on
 * @effective: L, those of @affinity that it does run on
 * @last_cpu: L, the CPU of the last injection
 * @use_wq: A, the callback is run by a workqueue
 */
struct vduse_vq_irq {
	struct kobject	kobj;
	spinlock_t	lock;	/* L */
	cpumask_var_t	affinity;
	cpumask_var_t	effective;
	int		last_cpu;
	bool		use_wq;
};

/**
 * struct vduse_irqs - the interrupts of a device
 * @nr: number of virtqueues
 * @vq: by index of virtqueue
 */
struct vduse_irqs {
	u32			nr;
	struct vduse_vq_irq	*vq[];
};

static struct workqueue_struct *vduse_irq_bound_wq;

static struct vduse_vq_irq *to_irq(struct kobject *kobj)
{
	return container_of(kobj, struct vduse_vq_irq, kobj);
}

/* --- injection */

/* The next online CPU of @mask after @cpu, round robin, or NO_CPU. */
static int next_online(int cpu, const struct cpumask *mask)
{
	int next = cpumask_next_and(cpu, mask, cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_first_and(mask, cpu_online_mask);
	return next < nr_cpu_ids ? next : NO_CPU;
}

static int choose_cpu(struct vduse_vq_irq *irq)
{
	int cpu;

	spin_lock(&irq->lock);
	cpu = next_online(irq->last_cpu, irq->effective);
	if (cpu != NO_CPU)
		irq->last_cpu = cpu;
	spin_unlock(&irq->lock);
	return cpu;
}

/**
 * vduse_irq_inject - run an interrupt's work where it should run
 * @irq: the virtqueue's interrupt, or NULL for that of the configuration
 * @work: calls the driver
 * @unbound: for the interrupt that no CPU is chosen for: that of the
 *	configuration, or one whose CPUs are all offline
 *
 * The caller holds what keeps a reset of the device away, so that a callback
 * which runs here ends before a reset begins.
 *
 * Context: Process context, without spinlocks.
 */
void vduse_irq_inject(struct vduse_vq_irq *irq, struct work_struct *work,
		      struct workqueue_struct *unbound)
{
	int cpu = NO_CPU;

	if (irq) {
		if (!READ_ONCE(irq->use_wq)) {
			work->func(work);
			return;
		}
		cpu = choose_cpu(irq);
	}
	if (cpu == NO_CPU)
		queue_work(unbound, work);
	else
		queue_work_on(cpu, vduse_irq_bound_wq, work);
}

/* --- affinity */

/**
 * vduse_irq_set_affinity - set the CPUs that an interrupt may run on
 * @irq: the interrupt
 * @mask: the CPUs, or NULL for all
 *
 * The effective affinity becomes all of @mask.
 *
 * Return: 0.
 */
int vduse_irq_set_affinity(struct vduse_vq_irq *irq,
			   const struct cpumask *mask)
{
	if (!mask)
		mask = cpu_possible_mask;
	spin_lock(&irq->lock);
	cpumask_copy(irq->affinity, mask);
	cpumask_copy(irq->effective, mask);
	spin_unlock(&irq->lock);
	return 0;
}

/**
 * vduse_irq_affinity - the CPUs that an interrupt may run on
 * @irq: the interrupt
 *
 * The mask is read without the lock: the driver reads it once, after it has
 * set it. A write to irq_cb_affinity meanwhile can make it read some words of
 * the old mask and some of the new one; the queue then serves other CPUs than
 * the mask says, which costs time and nothing else.
 *
 * Return: the mask, valid for as long as the device is.
 */
const struct cpumask *vduse_irq_affinity(const struct vduse_vq_irq *irq)
{
	return irq->affinity;
}

/* --- sysfs */

struct irq_attribute {
	struct attribute attr;
	ssize_t (*show)(struct vduse_vq_irq *irq, char *buf);
	ssize_t (*store)(struct vduse_vq_irq *irq, const char *buf, size_t n);
};

static ssize_t show_mask(struct vduse_vq_irq *irq, const struct cpumask *mask,
			 char *buf)
{
	ssize_t n;

	spin_lock(&irq->lock);
	n = sysfs_emit(buf, "%*pb\n", cpumask_pr_args(mask));
	spin_unlock(&irq->lock);
	return n;
}

static ssize_t irq_cb_affinity_show(struct vduse_vq_irq *irq, char *buf)
{
	return show_mask(irq, irq->affinity, buf);
}

static ssize_t irq_cb_effective_affinity_show(struct vduse_vq_irq *irq,
					      char *buf)
{
	return show_mask(irq, irq->effective, buf);
}

static int narrow(struct vduse_vq_irq *irq, const struct cpumask *mask)
{
	int ret = -EINVAL;

	spin_lock(&irq->lock);
	if (cpumask_subset(mask, irq->affinity)) {
		cpumask_copy(irq->effective, mask);
		ret = 0;
	}
	spin_unlock(&irq->lock);
	return ret;
}

/* Parse @buf and give it to @set: a mask without an online CPU is refused. */
static ssize_t store_mask(struct vduse_vq_irq *irq, const char *buf, size_t n,
			  int (*set)(struct vduse_vq_irq *irq,
				     const struct cpumask *mask))
{
	cpumask_var_t mask;
	int ret;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	ret = cpumask_parse(buf, mask);
	if (!ret && !cpumask_intersects(mask, cpu_online_mask))
		ret = -EINVAL;
	if (!ret)
		ret = set(irq, mask);
	free_cpumask_var(mask);
	return ret ?: n;
}

static ssize_t irq_cb_affinity_store(struct vduse_vq_irq *irq,
				     const char *buf, size_t n)
{
	return store_mask(irq, buf, n, vduse_irq_set_affinity);
}

static ssize_t irq_cb_effective_affinity_store(struct vduse_vq_irq *irq,
					       const char *buf, size_t n)
{
	return store_mask(irq, buf, n, narrow);
}

static ssize_t enable_irq_wq_show(struct vduse_vq_irq *irq, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(irq->use_wq));
}

static ssize_t enable_irq_wq_store(struct vduse_vq_irq *irq, const char *buf,
				   size_t n)
{
	bool on;
	int ret = kstrtobool(buf, &on);

	if (ret)
		return ret;
	WRITE_ONCE(irq->use_wq, on);
	return n;
}

static struct irq_attribute irq_cb_affinity = __ATTR_RW(irq_cb_affinity);
static struct irq_attribute irq_cb_effective_affinity =
	__ATTR_RW(irq_cb_effective_affinity);
static struct irq_attribute enable_irq_wq = __ATTR_RW(enable_irq_wq);

static struct attribute *vq_irq_attrs[] = {
	&irq_cb_affinity.attr,
	&irq_cb_effective_affinity.attr,
	&enable_irq_wq.attr,
	NULL,
};
ATTRIBUTE_GROUPS(vq_irq);

static ssize_t vq_irq_show(struct kobject *kobj, struct attribute *attr,
			   char *buf)
{
	return container_of(attr, struct irq_attribute, attr)->show(to_irq(kobj), buf);
}

static ssize_t vq_irq_store(struct kobject *kobj, struct attribute *attr,
			    const char *buf, size_t n)
{
	return container_of(attr, struct irq_attribute, attr)->store(to_irq(kobj), buf, n);
}

static const struct sysfs_ops vq_irq_sysfs_ops = {
	.show	= vq_irq_show,
	.store	= vq_irq_store,
};

/* --- lifetime */

static void vq_irq_release(struct kobject *kobj)
{
	struct vduse_vq_irq *irq = to_irq(kobj);

	free_cpumask_var(irq->effective);
	free_cpumask_var(irq->affinity);
	kfree(irq);
}

static const struct kobj_type vq_irq_type = {
	.release	= vq_irq_release,
	.sysfs_ops	= &vq_irq_sysfs_ops,
	.default_groups	= vq_irq_groups,
};

static struct vduse_vq_irq *vq_irq_create(struct kobject *parent, u32 vq)
{
	struct vduse_vq_irq *irq = kzalloc(sizeof(*irq), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!irq)
		return ERR_PTR(-ENOMEM);
	kobject_init(&irq->kobj, &vq_irq_type);
	spin_lock_init(&irq->lock);
	irq->last_cpu = NO_CPU;
	irq->use_wq = true;
	if (!alloc_cpumask_var(&irq->affinity, GFP_KERNEL) ||
	    !alloc_cpumask_var(&irq->effective, GFP_KERNEL))
		goto put;
	vduse_irq_set_affinity(irq, NULL);
	ret = kobject_add(&irq->kobj, parent, "vq%u", vq);
	if (ret)
		goto put;
	return irq;
put:
	kobject_put(&irq->kobj);
	return ERR_PTR(ret);
}

/**
 * vduse_irqs_create - make the interrupts of a device and their directories
 * @dev: the device that the directories vq0, vq1, ... come to
 * @nr_vqs: number of virtqueues
 *
 * Context: May sleep.
 * Return: the interrupts, or -ENOMEM, or what kobject_add() says, as ERR_PTR().
 */
struct vduse_irqs *vduse_irqs_create(struct device *dev, u32 nr_vqs)
{
	struct vduse_irqs *irqs;

	irqs = kvzalloc(struct_size(irqs, vq, nr_vqs), GFP_KERNEL);
	if (!irqs)
		return ERR_PTR(-ENOMEM);
	for (; irqs->nr < nr_vqs; irqs->nr++) {
		struct vduse_vq_irq *irq = vq_irq_create(&dev->kobj, irqs->nr);

		if (IS_ERR(irq)) {
			vduse_irqs_destroy(irqs);
			return ERR_CAST(irq);
		}
		irqs->vq[irqs->nr] = irq;
	}
	return irqs;
}

/**
 * vduse_irqs_destroy - take the directories away and give the memory back
 * @irqs: nobody injects any more
 *
 * Context: May sleep: waits for reads and writes of the files.
 */
void vduse_irqs_destroy(struct vduse_irqs *irqs)
{
	while (irqs->nr) {
		struct kobject *kobj = &irqs->vq[--irqs->nr]->kobj;

		kobject_del(kobj);
		kobject_put(kobj);
	}
	kvfree(irqs);
}

/**
 * vduse_irqs_vq - the interrupt of a virtqueue
 * @irqs: those of the device
 * @vq: index, which the caller has checked
 *
 * Return: the interrupt.
 */
struct vduse_vq_irq *vduse_irqs_vq(struct vduse_irqs *irqs, u32 vq)
{
	return irqs->vq[vq];
}

/**
 * vduse_irq_init - make the workqueue for callbacks that run on a given CPU
 *
 * Return: 0 or -ENOMEM.
 */
int vduse_irq_init(void)
{
	vduse_irq_bound_wq = alloc_workqueue("vduse-irq-bound", WQ_HIGHPRI, 0);
	return vduse_irq_bound_wq ? 0 : -ENOMEM;
}

/**
 * vduse_irq_exit - undo vduse_irq_init()
 */
void vduse_irq_exit(void)
{
	destroy_workqueue(vduse_irq_bound_wq);
}
