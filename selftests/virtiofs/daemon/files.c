// SPDX-License-Identifier: GPL-2.0
/*
 * A file system in memory: files in the root and nothing else. Any number of
 * threads may be in it.
 *
 * The attribute user.requests of the root tells how many requests came through
 * each queue. A file that is named "die" cannot be made: who tries is answered with EIO, and
 * then this process ends, without an answer to anybody else. What is written to a file "monitor" is a
 * command to QEMU, and EIO if that refuses.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon.h"

#define MAX_FILES	64
#define MAX_SIZE	(256UL << 20)	/* of a file; memory is used as far as written */
#define FIRST_INO	2		/* 1 is the root */
#define BLOCK		512
#define VALID_S		3600		/* nobody but the kernel changes anything */

struct file {
	pthread_rwlock_t lock;		/* size, and data against truncation */
	char name[64];			/* empty: unused; files_lock */
	mode_t mode;
	size_t size;
	char *data;
};

__thread bool files_dying;
static struct file files[MAX_FILES];
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static fuse_ino_t ino_of(const struct file *file)
{
	return file - files + FIRST_INO;
}

static struct file *file_of(fuse_ino_t ino)
{
	if (ino < FIRST_INO || ino >= FIRST_INO + MAX_FILES || !files[ino - FIRST_INO].data)
		return NULL;
	return &files[ino - FIRST_INO];
}

/* files_lock is held. */
static struct file *find(const char *name)
{
	for (int i = 0; i < MAX_FILES; i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}

static void fill_attr(fuse_ino_t ino, struct stat *st)
{
	struct file *file = file_of(ino);

	*st = (struct stat){ .st_ino = ino, .st_nlink = 1, .st_blksize = 4096 };
	if (!file) {
		st->st_mode = S_IFDIR | 0777;
		return;
	}
	pthread_rwlock_rdlock(&file->lock);
	st->st_mode = S_IFREG | file->mode;
	st->st_size = file->size;
	st->st_blocks = (file->size + BLOCK - 1) / BLOCK;
	pthread_rwlock_unlock(&file->lock);
}

static void fill_entry(const struct file *file, struct fuse_entry_param *entry)
{
	*entry = (struct fuse_entry_param){
		.ino = ino_of(file), .attr_timeout = VALID_S, .entry_timeout = VALID_S,
	};
	fill_attr(entry->ino, &entry->attr);
}

static void do_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry;
	struct file *file;

	(void)parent;
	pthread_mutex_lock(&files_lock);
	file = find(name);
	pthread_mutex_unlock(&files_lock);
	if (!file || !name[0]) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill_entry(file, &entry);
	fuse_reply_entry(req, &entry);
}

static void do_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	fill_attr(ino, &st);
	fuse_reply_attr(req, &st, VALID_S);
}

/* What is cut off must read as zero should the file grow again. */
static int resize(struct file *file, size_t size)
{
	if (size > MAX_SIZE)
		return EFBIG;
	pthread_rwlock_wrlock(&file->lock);
	if (size < file->size)
		memset(file->data + size, 0, file->size - size);
	file->size = size;
	pthread_rwlock_unlock(&file->lock);
	return 0;
}

static void do_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		       struct fuse_file_info *fi)
{
	struct file *file = file_of(ino);
	int err = 0;

	if (file && to_set & FUSE_SET_ATTR_SIZE)
		err = resize(file, attr->st_size);
	if (err)
		fuse_reply_err(req, err);
	else
		do_getattr(req, ino, fi);
}

/* files_lock is held. An old file's memory stays for who has it open. */
static struct file *make(const char *name, mode_t mode)
{
	struct file *file = find("");

	if (!file || strlen(name) >= sizeof(file->name))
		return NULL;
	if (!file->data) {
		file->data = mmap(NULL, MAX_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (file->data == MAP_FAILED)
			die("no memory for a file");
		pthread_rwlock_init(&file->lock, NULL);
	}
	resize(file, 0);
	file->mode = mode & 0777;
	strcpy(file->name, name);
	return file;
}

static void do_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	struct fuse_entry_param entry;
	struct file *file;

	(void)parent;
	if (!strcmp(name, "die")) {
		fuse_reply_err(req, EIO);
		files_dying = true;
		return;
	}
	pthread_mutex_lock(&files_lock);
	file = find(name);
	if (!file)
		file = make(name, mode);
	pthread_mutex_unlock(&files_lock);
	if (!file) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	fill_entry(file, &entry);
	fuse_reply_create(req, &entry, fi);
}

static void do_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct file *file;

	(void)parent;
	pthread_mutex_lock(&files_lock);
	file = find(name);
	if (file)
		file->name[0] = '\0';
	pthread_mutex_unlock(&files_lock);
	fuse_reply_err(req, file ? 0 : ENOENT);
}

static void do_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (file_of(ino))
		fuse_reply_open(req, fi);
	else
		fuse_reply_err(req, EISDIR);
}

static void do_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	struct file *file = file_of(ino);
	size_t len;

	(void)fi;
	if (!file) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	pthread_rwlock_rdlock(&file->lock);
	len = (size_t)at < file->size ? file->size - at : 0;
	fuse_reply_buf(req, file->data + at, len < size ? len : size);
	pthread_rwlock_unlock(&file->lock);
}

static void do_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t at,
		     struct fuse_file_info *fi)
{
	struct file *file = file_of(ino);

	(void)fi;
	if (!file || at + size > MAX_SIZE) {
		fuse_reply_err(req, file ? EFBIG : EISDIR);
		return;
	}
	if (!strcmp(file->name, "monitor")) {
		int err = monitor_tell(buf, size);

		if (err)
			fuse_reply_err(req, err);
		else
			fuse_reply_write(req, size);
		return;
	}
	/* Only growing needs the lock alone: the kernel orders writes that overlap. */
	pthread_rwlock_rdlock(&file->lock);
	if (at + size > file->size) {
		pthread_rwlock_unlock(&file->lock);
		pthread_rwlock_wrlock(&file->lock);
		if (at + size > file->size)
			file->size = at + size;
	}
	memcpy(file->data + at, buf, size);
	pthread_rwlock_unlock(&file->lock);
	fuse_reply_write(req, size);
}

static void do_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		       struct fuse_file_info *fi)
{
	char buf[16384];
	size_t used = 0;

	(void)ino;
	(void)fi;
	if (size > sizeof(buf))
		size = sizeof(buf);
	pthread_mutex_lock(&files_lock);
	for (; at < MAX_FILES; at++) {
		struct stat st = { .st_ino = at + FIRST_INO, .st_mode = S_IFREG };
		size_t len;

		if (!files[at].name[0])
			continue;
		len = fuse_add_direntry(req, buf + used, size - used, files[at].name, &st, at + 1);
		if (len > size - used)
			break;
		used += len;
	}
	pthread_mutex_unlock(&files_lock);
	fuse_reply_buf(req, buf, used);
}

static void do_statfs(fuse_req_t req, fuse_ino_t ino)
{
	const struct statvfs st = {
		.f_bsize = 4096, .f_frsize = 4096, .f_blocks = MAX_FILES * (MAX_SIZE / 4096),
		.f_bfree = MAX_FILES * (MAX_SIZE / 4096), .f_files = MAX_FILES,
		.f_namemax = sizeof(files[0].name) - 1,
	};

	(void)ino;
	fuse_reply_statfs(req, &st);
}

static void do_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, 0);
}

static void do_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char buf[MAX_QUEUES * 21];
	size_t len;

	if (ino != FUSE_ROOT_ID || strcmp(name, "user.requests")) {
		fuse_reply_err(req, ENODATA);
		return;
	}
	len = ring_counts(buf, sizeof(buf));
	if (!size)
		fuse_reply_xattr(req, len);
	else if (size < len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, buf, len);
}

const struct fuse_lowlevel_ops files_ops = {
	.lookup = do_lookup,
	.getattr = do_getattr,
	.setattr = do_setattr,
	.create = do_create,
	.unlink = do_unlink,
	.open = do_open,
	.read = do_read,
	.write = do_write,
	.readdir = do_readdir,
	.statfs = do_statfs,
	.fsync = do_fsync,
	.getxattr = do_getxattr,
};
