/*
 * Kernels that are wrong on purpose, each in one way that real ones have been wrong: what the
 * checker must catch before its silence means anything.
 */
#ifndef AQ_TESTS_KERNELS_FAULTY_KERNELS_H
#define AQ_TESTS_KERNELS_FAULTY_KERNELS_H

#include "tests/kernels/kernel_check.h"

typedef struct planted_fault {
    const char *name;
    bool is_fault; /* false: a second correct implementation, which must pass */
    void (*check)(kernel_check *check);
    aq_qkernels kernels;
} planted_fault;

/* The index-th, NULL past the last. The next call reuses the memory. */
const planted_fault *planted_fault_at(size_t index);

#endif
