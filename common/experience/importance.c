/*
 * Importance weights: see importance.h.
 */
#include "common/experience/importance.h"

#include <math.h>

#include "common/base/assert.h"

double aq_importance_least(const float *probability, uint32_t rows, double mass)
{
    AQ_ASSERT(rows > 0);
    float least = probability[0];
    for (uint32_t i = 1; i < rows; i++) {
        least = probability[i] < least ? probability[i] : least;
    }
    return (double)least * mass;
}

void aq_importance_weigh(const float *probability, uint32_t rows, double mass, double least,
                         double exponent, float *ret_weight)
{
    AQ_ASSERT(exponent >= 0);
    for (uint32_t i = 0; i < rows; i++) {
        ret_weight[i] = (float)pow(least / ((double)probability[i] * mass), exponent);
    }
}
