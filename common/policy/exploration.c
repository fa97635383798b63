/*
 * Drawing: see exploration.h.
 */
#include "common/policy/exploration.h"

#include <math.h>

#include "common/base/assert.h"

#define TWO_PI 6.283185307179586

void aq_action_random(const aq_space *space, aq_rng *rng, void *action)
{
    int32_t *choices = action;
    float *elements = action;
    const size_t count = aq_space_elements(space);
    for (size_t i = 0; i < count; i++) {
        if (space->kind == AQ_SPACE_DISCRETE) {
            choices[i] = (int32_t)aq_rng_below(rng, aq_space_choices(space, i));
            continue;
        }
        const size_t bound = aq_space_bound(space, i);
        const double low = (double)space->low[bound], high = (double)space->high[bound];
        elements[i] = aq_space_hold(space, bound, (float)aq_rng_range(rng, low, high));
    }
}

void aq_action_epsilon_greedy(const aq_space *space, const aq_exploration *how, aq_rng *rng,
                              void *greedy)
{
    if (aq_rng_uniform(rng) < how->epsilon) {
        aq_action_random(space, rng, greedy);
    }
}

void aq_action_perturb(const aq_space *space, const aq_exploration *how, aq_rng *rng, void *greedy)
{
    float *elements = greedy;
    const size_t count = aq_space_elements(space);
    AQ_ASSERT(space->kind == AQ_SPACE_BOX);
    for (size_t i = 0; i < count; i++) {
        const size_t bound = aq_space_bound(space, i);
        const double half = (double)(space->high[bound] - space->low[bound]) / 2.0;
        const double moved = (double)elements[i] + how->sigma * half * aq_rng_normal(rng);
        elements[i] = aq_space_hold(space, bound, (float)moved);
    }
}

/* -p ln p */
static double surprise(double p)
{
    return p > 0.0 ? -p * log(p) : 0.0;
}

static double count_actions(const aq_space *space)
{
    const size_t elements = aq_space_elements(space);
    double count = 1.0;
    for (size_t i = 0; i < elements; i++) {
        count *= aq_space_choices(space, i);
    }
    return count;
}

double aq_exploration_entropy(const aq_space *space, const aq_exploration *how)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        const double count = count_actions(space), other = how->epsilon / count;
        return surprise(1.0 - how->epsilon + other) + (count - 1.0) * surprise(other);
    }
    /* Of a normal deviate: ln(2 pi e sigma^2) / 2. */
    return (double)aq_space_elements(space) * (0.5 * log(TWO_PI) + 0.5 + log(how->sigma));
}
