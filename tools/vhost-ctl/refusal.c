// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's refusals: errno, extended acknowledgement, and the attribute of
 * the request that is at fault, by name and with its value.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "objects.h"
#include "refusal.h"

static int take_tlv(const struct nlattr *attr, void *data)
{
	struct refusal *refusal = data;

	switch (mnl_attr_get_type(attr)) {
	case NLMSGERR_ATTR_MSG:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
			return MNL_CB_ERROR;
		snprintf(refusal->text, sizeof(refusal->text), "%s", mnl_attr_get_str(attr));
		return MNL_CB_OK;
	case NLMSGERR_ATTR_OFFS:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
			return MNL_CB_ERROR;
		refusal->offset = mnl_attr_get_u32(attr);
		return MNL_CB_OK;
	case NLMSGERR_ATTR_MISS_TYPE:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
			return MNL_CB_ERROR;
		refusal->missing = mnl_attr_get_u32(attr);
		return MNL_CB_OK;
	}
	return MNL_CB_OK;
}

/* How much stands between the header of @nlh and its TLVs, or 0 if it is too short. */
static unsigned int fixed_part(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	unsigned int size = sizeof(*error);

	if (nlh->nlmsg_type == NLMSG_DONE)
		return mnl_nlmsg_get_payload_len(nlh) < sizeof(int) ? 0 : sizeof(int);
	if (mnl_nlmsg_get_payload_len(nlh) < size)
		return 0;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))	/* the request follows */
		size += error->msg.nlmsg_len - sizeof(error->msg);
	return mnl_nlmsg_get_payload_len(nlh) < size ? 0 : size;
}

bool refusal_parse(struct refusal *refusal, const struct nlmsghdr *nlh)
{
	unsigned int fixed = fixed_part(nlh);

	if (nlh->nlmsg_type == NLMSG_DONE && !mnl_nlmsg_get_payload_len(nlh))
		return true;
	if (!fixed)
		return false;
	refusal->err = abs(*(int *)mnl_nlmsg_get_payload(nlh));
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return true;
	return mnl_attr_parse(nlh, fixed, take_tlv, refusal) >= 0;
}

static const struct object *request_object(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(request);

	switch (genl->cmd) {
	case VHOST_CMD_DEV_GET:
		return &dev_object;
	case VHOST_CMD_VQ_GET:
	case VHOST_CMD_VQ_SET:
		return &vq_object;
	case VHOST_CMD_MAP_SET:
		return &map_object;
	case VHOST_CMD_POLICY_GET:
	case VHOST_CMD_POLICY_SET:
		return &policy_object;
	default:
		return &worker_object;
	}
}

/* The name of an attribute is that of its field, with another dash. */
static void print_name(FILE *out, const struct object *object, unsigned int attr)
{
	const struct field *field = field_by_attr(object, attr);

	if (!field) {
		fprintf(out, "%u", attr);
		return;
	}
	for (const char *c = field->name; *c; c++)
		fputc(*c == '_' ? '-' : *c, out);
}

static void print_attr(FILE *out, const struct object *object, const struct nlattr *attr)
{
	const struct field *field = field_by_attr(object, mnl_attr_get_type(attr));
	const struct nlattr *inner;
	const char *comma = "";

	print_name(out, object, mnl_attr_get_type(attr));
	if (!field)
		return;
	if (field->kind == FIELD_TEXT) {
		fprintf(out, " '%s'", mnl_attr_get_str(attr));
	} else if (field->kind == FIELD_U32) {
		fprintf(out, " %u", mnl_attr_get_u32(attr));
	} else if (field->kind == FIELD_ROWS) {
		fputs(" { ", out);
		mnl_attr_for_each_nested(inner, attr) {
			fputs(comma, out);
			print_attr(out, field->nest, inner);
			comma = ", ";
		}
		fputs(" }", out);
	}
}

/* The attribute at the offset, or in the nest that the offset is in. */
static void print_culprit(FILE *out, const struct nlmsghdr *request, uint32_t offset)
{
	const struct object *object = request_object(request);
	const struct field *field;
	const struct nlattr *attr, *inner;
	uint32_t start;

	mnl_attr_for_each(attr, request, sizeof(struct genlmsghdr)) {
		start = (const char *)attr - (const char *)request;
		if (offset < start || offset >= start + mnl_attr_get_len(attr))
			continue;
		fputs(", attribute ", out);
		field = field_by_attr(object, mnl_attr_get_type(attr));
		if (field && field->kind == FIELD_ROWS)
			mnl_attr_for_each_nested(inner, attr)
				if ((const char *)inner - (const char *)request == offset) {
					print_name(out, field->nest, mnl_attr_get_type(inner));
					fputs(" in ", out);
				}
		print_attr(out, object, attr);
	}
}

static void print_reason(FILE *out, const struct refusal *refusal, const struct nlmsghdr *request)
{
	const char *name = strerrorname_np(refusal->err);

	fprintf(out, "%s%s%s (%s)", refusal->text, refusal->text[0] ? ": " : "",
		strerror(refusal->err), name ? name : "?");
	if (refusal->offset)
		print_culprit(out, request, refusal->offset);
	if (refusal->missing) {
		fputs(", attribute ", out);
		print_name(out, request_object(request), refusal->missing);
		fputs(" is missing", out);
	}
	if (refusal->err == EPERM && !refusal->text[0])
		fputs(", this needs CAP_SYS_ADMIN in the initial user namespace", out);
}

int refusal_tell(const struct refusal *refusal, const struct nlmsghdr *request)
{
	int code = refusal->err == EOPNOTSUPP ? EXIT_LACKING : EXIT_REFUSED;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return fail_errno(code, refusal->err, "%s", refusal->text);
	print_reason(out, refusal, request);
	fclose(out);
	fail(code, "%s", text);
	free(text);
	return code;
}
