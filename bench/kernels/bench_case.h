/*
 * Bench case: one problem on one rung. Every format of ours, every peer and the limits take turns;
 * each format and peer becomes one row.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_CASE_H
#define AQ_BENCH_KERNELS_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/kernels/bench_peer.h"
#include "bench/kernels/bench_plan.h"
#include "bench/kernels/bench_problem.h"

enum { AQ_BENCH_NETWORK_BYTES = 64 };

typedef struct aq_bench_row {
    const char *rung;
    uint32_t format;
    char network[AQ_BENCH_NETWORK_BYTES]; /* as aq_net_spec_text */
    uint32_t inputs, outputs;
    size_t batch;
    double us;

    const char *peer; /* NULL, and the next two NaN, where the build has no peer at all */
    double peer_us;
    double ratio; /* peer's time by ours */

    size_t bytes;      /* that a pass reads at least: tensors and observations */
    double operations; /* a multiplication and an addition are two */
    double limit_us;   /* the greater of both at the speeds measured */
    double limit_share;
    bool limited_by_bytes;
} aq_bench_row;

/* Rows that a case gives at most. */
enum { AQ_BENCH_CASE_ROWS_MAX = AQ_FORMAT_COUNT * AQ_BENCH_PEERS };

/* Makes all contenders, checks their results, times them; writes the rows of formats in order, and
 * in each of peers. AQ_E_CORRUPT when a result is not the reference's, naming whose; what the
 * quantizer, the engine or a peer says; AQ_E_NOMEM. */
int aq_bench_case_run(const aq_bench_plan *plan, const aq_qkernels *rung,
                      const aq_bench_problem *problem, aq_bench_row *ret_rows, size_t *ret_count,
                      aq_error *error) AQ_MUST_USE;

#endif
