/*
 * Error subject: a policy in fp32 and the observations that its quantization is measured on. Every
 * number comes from a file or a seed, so that measuring again gives the same.
 */
#ifndef AQ_BENCH_QUANTIZATION_ERROR_SUBJECT_H
#define AQ_BENCH_QUANTIZATION_ERROR_SUBJECT_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

enum { AQ_ERROR_SUBJECT_ROWS = 512 };

typedef struct aq_error_subject {
    const char *environment;
    aq_snapshot *exact;
    float *measured, *ranged; /* (rows, inputs) each */
    size_t measured_rows, ranged_rows;
} aq_error_subject;

/* The index-th, below AQ_ERROR_SUBJECTS; trained policies are read from `folder`. */
enum { AQ_ERROR_SUBJECTS = 4 };
int aq_error_subject_init(size_t index, const char *folder, aq_error_subject *ret_subject,
                          aq_error *error) AQ_MUST_USE;
void aq_error_subject_fini(aq_error_subject *subject); /* a zeroed one is fine */

#endif
