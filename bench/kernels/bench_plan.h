/*
 * Bench plan: what `actorq bench kernels` was asked to measure. Made from the arguments.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_PLAN_H
#define AQ_BENCH_KERNELS_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/kernels/paired_timing.h"
#include "common/sys/options.h"
#include "quantizer/kernels/qkernels.h"

enum {
    AQ_BENCH_NUMBERS_MAX = 16, /* of one list */
    AQ_BENCH_WIDTH_MAX = 4096,
    AQ_BENCH_ROWS_MAX = 256,
    AQ_BENCH_RUNGS_MAX = 16,
};

typedef struct aq_bench_numbers {
    size_t count;
    uint32_t values[AQ_BENCH_NUMBERS_MAX];
    bool is_given; /* by an option */
} aq_bench_numbers;

typedef struct aq_bench_plan {
    aq_bench_numbers sizes;           /* layers: inputs and outputs */
    aq_bench_numbers batches;         /* layers: rows */
    aq_bench_numbers policies;        /* widths of whole policies, one row at a time */
    aq_bench_numbers pictures;        /* by number (bench_pictures.h), in all batches */
    bool formats[AQ_QKERNEL_FORMATS]; /* by enum aq_format */
    uint32_t cpu_flags;
    size_t rung_count;
    const aq_qkernels *rungs[AQ_BENCH_RUNGS_MAX];
    aq_timing_plan timing;
    bool quick;
    aq_json_form json;
} aq_bench_plan;

/* The plan of no arguments: the best rung under `cpu_flags`, everything that it has. */
void aq_bench_plan_init(uint32_t cpu_flags, aq_bench_plan *ret_plan);

/* What the options are put into. What lists name is checked there, what they mean together in
 * aq_bench_plan_finish. */
typedef struct aq_bench_request {
    aq_bench_plan plan;
    bool all;
} aq_bench_request;

/* The options' page of `actorq bench kernels`. */
const aq_options *aq_bench_plan_options(void);

/* After the last argument. */
void aq_bench_plan_finish(aq_bench_request *request);

/* Whether the plan wants the format, and the rung has a kernel of it. */
bool aq_bench_plan_wants(const aq_bench_plan *plan, const aq_qkernels *rung, uint32_t format);

#endif
