/*
 * OpenBLAS as this process found it: threads, the core type it chose, and whether the processor
 * could do better (OPENBLAS_CORETYPE in the environment can halve its speed unnoticed).
 *
 * Process-wide, as OpenBLAS is; from the main thread, before others start.
 */
#ifndef AQ_LEARNER_NN_BLAS_H
#define AQ_LEARNER_NN_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Before the first product. */
void aq_blas_set_threads(unsigned threads);

const char *aq_blas_core(void);   /* "Cooperlake" */
const char *aq_blas_config(void); /* version and build, as OpenBLAS tells it */

/* What a judgement rests on. */
typedef struct aq_blas_facts {
    const char *core;         /* that OpenBLAS runs */
    const char *best_core;    /* that suits this processor; NULL when that can't be told */
    const char *env_coretype; /* OPENBLAS_CORETYPE, NULL when it is not set */
    const char *env_l2_size;  /* OPENBLAS_L2_SIZE, likewise; OpenBLAS 0.3.21 does not read it */
} aq_blas_facts;

/* Texts of static storage or of the environment. */
void aq_blas_find_facts(aq_blas_facts *ret_facts);

/* True when the core's kernels are narrower than those of the best; `out` then says in words why
 * and what to do. An empty text otherwise. Pure. */
bool aq_blas_judge(const aq_blas_facts *facts, char *out, size_t size);

/* True when another OPENBLAS_CORETYPE may mend what aq_blas_judge finds; NULL: none, so that
 * OpenBLAS chooses. Where that chose badly, as it does on processors that are newer than itself, it
 * is told the best core; after that nothing is left to try. Pure. */
bool aq_blas_mend(const aq_blas_facts *facts, const char **ret_coretype);

/* Starts the program anew, with `argv`, when aq_blas_mend has something to try: kernels are chosen
 * before main. Not where ACTORQ_BLAS_CORETYPE is "keep". True: go on. False: it could not be
 * started. Nothing that has to be tidied up may be there yet. */
bool aq_blas_settle(char **argv);

/* aq_blas_judge of this process. */
bool aq_blas_problem(char *out, size_t size);

#endif
