/*
 * What all ways through the networks do with a share's rows.
 */
#include "learner/algorithms/actor_critic/actor_critic_rows.h"

#include <math.h>
#include <string.h>

/* An action may be past its bounds by what rounding does. */
static const float ACTION_MAX = 1.001f;

/* From here on the tanh that an action comes from hardly has a slope. */
static const float ACTION_SATURATED = 0.99f;

/* ---- what goes into a critic ---------------------------------------------------------------- */

void aq_actor_critic_join(const aq_actor_critic_setup *setup, const float *obs, const float *action,
                          uint32_t rows, float *out)
{
    for (uint32_t r = 0; r < rows; r++) {
        memcpy(out, obs, setup->inputs * sizeof(*out));
        memcpy(out + setup->inputs, action, setup->actions * sizeof(*out));
        out += setup->inputs + setup->actions;
        obs += setup->inputs;
        action += setup->actions;
    }
}

bool aq_actor_critic_join_taken(const aq_actor_critic_setup *setup, const aq_rows_view *view,
                                float *out)
{
    const aq_batch *batch = view->work->batch;
    const float *action =
        (const float *)(const void *)(batch->action + (size_t)view->first * batch->action_bytes);
    const float *obs = view->obs;
    bool is_good = true;

    for (uint32_t r = 0; r < view->rows; r++) {
        memcpy(out, obs, setup->inputs * sizeof(*out));
        out += setup->inputs;
        obs += setup->inputs;
        for (uint32_t i = 0; i < setup->actions; i++) {
            const uint32_t bound = setup->bounds > 1 ? i : 0;
            const float half = setup->half_range[bound];
            const float unit = half > 0.0f ? (*action - setup->middle[bound]) / half : 0.0f;

            is_good &= fabsf(unit) <= ACTION_MAX && isfinite(*action);
            *out++ = unit;
            action++;
        }
    }
    return is_good;
}

const int32_t *aq_actor_critic_choices(const aq_rows_view *view)
{
    return (const int32_t *)(const void *)view->work->batch->action + view->first;
}

bool aq_actor_critic_are_choices(const aq_actor_critic_share *share, const aq_rows_view *view)
{
    const int32_t *actions = aq_actor_critic_choices(view);
    bool is_good = true;

    for (uint32_t r = 0; r < view->rows; r++) {
        is_good &= actions[r] >= 0 && (uint32_t)actions[r] < share->setup->choices;
    }
    return is_good;
}

/* ---- of all --------------------------------------------------------------------------------- */

float aq_actor_critic_add_error(aq_actor_critic_share *share, const aq_rows_view *view,
                                uint32_t critic, uint32_t row, float value)
{
    const float error = value - share->target[row];
    const float priority = fabsf(error) / (float)share->setup->critics;

    view->priority[row] = critic == 0 ? priority : view->priority[row] + priority;
    share->sums.loss += 0.5 * (double)view->weight[row] * error * error;
    if (critic == 0) {
        aq_value_figures_add(&share->sums.values, value, error);
    }
    return view->per_row * view->weight[row] * error;
}

void aq_actor_critic_temperature_slope(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const double beyond = share->sums.entropy - view->rows * share->setup->target_entropy;

    *share->gradient.log_temperature = (float)(beyond * view->per_row);
}

void aq_actor_critic_count_saturated(aq_actor_critic_share *share, const float *action,
                                     uint32_t rows)
{
    for (size_t i = 0; i < (size_t)rows * share->setup->actions; i++) {
        share->sums.saturated += fabsf(action[i]) > ACTION_SATURATED;
    }
}
