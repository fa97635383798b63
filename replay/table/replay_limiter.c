/*
 * Doubles hold counts exactly up to 2^53, almost three centuries of a million steps a second.
 */
#include "replay/table/replay_limiter.h"

#include <inttypes.h>
#include <math.h>

#include "common/base/assert.h"

/* Far more than anybody inserts, far less than what a uint64_t holds. */
#define HEADROOM_MAX 1e15

static bool keeps_proportion(const aq_replay_limiter *limiter)
{
    return limiter->samples_per_insert > 0.0;
}

static int check_band(const aq_table_spec *spec, uint32_t rows_max, aq_error *error)
{
    double request = (double)rows_max / spec->samples_per_insert;
    double least = ceil((request + 2.0) / 2.0);
    if (!isfinite(spec->tolerance) || spec->tolerance <= 0.0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a tolerance of %g steps; a positive number is possible", spec->tolerance);
    }
    if (spec->tolerance < least) {
        return aq_fail(error, AQ_E_INVALID,
                       "a tolerance of %g steps is too little: at %g samples per insert a request "
                       "of %" PRIu32 " rows counts as %g steps, so actors and learner could wait "
                       "for each other; %.0f is the least that works",
                       spec->tolerance, spec->samples_per_insert, rows_max, request, least);
    }
    return 0;
}

int aq_replay_limiter_init(aq_replay_limiter *limiter, const aq_table_spec *spec, uint32_t rows_max,
                           aq_error *error)
{
    bool is_queue = spec->selector == AQ_SELECTOR_QUEUE;
    double ratio = spec->samples_per_insert;
    if (!isfinite(ratio) || ratio < 0.0) {
        return aq_fail(error, AQ_E_INVALID,
                       "%g samples per insert; 0 (no proportion) and positive numbers are possible",
                       ratio);
    }
    if (spec->min_size == 0 || rows_max == 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a minimum size of %" PRIu64 " steps and requests of %" PRIu32
                       " rows; both must be at least 1",
                       spec->min_size, rows_max);
    }
    if (is_queue && ratio > 0.0) {
        return aq_fail(error, AQ_E_INVALID,
                       "%g samples per insert of a queue, which gives each item once; 0 works",
                       ratio);
    }
    if (is_queue && spec->capacity <= rows_max) {
        return aq_fail(error, AQ_E_INVALID,
                       "a queue of %" PRIu64 " steps cannot answer requests of %" PRIu32
                       " rows: actors and learner would wait for each other; %" PRIu64
                       " is the least capacity that works",
                       spec->capacity, rows_max, (uint64_t)rows_max + 1);
    }
    int rc = ratio > 0.0 ? check_band(spec, rows_max, error) : 0;
    if (rc != 0) {
        return rc;
    }
    *limiter = (aq_replay_limiter){
        .min_size = spec->min_size,
        .samples_per_insert = ratio,
        .tolerance = spec->tolerance,
        .rows_max = rows_max,
        .capacity = is_queue ? spec->capacity : 0,
    };
    return 0;
}

void aq_replay_limiter_restore(aq_replay_limiter *limiter, uint64_t inserted, uint64_t sampled,
                               bool known)
{
    limiter->inserted = inserted;
    limiter->sampled = known ? sampled : 0;
    limiter->forgiven = 0.0;
    if (!keeps_proportion(limiter) || inserted < limiter->min_size) {
        /* Below the minimum, nobody owes anybody anything, whatever was sampled under another. */
        limiter->sampled = keeps_proportion(limiter) ? 0 : limiter->sampled;
        return;
    }
    double lead = aq_replay_limiter_lead(limiter);
    double within = known ? fmax(-limiter->tolerance, fmin(lead, limiter->tolerance)) : 0.0;
    limiter->forgiven = lead - within;
}

void aq_replay_limiter_begin_anew(aq_replay_limiter *limiter, uint64_t held)
{
    AQ_ASSERT(held <= limiter->inserted);
    limiter->min_size += limiter->inserted - held;
    limiter->sampled = 0;
    limiter->forgiven = 0.0;
}

void aq_replay_limiter_inserted(aq_replay_limiter *limiter, uint64_t steps)
{
    limiter->inserted += steps;
}

void aq_replay_limiter_sampled(aq_replay_limiter *limiter, uint32_t rows)
{
    limiter->sampled += rows;
}

void aq_replay_limiter_holds(aq_replay_limiter *limiter, uint64_t steps)
{
    limiter->held = steps;
}

double aq_replay_limiter_lead(const aq_replay_limiter *limiter)
{
    if (!keeps_proportion(limiter)) {
        return 0.0;
    }
    return (double)limiter->inserted - (double)limiter->min_size -
           (double)limiter->sampled / limiter->samples_per_insert - limiter->forgiven;
}

bool aq_replay_limiter_may_sample(const aq_replay_limiter *limiter, uint32_t rows)
{
    if (limiter->inserted < limiter->min_size) {
        return false;
    }
    return !keeps_proportion(limiter) ||
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
    if (limiter->capacity > 0) {
        return limiter->held < limiter->capacity ? limiter->capacity - limiter->held : 0;
    }
    if (!keeps_proportion(limiter)) {
        return (uint64_t)HEADROOM_MAX;
    }
    return whole_steps(limiter->tolerance - aq_replay_limiter_lead(limiter));
}

uint64_t aq_replay_limiter_width(const aq_replay_limiter *limiter)
{
    if (limiter->capacity > 0) { /* chunks that were drawn in part may take as much as the rest */
        uint64_t half = (limiter->capacity - limiter->rows_max) / 2;
        return half > 0 ? half : 1;
    }
    if (!keeps_proportion(limiter)) {
        return (uint64_t)HEADROOM_MAX;
    }
    /* Below M it is T and more; else 2 T - R / r, less a step that rounding may have cost. */
    double request = limiter->rows_max / limiter->samples_per_insert;
    double width = fmin(limiter->tolerance, 2.0 * limiter->tolerance - request - 1.0);
    uint64_t steps = whole_steps(width);
    return steps > 0 ? steps : 1;
}
