# SPDX-License-Identifier: GPL-2.0
# The administration tool. Included by the Makefile at the top.

CTL := build/vhost-ctl
CTL_SOURCES := $(wildcard tools/vhost-ctl/*.c)
CTL_OBJECTS := $(CTL_SOURCES:tools/vhost-ctl/%.c=$(CTL)/%.o)
CTL_LIBS := libmnl smartcols json-c libkmod
CTL_VERSION = 0.1

# The libraries come with the packages, which may be missing when this file is read.
CTL_CFLAGS = $(USER_CFLAGS) -Iuapi -DVHOST_CTL_VERSION='"$(CTL_VERSION)"' $$(pkg-config --cflags $(CTL_LIBS))

$(CTL)/.setup: tools/setup/packages.txt
	@tools/setup/install base tool
	@mkdir -p $(@D)
	@touch $@

$(CTL)/%.o: tools/vhost-ctl/%.c tools/vhost-ctl/vhost-ctl.mk $(CTL)/.setup
	@$(CC) $(CTL_CFLAGS) $(CTL_EXTRA) -MMD -c -o $@ $<

$(CTL)/vhost-ctl: $(CTL_OBJECTS)
	@$(CC) $(CTL_EXTRA) -o $@ $^ $$(pkg-config --libs $(CTL_LIBS))

-include $(wildcard $(CTL)/*.d)

vhost-ctl: $(CTL)/vhost-ctl

# --- installing

PREFIX ?= /usr/local
CTL_PAGES := $(wildcard tools/vhost-ctl/man/*.8)

install: $(CTL)/vhost-ctl
	@install -D -m 755 $< $(DESTDIR)$(PREFIX)/sbin/vhost-ctl
	@install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 $(CTL_PAGES)
	@install -D -m 644 tools/vhost-ctl/completion/vhost-ctl \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/vhost-ctl

# --- its tests: a library that plays the kernel, and a guest for the recordings

CTL_TESTS := tools/vhost-ctl/tests
CTL_STAGE := $(CTL)/tests/stage.so $(CTL)/tests/guest

$(CTL)/tests/stage.so: $(CTL_TESTS)/replay.c $(CTL_TESTS)/files.c $(CTL_TESTS)/stage.h $(CTL)/.setup
	@mkdir -p $(@D)
	@$(CC) $(USER_CFLAGS) -shared -fPIC -o $@ $(filter %.c,$^)

$(CTL)/tests/guest: $(CTL_TESTS)/guest.c $(GUEST)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -static -o $@ $^ -lpthread

ctl-stage: $(CTL_STAGE)

ctl-check: vhost-ctl $(CTL)/tests/stage.so
	@$(MAKE) CTL=$(CTL)/asan CTL_EXTRA="-fsanitize=address,undefined" $(CTL)/asan/vhost-ctl

.PHONY: vhost-ctl install ctl-stage ctl-check
