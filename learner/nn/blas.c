/*
 * What OpenBLAS chose, and whether that was right.
 *
 * A core's name stands for its kernels; what decides their speed is how wide they compute. So cores
 * are compared by that alone: SkylakeX in place of Cooperlake costs sgemm nothing, Haswell in place
 * of either halves it.
 */
#include "learner/nn/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "common/sys/process.h"

void aq_blas_set_threads(unsigned threads)
{
    openblas_set_num_threads((int)threads);
}

const char *aq_blas_core(void)
{
    return openblas_get_corename();
}

const char *aq_blas_config(void)
{
    return openblas_get_config();
}

/* The core of OpenBLAS that suits this processor. */
static const char *best_core(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vl")) {
        return __builtin_cpu_supports("avx512bf16") ? "Cooperlake" : "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2")) {
        return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
    }
#endif
    return NULL;
}

/* Bits of a core's vectors, 128 for those that are not listed. */
static int width_of(const char *core)
{
    static const struct {
        const char *core;
        int bits;
    } widths[] = {
        {"SapphireRapids", 512}, {"Cooperlake", 512}, {"SkylakeX", 512},
        {"Haswell", 256},        {"Zen", 256},        {"Excavator", 256},
    };

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        if (strcmp(widths[i].core, core) == 0) {
            return widths[i].bits;
        }
    }
    return 128;
}

void aq_blas_find_facts(aq_blas_facts *ret_facts)
{
    *ret_facts = (aq_blas_facts){
        .core = aq_blas_core(),
        .best_core = best_core(),
        .env_coretype = getenv("OPENBLAS_CORETYPE"),
        .env_l2_size = getenv("OPENBLAS_L2_SIZE"),
    };
}

bool aq_blas_judge(const aq_blas_facts *facts, char *out, size_t size)
{
    int core_bits, best_bits;

    snprintf(out, size, "%s", "");
    if (facts->best_core == NULL) {
        return false;
    }
    core_bits = width_of(facts->core);
    best_bits = width_of(facts->best_core);
    if (core_bits >= best_bits) {
        return false;
    }
    if (facts->env_coretype != NULL) {
        snprintf(
            out, size,
            "OpenBLAS computes with its kernels for %s (%d bits at a time), this processor has "
            "%d: OPENBLAS_CORETYPE=%s is set in the environment; unset it%s",
            facts->core, core_bits, best_bits, facts->env_coretype,
            facts->env_l2_size != NULL ? ", and OPENBLAS_L2_SIZE with it" : "");
    } else {
        snprintf(
            out, size,
            "OpenBLAS computes with its kernels for %s (%d bits at a time), this processor has "
            "%d: this OpenBLAS does not know the processor; install a newer one, or set "
            "OPENBLAS_CORETYPE=%s",
            facts->core, core_bits, best_bits, facts->best_core);
    }
    return true;
}

bool aq_blas_mend(const aq_blas_facts *facts, const char **ret_coretype)
{
    char problem[8];

    *ret_coretype = NULL;
    if (!aq_blas_judge(facts, problem, sizeof(problem))) {
        return false;
    }
    if (facts->env_coretype == NULL) {
        *ret_coretype = facts->best_core;
        return true;
    }
    return strcmp(facts->env_coretype, facts->best_core) != 0;
}

bool aq_blas_settle(char **argv)
{
    aq_blas_facts facts;
    const char *coretype;
    const char *wish = getenv("ACTORQ_BLAS_CORETYPE");
    int rc;

    aq_blas_find_facts(&facts);
    if ((wish != NULL && strcmp(wish, "keep") == 0) || !aq_blas_mend(&facts, &coretype)) {
        return true;
    }
    rc =
        coretype != NULL ? setenv("OPENBLAS_CORETYPE", coretype, 1) : unsetenv("OPENBLAS_CORETYPE");
    if (rc == 0 && unsetenv("OPENBLAS_L2_SIZE") == 0) {
        rc = aq_process_start_anew(argv);
    }
    return rc == 0;
}

bool aq_blas_problem(char *out, size_t size)
{
    aq_blas_facts facts;

    aq_blas_find_facts(&facts);
    return aq_blas_judge(&facts, out, size);
}
