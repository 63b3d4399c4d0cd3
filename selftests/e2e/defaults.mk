# SPDX-License-Identifier: GPL-2.0
# What QEMU chooses by default, asked of the real programs. Included by the Makefile at the top.

DEFAULTS := build/e2e
# The newer QEMU is that of the e2e tests' root file system.
NEW_QEMU := $(DEFAULTS)/qemu

$(DEFAULTS)/fake-vhost.so: selftests/e2e/fake-vhost.c
	@mkdir -p $(@D)
	@$(CC) $(USER_CFLAGS) -shared -fPIC -o $@ $<

$(DEFAULTS)/qemu/.done: $(DEFAULTS)/image.ext4 selftests/e2e/unpack-qemu
	@selftests/e2e/unpack-qemu $< $(@D)
	@touch $@

queue-defaults-files: $(DEFAULTS)/fake-vhost.so $(NEW_QEMU)/.done

queue-defaults: queue-defaults-files
	@selftests/e2e/queue-defaults $(DEFAULTS)/fake-vhost.so "$$(command -v qemu-system-x86_64)" $(NEW_QEMU)

.PHONY: queue-defaults queue-defaults-files
