/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoints of the shim need no second reading of their file. */
