/* SPDX-License-Identifier: GPL-2.0 */
/* Module parameters: a function for each, so that tests can set it. */
#define module_param(name, type, perm)			\
	unsigned int *shim_param_##name(void);		\
	unsigned int *shim_param_##name(void)		\
	{						\
		return &name;				\
	}						\
	extern unsigned int *shim_param_##name(void)
#define MODULE_PARM_DESC(name, text)	_Static_assert(sizeof(text) > 1, "")
