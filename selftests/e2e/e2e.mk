# SPDX-License-Identifier: GPL-2.0
# Tests with real guests: QEMU in the test VM. Included by the Makefile at the top, behind vm.mk.

E2E := build/e2e
E2E_FILES := $(E2E)/files
# fake-vhost.c is a library, see defaults.mk.
E2E_SOURCES := $(filter-out %/fake-vhost.c,$(wildcard selftests/e2e/*.c))
GUEST_INITRD := $(E2E_FILES)/guest-initrd

$(E2E)/.setup: tools/setup/packages.txt
	@tools/setup/install base check fio e2e
	@mkdir -p $(@D)
	@touch $@

# --- the test program, and the boot sector that is a guest

E2E_OBJECTS := $(E2E_SOURCES:selftests/e2e/%.c=$(E2E)/obj/%.o)

$(E2E)/obj/%.o: selftests/e2e/%.c build/kselftest/.done
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -Iselftests/vhost -MMD -c -o $@ $<

$(E2E_FILES)/e2e: $(E2E_OBJECTS) $(GUEST)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -static -o $@ $^ -lpthread

# A measurement with a Linux guest.
$(E2E)/obj/guest_workers.o: selftests/bench/guest_workers.c build/kselftest/.done
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -Iselftests/vhost -Iselftests/e2e -MMD -c -o $@ $<

$(E2E_FILES)/guest_workers: $(addprefix $(E2E)/obj/,guest_workers.o rig.o machine.o disk.o) $(GUEST)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -static -o $@ $^ -lpthread

-include $(wildcard $(E2E)/obj/*.d)

$(E2E_FILES)/boot-sector: selftests/e2e/boot.S selftests/e2e/boot.h | $(E2E)/.setup
	@mkdir -p $(E2E)/obj $(@D)
	@$(CC) -m16 -c -o $(E2E)/obj/boot.o $<
	@ld -m elf_i386 -Ttext 0x7c00 -e start --oformat binary -o $@ $(E2E)/obj/boot.o
	@chmod 644 $@

# --- Linux for a guest

$(E2E)/linux/.done: selftests/e2e/build-guest selftests/e2e/guest.config build/$(HARNESS_SERIES)/base | $(E2E)/.setup
	@selftests/e2e/build-guest $(HARNESS_SERIES)
	@touch $@

$(E2E_FILES)/guest-linux: $(E2E)/linux/.done
	@mkdir -p $(@D)
	@strip -o $@ $(E2E)/linux/vmlinux

$(E2E)/fio/fio: selftests/e2e/build-fio selftests/fio/source | $(E2E)/.setup
	@selftests/e2e/build-fio $@

$(GUEST_INITRD): selftests/e2e/guest-init selftests/e2e/pack-guest $(E2E)/fio/fio
	@mkdir -p $(@D)
	@selftests/e2e/pack-guest selftests/e2e/guest-init $(E2E)/fio/fio $@

e2e-guest: $(E2E_FILES)/guest-linux $(GUEST_INITRD)

# --- the VM's root file system

$(E2E)/image.ext4: selftests/e2e/build-image selftests/e2e/image-packages.txt | $(E2E)/.setup
	@selftests/e2e/build-image $@

$(E2E_FILES)/vhost-ctl: build/vhost-ctl/vhost-ctl
	@mkdir -p $(@D)
	@cp $< $@

$(E2E_FILES)/target.txt: selftests/e2e/target.txt
	@mkdir -p $(@D)
	@cp $< $@

e2e-program: $(E2E_FILES)/e2e
e2e-files: vm-files $(E2E)/image.ext4 e2e-guest $(addprefix $(E2E_FILES)/,e2e boot-sector vhost-ctl target.txt)

.PHONY: e2e-program e2e-guest e2e-files
