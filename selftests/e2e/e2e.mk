# SPDX-License-Identifier: GPL-2.0
# Tests with real guests: QEMU in the test VM. Included by the Makefile at the top, behind vm.mk.

E2E := build/e2e
E2E_FILES := $(E2E)/files
# fake-vhost.c is a library, see defaults.mk.
E2E_SOURCES := $(filter-out %/fake-vhost.c,$(wildcard selftests/e2e/*.c))

$(E2E)/.setup: tools/setup/packages.txt
	@tools/setup/install base e2e
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

-include $(wildcard $(E2E)/obj/*.d)

$(E2E_FILES)/boot-sector: selftests/e2e/boot.S selftests/e2e/boot.h | $(E2E)/.setup
	@mkdir -p $(E2E)/obj $(@D)
	@$(CC) -m16 -c -o $(E2E)/obj/boot.o $<
	@ld -m elf_i386 -Ttext 0x7c00 -e start --oformat binary -o $@ $(E2E)/obj/boot.o
	@chmod 644 $@

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
e2e-files: vm-files $(E2E)/image.ext4 $(addprefix $(E2E_FILES)/,e2e boot-sector vhost-ctl target.txt)

.PHONY: e2e-program e2e-files
