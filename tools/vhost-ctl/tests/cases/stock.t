# SPDX-License-Identifier: GPL-2.0
# Kernels whose vhost modules have no netlink family: what /proc tells, and no control.
@ recording none
@ tree stock-6.12

= devices_and_threads_of_the_owner_are_found_in_proc
$ vhost-ctl dev show
| BACKEND OWNER_PID OWNER_COMM THREAD_KIND WORKERS
| scsi         4711 guest      task              -
| net          4711 guest      task              -
| vsock        4801 guest      task              1
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
$ vhost-ctl -j dev show 4801
| {
|   "devs": [
|     {
|       "backend": "vsock",
|       "owner_pid": 4801,
|       "owner_comm": "guest",
|       "thread_kind": "task",
|       "workers": 1
|     }
|   ]
| }
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
$ vhost-ctl worker show
|  TID THREAD_KIND CPUS OWNER_PID OWNER_COMM
| 4720 task        0-1       4711 guest
| 4722 task        0-1       4711 guest
| 4803 task        0-1       4801 guest
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
$ vhost-ctl -j worker show 4801
| {
|   "workers": [
|     {
|       "tid": 4803,
|       "thread_kind": "task",
|       "cpus": "0-1",
|       "owner_pid": 4801,
|       "owner_comm": "guest"
|     }
|   ]
| }
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
$ vhost-ctl -n -o tid,owner_pid worker show pid:4711
| 4720      4711
| 4722      4711
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
$ vhost-ctl -o tid,vqs worker show
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
! vhost-ctl: worker show: -o: column 'vqs' is not known without control
? 3

= what_is_not_seen_is_told
$ vhost-ctl dev show 1
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
! vhost-ctl: dev show: process 1 is not seen to own a vhost device
? 1
$ vhost-ctl worker show id:1
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
! vhost-ctl: worker show: without control only the pid of an owner names a device, not 'id:1'
? 3
$ vhost-ctl dev show naa.5001405001267000
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
! vhost-ctl: dev show: without control only the pid of an owner names a device, not 'naa.5001405001267000'
? 3

= control_is_refused
$ vhost-ctl attach 1 all=new
! vhost-ctl: attach: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl worker add 1
! vhost-ctl: worker add: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl worker set 1 0 cpus 0
! vhost-ctl: worker set: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl worker del 1 unused
! vhost-ctl: worker del: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl vq show
! vhost-ctl: vq show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl vq set 1 2 0
! vhost-ctl: vq set: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl stats show
! vhost-ctl: stats show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl policy show
! vhost-ctl: policy show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl policy set per-vq
! vhost-ctl: policy set: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl monitor
! vhost-ctl: monitor: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl save 1
! vhost-ctl: save: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3
$ vhost-ctl restore pair.map
! vhost-ctl: restore: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.12.117+deb12-cloud-amd64
? 3

@ tree stock-6.1

= kernel_threads_are_found_by_their_names
$ vhost-ctl dev show
| BACKEND OWNER_PID OWNER_COMM THREAD_KIND WORKERS
| scsi         4711 guest      kthread           -
| net          4711 guest      kthread           -
| vsock        4801 guest      kthread           1
! vhost-ctl: dev show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.1.0-57-cloud-amd64
$ vhost-ctl worker show
|  TID THREAD_KIND CPUS OWNER_PID OWNER_COMM
| 4720 kthread     0-1       4711 guest
| 4722 kthread     0-1       4711 guest
| 4804 kthread     0-1       4801 guest
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.1.0-57-cloud-amd64
$ vhost-ctl worker show 4801
|  TID THREAD_KIND CPUS OWNER_PID OWNER_COMM
| 4804 kthread     0-1       4801 guest
! vhost-ctl: worker show: workers cannot be controlled: the vhost module that is loaded is not that of vhost-workers, install it for kernel 6.1.0-57-cloud-amd64

@ tree shared

= a_device_that_processes_share_is_one
$ vhost-ctl dev show
| BACKEND OWNER_PID OWNER_COMM THREAD_KIND WORKERS
| net           910 vm (1) S 2 task              1
! vhost-ctl: dev show: workers cannot be controlled: kernel 6.12.0-test has no vhost module, install that of vhost-workers

= who_only_calls_itself_a_worker_is_none
$ vhost-ctl worker show
| TID THREAD_KIND CPUS OWNER_PID OWNER_COMM
| 911 task        1          910 vm (1) S 2
! vhost-ctl: worker show: workers cannot be controlled: kernel 6.12.0-test has no vhost module, install that of vhost-workers
