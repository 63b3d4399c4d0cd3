# SPDX-License-Identifier: GPL-2.0
# CPUs that may not be used are told before the kernel is asked.
@ recording host
@ tree cpuset

= cpus_that_are_not_there_or_offline_are_told
$ vhost-ctl worker set 1 1 cpus 3-5
! vhost-ctl: worker set: CPU 4-5: not in this host, which has 0-3
? 1
$ vhost-ctl worker set 1 1 cpus 2-3
! vhost-ctl: worker set: CPU 3: offline, online are 0-2
? 2
$ vhost-ctl worker add 1 cpus 3
! vhost-ctl: worker add: CPU 3: offline, online are 0-2
? 2

= cpus_outside_the_cpuset_are_told
% vhost-ctl -j worker add naa.5001405001267000 cpus 1
$ vhost-ctl worker add 1 cpus 1-2
! vhost-ctl: worker add: CPU 2: outside the cpuset of thread 4711, which has 0-1 (/sys/fs/cgroup/vms)
? 2
% vhost-ctl restore pair.map --dry-run
$ sed 's/"cpus": "0"/"cpus": "0,3"/' pair.map | vhost-ctl restore --dry-run
! vhost-ctl: restore: stdin: workers[1].cpus: CPU 3: offline, online are 0-2
? 2

@ tree cpuset-v1

= cpus_outside_the_cpuset_of_cgroup_v1_are_told
% vhost-ctl -j worker add naa.5001405001267000 cpus 1
$ vhost-ctl worker add 1 cpus 1
! vhost-ctl: worker add: CPU 1: outside the cpuset of thread 4711, which has 0 (/sys/fs/cgroup/cpuset/vms)
? 2

= what_may_run_wherever_the_owner_may_is_not_saved_as_pinned
@ tree host
$ vhost-ctl save 1
| {
|   "version": 1,
|   "backend": "scsi",
|   "wwpn": "naa.5001405001267000",
|   "workers": [
|     {
|       "id": 0,
|       "cpus": null,
|       "vqs": [0,1,2]
|     },
|     {
|       "id": 1,
|       "cpus": "1",
|       "vqs": [3]
|     },
|     {
|       "id": 6,
|       "cpus": null,
|       "vqs": [4]
|     },
|     {
|       "id": 7,
|       "cpus": null,
|       "vqs": [5]
|     }
|   ]
| }
