/*
 * Learner timing: see learner_timing.h. Slices of steps and of products take turns, so that a slow
 * spell of the machine meets both.
 */
#include "bench/learner/learner_timing.h"

#include <math.h>
#include <stdlib.h>

#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "learner/nn/blas.h"

/* Updates that are not timed: threads start, caches fill. */
enum { WARM_UPDATES = 3 };

/* Not the process's time: OpenBLAS starts a thread for each processor, and one without work looks
 * for some for a while. */
static int64_t now_ns(uint32_t threads)
{
    return threads == 1 ? aq_clock_thread_ns() : aq_clock_monotonic_ns();
}

static int time_steps(aq_learner_case *of, int64_t slice_ns, double *ret_us)
{
    const uint32_t threads = (uint32_t)of->config.learner.threads;
    uint64_t steps = 0, done;

    for (int i = 0; i < WARM_UPDATES; i++) {
        if (aq_learner_case_update(of, &done) != 0) {
            return AQ_E_CORRUPT;
        }
    }
    const int64_t start = now_ns(threads);
    int64_t now = start;
    while (now - start < slice_ns) {
        if (aq_learner_case_update(of, &done) != 0) {
            return AQ_E_CORRUPT;
        }
        steps += done;
        now = now_ns(threads);
    }
    *ret_us = (double)(now - start) / (double)steps / (double)AQ_NS_PER_US;
    return 0;
}

/* Of one call. */
static double time_product(aq_learner_case *of, const aq_case_product *product, int64_t slice_ns)
{
    /* As many calls between two looks at the clock as take some microseconds. */
    const double flop = 2.0 * product->is.m * product->is.n * product->is.k;
    const int burst = flop < 1e6 ? 64 : 4;
    const int64_t start = now_ns(1);
    int64_t now = start;
    uint64_t calls = 0;

    while (now - start < slice_ns) {
        for (int i = 0; i < burst; i++) {
            aq_learner_case_product(of, product);
        }
        calls += (uint64_t)burst;
        now = now_ns(1);
    }
    return (double)(now - start) / (double)calls / (double)AQ_NS_PER_US;
}

int aq_learner_timing_measure(const aq_learner_timing *timing, aq_learner_case *of,
                              aq_learner_time *ret_time)
{
    double steps[AQ_SLICES_MAX], best[AQ_PRODUCTS_MAX];

    AQ_ASSERT(timing->slices >= 1 && timing->slices <= AQ_SLICES_MAX);
    for (size_t p = 0; p < of->product_count; p++) {
        best[p] = INFINITY;
    }
    for (uint32_t s = 0; s < timing->slices; s++) {
        const int64_t product_ns = timing->slice_ns / (int64_t)of->product_count;

        aq_algorithm_set_blas_threads(aq_agent_class(of->agent), &of->config);
        if (time_steps(of, timing->slice_ns, &steps[s]) != 0) {
            return AQ_E_CORRUPT;
        }
        aq_blas_set_threads(1);
        for (size_t p = 0; p < of->product_count; p++) {
            best[p] = fmin(best[p], time_product(of, &of->products[p], product_ns));
        }
    }
    *ret_time = (aq_learner_time){.step_us = aq_median(steps, timing->slices)};
    for (size_t p = 0; p < of->product_count; p++) {
        ret_time->products_us += best[p] * of->products[p].times;
    }
    return 0;
}
