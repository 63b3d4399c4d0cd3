# SPDX-License-Identifier: GPL-2.0
# The vhost modules: whose, loaded or not, and loading them. No module is loaded here.
@ recording none
@ tree modules-none

= missing_modules_are_told
$ vhost-ctl module show
| KERNEL      NAME        STATE   BUILD BLACKLISTED STALE PATH
| 6.12.0-test vhost       missing -     no          no    -
| 6.12.0-test vhost_iotlb missing -     no          no    -
| 6.12.0-test vhost_scsi  missing -     no          no    -
| 6.12.0-test vhost_net   missing -     no          no    -
| 6.12.0-test vhost_vsock missing -     no          no    -
| 6.12.0-test vhost_vdpa  missing -     no          no    -
$ vhost-ctl module load
! vhost-ctl: module load: vhost_scsi is missing: kernel 6.12.0-test has no such module, install that of vhost-workers
! vhost-ctl: module load: vhost_net is missing: kernel 6.12.0-test has no such module, install that of vhost-workers
! vhost-ctl: module load: vhost_vsock is missing: kernel 6.12.0-test has no such module, install that of vhost-workers
? 3
$ vhost-ctl dev show
! vhost-ctl: dev show: workers cannot be controlled: kernel 6.12.0-test has no vhost module, install that of vhost-workers

@ tree modules-builtin

= built_in_modules_are_told
$ vhost-ctl module show
| KERNEL      NAME        STATE   BUILD        BLACKLISTED STALE PATH
| 6.12.0-test vhost       builtin distribution no          no    -
| 6.12.0-test vhost_iotlb builtin distribution no          no    -
| 6.12.0-test vhost_scsi  builtin distribution no          no    -
| 6.12.0-test vhost_net   missing -            no          no    -
| 6.12.0-test vhost_vsock missing -            no          no    -
| 6.12.0-test vhost_vdpa  missing -            no          no    -
$ vhost-ctl module load scsi
! vhost-ctl: module load: vhost_scsi is built into kernel 6.12.0-test, and is not that of vhost-workers: no module can take its place
? 3
$ vhost-ctl dev show
! vhost-ctl: dev show: workers cannot be controlled: vhost is built into kernel 6.12.0-test, no module can take its place

@ tree modules-blacklisted

= blacklisted_modules_are_told
$ vhost-ctl module show
| KERNEL      NAME        STATE     BUILD        BLACKLISTED STALE PATH
| 6.12.0-test vhost       available workers      no          no    /lib/modules/6.12.0-test/updates/vhost.ko
| 6.12.0-test vhost_iotlb available workers      no          no    /lib/modules/6.12.0-test/updates/vhost_iotlb.ko
| 6.12.0-test vhost_scsi  available workers      yes         no    /lib/modules/6.12.0-test/updates/vhost_scsi.ko
| 6.12.0-test vhost_net   available workers      no          no    /lib/modules/6.12.0-test/updates/vhost_net.ko
| 6.12.0-test vhost_vsock available distribution no          no    /lib/modules/6.12.0-test/kernel/drivers/vhost/vhost_vsock.ko
| 6.12.0-test vhost_vdpa  missing   -            no          no    -
$ vhost-ctl module load vhost_scsi
! vhost-ctl: module load: vhost_scsi is blacklisted: remove 'blacklist vhost_scsi' from modprobe's configuration (/etc/modprobe.d), or load it by hand with 'modprobe vhost_scsi'
? 2
$ vhost-ctl dev show
! vhost-ctl: dev show: workers cannot be controlled: the vhost module is not loaded, 'vhost-ctl module load' does that

= a_module_that_may_not_be_loaded_is_told
$ vhost-ctl module load net
! vhost-ctl: module load: vhost_net cannot be loaded (see also dmesg): Operation not permitted
? 2

@ tree modules-distribution

= the_distributions_modules_are_told
$ vhost-ctl module show
| KERNEL      NAME        STATE     BUILD        BLACKLISTED STALE PATH
| 6.12.1-test vhost       available distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost.ko
| 6.12.1-test vhost_iotlb available distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost_iotlb.ko
| 6.12.1-test vhost_scsi  loaded    distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost_scsi.ko
| 6.12.1-test vhost_net   missing   -            no          no    -
| 6.12.1-test vhost_vsock missing   -            no          no    -
| 6.12.1-test vhost_vdpa  missing   -            no          no    -
$ vhost-ctl module load scsi vsock
! vhost-ctl: module load: vhost_scsi of kernel 6.12.1-test is not that of vhost-workers, which is not installed for this kernel
! vhost-ctl: module load: vhost_vsock is missing: kernel 6.12.1-test has no such module, install that of vhost-workers
? 3
$ vhost-ctl dev show
! vhost-ctl: dev show: workers cannot be controlled: the vhost module installed for kernel 6.12.1-test is not that of vhost-workers, install it

= every_kernel_that_is_installed_is_shown
$ vhost-ctl module show all
| KERNEL      NAME        STATE     BUILD        BLACKLISTED STALE PATH
| 6.12.0-test vhost       available workers      no          no    /lib/modules/6.12.0-test/updates/vhost.ko
| 6.12.0-test vhost_iotlb missing   -            no          no    -
| 6.12.0-test vhost_scsi  available workers      no          no    /lib/modules/6.12.0-test/updates/vhost_scsi.ko
| 6.12.0-test vhost_net   missing   -            no          no    -
| 6.12.0-test vhost_vsock missing   -            no          no    -
| 6.12.0-test vhost_vdpa  missing   -            no          no    -
| 6.12.1-test vhost       available distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost.ko
| 6.12.1-test vhost_iotlb available distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost_iotlb.ko
| 6.12.1-test vhost_scsi  loaded    distribution no          no    /lib/modules/6.12.1-test/kernel/drivers/vhost/vhost_scsi.ko
| 6.12.1-test vhost_net   missing   -            no          no    -
| 6.12.1-test vhost_vsock missing   -            no          no    -
| 6.12.1-test vhost_vdpa  missing   -            no          no    -
$ vhost-ctl -j -o kernel,name,build module show
| {
|   "modules": [
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost",
|       "build": "distribution"
|     },
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost_iotlb",
|       "build": "distribution"
|     },
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost_scsi",
|       "build": "distribution"
|     },
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost_net",
|       "build": null
|     },
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost_vsock",
|       "build": null
|     },
|     {
|       "kernel": "6.12.1-test",
|       "name": "vhost_vdpa",
|       "build": null
|     }
|   ]
| }

@ tree modules-stale

= modules_that_are_loaded_from_another_build_are_told
$ vhost-ctl module show
| KERNEL      NAME        STATE     BUILD        BLACKLISTED STALE PATH
| 6.12.0-test vhost       loaded    distribution no          yes   /lib/modules/6.12.0-test/updates/vhost.ko
| 6.12.0-test vhost_iotlb available workers      no          no    /lib/modules/6.12.0-test/updates/vhost_iotlb.ko
| 6.12.0-test vhost_scsi  loaded    distribution no          yes   /lib/modules/6.12.0-test/updates/vhost_scsi.ko
| 6.12.0-test vhost_net   available workers      no          no    /lib/modules/6.12.0-test/updates/vhost_net.ko
| 6.12.0-test vhost_vsock available distribution no          no    /lib/modules/6.12.0-test/kernel/drivers/vhost/vhost_vsock.ko
| 6.12.0-test vhost_vdpa  missing   -            no          no    -
$ vhost-ctl module load scsi
! vhost-ctl: module load: vhost_scsi is loaded, but is not that of vhost-workers: reboot, or unload it ('modprobe -r vhost_scsi') and try again
? 3
$ vhost-ctl dev show
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, which is installed: reboot, or unload it and 'vhost-ctl module load'

@ tree modules-netns

= another_network_namespace_is_told
$ vhost-ctl dev show
! vhost-ctl: dev show: workers can be controlled from the first network namespace only: 'nsenter -t 1 -n vhost-ctl'

@ recording host
@ tree modules-loaded

= our_modules_are_told
% vhost-ctl dev show
$ vhost-ctl module show
| KERNEL      NAME        STATE     BUILD   BLACKLISTED STALE PATH
| 6.12.0-test vhost       loaded    workers no          no    /lib/modules/6.12.0-test/updates/vhost.ko
| 6.12.0-test vhost_iotlb loaded    workers no          no    /lib/modules/6.12.0-test/updates/vhost_iotlb.ko
| 6.12.0-test vhost_scsi  loaded    workers no          no    /lib/modules/6.12.0-test/updates/vhost_scsi.ko
| 6.12.0-test vhost_net   available workers no          no    /lib/modules/6.12.0-test/updates/vhost_net.ko
| 6.12.0-test vhost_vsock available workers no          no    /lib/modules/6.12.0-test/updates/vhost_vsock.ko
| 6.12.0-test vhost_vdpa  available workers no          no    /lib/modules/6.12.0-test/updates/vhost_vdpa.ko
% vhost-ctl dev show
$ vhost-ctl module load scsi
