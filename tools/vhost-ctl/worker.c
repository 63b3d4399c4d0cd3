// SPDX-License-Identifier: GPL-2.0
#include "command.h"
const struct command worker_commands[] = { { 0 } };
