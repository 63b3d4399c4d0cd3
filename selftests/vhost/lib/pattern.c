// SPDX-License-Identifier: GPL-2.0
/*
 * pattern.c - what a 512-byte block must contain: a function of its LBA and its generation
 *
 * Word 0 is the LBA, word 1 the generation under a constant, the others an arithmetic progression
 * whose start depends on both, so that a block that is in the wrong place, old, or mixed from two
 * is told from the right one by any of its words.
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "load.h"
#include "load_priv.h"

#define WORDS	(LOAD_BLOCK / 8)
#define MAGIC	0x7668776bULL
#define STEP	0x9e3779b97f4a7c15ULL

static uint64_t stamp(uint32_t generation)
{
	return MAGIC << 32 | generation;
}

static uint64_t first(uint64_t lba, uint32_t generation)
{
	return (lba * 0xff51afd7ed558ccdULL) ^ (generation * 0xc4ceb9fe1a85ec53ULL);
}

static void fill_block(uint64_t *word, uint64_t lba, uint32_t generation, enum load_check check)
{
	uint64_t value = first(lba, generation);
	unsigned int i;

	word[0] = lba;
	word[1] = stamp(generation);
	if (check == LOAD_CHECK_STAMP) {
		word[WORDS - 1] = value + (WORDS - 1) * STEP;
		return;
	}
	for (i = 2; i < WORDS; i++)
		word[i] = value + i * STEP;
}

static int differs(uint64_t lba, uint32_t generation, unsigned int i, uint64_t want, uint64_t found)
{
	return guest_fail(EILSEQ,
			  "LBA %llu byte %u: %016llx instead of %016llx (generation %u wanted)",
			  (unsigned long long)lba, i * 8, (unsigned long long)found,
			  (unsigned long long)want, generation);
}

static int check_block(const uint64_t *word, uint64_t lba, uint32_t generation,
		       enum load_check check)
{
	uint64_t value = first(lba, generation);
	unsigned int i;

	if (word[0] != lba)
		return differs(lba, generation, 0, lba, word[0]);
	if (word[1] != stamp(generation))
		return differs(lba, generation, 1, stamp(generation), word[1]);
	i = check == LOAD_CHECK_STAMP ? WORDS - 1 : 2;
	for (; i < WORDS; i++)
		if (word[i] != value + i * STEP)
			return differs(lba, generation, i, value + i * STEP, word[i]);
	return 0;
}

void load_pattern_put(void *buf, uint32_t bytes, uint64_t lba, uint32_t generation,
		      enum load_check check)
{
	uint32_t at;

	for (at = 0; at < bytes; at += LOAD_BLOCK)
		fill_block((uint64_t *)((char *)buf + at), lba++, generation, check);
}

void load_pattern_fill(void *buf, uint32_t bytes, uint64_t lba, uint32_t generation)
{
	load_pattern_put(buf, bytes, lba, generation, LOAD_CHECK_FULL);
}

int load_pattern_check(const void *buf, uint32_t bytes, uint64_t lba, uint32_t generation,
		       enum load_check check)
{
	uint32_t at;
	int err = 0;

	for (at = 0; at < bytes && !err; at += LOAD_BLOCK)
		err = check_block((const uint64_t *)((const char *)buf + at), lba++, generation,
				  check);
	return err;
}

void load_pattern_poison(void *buf, uint32_t bytes, enum load_check check)
{
	uint64_t *word = buf;
	uint32_t at;

	if (check == LOAD_CHECK_FULL) {
		memset(buf, 0x5a, bytes);
		return;
	}
	for (at = 0; at < bytes; at += LOAD_BLOCK, word += WORDS) {
		word[1] = 0;
		word[WORDS - 1] = 0;
	}
}
