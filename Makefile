# SPDX-License-Identifier: GPL-2.0
# vhost workers: build the modules, boot them in a VM, test them.
# `make help` lists the targets; everything made goes to build/.

K ?= 6.1
SERIES = $(patsubst %-debug,%,$(K))
B := build/$(K)

MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:

all: modules

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

#: make demo [K=6.1]          boot a stock Debian kernel with our modules and do I/O with 1 and N workers
#: make check [K=] [T=]       all tests, or those of kernel K, or those whose name matches T
#: make check K=6.12 STOCK=1  the tests on the distribution's own modules: they fail where we differ
#: make bench [K=6.1] [ONLY=] measure: instructions per I/O against stock (cost), time to list many devices
#:                            (list), fio with one worker and with a worker for each virtqueue (workers), the same in a Linux
#:                            guest (guest), the queues of virtio-fs devices (virtiofs)
#: make modules [K=6.1]       build the modules for a stock kernel into build/K/modules
#: make vm [K=6.1] [E2E=1]    a shell in the test VM; with E2E=1 a Debian 12 with QEMU, targetcli and fio
#: make paths [K=6.1]         print where image, modules and release of that VM are
#: make vhost-ctl             build the administration tool into build/vhost-ctl
#: make fio-engine            build fio's engine for vhost-scsi targets: build/fio-vhost-scsi/vhost-scsi.so
#: make install-fio-engine    install it, and its manual
#: make install               install vhost-ctl, its manual and its completion: DESTDIR=, PREFIX=/usr/local
#: make export [K=6.1]        write the patch series for a kernel tree to build/export/K
#: make netlink               make what is generated from uapi/netlink/specs/vhost.yaml
#: make size                  what supporting a kernel costs, in lines
#: make debug-kernel [K=6.1]  build a KASAN and lockdep kernel, then usable as K=6.1-debug
#: make setup [K=6.1]         install the Debian packages that are missing
#: make clean                 remove what was built, keep what was unpacked
#: make distclean             remove build/

setup:
	@tools/setup/install base tool $(SERIES) $(if $(filter %-debug,$(K)),debug)

# --- modules

# The versions that are installed: changes only when they do.
build/%/base: FORCE
	@$(MAKE) setup K=$*
	@mkdir -p $(@D) build/logs
	@values=$$(kernel/scripts/base $*) && \
		{ [ "$$values" = "$$(cat $@ 2>/dev/null)" ] || echo "$$values" >$@; }

# A folder is listed for the files that leave it.
KERNEL_SRC := $(shell find kernel uapi ! -path "kernel/export/*" 2>/dev/null)

$(B)/modules/.done: $(B)/base $(KERNEL_SRC)
	@echo "building modules for $(K) ..." >&2
	@kernel/scripts/build-modules $(K) $(B)/src $(B)/modules build/logs/modules-$(K).log
	@touch $@

modules: $(B)/modules/.done

export: $(B)/base
	@kernel/scripts/export $(SERIES)

debug-kernel:
	@$(MAKE) setup K=$(SERIES)-debug
	@kernel/scripts/build-debug $(SERIES)

size:
	@kernel/scripts/size

netlink:
	@$(MAKE) setup K=6.12
	@kernel/scripts/netlink

include selftests/vm/vm.mk
include selftests/e2e/e2e.mk
include tools/vhost-ctl/vhost-ctl.mk
include tools/fio-vhost-scsi/fio-vhost-scsi.mk
include selftests/e2e/defaults.mk

clean:
	rm -rf build/*/src build/*/modules build/*/base build/*/*.cpio build/vm build/tests build/unit \
		build/kselftest build/vhost-ctl build/fio-vhost-scsi build/logs build/export \
		build/e2e/files build/e2e/obj

distclean:
	rm -rf build

FORCE:
.PHONY: all help setup modules export size netlink debug-kernel clean distclean FORCE
