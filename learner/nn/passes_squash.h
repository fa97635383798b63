/*
 * Draws of squashed Gaussians in the passes, for a loop that the compiler vectorises: polynomials
 * as in passes_activate.h, within 1e-6 of the exact values, relative, or absolute below 1.
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 */
#ifndef AQ_LEARNER_NN_PASSES_SQUASH_H
#define AQ_LEARNER_NN_PASSES_SQUASH_H

#include "common/policy/gaussian.h"
#include "learner/nn/passes.h"
#include "learner/nn/passes_activate.h"

/* log(1 + t) for 0 <= t <= 1. With z = t / (2 + t) <= 1/3 it is 2 atanh(z), whose series
 * z + z^3/3 + z^5/5 + ... + z^13/13 stops 5e-9 short. */
INLINE float log_1_plus(float t)
{
    const float z = t / (2.0f + t), square = z * z;
    float series = square * (1.0f / 13.0f) + (1.0f / 11.0f);

    series = series * square + (1.0f / 9.0f);
    series = series * square + (1.0f / 7.0f);
    series = series * square + (1.0f / 5.0f);
    series = series * square + (1.0f / 3.0f);
    return 2.0f * (z + z * (series * square));
}

/* A NaN stays: it must be seen. */
INLINE float held_log_deviation(float value)
{
    value = value < (float)AQ_LOG_DEVIATION_MIN ? (float)AQ_LOG_DEVIATION_MIN : value;
    return value > (float)AQ_LOG_DEVIATION_MAX ? (float)AQ_LOG_DEVIATION_MAX : value;
}

static void squash_all(size_t count, const float *restrict mean,
                       const float *restrict log_deviation, const float *restrict noise,
                       float *restrict ret_deviation, float *restrict ret_action,
                       float *restrict ret_log_density)
{
    for (size_t i = 0; i < count; i++) {
        const float held = held_log_deviation(log_deviation[i]);
        float power;
        const float series = exp_parts(held, &power);
        const float deviation = power * series + power;
        const float u = mean[i] + deviation * noise[i];
        const float size = fabsf(u);
        /* -log(1 - tanh(u)^2), also where tanh rounds to 1 */
        const float stretch = 2.0f * (size + log_1_plus(exp_below(-2.0f * size)) - 0.693147181f);

        ret_deviation[i] = deviation;
        ret_action[i] = act_tanh(u);
        ret_log_density[i] = stretch - 0.5f * noise[i] * noise[i] - held - 0.918938533f;
    }
}

static void squash(const aq_squash_pass *pass)
{
    squash_all(pass->count, pass->mean, pass->log_deviation, pass->noise, pass->ret_deviation,
               pass->ret_action, pass->ret_log_density);
}

#endif
