# SPDX-License-Identifier: GPL-2.0
# What is wrong on the command line is told before the kernel is asked: there is no recording here.
@ tree host

= an_object_must_be_named
$ vhost-ctl
! vhost-ctl: an object is missing (see 'vhost-ctl help')
? 1
$ vhost-ctl disk
! vhost-ctl: unknown object 'disk' (see 'vhost-ctl help')
? 1
$ vhost-ctl de show
! vhost-ctl: unknown object 'de' (see 'vhost-ctl help')
? 1
$ vhost-ctl -j
! vhost-ctl: an object is missing (see 'vhost-ctl help')
? 1

= a_command_must_be_named
$ vhost-ctl dev
! vhost-ctl: dev: a command is missing (see 'vhost-ctl dev help')
? 1
$ vhost-ctl worker list
! vhost-ctl: worker: unknown command 'list' (see 'vhost-ctl worker help')
? 1
$ vhost-ctl vq sho
! vhost-ctl: vq: unknown command 'sho' (see 'vhost-ctl vq help')
? 1
$ vhost-ctl module
! vhost-ctl: module: a command is missing (see 'vhost-ctl module help')
? 1
$ vhost-ctl stats
! vhost-ctl: stats: a command is missing (see 'vhost-ctl stats help')
? 1

= unknown_options_are_named
$ vhost-ctl -x dev show
! vhost-ctl: option '-x' is unknown (see 'vhost-ctl help')
? 1
$ vhost-ctl --jason dev show
! vhost-ctl: option '--jason' is unknown (see 'vhost-ctl help')
? 1
$ vhost-ctl -o
! vhost-ctl: option '-o' needs a value (see 'vhost-ctl help')
? 1
$ vhost-ctl --dry-run dev show
! vhost-ctl: dev show: --dry-run: only for what changes a whole map (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl worker add 1 --dry-run
! vhost-ctl: worker add: --dry-run: only for what changes a whole map (see 'vhost-ctl worker add help')
? 1

= unknown_columns_are_told_with_those_that_there_are
$ vhost-ctl -o nothing dev show
! vhost-ctl: dev show: -o: there is no column 'nothing', but id, backend, owner_pid, owner_comm, thread_kind, vqs, vqs_used, workers, max_workers, wwpn, policy, policy_failed (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl -o id,id dev show
! vhost-ctl: dev show: -o: column 'id' is named twice (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl -o id, worker show
! vhost-ctl: worker show: -o: there is no column '', but dev_id, id, tid, thread_kind, cpus, vqs, killed, works, runs, wakeups, busy_ns, longest_run_ns, owner_pid, owner_comm (see 'vhost-ctl worker show help')
? 1
$ vhost-ctl -o +kicks,index vq show
! vhost-ctl: vq show: -o: column 'kicks' is named twice (see 'vhost-ctl vq show help')
? 1
$ vhost-ctl -o id monitor
! vhost-ctl: monitor: -o: this has no columns (see 'vhost-ctl monitor help')
? 1
$ vhost-ctl -o id version
! vhost-ctl: version: -o: this has no columns (see 'vhost-ctl version help')
? 1

= too_many_words_are_refused
$ vhost-ctl dev show 1 2
! vhost-ctl: dev show: unexpected argument '2' (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl worker set 1 2 cpus 0 1
! vhost-ctl: worker set: unexpected argument '1' (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl attach 1 2=new all
! vhost-ctl: attach: unexpected argument 'all' (see 'vhost-ctl attach help')
? 1
$ vhost-ctl monitor now
! vhost-ctl: monitor: unexpected argument 'now' (see 'vhost-ctl monitor help')
? 1
$ vhost-ctl save 1 file
! vhost-ctl: save: unexpected argument 'file' (see 'vhost-ctl save help')
? 1
$ vhost-ctl module show some
! vhost-ctl: module show: unexpected argument 'some' (see 'vhost-ctl module show help')
? 1

= a_device_must_look_like_one
$ vhost-ctl dev show disk
! vhost-ctl: dev show: DEV 'disk' is neither the id of a device nor a pid nor a wwpn (naa...) (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl dev show 4294967296
! vhost-ctl: dev show: DEV '4294967296' is neither the id of a device nor a pid nor a wwpn (naa...) (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl dev show -- -1
! vhost-ctl: dev show: DEV '-1' is neither the id of a device nor a pid nor a wwpn (naa...) (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl dev show id:
! vhost-ctl: dev show: DEV 'id:' is neither the id of a device nor a pid nor a wwpn (naa...) (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl dev show pid:x
! vhost-ctl: dev show: DEV 'pid:x' is neither the id of a device nor a pid nor a wwpn (naa...) (see 'vhost-ctl dev show help')
? 1
$ vhost-ctl worker add
! vhost-ctl: worker add: DEV is missing (see 'vhost-ctl worker add help')
? 1
$ vhost-ctl vq set
! vhost-ctl: vq set: DEV is missing (see 'vhost-ctl vq set help')
? 1
$ vhost-ctl attach
! vhost-ctl: attach: DEV is missing (see 'vhost-ctl attach help')
? 1
$ vhost-ctl save
! vhost-ctl: save: DEV is missing (see 'vhost-ctl save help')
? 1

= a_worker_must_look_like_one
$ vhost-ctl worker set 1 w cpus 0
! vhost-ctl: worker set: WORKER 'w' is not the number of a worker, 3 or w3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 x1 cpus 0
! vhost-ctl: worker set: WORKER 'x1' is not the number of a worker, 3 or w3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1
! vhost-ctl: worker set: WORKER is missing (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker del 1
! vhost-ctl: worker del: WORKER or 'unused' is missing (see 'vhost-ctl worker del help')
? 1
$ vhost-ctl worker del 1 all
! vhost-ctl: worker del: WORKER 'all' is not the number of a worker, 3 or w3 (see 'vhost-ctl worker del help')
? 1
$ vhost-ctl vq set 1 2 new
! vhost-ctl: vq set: WORKER 'new' is not the number of a worker, 3 or w3 (see 'vhost-ctl vq set help')
? 1
$ vhost-ctl vq set 1 2
! vhost-ctl: vq set: WORKER is missing (see 'vhost-ctl vq set help')
? 1

= a_number_of_workers_must_be_one
$ vhost-ctl worker add 1 count
! vhost-ctl: worker add: the number after 'count' is missing (see 'vhost-ctl worker add help')
? 1
$ vhost-ctl worker add 1 count 0
! vhost-ctl: worker add: count '0' is not a number of workers (see 'vhost-ctl worker add help')
? 1
$ vhost-ctl worker add 1 count -1
! vhost-ctl: option '-1' is unknown (see 'vhost-ctl help')
? 1
$ vhost-ctl worker add 1 number 2
! vhost-ctl: worker add: unexpected argument 'number' (see 'vhost-ctl worker add help')
? 1

= cpus_must_be_a_list_of_those_that_there_are
$ vhost-ctl worker set 1 0 cpus
! vhost-ctl: worker set: the list after 'cpus' is missing (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 0-1
! vhost-ctl: worker set: 'cpus' is missing, what to set (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus ''
! vhost-ctl: worker set: '' in the CPU list '' is neither a CPU nor a range such as 0-3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus one
! vhost-ctl: worker set: 'one' in the CPU list 'one' is neither a CPU nor a range such as 0-3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus 1-0
! vhost-ctl: worker set: '1-0' in the CPU list '1-0' is neither a CPU nor a range such as 0-3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus 0,0-1
! vhost-ctl: worker set: '0-1' in the CPU list '0,0-1' names a CPU again (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus 0,
! vhost-ctl: worker set: '' in the CPU list '0,' is neither a CPU nor a range such as 0-3 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus 0-99999
! vhost-ctl: worker set: '0-99999' in the CPU list '0-99999': no Linux has a CPU above 8191 (see 'vhost-ctl worker set help')
? 1
$ vhost-ctl worker set 1 0 cpus 1-3
! vhost-ctl: worker set: CPU 2-3: not in this host, which has 0-1
? 1
$ vhost-ctl worker add 1 cpus 0x3
! vhost-ctl: worker add: '0x3' in the CPU list '0x3' is neither a CPU nor a range such as 0-3 (see 'vhost-ctl worker add help')
? 1

= a_map_must_read_like_one
$ vhost-ctl attach 1
! vhost-ctl: attach: MAP is missing (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 2
! vhost-ctl: attach: '2' in '2' lacks its worker: write VQS=WORKER (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 2=
! vhost-ctl: attach: '' in '2=' is not a worker: w3 or 3, or new, new1, new2... (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 =new
! vhost-ctl: attach: '' in '=new' is neither a virtqueue nor a range, 2, 2-5, 2- or all (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 2=new,
! vhost-ctl: attach: '' in '2=new,' is neither a virtqueue nor a range, 2, 2-5, 2- or all (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 5-2=new
! vhost-ctl: attach: '5-2' in '5-2=new' is neither a virtqueue nor a range, 2, 2-5, 2- or all (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 x=new
! vhost-ctl: attach: 'x' in 'x=new' is neither a virtqueue nor a range, 2, 2-5, 2- or all (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 2=newest
! vhost-ctl: attach: 'newest' in '2=newest' is not a worker: w3 or 3, or new, new1, new2... (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 2=w1-2
! vhost-ctl: attach: 'w1-2' in '2=w1-2' is not a worker: w3 or 3, or new, new1, new2... (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 spread
! vhost-ctl: attach: the number after 'spread' is missing (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 spread 0
! vhost-ctl: attach: spread '0' is not a number of workers (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 spread 2 vqs
! vhost-ctl: attach: the list after 'vqs' is missing (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 spread 2 vqs 2=new
! vhost-ctl: attach: '2=new' in '2=new' is neither a virtqueue nor a range, 2, 2-5, 2- or all (see 'vhost-ctl attach help')
? 1
$ vhost-ctl attach 1 spread 2 3-5
! vhost-ctl: attach: unexpected argument '3-5' (see 'vhost-ctl attach help')
? 1

= an_interval_must_be_seconds
$ vhost-ctl stats show interval
! vhost-ctl: stats show: the number after 'interval' is missing (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show interval 0
! vhost-ctl: stats show: interval '0' is not a number of seconds from 0.001 to 86400 (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show interval 0.0001
! vhost-ctl: stats show: interval '0.0001' is not a number of seconds from 0.001 to 86400 (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show interval 1s
! vhost-ctl: stats show: interval '1s' is not a number of seconds from 0.001 to 86400 (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show interval 1 count 0
! vhost-ctl: stats show: count '0' is not a number of samples (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show by disk
! vhost-ctl: stats show: 'worker' or 'vq' must follow 'by' (see 'vhost-ctl stats show help')
? 1
$ vhost-ctl stats show 1 count 2
! vhost-ctl: stats show: unexpected argument 'count' (see 'vhost-ctl stats show help')
? 1

= a_driver_must_be_one
$ vhost-ctl module load disk
! vhost-ctl: module load: DRIVER 'disk' is not scsi, net or vsock (see 'vhost-ctl module load help')
? 1
$ vhost-ctl module load scsi net vsock vdpa
! vhost-ctl: module load: unexpected argument 'vdpa' (see 'vhost-ctl module load help')
? 1

= a_policy_must_be_one
$ vhost-ctl policy set
! vhost-ctl: policy set: the policy is missing (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy set 0
! vhost-ctl: policy set: '0' is not single, per-vq, per-cpu or a number of workers (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy set -- -1
! vhost-ctl: policy set: '-1' is not single, per-vq, per-cpu or a number of workers (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy set per_vq
! vhost-ctl: policy set: 'per_vq' is not single, per-vq, per-cpu or a number of workers (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy set count 4
! vhost-ctl: policy set: 'count' is not single, per-vq, per-cpu or a number of workers (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy set 4294967296
! vhost-ctl: policy set: '4294967296' is not single, per-vq, per-cpu or a number of workers (see 'vhost-ctl policy set help')
? 1
$ vhost-ctl policy show 1
! vhost-ctl: policy show: unexpected argument '1' (see 'vhost-ctl policy show help')
? 1

= a_file_to_restore_must_be_right
$ vhost-ctl restore nowhere.map
! vhost-ctl: restore: nowhere.map: No such file or directory
? 1
$ vhost-ctl restore pair.map net.map
! vhost-ctl: restore: unexpected argument 'net.map' (see 'vhost-ctl restore help')
? 1
$ vhost-ctl restore pair.map dev
! vhost-ctl: restore: DEV is missing (see 'vhost-ctl restore help')
? 1
$ vhost-ctl restore net.map
! vhost-ctl: restore: net.map: wwpn: is null, say which device: dev DEV (see 'vhost-ctl restore help')
? 1
$ echo >/dev/null; vhost-ctl restore
! vhost-ctl: restore: stdin: is not JSON: it ends too early
? 1
$ echo '{' | vhost-ctl restore
! vhost-ctl: restore: stdin: is not JSON: it ends too early
? 1
$ printf '{\n"version": 1,\nworkers: []\n}\n' | vhost-ctl restore -
! vhost-ctl: restore: stdin: line 3: is not JSON: quoted object property name expected
? 1
$ echo '[]' | vhost-ctl restore
! vhost-ctl: restore: stdin: the file: is not an object { ... }
? 1
$ echo '{ "version": 2, "backend": "scsi", "wwpn": null, "workers": [] }' | vhost-ctl restore
! vhost-ctl: restore: stdin: version: 2 is not known, only 1 is
? 1
$ echo '{ "version": 1, "backend": "scsi", "wwpn": null }' | vhost-ctl restore
! vhost-ctl: restore: stdin: the file: lacks the key 'workers'
? 1
$ echo '{ "version": 1, "backend": "scsi", "wwpn": null, "workers": [], "name": 1 }' | vhost-ctl restore
! vhost-ctl: restore: stdin: the file: has an unknown key 'name'
? 1
$ echo '{ "version": 1, "backend": 1, "wwpn": null, "workers": [] }' | vhost-ctl restore
! vhost-ctl: restore: stdin: backend: 1 is not a string
? 1
$ echo '{ "version": 1, "backend": "scsi", "wwpn": 5, "workers": [] }' | vhost-ctl restore
! vhost-ctl: restore: stdin: wwpn: 5 is not a string or null
? 1
$ echo '{ "version": 1, "backend": "scsi", "wwpn": null, "workers": {} }' | vhost-ctl restore
! vhost-ctl: restore: stdin: workers: is not a list [ ... ]
? 1
$ echo '{ "version": 1, "backend": "scsi", "wwpn": null, "workers": [] }' | vhost-ctl restore
! vhost-ctl: restore: stdin: workers: is empty
? 1
$ sed 's/naa.5001405001267000/4711/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: wwpn: '4711' is not a wwpn (naa...)
? 1
$ sed 's/"id": 8/"id": 7/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].id: worker 7 is named twice
? 1
$ sed 's/"id": 8/"id": -8/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].id: -8 is not a number from 0 to 4294967295
? 1
$ sed 's/"id": 8/"name": 8/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2]: has an unknown key 'name'
? 1
$ sed 's/"id": 8, //' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2]: lacks the key 'id'
? 1
$ sed 's/"cpus": "0"/"cpus": "zero"/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[1].cpus: 'zero' is not a list of CPUs such as 0-3,8
? 1
$ sed 's/"cpus": "0"/"cpus": 0/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[1].cpus: 0 is not a string or null
? 1
$ sed 's/3, 5/3, 4/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].vqs[1]: virtqueue 4 is named twice
? 1
$ sed 's/3, 5/3, 4.5/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].vqs[1]: 4.5 is not a number from 0 to 4294967295
? 1
$ sed 's/3, 5/4294967296/' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].vqs[0]: 4294967296 is not a number from 0 to 4294967295
? 1
$ sed 's/ 3, 5 //' pair.map | vhost-ctl restore
! vhost-ctl: restore: stdin: workers[2].vqs: is empty
? 1

= help_is_no_mistake
$ vhost-ctl help | head -n 3
| Usage: vhost-ctl [-j] [-n] [-o COLUMNS] OBJECT { COMMAND | help }
| See and change the worker threads of the vhost devices of running virtual machines.
| Begin with 'vhost-ctl dev show'; 'vhost-ctl OBJECT help' tells more of each.
$ vhost-ctl --help | head -n 1
| Usage: vhost-ctl [-j] [-n] [-o COLUMNS] OBJECT { COMMAND | help }
$ vhost-ctl dev help | head -n 3
| vhost-ctl dev: the vhost devices
|
| Usage: vhost-ctl [OPTION]... dev show [DEV]
$ vhost-ctl dev show --help | head -n 3
| Usage: vhost-ctl [OPTION]... dev show [DEV]
|
|     List the devices, or one of them.
$ vhost-ctl help vq set
| Usage: vhost-ctl [OPTION]... vq set DEV VQ WORKER
|
|     Give a virtqueue to another worker.
|
|     To give away several at once, all or none: vhost-ctl attach.
$ vhost-ctl help disk
! vhost-ctl: unknown object 'disk' (see 'vhost-ctl help')
? 1

= the_version_is_told
$ vhost-ctl version
| vhost-ctl 0.1
$ vhost-ctl --version
| vhost-ctl 0.1
$ vhost-ctl -j version
| {
|   "version": "0.1"
| }
$ vhost-ctl version 2
! vhost-ctl: version: unexpected argument '2' (see 'vhost-ctl version help')
? 1

= what_cannot_be_written_is_an_error
$ vhost-ctl help >/dev/full
! vhost-ctl: cannot write to stdout: No space left on device
? 1
$ vhost-ctl -j version >/dev/full
! vhost-ctl: version: cannot write to stdout: No space left on device
? 1
