# SPDX-License-Identifier: GPL-2.0
# User-space programs, the VM's root file system, and the targets that boot it.
# Included by the Makefile at the top, which sets K, B and SERIES.

USER_CFLAGS := -std=gnu11 -O2 -g -D_GNU_SOURCE -Wall -Wextra -Werror
HARNESS_SERIES := 6.12
BASE = . $(B)/base

# --- the runner on the host and init in the VM; the compiler comes with $(B)/base

build/vm/init: selftests/vm/init.c selftests/vm/run.c selftests/vm/kmsg.c selftests/vm/vm.h | $(B)/base
	@mkdir -p $(@D)
	@$(CC) $(USER_CFLAGS) -static -o $@ $(filter %.c,$^)

build/vm/boot: selftests/vm/boot.c selftests/vm/report.c selftests/vm/boot.h | $(B)/base
	@mkdir -p $(@D)
	@$(CC) $(USER_CFLAGS) -o $@ $(filter %.c,$^)

# --- test programs: each selftests/vhost/NAME.c is one, on top of lib/

TEST_SOURCES := $(wildcard selftests/vhost/*.c)
TESTS := $(TEST_SOURCES:selftests/vhost/%.c=build/tests/%)
SUITES := $(patsubst %.c,%,$(notdir $(shell grep -ls TEST_HARNESS_MAIN $(TEST_SOURCES))))
# No -Wextra: the harness is not written for it.
TEST_CFLAGS := $(filter-out -Wextra,$(USER_CFLAGS)) -Iselftests/vhost -isystem build/kselftest -Iuapi
GUEST := build/tests/libguest.a
GUEST_OBJECTS := $(patsubst selftests/vhost/lib/%.c,build/tests/lib/%.o,$(wildcard selftests/vhost/lib/*.c))

# kselftest_harness.h comes from the kernel's source and is never copied into ours.
build/kselftest/.done: build/$(HARNESS_SERIES)/base
	@mkdir -p $(@D)
	@cp "$$(kernel/scripts/pristine $(HARNESS_SERIES))"/tools/testing/selftests/kselftest*.h $(@D)/
	@touch $@

build/tests/lib/%.o: selftests/vhost/lib/%.c | $(B)/base
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -MMD -c -o $@ $<

$(GUEST): $(GUEST_OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^

$(SUITES:%=build/tests/%): build/kselftest/.done
build/tests/%: selftests/vhost/%.c $(GUEST)
	@mkdir -p $(@D)
	@rm -f $@
	@$(CC) $(TEST_CFLAGS) -MMD -static -o $@ $< $(GUEST) $(TEST_LIBS) -lpthread

# The kernel's own client of the netlink family, generated and never copied into ours.
build/ynl/.done: uapi/netlink/specs/vhost.yaml uapi/linux/vhost_netlink.h kernel/scripts/netlink | build/$(HARNESS_SERIES)/base
	@mkdir -p $(@D)
	@kernel/scripts/netlink --client $(@D)
	@cd $(@D) && $(CC) -O2 -g -I. -I$(CURDIR)/uapi -c vhost-user.c ynl.c && \
		rm -f libynl.a && $(AR) rcs libynl.a vhost-user.o ynl.o
	@touch $@

build/tests/ynl: build/ynl/.done
build/tests/ynl: TEST_CFLAGS += -isystem build/ynl
build/tests/ynl: TEST_LIBS := build/ynl/libynl.a

-include $(wildcard build/tests/*.d build/tests/lib/*.d)

# guest_workers needs what is of the e2e tests, and is made there.
BENCHES := $(patsubst selftests/bench/%.c,build/tests/%,$(filter-out %/guest_workers.c,$(wildcard selftests/bench/*.c)))
$(BENCHES): build/tests/%: selftests/bench/%.c $(GUEST)
	@mkdir -p $(@D)
	@rm -f $@
	@$(CC) $(TEST_CFLAGS) -MMD -static -o $@ $< $(GUEST) -lpthread

include selftests/virtiofs/virtiofs.mk

tests: $(TESTS)

# --- the VM

$(B)/image/.unpacked: $(B)/base
	@mkdir -p $(@D)
	@kernel/scripts/fetch-image $(K)
	@touch $@

RAMFS_DEPS = selftests/vm/mkinitramfs selftests/vm/modules.txt build/vm/init $(B)/image/.unpacked
$(B)/base.cpio: $(RAMFS_DEPS) $(B)/modules/.done
	@$(BASE) && selftests/vm/mkinitramfs $$modroot $$release build/vm/init $(B)/modules $@

$(B)/stock.cpio: $(RAMFS_DEPS)
	@$(BASE) && selftests/vm/mkinitramfs $$modroot $$release build/vm/init - $@

build/vhost-ctl/vm.cpio: build/vhost-ctl/vhost-ctl selftests/vm/mkprogram
	@selftests/vm/mkprogram $< $@

# The distribution's fio, for what asks for it: far more libraries than all the rest.
build/fio-vhost-scsi/vm.cpio: build/fio-vhost-scsi/vhost-scsi.so selftests/vm/mkprogram
	@selftests/vm/mkprogram "$$(command -v fio)" $@ $<

# Programs of the distribution, for the tests that use them; packed again when their packages change.
build/programs/%.cpio: selftests/vm/mkprogram selftests/vm/machines.txt /var/lib/dpkg/status
	@mkdir -p $(@D)
	@tools/setup/install check
	@PATH=$$PATH:/usr/sbin:/sbin && selftests/vm/mkprogram "$$(command -v $*)" $@

vm-files: build/vm/boot build/vhost-ctl/vm.cpio $(if $(STOCK),$(B)/stock.cpio,$(B)/base.cpio)

vm: $(if $(E2E),e2e-files,vm-files tests)
	@E2E=$(E2E) selftests/vm/run $(K) shell

paths:
	@$(MAKE) vm-files K=$(K) >&2
	@$(BASE) && printf '%s\n' image=$$image release=$$release modroot=$$modroot \
		modules=$(CURDIR)/$(B)/modules vhost_ctl=$(CURDIR)/build/vhost-ctl/vhost-ctl

demo: vm-files build/tests/demo
	@selftests/vm/run $(K) demo

check:
	@selftests/check

bench: $(BENCHES) ctl-stage build/fio-vhost-scsi/vm.cpio virtiofs-tests
	@tools/setup/install bench
	@$(MAKE) vm-files K=$(K)
	@$(MAKE) vm-files K=$(K) STOCK=1
	@selftests/bench/run $(K) $(ONLY)

.PHONY: tests vm-files vm paths demo bench check
