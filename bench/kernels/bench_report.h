/*
 * Bench report: what was measured, for people and for programs.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_REPORT_H
#define AQ_BENCH_KERNELS_BENCH_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/kernels/bench_case.h"
#include "bench/kernels/speed_limits.h"

typedef struct aq_bench_report {
    uint32_t cpu_flags;
    aq_timing_plan timing;
    double load[2]; /* processes that ran or wanted to, over the last minute: before and after */

    size_t limits_count;
    aq_speed_limits limits[AQ_BENCH_RUNGS_MAX];
    size_t row_count, row_max; /* of layers */
    aq_bench_row *rows;
    size_t policy_count, policy_max; /* of whole policies */
    aq_bench_row *policies;
} aq_bench_report;

/* With room for all that the plan may give. AQ_E_NOMEM. */
int aq_bench_report_init(const aq_bench_plan *plan, aq_bench_report *ret_report) AQ_MUST_USE;
void aq_bench_report_fini(aq_bench_report *report); /* a zeroed one is fine */

/* NULL when out of memory. */
json_t *aq_bench_report_json(const aq_bench_report *report);

/* AQ_E_NOMEM. */
int aq_bench_report_print(FILE *out, const aq_bench_report *report) AQ_MUST_USE;

#endif
