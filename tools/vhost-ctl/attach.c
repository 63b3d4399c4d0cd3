// SPDX-License-Identifier: GPL-2.0
#include "command.h"
const struct command attach_commands[] = { { 0 } };
