/*
 * What the processor can do, read once, and a mask that forces less (tests, and ACTORQ_CPU).
 *
 * On x86-64, flags come from __builtin_cpu_supports, which also checks that the operating system
 * saves the registers; on Arm of 64 bits, from the kernel. Elsewhere there are none.
 * ACTORQ_CPU=scalar|sse42|avx2|avxvnni|avx512|avx512vnni|avx512bf16|amx, or
 * scalar|neon|neondot, allows that rung and those below it; a rung of the other family allows the
 * scalar one. Any thread, where nothing else is said.
 */
#ifndef AQ_COMMON_SYS_CPU_H
#define AQ_COMMON_SYS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum aq_cpu_flag {
    AQ_CPU_SSE42 = 1 << 0,
    AQ_CPU_AVX2 = 1 << 1, /* with FMA and F16C */
    AQ_CPU_AVX_VNNI = 1 << 2,
    AQ_CPU_AVX512 = 1 << 3, /* F, BW, DQ, VL */
    AQ_CPU_AVX512_VNNI = 1 << 4,
    AQ_CPU_AVX512_BF16 = 1 << 5, /* on AMD's only: see cpu.c */
    AQ_CPU_AMX = 1 << 6,         /* tiles of bf16 and int8, which Linux gave; and AVX512-BF16 */
    AQ_CPU_NEON = 1 << 7,
    AQ_CPU_NEON_DOT = 1 << 8, /* SDOT and UDOT */
};

/* What may be used: the processor's flags under the mask. */
uint32_t aq_cpu_flags(void);

/* Whether asking for lines ahead of time slows a lone stream of loads down: on a Zen 4, and not on
 * a Zen 5 (docs/benchmarks/kernels.md#reading-on-two-processors). No mask changes it. */
bool aq_cpu_streams_alone(void);

/* Replaces the mask (all bits: no limit). Tests; before threads start. */
void aq_cpu_set_mask(uint32_t mask);

/* The mask of a rung's name; AQ_E_INVALID for another text. */
int aq_cpu_mask_from_text(const char *text, uint32_t *ret_mask) AQ_MUST_USE;

/* The text of ACTORQ_CPU when it names no rung and was ignored, for the program to warn about; NULL
 * when all is well. */
const char *aq_cpu_mask_problem(void);

/* "sse42 avx2 avx512 avx512vnni", for logs; "scalar" for none. Returns `out`. */
enum { AQ_CPU_TEXT_MAX = 80 };
const char *aq_cpu_flags_text(uint32_t flags, char *out, size_t size);

#endif
