/*
 * The bookkeeping; the pass over the numbers is one of passes.h. RMSProp's is Adam's, too: beta1 is
 * 0, so that m is the gradient, and nothing is corrected.
 *
 * mhat = m / (1 - beta1^t) and vhat = v / (1 - beta2^t) are never formed.
 * With s = sqrt(1 - beta2^t),
 *
 *   mhat / (sqrt(vhat) + epsilon) = s / (1 - beta1^t) * m / (sqrt(v) + s * epsilon)
 *
 * so the corrections become two coefficients a step instead of two divisions an element.
 */
#include "learner/nn/optimizer.h"

#include <math.h>

#include "learner/nn/passes.h"

/* Of a part of the walk: a megabyte in four arrays, some tens of microseconds. */
enum { WALK_FLOATS = 1 << 16 };

static const struct betas {
    float beta1, beta2;
    bool is_corrected;
} betas[] = {
    [AQ_OPTIMIZER_ADAM] = {0.9f, 0.999f, true},
    [AQ_OPTIMIZER_RMSPROP] = {0.0f, 0.99f, false},
};

aq_optimizer aq_optimizer_of(const aq_run_config *config, float *m, float *v)
{
    const struct betas *of = &betas[config->learner.optimizer];
    return (aq_optimizer){
        .learning_rate = (float)config->learner.learning_rate,
        .beta1 = of->beta1,
        .beta2 = of->beta2,
        .is_corrected = of->is_corrected,
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

int aq_gradient_clip(double norm, double norm_max, double *ret_scale)
{
    const double scale = norm_max > 0 && norm > norm_max ? norm_max / norm : 1.0;
    /* Written so that a NaN fails it. */
    if (!(norm * scale <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT;
    }
    *ret_scale = scale;
    return 0;
}

aq_adam_pass aq_optimizer_advance(aq_optimizer *optimizer, float gradient_scale)
{
    double t = (double)++optimizer->step;
    double correction1 = optimizer->is_corrected ? 1.0 - pow(optimizer->beta1, t) : 1.0;
    double correction2 = optimizer->is_corrected ? sqrt(1.0 - pow(optimizer->beta2, t)) : 1.0;

    return (aq_adam_pass){
        .gradient_scale = gradient_scale,
        .beta1 = optimizer->beta1,
        .beta2 = optimizer->beta2,
        .step_size = (float)(optimizer->learning_rate * correction2 / correction1),
        .epsilon = (float)(optimizer->epsilon * correction2),
        .decay = optimizer->learning_rate * optimizer->weight_decay,
    };
}

typedef struct walk {
    const aq_optimizer *optimizer;
    aq_adam_pass pass;
    float *parameters;
    const float *gradient;
    size_t count;
} walk;

static void walk_part(void *user, uint32_t part)
{
    const walk *of = user;
    const size_t first = (size_t)part * WALK_FLOATS, left = of->count - first;
    aq_passes_best()->adam(&of->pass, of->parameters + first, of->optimizer->m + first,
                           of->optimizer->v + first, of->gradient + first,
                           left < WALK_FLOATS ? left : WALK_FLOATS);
}

void aq_optimizer_step(aq_optimizer *optimizer, float *parameters, const float *gradient,
                       size_t count, float gradient_scale)
{
    walk of = {.optimizer = optimizer,
               .pass = aq_optimizer_advance(optimizer, gradient_scale),
               .parameters = parameters,
               .gradient = gradient,
               .count = count};
    const uint32_t parts = (uint32_t)((count + WALK_FLOATS - 1) / WALK_FLOATS);
    aq_thread_pool_run(optimizer->pool, parts, walk_part, &of);
}

void aq_target_follow(aq_params *target, const aq_params *online, float tau, uint64_t period,
                      uint64_t step)
{
    if (tau > 0.0f) {
        aq_passes_best()->approach(target->block, online->block, tau, online->count);
    } else if (step % period == 0) {
        aq_params_copy(target, online);
    }
}
