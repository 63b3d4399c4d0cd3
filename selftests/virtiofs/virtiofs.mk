# SPDX-License-Identifier: GPL-2.0
# The virtio-fs daemon, which runs on the host, and the tests of virtiofs, which
# run in the VM. Included by selftests/vm/vm.mk.

VFS_DAEMON := build/virtiofs/virtiofs-daemon
VFS_TESTS := $(patsubst selftests/virtiofs/%.c,build/virtiofs/tests/%,$(wildcard selftests/virtiofs/*.c))
VFS_LIB := $(wildcard selftests/virtiofs/lib/*.[ch])

$(VFS_DAEMON): $(wildcard selftests/virtiofs/daemon/*) | $(B)/base
	@tools/setup/install virtiofs
	@mkdir -p $(@D)
	@$(CC) $(USER_CFLAGS) $$(pkg-config --cflags fuse3) -o $@ $(filter %.c,$^) $$(pkg-config --libs fuse3) -lpthread

$(VFS_TESTS): build/virtiofs/tests/%: selftests/virtiofs/%.c $(VFS_LIB) $(GUEST) build/kselftest/.done
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -Iselftests/virtiofs/lib -Iselftests/vhost/lib -static -o $@ $< $(filter %.c,$(VFS_LIB)) \
		$(GUEST) -lpthread

# The distribution's fio, with its many libraries.
build/virtiofs/fio.cpio: selftests/vm/mkprogram | $(B)/base
	@tools/setup/install virtiofs
	@mkdir -p $(@D)
	@selftests/vm/mkprogram "$$(command -v fio)" $@

virtiofs-tests: $(VFS_DAEMON) $(VFS_TESTS) build/virtiofs/fio.cpio

.PHONY: virtiofs-tests
