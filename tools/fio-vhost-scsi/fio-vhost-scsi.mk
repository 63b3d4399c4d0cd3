# SPDX-License-Identifier: GPL-2.0
# An engine for fio, built against the distribution's source of fio. Included by the Makefile at the top.

ENGINE := build/fio-vhost-scsi
ENGINE_LIB := error gmem gvq vdev vscsi vscsi_cmd
ENGINE_OBJECTS := $(patsubst tools/fio-vhost-scsi/%.c,$(ENGINE)/%.o,$(wildcard tools/fio-vhost-scsi/*.c)) \
	$(ENGINE_LIB:%=$(ENGINE)/lib/%.o)
# fio's source is not written for our warnings.
ENGINE_CFLAGS = $(filter-out -Wextra,$(USER_CFLAGS)) -fPIC -fvisibility=hidden -Iselftests/vhost -Iuapi

# The source goes with the version of the installed fio, its configuration with the source.
$(ENGINE)/.setup: tools/setup/packages.txt selftests/fio/source $(wildcard /var/lib/dpkg/info/fio.list)
	@mkdir -p $(ENGINE)/config
	@tools/setup/install base
	@source=$$(selftests/fio/source) && cd $(ENGINE)/config && echo "configuring fio ..." >&2 && \
		{ $$source/configure --disable-native >log 2>&1 || { tail -n 3 log >&2; exit 1; }; }
	@touch $@

$(ENGINE)/lib/%.o: selftests/vhost/lib/%.c $(ENGINE)/.setup
	@mkdir -p $(@D)
	@$(CC) $(ENGINE_CFLAGS) -MMD -c -o $@ $<

$(ENGINE)/%.o: tools/fio-vhost-scsi/%.c $(ENGINE)/.setup
	@$(CC) $(ENGINE_CFLAGS) -isystem build/fio/source -include $(ENGINE)/config/config-host.h -MMD -c -o $@ $<

$(ENGINE)/vhost-scsi.so: $(ENGINE_OBJECTS)
	@$(CC) -shared -o $@ $^ -lpthread

-include $(wildcard $(ENGINE)/*.d $(ENGINE)/lib/*.d)

fio-engine: $(ENGINE)/vhost-scsi.so

install-fio-engine: $(ENGINE)/vhost-scsi.so
	@install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/fio $<
	@install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 tools/fio-vhost-scsi/fio-vhost-scsi.8

.PHONY: fio-engine install-fio-engine
