/* SPDX-License-Identifier: GPL-2.0 */
/* The lock that keeps CPUs from going and coming is with the machine that has them. */
#include <linux/topology.h>
