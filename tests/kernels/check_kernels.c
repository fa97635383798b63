/*
 * kernels [RUNG|all] [--quick]: checks every rung that this processor has, up to RUNG (or
 * ACTORQ_CPU), against the scalar reference; where neither RUNG nor --quick is given, then the
 * checker itself, with planted faults. With --quick, the best rung alone, in fewer cases. A RUNG
 * that is not here is skipped: a lower one would pass in its name. AQ_SEED=N repeats a run; the
 * seed is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "tests/kernels/faulty_kernels.h"
#include "tests/kernels/kernel_check.h"

enum { SKIPPED = 77 }; /* Meson's word for it */

/* A stream each, so that one check's draws don't move another's. */
enum stream {
    STREAM_NONE,
    STREAM_QUANTIZE,
    STREAM_INT8,
    STREAM_F32,
    STREAM_PLANTED,
    STREAM_F16,
    STREAM_BF16,
    STREAM_INT4,
    STREAM_INT2,
    STREAM_SPARSE,
    STREAM_QUANTIZE_STATIC,
};

static const struct named_check {
    const char *name;
    void (*run)(kernel_check *check);
    uint64_t stream;
} checks[] = {
    {"quantize_rows", check_quantize_rows, STREAM_QUANTIZE},
    {"static rows", check_quantize_rows_static, STREAM_QUANTIZE_STATIC},
    {"int8", check_linear_int8, STREAM_INT8},
    {"fp32", check_linear_f32, STREAM_F32},
    {"fp16", check_linear_f16, STREAM_F16},
    {"bf16", check_linear_bf16, STREAM_BF16},
    {"int4", check_linear_int4, STREAM_INT4},
    {"int2", check_linear_int2, STREAM_INT2},
    {"exact math", check_exact_math, STREAM_NONE},
    {"int8-sparse", check_linear_sparse, STREAM_SPARSE},
};

static size_t check_rung(const aq_qkernels *rung, bool quick, uint64_t seed)
{
    size_t failures = 0;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        kernel_check check = {.rung = rung, .quick = quick};
        aq_rng_init(&check.rng, seed, checks[i].stream);
        checks[i].run(&check);
        printf("%-12s %-14s %5zu cases, %zu failed\n", rung->name, checks[i].name, check.cases,
               check.failures);
        failures += check.failures;
    }
    return failures;
}

/* A fault that is not caught, or a right one that is, counts as a failure. */
static size_t check_the_checker(uint64_t seed)
{
    size_t failures = 0;
    const planted_fault *fault;
    for (size_t i = 0; (fault = planted_fault_at(i)) != NULL; i++) {
        kernel_check check = {.rung = &fault->kernels, .planted = true};
        aq_rng_init(&check.rng, seed, STREAM_PLANTED);
        fault->check(&check);
        const bool good = fault->is_fault == (check.failures > 0);
        printf("%s %-40s %s within %zu cases\n", good ? "planted" : "FAILED ", fault->name,
               check.failures > 0 ? "found" : "nothing", check.cases);
        failures += good ? 0 : 1;
    }
    return failures;
}

static int usage(const char *problem)
{
    fprintf(stderr, "%s\nusage: kernels [RUNG|all] [--quick]\n", problem);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t seed = aq_rng_system_seed();
    bool quick = false;
    const char *named = NULL;
    const char *text = getenv("AQ_SEED");
    if (text != NULL && aq_parse_u64(text, &seed) != 0) {
        return usage("AQ_SEED is not a number");
    }
    for (int i = 1; i < argc; i++) {
        uint32_t mask = UINT32_MAX;
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (aq_cpu_mask_from_text(argv[i], &mask) == 0) {
            aq_cpu_set_mask(mask);
            named = argv[i];
        } else if (strcmp(argv[i], "all") != 0) {
            return usage("no such rung");
        }
    }
    const uint32_t flags = aq_cpu_flags();
    const aq_qkernels *best = aq_qkernels_select(flags);
    char names[AQ_CPU_TEXT_MAX];
    printf("AQ_SEED=%llu, flags: %s, rung: %s\n", (unsigned long long)seed,
           aq_cpu_flags_text(flags, names, sizeof(names)), best->name);
    if (named != NULL && strcmp(named, best->name) != 0) {
        printf("skipped: no kernels of %s here\n", named);
        return SKIPPED;
    }

    size_t failures = 0;
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~flags) == 0) {
            failures += check_rung(rung, quick, seed);
            if (quick) {
                break;
            }
        } else {
            printf("%-12s not here, or masked\n", rung->name);
        }
    }
    failures += named == NULL && !quick ? check_the_checker(seed) : 0;
    return failures == 0 ? 0 : 1;
}
