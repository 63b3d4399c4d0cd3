# SPDX-License-Identifier: GPL-2.0
# A host with three devices, recorded in order on 6.12: scsi and net of process 4711, vsock of 4801.
@ recording host
@ tree host

= lists_the_devices
$ vhost-ctl dev show
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN
|  1 scsi         4711 guest      task               6       1           6 naa.5001405001267000
|  2 net          4711 guest      task               2       1           2 -
|  3 vsock        4801 guest      task               0       1           1 -
$ vhost-ctl -j dev show
| {
|   "devs": [
|     {
|       "id": 1,
|       "backend": "scsi",
|       "owner_pid": 4711,
|       "owner_comm": "guest",
|       "thread_kind": "task",
|       "vqs": 6,
|       "vqs_used": 6,
|       "workers": 1,
|       "max_workers": 6,
|       "wwpn": "naa.5001405001267000",
|       "policy": "single",
|       "policy_failed": 0
|     },
|     {
|       "id": 2,
|       "backend": "net",
|       "owner_pid": 4711,
|       "owner_comm": "guest",
|       "thread_kind": "task",
|       "vqs": 2,
|       "vqs_used": 2,
|       "workers": 1,
|       "max_workers": 2,
|       "wwpn": null,
|       "policy": "single",
|       "policy_failed": 0
|     },
|     {
|       "id": 3,
|       "backend": "vsock",
|       "owner_pid": 4801,
|       "owner_comm": "guest",
|       "thread_kind": "task",
|       "vqs": 2,
|       "vqs_used": 0,
|       "workers": 1,
|       "max_workers": 1,
|       "wwpn": null,
|       "policy": null,
|       "policy_failed": null
|     }
|   ]
| }

= shows_a_device_by_its_id
$ vhost-ctl dev show 1
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN
|  1 scsi         4711 guest      task               6       1           6 naa.5001405001267000
$ vhost-ctl dev show id:2
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN
|  2 net          4711 guest      task               2       1           2 -

= shows_a_device_by_the_pid_of_its_owner
$ vhost-ctl dev show 4801
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN
|  3 vsock        4801 guest      task               0       1           1 -
$ vhost-ctl dev show pid:4801
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN
|  3 vsock        4801 guest      task               0       1           1 -

= shows_a_device_by_its_wwpn
$ vhost-ctl -n -o id,backend,wwpn dev show naa.5001405001267000
|  1 scsi    naa.5001405001267000

= refuses_a_pid_that_owns_two_devices
$ vhost-ctl dev show 4711
! vhost-ctl: dev show: '4711' may mean any of these 2 devices, say id:N
!   id:1  scsi  pid:4711 guest  naa.5001405001267000
!   id:2  net  pid:4711 guest  -
? 1
$ vhost-ctl worker show pid:4711
! vhost-ctl: worker show: 'pid:4711' may mean any of these 2 devices, say id:N
!   id:1  scsi  pid:4711 guest  naa.5001405001267000
!   id:2  net  pid:4711 guest  -
? 1

= refuses_a_device_that_is_not_there
$ vhost-ctl dev show 99
! vhost-ctl: dev show: there is no device '99': see 'vhost-ctl dev show'
? 1
$ vhost-ctl vq show naa.5001405001267fff
! vhost-ctl: vq show: there is no device 'naa.5001405001267fff': see 'vhost-ctl dev show'
? 1

= shows_the_columns_that_are_asked_for
$ vhost-ctl -o ID,vqs dev show
| ID VQS
|  1   6
|  2   2
|  3   2
$ vhost-ctl -j -o id,owner_comm dev show
| {
|   "devs": [
|     {
|       "id": 1,
|       "owner_comm": "guest"
|     },
|     {
|       "id": 2,
|       "owner_comm": "guest"
|     },
|     {
|       "id": 3,
|       "owner_comm": "guest"
|     }
|   ]
| }
$ vhost-ctl -o +vqs dev show 1
| ID BACKEND OWNER_PID OWNER_COMM THREAD_KIND VQS_USED WORKERS MAX_WORKERS WWPN                 VQS
|  1 scsi         4711 guest      task               6       1           6 naa.5001405001267000   6

= lists_the_workers
$ vhost-ctl worker show
| DEV_ID ID  TID THREAD_KIND CPUS VQS KILLED
|      1  0 4723 task        0-1  0-5 no
|      2  0 4724 task        0-1  0-1 no
|      3  0 4803 task        0-1  0-1 no
$ vhost-ctl worker show 1
| DEV_ID ID  TID THREAD_KIND CPUS VQS KILLED
|      1  0 4723 task        0-1  0-5 no
$ vhost-ctl -j worker show 2
| {
|   "workers": [
|     {
|       "dev_id": 2,
|       "id": 0,
|       "tid": 4724,
|       "thread_kind": "task",
|       "cpus": "0-1",
|       "vqs": [0,1],
|       "killed": false,
|       "works": 9,
|       "runs": 9,
|       "wakeups": 7,
|       "busy_ns": 902093400,
|       "longest_run_ns": 578540134,
|       "owner_pid": 4711,
|       "owner_comm": "guest"
|     }
|   ]
| }
$ vhost-ctl -o dev_id,id,owner_pid,owner_comm worker show
| DEV_ID ID OWNER_PID OWNER_COMM
|      1  0      4711 guest
|      2  0      4711 guest
|      3  0      4801 guest

= lists_the_virtqueues
$ vhost-ctl vq show
| DEV_ID INDEX WORKER_ID USED KICKS WORKS
|      1     0         0 yes      0     0
|      1     1         0 yes      0     0
|      1     2         0 yes    294   588
|      1     3         0 yes    588  1176
|      1     4         0 yes    882  1764
|      1     5         0 yes   1176  2352
|      2     0         0 yes      1     6
|      2     1         0 yes      0     1
|      3     0         0 no       0     0
|      3     1         0 no       0     0
$ vhost-ctl -j vq show 3
| {
|   "vqs": [
|     {
|       "dev_id": 3,
|       "index": 0,
|       "worker_id": 0,
|       "used": false,
|       "kicks": 0,
|       "works": 0
|     },
|     {
|       "dev_id": 3,
|       "index": 1,
|       "worker_id": 0,
|       "used": false,
|       "kicks": 0,
|       "works": 0
|     }
|   ]
| }

= shows_counters
$ vhost-ctl stats show
| DEV_ID ID  TID VQS WORKS RUNS WAKEUPS     BUSY_NS LONGEST_RUN_NS
|      1  0 4723 0-5  6543 6543    2799 12996891725      284451265
|      2  0 4724 0-1     9    9       7   902093400      578540134
|      3  0 4803 0-1     1    1       0       19788          19788
$ vhost-ctl stats show 1 by vq
| DEV_ID INDEX WORKER_ID KICKS WORKS
|      1     0         0     0     0
|      1     1         0     0     0
|      1     2         0   346   692
|      1     3         0   692  1384
|      1     4         0  1038  2076
|      1     5         0  1384  2768
$ vhost-ctl -j stats show 2 by worker
| {
|   "workers": [
|     {
|       "dev_id": 2,
|       "id": 0,
|       "tid": 4724,
|       "thread_kind": "task",
|       "cpus": "0-1",
|       "vqs": [0,1],
|       "killed": false,
|       "works": 9,
|       "runs": 9,
|       "wakeups": 7,
|       "busy_ns": 902093400,
|       "longest_run_ns": 578540134,
|       "owner_pid": 4711,
|       "owner_comm": "guest"
|     }
|   ]
| }

= shows_rates
$ vhost-ctl stats show 1 interval 1 count 2
| DEV_ID ID  TID VQS BUSY_PERCENT WORKS_PER_S RUNS_PER_S WAKEUPS_PER_S LONGEST_RUN_NS
|      1  0 4723 0-5         17.4        96.0       96.0          52.0      300875794
|
|      1  0 4723 0-5          4.1        64.0       64.0          38.0      300875794
$ vhost-ctl stats show 1 by vq interval 0.5 count 1
| DEV_ID INDEX WORKER_ID KICKS_PER_S WORKS_PER_S
|      1     0         0         0.0         0.0
|      1     1         0         0.0         0.0
|      1     2         0         6.0        12.0
|      1     3         0        14.0        30.0
|      1     4         0        22.0        42.0
|      1     5         0        24.0        48.0
$ vhost-ctl -j stats show 2 interval 1 count 2
| {"workers":[{"dev_id":2,"id":0,"tid":4724,"vqs":[0,1],"busy_percent":0.0,"works_per_s":0.0,"runs_per_s":0.0,"wakeups_per_s":0.0,"longest_run_ns":578540134}]}
| {"workers":[{"dev_id":2,"id":0,"tid":4724,"vqs":[0,1],"busy_percent":0.0,"works_per_s":0.0,"runs_per_s":0.0,"wakeups_per_s":0.0,"longest_run_ns":578540134}]}

= makes_workers_and_prints_their_numbers
$ vhost-ctl worker add 1
| 1
$ vhost-ctl worker add 1 count 2
| 2
| 3
$ vhost-ctl -j worker add naa.5001405001267000 cpus 1
| {
|   "workers": [
|     {
|       "dev_id": 1,
|       "id": 4,
|       "tid": 5250,
|       "thread_kind": "task",
|       "cpus": "1",
|       "vqs": [],
|       "killed": false,
|       "works": 0,
|       "runs": 0,
|       "wakeups": 0,
|       "busy_ns": 0,
|       "longest_run_ns": 0,
|       "owner_pid": 4711,
|       "owner_comm": "guest"
|     }
|   ]
| }

= refuses_more_workers_than_there_may_be
$ vhost-ctl worker add 1 count 3
! vhost-ctl: worker add: more workers than the device may have, see vhost.max_workers: No space left on device (ENOSPC), attribute count 3
? 2
$ vhost-ctl worker add 3
! vhost-ctl: worker add: the driver of this device is made for one worker: Operation not supported (EOPNOTSUPP), attribute count 1
? 3

= pins_a_worker_and_reads_that_back
$ vhost-ctl worker set 1 1 cpus 1
$ vhost-ctl worker set 1 w2 cpus 0-1
$ vhost-ctl -o id,cpus worker show 1
| ID CPUS
|  0 0-1
|  1 1
|  2 0-1
|  3 0-1
|  4 1

= refuses_to_pin_a_worker_that_is_not_there
$ vhost-ctl worker set 1 99 cpus 0
! vhost-ctl: worker set: no such worker: No such device (ENODEV), attribute id 99
? 2

= gives_a_virtqueue_to_a_worker
$ vhost-ctl vq set 1 2 1
$ vhost-ctl -n -o index,worker_id vq show 1
|     0         0
|     1         0
|     2         1
|     3         0
|     4         0
|     5         0

= refuses_a_virtqueue_or_worker_that_is_not_there
$ vhost-ctl vq set 1 9 0
! vhost-ctl: vq set: the device has no such virtqueue: No buffer space available (ENOBUFS), attribute index 9
? 2
$ vhost-ctl vq set 1 2 99
! vhost-ctl: vq set: no such worker: No such device (ENODEV), attribute worker-id 99
? 2

= ends_workers
$ vhost-ctl worker del 1 w3
$ vhost-ctl worker del 1 unused
$ vhost-ctl -n -o id,vqs worker show 1
|  0 0-1,3-5
|  1 2

= refuses_to_end_a_worker_that_serves_something
$ vhost-ctl worker del 1 0
! vhost-ctl: worker del: a virtqueue is attached to the worker: Device or resource busy (EBUSY), attribute id 0
? 2
$ vhost-ctl worker del 1 99
! vhost-ctl: worker del: no such worker: No such device (ENODEV), attribute id 99
? 2

= shows_a_map_without_attaching_it
$ vhost-ctl attach 1 2-5=new --dry-run
| VQ OLD_WORKER_ID WORKER_ID NEW_WORKER
|  2             1         -          0
|  3             0         -          1
|  4             0         -          2
|  5             0         -          3
$ vhost-ctl -j attach 1 3=w1,4-5=new7 --dry-run
| {
|   "map": [
|     {
|       "vq": 3,
|       "old_worker_id": 0,
|       "worker_id": 1,
|       "new_worker": null
|     },
|     {
|       "vq": 4,
|       "old_worker_id": 0,
|       "worker_id": null,
|       "new_worker": 0
|     },
|     {
|       "vq": 5,
|       "old_worker_id": 0,
|       "worker_id": null,
|       "new_worker": 0
|     }
|   ]
| }
$ vhost-ctl attach 1 spread 3 --dry-run
| VQ OLD_WORKER_ID WORKER_ID NEW_WORKER
|  2             1         0          -
|  3             0         1          -
|  4             0         -          0
|  5             0         0          -
$ vhost-ctl -n -o index,worker_id vq show 1
|     0         0
|     1         0
|     2         1
|     3         0
|     4         0
|     5         0

= attaches_a_map
$ vhost-ctl attach 1 3=w1,4-=new
$ vhost-ctl -n -o index,worker_id vq show 1
|     0         0
|     1         0
|     2         1
|     3         1
|     4         6
|     5         7
$ vhost-ctl -j attach 1 0-1=0,2-5=new1
| {
|   "map": [
|     {
|       "vq": 0,
|       "old_worker_id": 0,
|       "worker_id": 0,
|       "new_worker": null
|     },
|     {
|       "vq": 1,
|       "old_worker_id": 0,
|       "worker_id": 0,
|       "new_worker": null
|     },
|     {
|       "vq": 2,
|       "old_worker_id": 1,
|       "worker_id": 8,
|       "new_worker": 0
|     },
|     {
|       "vq": 3,
|       "old_worker_id": 1,
|       "worker_id": 8,
|       "new_worker": 0
|     },
|     {
|       "vq": 4,
|       "old_worker_id": 6,
|       "worker_id": 8,
|       "new_worker": 0
|     },
|     {
|       "vq": 5,
|       "old_worker_id": 7,
|       "worker_id": 8,
|       "new_worker": 0
|     }
|   ]
| }
$ vhost-ctl attach 2 all=new
! vhost-ctl: attach: more workers than the device may have, see vhost.max_workers: No space left on device (ENOSPC), attribute new-worker in entry { vq 1, new-worker 1 }
? 2

= spreads_virtqueues_over_workers
$ vhost-ctl -j attach 1 spread 2 vqs 2-5
| {
|   "map": [
|     {
|       "vq": 2,
|       "old_worker_id": 8,
|       "worker_id": 0,
|       "new_worker": null
|     },
|     {
|       "vq": 3,
|       "old_worker_id": 8,
|       "worker_id": 1,
|       "new_worker": null
|     },
|     {
|       "vq": 4,
|       "old_worker_id": 8,
|       "worker_id": 0,
|       "new_worker": null
|     },
|     {
|       "vq": 5,
|       "old_worker_id": 8,
|       "worker_id": 1,
|       "new_worker": null
|     }
|   ]
| }
$ vhost-ctl attach 1 spread 4
$ vhost-ctl -n -o index,worker_id vq show 1
|     0         0
|     1         0
|     2         0
|     3         1
|     4         6
|     5         7

= refuses_a_map_that_does_not_fit
$ vhost-ctl attach 1 9=w0
! vhost-ctl: attach: device 1 has no virtqueue 9, its last one is 5
? 1
$ vhost-ctl attach 1 2=w99
! vhost-ctl: attach: device 1 has no worker 99: see 'vhost-ctl worker show'
? 1
$ vhost-ctl attach 1 2=w0,2-5=new
! vhost-ctl: attach: virtqueue 2 is named twice
? 1
$ vhost-ctl attach 1 0-5=new
! vhost-ctl: attach: more workers than the device may have, see vhost.max_workers: No space left on device (ENOSPC), attribute new-worker in entry { vq 5, new-worker 5 }
? 2
$ vhost-ctl attach 1 0-5=new --dry-run
! vhost-ctl: attach: device 1 has workers: 5, may have: 6, would get: 6
? 2
$ vhost-ctl attach 3 0=new
! vhost-ctl: attach: the driver of this device is made for one worker: Operation not supported (EOPNOTSUPP), attribute new-worker in entry { vq 0, new-worker 0 }
? 3

= saves_a_map
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
$ vhost-ctl -o vq save 1
! vhost-ctl: save: -o: this has no columns (see 'vhost-ctl save help')
? 1
$ vhost-ctl save 3
| {
|   "version": 1,
|   "backend": "vsock",
|   "wwpn": null,
|   "workers": [
|     {
|       "id": 0,
|       "cpus": null,
|       "vqs": [0,1]
|     }
|   ]
| }

= shows_what_would_be_restored
$ vhost-ctl restore pair.map --dry-run
| SAVED_ID WORKER_ID CPUS VQS
|        0         0 -    0-1
|        7         7 0    2,4
|        8         8 1    3,5
$ vhost-ctl -j restore pair.map dev 1 --dry-run
| {
|   "workers": [
|     {
|       "saved_id": 0,
|       "worker_id": 0,
|       "cpus": null,
|       "vqs": [0,1]
|     },
|     {
|       "saved_id": 7,
|       "worker_id": 7,
|       "cpus": "0",
|       "vqs": [2,4]
|     },
|     {
|       "saved_id": 8,
|       "worker_id": 8,
|       "cpus": "1",
|       "vqs": [3,5]
|     }
|   ]
| }

= restores_a_map_and_pinning
$ vhost-ctl restore pair.map
$ vhost-ctl -o id,cpus,vqs worker show 1
| ID CPUS VQS
|  0 0-1  0-1
|  1 1    -
|  6 0-1  -
|  7 0    2,4
|  8 1    3,5
$ vhost-ctl save id:1
| {
|   "version": 1,
|   "backend": "scsi",
|   "wwpn": "naa.5001405001267000",
|   "workers": [
|     {
|       "id": 0,
|       "cpus": null,
|       "vqs": [0,1]
|     },
|     {
|       "id": 7,
|       "cpus": "0",
|       "vqs": [2,4]
|     },
|     {
|       "id": 8,
|       "cpus": "1",
|       "vqs": [3,5]
|     }
|   ]
| }

= restores_what_was_saved_just_now
$ map=$(vhost-ctl save 1); echo "$map" | vhost-ctl -j restore
| {
|   "workers": [
|     {
|       "saved_id": 0,
|       "worker_id": 0,
|       "cpus": null,
|       "vqs": [0,1]
|     },
|     {
|       "saved_id": 7,
|       "worker_id": 7,
|       "cpus": "0",
|       "vqs": [2,4]
|     },
|     {
|       "saved_id": 8,
|       "worker_id": 8,
|       "cpus": "1",
|       "vqs": [3,5]
|     }
|   ]
| }
$ map=$(vhost-ctl save 1); echo "$map" | vhost-ctl restore - dev 1

= makes_the_workers_that_lack
$ vhost-ctl attach 1 all=0
$ vhost-ctl worker del 1 unused
$ vhost-ctl restore pair.map
$ vhost-ctl -o id,cpus,vqs worker show 1
| ID CPUS VQS
|  0 0-1  0-1
| 10 0    2,4
| 11 1    3,5

= changes_nothing_if_a_map_cannot_be_restored
$ vhost-ctl restore wide.map
! vhost-ctl: restore: wide.map: workers[1].vqs[1]: device 1 has no virtqueue 6, its last one is 5
? 1
$ vhost-ctl restore pair.map dev 2
! vhost-ctl: restore: pair.map: backend: 'scsi' was saved, but device 2 is 'net'
? 1
$ vhost-ctl restore net.map dev 2
! vhost-ctl: restore: net.map: workers[2].vqs[0]: device 2 has no virtqueue 2, its last one is 1
? 1
$ vhost-ctl restore offline.map
! vhost-ctl: restore: offline.map: workers[2].cpus: CPU 9: not in this host, which has 0-1
? 1
$ vhost-ctl restore gone.map
! vhost-ctl: restore: there is no device 'naa.5001405001267fff': see 'vhost-ctl dev show'
? 1
$ vhost-ctl -o id,cpus,vqs worker show 1
| ID CPUS VQS
|  0 0-1  0-1
| 10 0    2,4
| 11 1    3,5

= says_what_is_missing_without_rights
$ [nobody] vhost-ctl dev show
! vhost-ctl: dev show: needs CAP_SYS_ADMIN in the initial user namespace: Operation not permitted (EPERM)
? 2
$ [nobody] vhost-ctl attach 1 all=0
! vhost-ctl: attach: needs CAP_SYS_ADMIN in the initial user namespace: Operation not permitted (EPERM)
? 2

= prints_events
$ [while vhost-ctl worker add 1; vhost-ctl attach 1 2=w0; vhost-ctl worker del 1 unused] vhost-ctl monitor
| worker-add dev_id=1 id=12 tid=5599 thread_kind=task cpus=0-1 works=0 runs=0 wakeups=0 busy_ns=0 longest_run_ns=0
| map dev_id=1 { vq=2 worker_id=0 }
| worker-del dev_id=1 id=12 tid=5599 thread_kind=task cpus=0-1 works=1 runs=1 wakeups=1 busy_ns=3283299 longest_run_ns=3283299
$ [while ./guest /tmp/x vsock & sleep 2; kill $!] vhost-ctl -j monitor
| {"event":"dev-add","id":4,"backend":"vsock","owner_pid":5612,"owner_comm":"guest","thread_kind":"task","vqs":2,"vqs_used":0,"workers":1,"max_workers":1,"wwpn":null,"policy":null,"policy_failed":null}
| {"event":"worker-add","dev_id":4,"id":0,"tid":0,"thread_kind":"task","cpus":null,"vqs":[0,1],"killed":false,"works":0,"runs":0,"wakeups":0,"busy_ns":0,"longest_run_ns":0}
| {"event":"dev-del","id":4,"backend":"vsock","owner_pid":5612,"owner_comm":"guest","thread_kind":"task","vqs":2,"vqs_used":0,"workers":1,"max_workers":1,"wwpn":null,"policy":null,"policy_failed":null}
