/*
 * The processor, read once and kept (process-wide, under pthread_once).
 */
#define _DEFAULT_SOURCE /* syscall */
#include "common/sys/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "common/base/assert.h"
#include "common/base/parse.h"

#define X86_FLAGS                                                                                  \
    ((uint32_t)(AQ_CPU_SSE42 | AQ_CPU_AVX2 | AQ_CPU_AVX_VNNI | AQ_CPU_AVX512 |                     \
                AQ_CPU_AVX512_VNNI | AQ_CPU_AVX512_BF16 | AQ_CPU_AMX))
#define ARM_FLAGS ((uint32_t)(AQ_CPU_NEON | AQ_CPU_NEON_DOT))
#define ALL_FLAGS (X86_FLAGS | ARM_FLAGS)

/* The ladders of both families, each from the bottom: a rung's mask allows it and those below it,
 * which have the lower bits. */
static const struct rung {
    const char *name;
    uint32_t flag;
    uint32_t family;
} rungs[] = {
    {"scalar", 0, 0},
    {"sse42", AQ_CPU_SSE42, X86_FLAGS},
    {"avx2", AQ_CPU_AVX2, X86_FLAGS},
    {"avxvnni", AQ_CPU_AVX_VNNI, X86_FLAGS},
    {"avx512", AQ_CPU_AVX512, X86_FLAGS},
    {"avx512vnni", AQ_CPU_AVX512_VNNI, X86_FLAGS},
    {"avx512bf16", AQ_CPU_AVX512_BF16, X86_FLAGS},
    {"amx", AQ_CPU_AMX, X86_FLAGS},
    {"neon", AQ_CPU_NEON, ARM_FLAGS},
    {"neondot", AQ_CPU_NEON_DOT, ARM_FLAGS},
};

#define RUNG_COUNT (sizeof(rungs) / sizeof(rungs[0]))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t detected; /* set by `once`, then constant, as are the next */
static bool streams_alone;
static const char *ignored_environment; /* ACTORQ_CPU where it names no rung */
static atomic_uint mask = UINT32_MAX;

#if defined(__x86_64__)
/* Not every compiler of ours knows these two by name. They need the registers of AVX2 and no
 * others, whose support by the operating system is part of the question for AVX2. */
static bool has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

static bool has_avx_vnni(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << 4)) != 0;
}

/* Linux gives a process registers for tiles when it asks; signals take more of a stack then. */
static bool may_use_tiles(void)
{
#if defined(SYS_arch_prctl)
    enum { ASK = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
#else
    return false;
#endif
}

/* Of a processor with AVX-512, so that xgetbv may be asked what the operating system saves. */
static bool has_amx(void)
{
    enum { BF16 = 1u << 22, TILE = 1u << 24, INT8 = 1u << 25, SAVED = 3u << 17 };
    const unsigned wanted = BF16 | TILE | INT8;
    unsigned eax, ebx, ecx, edx, saved, more;
    __asm__("xgetbv" : "=a"(saved), "=d"(more) : "c"(0));
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & wanted) == wanted &&
           (saved & SAVED) == SAVED && may_use_tiles();
}

/* Of AMD's family 25, those with AVX-512: not every compiler of ours knows it by name. */
static bool is_zen4(uint32_t flags)
{
    enum { BASE = 15, FAMILY = 25 };
    unsigned eax, ebx, ecx, edx;
    return (flags & AQ_CPU_AVX512) != 0 && __builtin_cpu_is("amd") &&
           __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 8 & 15) == BASE &&
           BASE + (eax >> 20 & 255) == FAMILY;
}

static uint32_t detect(void)
{
    uint32_t flags = 0;

    if (__builtin_cpu_supports("sse4.2")) {
        flags |= AQ_CPU_SSE42;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) {
        flags |= AQ_CPU_AVX2 | (has_avx_vnni() ? AQ_CPU_AVX_VNNI : 0);
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        flags |= AQ_CPU_AVX512;
        if (__builtin_cpu_supports("avx512vnni")) {
            flags |= AQ_CPU_AVX512_VNNI;
        }
        /* Products with Intel's vdpbf16ps take longer than those of fp32, those with its tiles do
         * not (docs/benchmarks/learner-speed.md). */
        if (__builtin_cpu_supports("avx512bf16")) {
            flags |= __builtin_cpu_is("intel") ? 0 : AQ_CPU_AVX512_BF16;
            flags |= has_amx() ? AQ_CPU_AMX : 0;
        }
    }
    streams_alone = is_zen4(flags);
    return flags;
}
#elif defined(__aarch64__)
static uint32_t detect(void)
{
    const unsigned long capabilities = getauxval(AT_HWCAP);
    uint32_t flags = 0;

    if ((capabilities & HWCAP_ASIMD) != 0) {
        flags |= AQ_CPU_NEON;
        if ((capabilities & HWCAP_ASIMDDP) != 0) {
            flags |= AQ_CPU_NEON_DOT;
        }
    }
    return flags;
}
#else
static uint32_t detect(void)
{
    return 0;
}
#endif

static void read_environment(void)
{
    const char *text = getenv("ACTORQ_CPU");
    uint32_t wanted;

    if (text == NULL || text[0] == '\0') {
        return;
    }
    if (aq_cpu_mask_from_text(text, &wanted) == 0) {
        atomic_store(&mask, wanted);
    } else {
        ignored_environment = text;
    }
}

static void prepare(void)
{
    detected = detect();
    read_environment();
}

static void prepare_once(void)
{
    int rc = pthread_once(&once, prepare);

    AQ_ASSERT(rc == 0);
}

uint32_t aq_cpu_flags(void)
{
    prepare_once();
    return detected & atomic_load(&mask);
}

bool aq_cpu_streams_alone(void)
{
    prepare_once();
    return streams_alone;
}

void aq_cpu_set_mask(uint32_t new_mask)
{
    prepare_once(); /* so that the environment does not come after */
    atomic_store(&mask, new_mask);
}

int aq_cpu_mask_from_text(const char *text, uint32_t *ret_mask)
{
    for (size_t i = 0; i < RUNG_COUNT; i++) {
        if (strcmp(text, rungs[i].name) == 0) {
            *ret_mask = (rungs[i].flag | (rungs[i].flag - 1)) & rungs[i].family;
            return 0;
        }
    }
    return AQ_E_INVALID;
}

const char *aq_cpu_mask_problem(void)
{
    prepare_once();
    return ignored_environment;
}

const char *aq_cpu_flags_text(uint32_t flags, char *out, size_t size)
{
    snprintf(out, size, "%s", (flags & ALL_FLAGS) == 0 ? "scalar" : "");
    for (size_t i = 0; i < RUNG_COUNT; i++) {
        if ((flags & rungs[i].flag) != 0) {
            aq_text_append(out, size, "%s%s", out[0] == '\0' ? "" : " ", rungs[i].name);
        }
    }
    return out;
}
