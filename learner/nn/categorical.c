/*
 * Distributions over atoms: see categorical.h. Some dozens of numbers a row.
 */
#include "learner/nn/categorical.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"

enum { PARTS = 4 };

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

void aq_atoms_begin(const aq_atoms *atoms, float *ret_logits)
{
    for (uint32_t k = 0; k < atoms->count; k++) {
        ret_logits[k] = -fabsf(atoms->value[k]) / atoms->spacing;
    }
}

/* In four sums side by side: one would wait for itself. */
float aq_atoms_mean(const aq_atoms *atoms, const float *probabilities)
{
    const uint32_t whole = atoms->count - atoms->count % PARTS;
    float part[PARTS] = {0};

    for (uint32_t k = 0; k < whole; k += PARTS) {
        for (uint32_t j = 0; j < PARTS; j++) {
            part[j] += probabilities[k + j] * atoms->value[k + j];
        }
    }
    for (uint32_t k = whole; k < atoms->count; k++) {
        part[k - whole] += probabilities[k] * atoms->value[k];
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
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

void aq_atoms_add_beyond(const aq_atoms *atoms, float reward, float bootstrap,
                         const float *next_probabilities, double *below, double *above)
{
    const float slack = 0.01f * atoms->spacing;
    const float *value = atoms->value;

    /* The atoms are in order, so that what is beyond is at the ends. */
    for (uint32_t k = 0; k < atoms->count && reward + bootstrap * value[k] < atoms->low - slack;
         k++) {
        *below += next_probabilities[k];
    }
    for (uint32_t k = atoms->count;
         k > 0 && reward + bootstrap * value[k - 1] > atoms->high + slack; k--) {
        *above += next_probabilities[k - 1];
    }
}

double aq_atoms_cross_entropy(const aq_atoms *atoms, const float *logits,
                              const float *probabilities, const float *target)
{
    const uint32_t whole = atoms->count - atoms->count % PARTS;
    const float even = 1.0f / (float)(2 * atoms->count);
    double part[PARTS] = {0};
    uint32_t likely = 0;

    /* One of them has at least an even share, from which the sum that all logits were divided by is
     * known well; a NaN has none, and makes the result NaN. */
    while (likely + 1 < atoms->count && !(probabilities[likely] >= even)) {
        likely++;
    }
    const double log_sum = (double)logits[likely] - log((double)probabilities[likely]);
    for (uint32_t k = 0; k < whole; k += PARTS) {
        for (uint32_t j = 0; j < PARTS; j++) {
            part[j] += (double)target[k + j] * (log_sum - (double)logits[k + j]);
        }
    }
    for (uint32_t k = whole; k < atoms->count; k++) {
        part[k - whole] += (double)target[k] * (log_sum - (double)logits[k]);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}
