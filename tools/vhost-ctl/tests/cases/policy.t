# SPDX-License-Identifier: GPL-2.0
# The default policy, recorded in order on 6.12; the host's devices came before it was changed.
@ recording policy
@ tree host

= shows_the_default_policy
$ vhost-ctl policy show
| KIND   COUNT
| single     -
$ vhost-ctl -j policy show
| {
|   "policies": [
|     {
|       "kind": "single",
|       "count": null
|     }
|   ]
| }
$ vhost-ctl -n -o kind policy show
| single

= sets_a_policy_without_a_number
$ vhost-ctl policy set per-vq
$ vhost-ctl -j policy show
| {
|   "policies": [
|     {
|       "kind": "per-vq",
|       "count": null
|     }
|   ]
| }
$ vhost-ctl policy set per-cpu
$ vhost-ctl -n policy show
| per-cpu     -

= sets_a_number_of_workers
$ vhost-ctl policy set 4
$ vhost-ctl policy show
| KIND  COUNT
| count     4
$ vhost-ctl -j -o count policy show
| {
|   "policies": [
|     {
|       "count": 4
|     }
|   ]
| }

= shows_by_what_a_device_got_its_workers
$ vhost-ctl -o id,workers,policy,policy_failed dev show
| ID WORKERS POLICY POLICY_FAILED
|  1       1 single             0
|  2       1 single             0
|  3       1 -                  -
$ vhost-ctl attach 1 2=new
$ vhost-ctl -o id,workers,policy,policy_failed dev show
| ID WORKERS POLICY   POLICY_FAILED
|  1       2 explicit             0
|  2       1 single               0
|  3       1 -                    -

= says_what_is_missing_without_rights
$ [nobody] vhost-ctl policy show
! vhost-ctl: policy show: needs CAP_SYS_ADMIN in the initial user namespace: Operation not permitted (EPERM)
? 2
$ [nobody] vhost-ctl policy set single
! vhost-ctl: policy set: needs CAP_SYS_ADMIN in the initial user namespace: Operation not permitted (EPERM)
? 2

= prints_a_change_as_an_event
$ [while vhost-ctl policy set single; vhost-ctl policy set 3] vhost-ctl monitor
| policy kind=single
| policy kind=count count=3
$ [while vhost-ctl policy set per-vq; vhost-ctl policy set 3] vhost-ctl -j monitor
| {"event":"policy","kind":"per-vq","count":null}
| {"event":"policy","kind":"count","count":3}
