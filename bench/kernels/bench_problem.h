/*
 * Bench problem: a network with seeded parameters, a batch of observations, and what must come out.
 * All contenders solve the same one, and are checked against it before they are timed.
 *
 * Constant once made; one owner.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_PROBLEM_H
#define AQ_BENCH_KERNELS_BENCH_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/policy/snapshot.h"

typedef struct aq_bench_problem {
    aq_net_spec spec;
    aq_params params;
    size_t rows;
    float *obs;     /* (rows, inputs) */
    uint8_t *bytes; /* that they stand for, divided by 255; NULL: they are floats */

    /* The reference's answer to the first rows, and the range of each layer's input there. */
    size_t checked_rows;
    float *expected;                                       /* (checked_rows, outputs) */
    float low[AQ_NET_LAYERS_MAX], high[AQ_NET_LAYERS_MAX]; /* low <= 0 <= high */
} aq_bench_problem;

/* One layer with ReLU. The rows are as a hidden layer sees them: each from 0 to exactly 1. */
int aq_bench_problem_layer(uint32_t inputs, uint32_t outputs, size_t rows,
                           aq_bench_problem *ret_problem) AQ_MUST_USE;

/* 17-width-width-width-6, ReLU between; rows of normally distributed observations. */
int aq_bench_problem_policy(uint32_t width, size_t rows, aq_bench_problem *ret_problem) AQ_MUST_USE;

/* A network on pictures (bench_pictures.h): of bytes, but where it is given what a hidden layer is.
 */
int aq_bench_problem_picture(uint32_t picture, size_t rows,
                             aq_bench_problem *ret_problem) AQ_MUST_USE;

void aq_bench_problem_fini(aq_bench_problem *problem); /* a zeroed one is fine */

/* The fp32 parameters in a format, as the quantizer makes them. */
int aq_bench_problem_snapshot(const aq_bench_problem *problem, uint32_t format,
                              aq_snapshot **ret_snapshot, aq_error *error) AQ_MUST_USE;

/* How far `got` (rows, outputs) is from `expected` over the checked rows: the rms of the
 * differences over the rms of what is expected. Infinite when something is NaN. */
double aq_bench_problem_distance(const aq_bench_problem *problem, const float *got,
                                 const float *expected);

/* What the weights of a snapshot give, by the reference, for the checked rows: (checked_rows,
 * outputs), which the caller releases with aq_free. */
int aq_bench_problem_expected(const aq_bench_problem *problem, const aq_snapshot *snapshot,
                              float **ret_expected) AQ_MUST_USE;

#endif
