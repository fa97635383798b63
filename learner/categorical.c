/*
 * Distributions over atoms: see categorical.h. Some dozens of numbers a row.
 */
#include "learner/categorical.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"

void aq_atoms_init(aq_atoms *atoms, uint32_t count, float low, float high)
{
    AQ_ASSERT(count >= 2 && count <= AQ_NET_ATOMS_MAX);
    atoms->count = count;
    atoms->low = low;
    atoms->high = high;
    atoms->spacing = (high - low) / (float)(count - 1);
    for (uint32_t k = 0; k < count; k++) {
        atoms->value[k] = low + (high - low) * ((float)k / (float)(count - 1));
    }
}

float aq_atoms_mean(const aq_atoms *atoms, const float *probabilities)
{
    float mean = 0.0f;

    for (uint32_t k = 0; k < atoms->count; k++) {
        mean += probabilities[k] * atoms->value[k];
    }
    return mean;
}

void aq_atoms_project(const aq_atoms *atoms, float reward, float bootstrap,
                      const float *next_probabilities, float *ret_probabilities)
{
    const float last = (float)(atoms->count - 1);
    const float per_spacing = 1.0f / atoms->spacing;

    memset(ret_probabilities, 0, atoms->count * sizeof(*ret_probabilities));
    if (!isfinite(reward) || !isfinite(bootstrap)) {
        ret_probabilities[0] = NAN;
        return;
    }
    for (uint32_t k = 0; k < atoms->count; k++) {
        float position = (reward + bootstrap * atoms->value[k] - atoms->low) * per_spacing;

        position = position > 0.0f ? position : 0.0f;
        position = position < last ? position : last;
        const uint32_t below = (uint32_t)position;
        const uint32_t above = below + (below + 1 < atoms->count);
        const float share = position - (float)below;

        ret_probabilities[below] += next_probabilities[k] * (1.0f - share);
        ret_probabilities[above] += next_probabilities[k] * share;
    }
}

double aq_atoms_cross_entropy(const aq_atoms *atoms, const float *logits,
                              const float *probabilities, const float *target)
{
    uint32_t likeliest = 0;
    double sum = 0.0;

    for (uint32_t k = 0; k < atoms->count; k++) {
        if (probabilities[k] > probabilities[likeliest]) {
            likeliest = k;
        }
    }
    /* log of all that the logits were divided by, from where it is known best */
    const double log_sum = (double)logits[likeliest] - log((double)probabilities[likeliest]);
    for (uint32_t k = 0; k < atoms->count; k++) {
        sum += (double)target[k] * (log_sum - (double)logits[k]);
    }
    return sum;
}
