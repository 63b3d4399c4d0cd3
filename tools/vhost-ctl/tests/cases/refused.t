# SPDX-License-Identifier: GPL-2.0
# The kernel refuses in the middle of what takes several requests.
@ recording refused
@ tree host

= what_was_done_before_a_refusal_is_undone
$ vhost-ctl restore pair.map
! vhost-ctl: restore: not all of these CPUs are online and usable: Invalid argument (EINVAL), attribute cpus '1'
! vhost-ctl: restore: nothing was changed
? 2
