/*
 * Doubles hold counts exactly up to 2^53, almost three centuries of a million steps a second.
 */
#include "replay/replay_limiter.h"

#include <inttypes.h>
#include <math.h>

/* Far more than anybody inserts, far less than what a uint64_t holds. */
#define HEADROOM_MAX 1e15

int aq_replay_limiter_init(aq_replay_limiter *limiter, uint64_t min_size, double samples_per_insert,
                           double tolerance, uint32_t rows_max, aq_error *error)
{
    if (!isfinite(samples_per_insert) || samples_per_insert <= 0.0) {
        return aq_fail(error, AQ_E_INVALID, "%g samples per insert; a positive number is possible",
                       samples_per_insert);
    }
    if (!isfinite(tolerance) || tolerance <= 0.0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a tolerance of %g steps; a positive number is possible", tolerance);
    }
    if (min_size == 0 || rows_max == 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a minimum size of %" PRIu64 " steps and requests of %" PRIu32
                       " rows; both must be at least 1",
                       min_size, rows_max);
    }
    double least = ceil(((double)rows_max / samples_per_insert + 2.0) / 2.0);
    if (tolerance < least) {
        return aq_fail(error, AQ_E_INVALID,
                       "a tolerance of %g steps is too little: at %g samples per insert a request "
                       "of %" PRIu32 " rows counts as %g steps, so actors and learner could wait "
                       "for each other; %.0f is the least that works",
                       tolerance, samples_per_insert, rows_max,
                       (double)rows_max / samples_per_insert, least);
    }
    *limiter = (aq_replay_limiter){
        .min_size = min_size,
        .samples_per_insert = samples_per_insert,
        .tolerance = tolerance,
        .rows_max = rows_max,
    };
    return 0;
}

void aq_replay_limiter_inserted(aq_replay_limiter *limiter, uint64_t steps)
{
    limiter->inserted += steps;
}

void aq_replay_limiter_sampled(aq_replay_limiter *limiter, uint32_t rows)
{
    limiter->sampled += rows;
}

double aq_replay_limiter_lead(const aq_replay_limiter *limiter)
{
    return (double)limiter->inserted - (double)limiter->min_size -
           (double)limiter->sampled / limiter->samples_per_insert;
}

bool aq_replay_limiter_may_sample(const aq_replay_limiter *limiter, uint32_t rows)
{
    return limiter->inserted >= limiter->min_size &&
           aq_replay_limiter_lead(limiter) - rows / limiter->samples_per_insert >=
               -limiter->tolerance;
}

static uint64_t whole_steps(double steps)
{
    if (steps < 1.0) {
        return 0;
    }
    return (uint64_t)fmin(steps, HEADROOM_MAX);
}

uint64_t aq_replay_limiter_headroom(const aq_replay_limiter *limiter)
{
    return whole_steps(limiter->tolerance - aq_replay_limiter_lead(limiter));
}

uint64_t aq_replay_limiter_width(const aq_replay_limiter *limiter)
{
    /* Below M it is T and more; else 2 T - R / r, less a step that rounding may have cost. */
    double request = limiter->rows_max / limiter->samples_per_insert;
    double width = fmin(limiter->tolerance, 2.0 * limiter->tolerance - request - 1.0);
    uint64_t steps = whole_steps(width);
    return steps > 0 ? steps : 1;
}
