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

struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *text, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
};

/* One with functions of its own: a function for each of the two. */
#define module_param_cb(name, ops, arg, perm)		\
	int shim_param_set_##name(const char *text);	\
	int shim_param_set_##name(const char *text)	\
	{						\
		return (ops)->set(text, NULL);		\
	}						\
	int shim_param_get_##name(char *buffer);	\
	int shim_param_get_##name(char *buffer)		\
	{						\
		return (ops)->get(buffer, NULL);	\
	}						\
	extern int shim_param_get_##name(char *buffer)
