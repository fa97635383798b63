/*
 * Paired timing: see paired_timing.h.
 */
#include "bench/kernels/paired_timing.h"

#include <stdlib.h>
#include <string.h>

#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

/* After others have filled the third cache, the second call still finds little of its own there. */
enum { CALLS_MIN = 4, CALLS_MAX = 1 << 20, WARM_CALLS = 8 };

static int64_t time_calls(const aq_contender *contender, uint32_t calls)
{
    const int64_t started = aq_clock_cpu_ns();
    for (uint32_t i = 0; i < calls; i++) {
        contender->run(contender->self);
    }
    return aq_clock_cpu_ns() - started;
}

/* How many calls fill a slice. The first call of all may have much to set up, and does not count.
 */
static uint32_t calls_of_slice(const aq_contender *contender, int64_t slice_ns)
{
    uint32_t calls = CALLS_MIN;
    contender->run(contender->self);
    while (calls < CALLS_MAX && time_calls(contender, calls) < slice_ns) {
        calls *= 2;
    }
    return calls;
}

int aq_paired_times_measure(const aq_contender *contenders, size_t count,
                            const aq_timing_plan *plan, aq_paired_times *ret_times)
{
    uint32_t calls[AQ_CONTENDERS_MAX];
    AQ_ASSERT(count > 0 && count <= AQ_CONTENDERS_MAX);
    AQ_ASSERT(plan->rounds > 0 && plan->rounds <= AQ_TIMING_ROUNDS_MAX);
    double *us = aq_alloc(count * plan->rounds, sizeof(*us));
    if (us == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        calls[i] = calls_of_slice(&contenders[i], plan->slice_ns);
    }
    for (uint32_t round = 0; round < plan->rounds; round++) {
        for (size_t turn = 0; turn < count; turn++) {
            const size_t i = (round + turn) % count;
            (void)time_calls(&contenders[i], WARM_CALLS);
            us[i * plan->rounds + round] =
                (double)time_calls(&contenders[i], calls[i]) / (double)AQ_NS_PER_US / calls[i];
        }
    }
    *ret_times = (aq_paired_times){.count = count, .rounds = plan->rounds, .us = us};
    return 0;
}

void aq_paired_times_fini(aq_paired_times *times)
{
    aq_free(times->us);
    *times = (aq_paired_times){0};
}

double aq_paired_times_us(const aq_paired_times *times, size_t index)
{
    double sorted[AQ_TIMING_ROUNDS_MAX];
    AQ_ASSERT(index < times->count);
    memcpy(sorted, times->us + index * times->rounds, times->rounds * sizeof(*sorted));
    return aq_median(sorted, times->rounds);
}

double aq_paired_times_ratio(const aq_paired_times *times, size_t index, size_t base)
{
    double ratios[AQ_TIMING_ROUNDS_MAX];
    AQ_ASSERT(index < times->count && base < times->count);
    for (uint32_t round = 0; round < times->rounds; round++) {
        ratios[round] =
            times->us[index * times->rounds + round] / times->us[base * times->rounds + round];
    }
    return aq_median(ratios, times->rounds);
}
