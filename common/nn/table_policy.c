/*
 * Table policy: see table_policy.h.
 */
#include "common/nn/table_policy.h"

#include <math.h>
#include <stddef.h>

/* The least shortfall, a level of int8, so that no output is all zeros, of which an integer format
 * could say nothing. */
#define SHORTFALL_MIN (1.0f / 127.0f)

/* The actions of one state, `states` apart. */
static void rate(uint32_t actions, size_t states, const float *values, float *policy)
{
    uint32_t best = 0;
    float worst = values[0];
    for (uint32_t action = 1; action < actions; action++) {
        const float value = values[action * states];
        best = value > values[best * states] ? action : best;
        worst = fminf(worst, value);
    }
    const float top = values[best * states], range = top - worst;
    for (uint32_t action = 0; action < actions; action++) {
        const float share = range > 0.0f ? (top - values[action * states]) / range : 1.0f;
        policy[action * states] = action == best ? 1.0f : -fmaxf(share, SHORTFALL_MIN);
    }
}

void aq_table_policy(uint32_t actions, uint32_t states, const float *values, float *policy)
{
    for (uint32_t state = 0; state < states; state++) {
        rate(actions, states, values + state, policy + state);
    }
}
