/*
 * Adam's bookkeeping; the pass over the numbers is one of passes.h.
 *
 * mhat = m / (1 - beta1^t) and vhat = v / (1 - beta2^t) are never formed.
 * With s = sqrt(1 - beta2^t),
 *
 *   mhat / (sqrt(vhat) + epsilon) = s / (1 - beta1^t) * m / (sqrt(v) + s * epsilon)
 *
 * so the corrections become two coefficients a step instead of two divisions an element.
 */
#include "learner/nn/adam.h"

#include <math.h>

#include "learner/nn/passes.h"

aq_adam aq_adam_of(const aq_run_config *config, float *m, float *v)
{
    return (aq_adam){
        .learning_rate = (float)config->learner.learning_rate,
        .beta1 = 0.9f,
        .beta2 = 0.999f,
        .epsilon = (float)config->learner.adam_epsilon,
        .weight_decay = (float)config->learner.weight_decay,
        .m = m,
        .v = v,
    };
}

double aq_gradient_norm(const float *gradient, size_t count)
{
    return sqrt(aq_passes_best()->sum_squares(gradient, count));
}

aq_adam_pass aq_adam_advance(aq_adam *adam, float gradient_scale)
{
    double t = (double)++adam->step;
    double correction1 = 1.0 - pow(adam->beta1, t);
    double correction2 = sqrt(1.0 - pow(adam->beta2, t));

    return (aq_adam_pass){
        .gradient_scale = gradient_scale,
        .beta1 = adam->beta1,
        .beta2 = adam->beta2,
        .step_size = (float)(adam->learning_rate * correction2 / correction1),
        .epsilon = (float)(adam->epsilon * correction2),
        .decay = adam->learning_rate * adam->weight_decay,
    };
}

void aq_adam_step(aq_adam *adam, float *parameters, const float *gradient, size_t count,
                  float gradient_scale)
{
    aq_adam_pass pass = aq_adam_advance(adam, gradient_scale);

    aq_passes_best()->adam(&pass, parameters, adam->m, adam->v, gradient, count);
}
