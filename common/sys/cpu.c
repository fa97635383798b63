/*
 * The processor, read once and kept (process-wide, under pthread_once).
 */
#include "common/sys/cpu.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "common/base/assert.h"
#include "common/base/parse.h"

#define ALL_FLAGS                                                                                  \
    ((uint32_t)(AQ_CPU_SSE42 | AQ_CPU_AVX2 | AQ_CPU_AVX_VNNI | AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI))

/* The ladder, from the bottom: a rung's mask allows it and those below. */
static const struct rung {
    const char *name;
    uint32_t flag;
} rungs[] = {
    {"scalar", 0},
    {"sse42", AQ_CPU_SSE42},
    {"avx2", AQ_CPU_AVX2},
    {"avxvnni", AQ_CPU_AVX_VNNI},
    {"avx512", AQ_CPU_AVX512},
    {"avx512vnni", AQ_CPU_AVX512_VNNI},
};

#define RUNG_COUNT (sizeof(rungs) / sizeof(rungs[0]))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t detected;               /* set by `once`, then constant, as are the next three */
static const char *ignored_environment; /* ACTORQ_CPU where it names no rung */
static char flag_texts[ALL_FLAGS + 1][48];
static char model[64];
static atomic_uint mask = UINT32_MAX;

#if defined(__x86_64__)
static uint32_t detect(void)
{
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    uint32_t flags = 0;

    if (__builtin_cpu_supports("sse4.2")) {
        flags |= AQ_CPU_SSE42;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        flags |= AQ_CPU_AVX2;
        /* Not every compiler of ours knows this one by name. It needs the registers of AVX2 and no
         * others, whose support by the operating system was part of the question above. */
        if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & (1u << 4)) != 0) {
            flags |= AQ_CPU_AVX_VNNI;
        }
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        flags |= AQ_CPU_AVX512;
        if (__builtin_cpu_supports("avx512vnni")) {
            flags |= AQ_CPU_AVX512_VNNI;
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

static void write_flag_text(char *out, size_t size, uint32_t flags)
{
    size_t used = 0;

    if (flags == 0) {
        snprintf(out, size, "scalar");
        return;
    }
    for (size_t i = 0; i < RUNG_COUNT; i++) {
        if ((flags & rungs[i].flag) != 0) {
            int length =
                snprintf(out + used, size - used, "%s%s", used == 0 ? "" : " ", rungs[i].name);

            AQ_ASSERT(length > 0);
            used += (size_t)length;
            AQ_ASSERT(used < size);
        }
    }
}

/* Vendors pad the name with blanks at either end and in between. */
static void copy_model(const char *name)
{
    size_t used = 0;

    for (size_t i = 0; name[i] != '\0' && used + 1 < sizeof(model); i++) {
        bool blank = isspace((unsigned char)name[i]) != 0;

        if (!blank) {
            model[used++] = name[i];
        } else if (used > 0 && model[used - 1] != ' ') {
            model[used++] = ' ';
        }
    }
    if (used > 0 && model[used - 1] == ' ') {
        used--;
    }
    model[used] = '\0';
}

static void detect_model(void)
{
    uv_cpu_info_t *cpus = NULL;
    int count = 0;

    if (uv_cpu_info(&cpus, &count) == 0) {
        if (count > 0 && cpus[0].model != NULL) {
            copy_model(cpus[0].model);
        }
        uv_free_cpu_info(cpus, count);
    }
    if (model[0] == '\0') {
        copy_model("unknown");
    }
}

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
    for (uint32_t flags = 0; flags <= ALL_FLAGS; flags++) {
        write_flag_text(flag_texts[flags], sizeof(flag_texts[flags]), flags);
    }
    detect_model();
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

void aq_cpu_set_mask(uint32_t new_mask)
{
    prepare_once(); /* so that the environment does not come after */
    atomic_store(&mask, new_mask);
}

int aq_cpu_mask_from_text(const char *text, uint32_t *ret_mask)
{
    uint32_t allowed = 0;

    for (size_t i = 0; i < RUNG_COUNT; i++) {
        allowed |= rungs[i].flag;
        if (strcmp(text, rungs[i].name) == 0) {
            *ret_mask = allowed;
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

const char *aq_cpu_flags_text(uint32_t flags)
{
    prepare_once();
    return flag_texts[flags & ALL_FLAGS];
}

const char *aq_cpu_model(void)
{
    prepare_once();
    return model;
}

unsigned aq_cpu_count(void)
{
    return uv_available_parallelism();
}

/* "size resident shared …" in pages; see proc(5). */
uint64_t aq_process_resident_bytes(void)
{
    char text[128] = "";
    char *rest = NULL;
    const char *resident;
    uint64_t pages;
    long page_bytes = sysconf(_SC_PAGESIZE);
    ssize_t size;
    int fd;

    fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0 || page_bytes <= 0) {
        return 0;
    }
    if (strtok_r(text, " ", &rest) == NULL) {
        return 0;
    }
    resident = strtok_r(NULL, " ", &rest);
    if (resident == NULL || aq_parse_u64(resident, &pages) < 0) {
        return 0;
    }
    return pages * (uint64_t)page_bytes;
}
