/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lio_priv.h - private to the LIO helper: configfs steps
 */
#ifndef GUEST_LIO_PRIV_H
#define GUEST_LIO_PRIV_H

#include "lio.h"

#define LIO_CONFIGFS	"/sys/kernel/config"
#define LIO_CORE	LIO_CONFIGFS "/target/core"
#define LIO_FABRIC	LIO_CONFIGFS "/target/vhost"
#define LIO_WWPN	"naa.5001405"
#define LIO_STORE	"guest_lun"	/* backstore names: this and the LUN */
#define LIO_PATH	320

/* lio_configfs.c: 0 or -errno with a text; what is there (or gone) already is no error. */
int lio_mount(void);
int lio_mkdir(const char *path);
int lio_rmdir(const char *path);
int lio_write(const char *dir, const char *name, const char *text);
int lio_remove_lun_dir(const char *path);	/* its links, then itself */
int lio_remove_tpg(const char *wwpn);		/* LUNs, nexus, portal group, target */
int lio_remove_stores(const char *hba);		/* our backstores, then the HBA directory */

#endif /* GUEST_LIO_PRIV_H */
