/*
 * OpenBLAS as this process found it: threads, the core type it chose, and whether the processor
 * could do better (OPENBLAS_CORETYPE in the environment can halve its speed unnoticed).
 */
#ifndef AQ_LEARNER_BLAS_H
#define AQ_LEARNER_BLAS_H

#include <stddef.h>

#include "common/base/error.h"

/* Before the first product. */
void aq_blas_set_threads(unsigned threads);

const char *aq_blas_core(void);   /* "Cooperlake" */
const char *aq_blas_config(void); /* version and build, as OpenBLAS tells it */

/* 1 when the chosen kernels are slower than the processor allows; `out` then says in words why and
 * what to do. */
int aq_blas_problem(char *out, size_t size);

#endif
