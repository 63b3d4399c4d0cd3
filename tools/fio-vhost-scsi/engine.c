// SPDX-License-Identifier: GPL-2.0
/*
 * engine.c - an I/O engine for fio that plays the guest of a vhost-scsi device
 *
 * A job owns a virtqueue. Jobs of one process that run at once on one target share a device;
 * which they are, and so how many queues it has, is told from all jobs before the first one runs.
 */
#include "fio.h"
#include "optgroup.h"

#include "device.h"
#include "lib/error.h"

#define NAME		"vhost-scsi"
#define QUEUES_MAX	128		/* of the kernel */
#define RING_MIN	16
#define RING_MAX	1024
#define TRIES		8		/* of a command that is refused: vscsi_refused() */
#define CDB10_BLOCKS	UINT16_MAX	/* most that READ(10) and WRITE(10) can say */
#define SPINS		1024		/* looks at the ring between looks at the clock */

struct options {
	void *pad;			/* fio takes offset 0 for "no option" */
	char *wwpn, *workers;
	unsigned int tpgt, lun, queue_size, cmd_timeout, busy_poll;
};

#define OPTION(n, l, t, field, h) \
	.name = n, .lname = l, .type = t, .off1 = offsetof(struct options, field), .help = h, \
	.category = FIO_OPT_C_ENGINE, .group = FIO_OPT_G_INVALID

static struct fio_option options[] = {
	{ OPTION("wwpn", "Target", FIO_OPT_STR_STORE, wwpn,
		 "Name of the vhost target, as naa.5001405...") },
	{ OPTION("tpgt", "Portal group", FIO_OPT_INT, tpgt, "Number of its portal group"),
	  .def = "1", .minval = 1, .maxval = 255 },
	{ OPTION("lun", "LUN", FIO_OPT_INT, lun, "Number of the LUN"),
	  .def = "0", .maxval = 16383 },
	{ OPTION("queue_size", "Ring size", FIO_OPT_INT, queue_size,
		 "Entries of a virtqueue, a power of two; 0 fits the iodepth"),
	  .def = "0", .maxval = RING_MAX },
	{ OPTION("workers", "Workers", FIO_OPT_STR_STORE, workers,
		 "Threads that serve the device's virtqueues: a number, or per-vq"),
	  .def = "1" },
	{ OPTION("busy_poll", "Busy polling", FIO_OPT_STR_SET, busy_poll,
		 "Look for answers all the time instead of sleeping") },
	{ OPTION("cmd_timeout", "Timeout", FIO_OPT_INT, cmd_timeout,
		 "Seconds without any answer after which the job fails"),
	  .def = "30", .minval = 1, .maxval = 86400 },
	{ .name = NULL },
};

/* A command and the I/O that it is for. */
struct slot {
	struct vscsi_cmd cmd;		/* the library gives this back */
	struct io_u *io_u;
	unsigned int tries;
};

struct job {
	struct device_shape shape;
	struct device_lun lun;
	struct vscsi *dev;		/* shared; NULL while the job does not run */
	unsigned int queue;
	struct io_u **events;		/* of the last getevents() */
	struct io_u **queued;		/* not committed yet */
	unsigned int nr_queued;
};

/* Print why a job cannot go on; the errno of fio's kind. */
static int fail(struct thread_data *td, int err, const char *why)
{
	log_err(NAME ": job %s: %s\n", td->o.name, why);
	td_verror(td, abs(err), NAME);
	return 1;
}

/* --- what a job wants, and with whom it shares */

static bool is_ours(const struct thread_data *td)
{
	const struct options *o = td->eo;

	return td->io_ops && td->io_ops->options == options && o && o->wwpn;
}

static bool parse_workers(const char *text, unsigned int *workers)
{
	char *end;
	unsigned long n;

	if (!strcmp(text, "per-vq")) {
		*workers = DEVICE_PER_VQ;
		return true;
	}
	n = strtoul(text, &end, 10);
	*workers = n;
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= QUEUES_MAX;
}

static unsigned int ring_for(const struct thread_data *td)
{
	const struct options *o = td->eo;
	unsigned int size = RING_MIN;

	if (o->queue_size)
		return o->queue_size;
	while (size < td->o.iodepth)
		size *= 2;
	return size;
}

static bool same_workers(const struct options *a, const struct options *b)
{
	return !strcmp(a->workers, b->workers);
}

/* Go through all jobs: count those that share @me's device, and add up what they need. */
static const char *find_sharers(struct thread_data *me, struct job *job)
{
	const struct options *mine = me->eo, *o;
	unsigned int wave = 0, my_wave = 0, ring;
	struct device_shape *shape = &job->shape;
	struct thread_data *td;
	bool conflict = false;
	int i;

	for_each_td(td, i) {
		wave += td->o.stonewall && i;
		if (td == me)
			my_wave = wave;
	}
	shape->wave = my_wave;
	wave = 0;
	for_each_td(td, i) {
		wave += td->o.stonewall && i;
		if (wave != my_wave || !is_ours(td))
			continue;
		o = td->eo;
		if (strcmp(o->wwpn, mine->wwpn))
			continue;
		if (td == me)
			job->queue = shape->queues;
		shape->queues++;
		conflict = conflict || !same_workers(o, mine);
		ring = ring_for(td);
		if (ring > shape->ring_size)
			shape->ring_size = ring;
		shape->buffers += (size_t)td->o.iodepth * td_max_bs(td) + 2 * td->o.mem_align +
				  4 * (page_mask + 1);
	}
	if (shape->queues > 1 && !me->o.use_thread)
		return "jobs that run at once on a target share a device, which takes thread=1";
	if (shape->queues > QUEUES_MAX)
		return "more jobs run at once on the target than a device has queues (128)";
	return conflict ? "jobs that run at once on a target must have the same workers=" : NULL;
}

static const char *check_options(const struct thread_data *td, struct job *job)
{
	const struct options *o = td->eo;

	if (!o->wwpn)
		return "wwpn= is missing: the name of a vhost target";
	if (!parse_workers(o->workers, &job->shape.workers))
		return "workers= must be a number from 1 to 128, or per-vq";
	if (o->queue_size & (o->queue_size - 1))
		return "queue_size= must be a power of two";
	if (o->queue_size && o->queue_size < td->o.iodepth)
		return "iodepth= is more than queue_size=";
	if (td->o.iodepth > RING_MAX)
		return "iodepth= is more than the largest queue (1024)";
	if (td_trim(td))
		return "there are no trims in this engine";
	if (td->o.nr_files > 1)
		return "a job has one LUN, not several files";
	return NULL;
}

static const char *check_sizes(const struct thread_data *td, const struct job *job)
{
	enum fio_ddir ddir;

	for (ddir = DDIR_READ; ddir <= DDIR_WRITE; ddir++)
		if (td->o.min_bs[ddir] % job->lun.block_size || td->o.ba[ddir] % job->lun.block_size)
			return "bs= and blockalign= must be multiples of the LUN's block size";
	return NULL;
}

/* fio wants a file: there is one, and it is the LUN. */
static void describe_file(struct thread_data *td, const struct job *job)
{
	struct fio_file *file;

	if (!td->files_index) {
		add_file(td, td->o.filename ? : NAME, 0, 0);
		td->o.nr_files = 1;
		td->o.open_files++;
	}
	file = td->files[0];
	file->filetype = FIO_TYPE_BLOCK;
	file->real_file_size = job->lun.blocks * job->lun.block_size;
	fio_file_set_size_known(file);
}

/* Called for all jobs before the first one runs: a job that ends takes its options with it. */
static int setup(struct thread_data *td)
{
	const struct options *o = td->eo;
	struct job *job = calloc(1, sizeof(*job));
	const char *wrong;
	int err;

	if (!job)
		return fail(td, ENOMEM, "no memory");
	td->io_ops_data = job;
	wrong = check_options(td, job);
	if (!wrong)
		wrong = find_sharers(td, job);
	if (wrong)
		return fail(td, EINVAL, wrong);
	job->shape.wwpn = o->wwpn;
	job->lun = (struct device_lun){ .wwpn = o->wwpn, .tpgt = o->tpgt, .lun = o->lun };
	err = device_capacity(&job->lun);
	if (err)
		return fail(td, err, guest_error());
	wrong = check_sizes(td, job);
	if (wrong)
		return fail(td, EINVAL, wrong);
	describe_file(td, job);
	return 0;
}

/* --- a job's life */

static int init(struct thread_data *td)
{
	struct job *job = td->io_ops_data;
	int err;

	if (!job)	/* setup() would come after us, while other jobs run or have ended */
		return fail(td, EINVAL, "create_serialize=0 does not go with this engine");
	job->events = calloc(td->o.iodepth, sizeof(*job->events));
	job->queued = calloc(td->o.iodepth, sizeof(*job->queued));
	if (!job->events || !job->queued)
		return fail(td, ENOMEM, "no memory");
	err = device_get(&job->shape, &job->dev);
	return err ? fail(td, err, guest_error()) : 0;
}

static void cleanup(struct thread_data *td)
{
	struct job *job = td->io_ops_data;

	if (!job)
		return;
	if (job->dev)
		device_put(job->dev);
	free(job->events);
	free(job->queued);
	free(job);
}

static int iomem_alloc(struct thread_data *td, size_t bytes)
{
	struct job *job = td->io_ops_data;

	td->orig_buffer = device_buffer(job->dev, bytes);
	return td->orig_buffer ? 0 : fail(td, ENOMEM, guest_error());
}

static void iomem_free(struct thread_data *td)
{
	td->orig_buffer = NULL;	/* goes with the device */
}

static int io_u_init(struct thread_data *td, struct io_u *io_u)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return fail(td, ENOMEM, "no memory");
	slot->io_u = io_u;
	io_u->engine_data = slot;
	return 0;
}

static void io_u_free(struct thread_data *td, struct io_u *io_u)
{
	free(io_u->engine_data);
	io_u->engine_data = NULL;
}

/* There is nothing to open. */
static int no_file(struct thread_data *td, struct fio_file *file)
{
	return 0;
}

/* --- I/O */

static int build_rw(const struct job *job, struct io_u *io_u, struct vscsi_cmd *cmd)
{
	uint32_t unit = job->lun.block_size;
	uint64_t lba = io_u->offset / unit, blocks = io_u->xfer_buflen / unit;
	unsigned int width = lba + blocks > UINT32_MAX || blocks > CDB10_BLOCKS ? 16 : 10;

	if (io_u->offset % unit || io_u->xfer_buflen % unit)
		return EINVAL;
	vscsi_rw_cdb(cmd->cdb, io_u->ddir == DDIR_WRITE, width, lba, blocks);
	cmd->data_gpa = gmem_gpa(job->dev->mem, io_u->xfer_buf);
	cmd->len = io_u->xfer_buflen;
	cmd->data_in = io_u->ddir == DDIR_READ;
	return cmd->data_gpa ? 0 : EFAULT;
}

static int build(const struct job *job, struct io_u *io_u, struct vscsi_cmd *cmd)
{
	vscsi_lun(cmd->lun, job->lun.tpgt, job->lun.lun);
	if (ddir_rw(io_u->ddir) && io_u->ddir != DDIR_TRIM)
		return build_rw(job, io_u, cmd);
	if (!ddir_sync(io_u->ddir) || io_u->ddir == DDIR_SYNC_FILE_RANGE)
		return EOPNOTSUPP;
	vscsi_sync_cdb(cmd->cdb);
	cmd->data_gpa = 0;
	cmd->len = 0;
	return 0;
}

static enum fio_q_status queue(struct thread_data *td, struct io_u *io_u)
{
	struct slot *slot = io_u->engine_data;
	struct job *job = td->io_ops_data;
	int err;

	fio_ro_check(td, io_u);
	slot->tries = TRIES;
	io_u->error = build(job, io_u, &slot->cmd);
	if (io_u->error)
		return FIO_Q_COMPLETED;
	err = vscsi_add(job->dev, job->queue, &slot->cmd);
	if (err == -ENOSPC)
		return FIO_Q_BUSY;
	if (err) {
		io_u->error = -err;
		return FIO_Q_COMPLETED;
	}
	job->queued[job->nr_queued++] = io_u;
	return FIO_Q_QUEUED;
}

static void mark_issued(struct thread_data *td, struct job *job)
{
	struct timespec now;
	unsigned int i;

	if (fio_fill_issue_time(td)) {
		fio_gettime(&now, NULL);
		for (i = 0; i < job->nr_queued; i++) {
			job->queued[i]->issue_time = now;
			io_u_queued(td, job->queued[i]);
		}
		if (td->o.read_iolog_file)
			td->last_issue = now;
	}
	io_u_mark_submit(td, job->nr_queued);
	job->nr_queued = 0;
}

static int commit(struct thread_data *td)
{
	struct job *job = td->io_ops_data;
	int err;

	if (!job->nr_queued)
		return 0;
	mark_issued(td, job);
	err = vscsi_kick(job->dev, job->queue);
	if (err)
		fail(td, err, guest_error());
	return err;
}

static int answer_error(const struct vscsi_cmd *cmd)
{
	return cmd->response == VIRTIO_SCSI_S_OK && !cmd->status ? 0 : EIO;
}

/* Take what is answered, at most up to @max events; how many there are then, or -errno. */
static int reap(struct job *job, unsigned int n, unsigned int max)
{
	struct vscsi_cmd *cmd;
	struct slot *slot;
	int err = 0;

	while (!err && n < max) {
		err = vscsi_collect(job->dev, job->queue, 0, &cmd);
		if (err)
			break;
		slot = container_of(cmd, struct slot, cmd);
		if (vscsi_refused(cmd->response, cmd->status, cmd->sense) && slot->tries--) {
			err = vscsi_send(job->dev, job->queue, cmd);
			continue;
		}
		slot->io_u->error = answer_error(cmd);
		slot->io_u->resid = cmd->resid < cmd->len ? cmd->resid : cmd->len;
		job->events[n++] = slot->io_u;
	}
	return err && err != -EAGAIN ? err : (int)n;
}

/* Wait for an answer: 0 or -ETIMEDOUT. */
static int wait_answer(const struct options *o, struct gvq *vq, int timeout_ms)
{
	uint64_t start;
	unsigned int i;

	if (!o->busy_poll)
		return gvq_wait(vq, timeout_ms);
	start = guest_now_ns();
	gvq_disarm(vq);
	do {
		for (i = 0; i < SPINS; i++) {
			if (gvq_has_used(vq))
				return 0;
			nop;
		}
	} while (guest_left_ms(start, timeout_ms));
	return -ETIMEDOUT;
}

static int getevents(struct thread_data *td, unsigned int min, unsigned int max,
		     const struct timespec *t)
{
	const struct options *o = td->eo;
	struct job *job = td->io_ops_data;
	struct gvq *vq = job->dev->io[job->queue].vq;
	int limit_ms = t ? t->tv_sec * 1000 + (t->tv_nsec + 999999) / 1000000 : 0;
	int n, err;

	n = reap(job, 0, max);
	while (n >= 0 && n < (int)min) {
		err = wait_answer(o, vq, t ? limit_ms : (int)o->cmd_timeout * 1000);
		if (err == -ETIMEDOUT && t)
			break;
		if (err == -ETIMEDOUT)
			guest_fail(ETIMEDOUT, "no answer within %u s, %u commands in flight",
				   o->cmd_timeout, vq->in_flight);
		n = err ?: reap(job, n, max);
	}
	if (n < 0)
		fail(td, n, guest_error());
	return n;
}

static struct io_u *event(struct thread_data *td, int number)
{
	struct job *job = td->io_ops_data;

	return job->events[number];
}

/* What an answer that was an error said; fio frees it. */
static char *errdetails(struct io_u *io_u)
{
	const struct slot *slot = io_u->engine_data;
	const struct vscsi_cmd *cmd = &slot->cmd;
	char *text;

	if (asprintf(&text, NAME ": response %u, SCSI status 0x%02x, sense %x/%02x/%02x",
		     cmd->response, cmd->status, cmd->sense[2] & 15, cmd->sense[12],
		     cmd->sense[13]) < 0)
		return NULL;
	return text;
}

struct ioengine_ops ioengine __attribute__((visibility("default"))) = {
	.name			= NAME,
	.version		= FIO_IOOPS_VERSION,
	.flags			= FIO_DISKLESSIO | FIO_RAWIO | FIO_NOEXTEND | FIO_NODISKUTIL |
				  FIO_NO_OFFLOAD | FIO_ASYNCIO_SETS_ISSUE_TIME,
	.setup			= setup,
	.init			= init,
	.cleanup		= cleanup,
	.iomem_alloc		= iomem_alloc,
	.iomem_free		= iomem_free,
	.io_u_init		= io_u_init,
	.io_u_free		= io_u_free,
	.open_file		= no_file,
	.close_file		= no_file,
	.invalidate		= no_file,
	.unlink_file		= no_file,
	.queue			= queue,
	.commit			= commit,
	.getevents		= getevents,
	.event			= event,
	.errdetails		= errdetails,
	.options		= options,
	.option_struct_size	= sizeof(struct options),
};
