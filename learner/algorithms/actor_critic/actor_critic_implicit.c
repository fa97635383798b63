/*
 * IQL's way through the networks, of numbers and of choices. No action is ever judged that is not
 * in the data: what a state is worth is a network of its own, which is drawn to the upper end of
 * what the data's actions are worth there, and the policy imitates these actions, the better ones
 * more.
 *
 *   advantage   A = least Q_target(s, a) - V(s)
 *   value       |expectile - [A < 0]| A^2 / 2, through V
 *   critics     (Q(s, a) - y)^2 / 2,  y = reward + bootstrap * V(s')
 *   policy      min(exp(inverse_temperature * A), WEIGHT_MAX) * distance, in which the distance is
 *               the mean of squares of policy(s) - a, or of choices - log softmax(logits)[a]
 */
#include <string.h>

#include "common/base/exact_math.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"

/* As in the paper's code. */
static const double WEIGHT_MAX = 100.0;

/* Where a critic's value of what was done in a row stands among its outputs. */
static size_t taken_at(const aq_actor_critic_share *share, const aq_rows_view *view, uint32_t row)
{
    const uint32_t choices = share->setup->choices;

    return choices > 0 ? (size_t)row * choices + (size_t)aq_actor_critic_choices(view)[row] : row;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Into share->next_values: the least of the older critics' values of what was done. */
static void judge_taken(aq_actor_critic_share *share, const aq_rows_view *view, const float *input)
{
    float *least = share->next_values;

    for (uint32_t k = 0; k < share->setup->critics; k++) {
        const float *values =
            aq_net_forward(share->critic[k], &view->work->target->critic[k], input, view->rows);

        for (uint32_t r = 0; r < view->rows; r++) {
            const float value = values[taken_at(share, view, r)];

            /* A NaN stays: it must be seen. */
            least[r] = k > 0 && !(value < least[r]) && value == value ? least[r] : value;
        }
    }
}

/* From there to advantages, and the critics' targets, by V as it is before the step. */
static void train_value(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_params *online = &view->work->online->value;
    const float expectile = share->setup->expectile;
    const float *values = aq_net_forward(share->value, online, view->next_obs, view->rows);

    for (uint32_t r = 0; r < view->rows; r++) {
        share->target[r] = view->reward[r] + view->bootstrap[r] * values[r];
    }
    values = aq_net_forward(share->value, online, view->obs, view->rows);
    for (uint32_t r = 0; r < view->rows; r++) {
        const float advantage = share->next_values[r] - values[r];
        const float side = advantage < 0.0f ? 1.0f - expectile : expectile;
        const float slope = view->weight[r] * side * advantage;

        share->next_values[r] = advantage;
        share->sums.loss += 0.5 * (double)slope * (double)advantage;
        share->d_critic[r] = -view->per_row * slope;
    }
    aq_net_backward(share->value, share->d_critic, view->rows, &share->gradient.value);
}

static void train_critics(aq_actor_critic_share *share, const aq_rows_view *view,
                          const float *input)
{
    const size_t outputs = aq_net_spec_outputs(&share->setup->critic.slice);

    for (uint32_t k = 0; k < share->setup->critics; k++) {
        const float *values =
            aq_net_forward(share->critic[k], &view->work->online->critic[k], input, view->rows);

        memset(share->d_critic, 0, view->rows * outputs * sizeof(float));
        for (uint32_t r = 0; r < view->rows; r++) {
            const size_t at = taken_at(share, view, r);

            share->d_critic[at] = aq_actor_critic_add_error(share, view, k, r, values[at]);
        }
        aq_net_backward(share->critic[k], share->d_critic, view->rows, &share->gradient.critic[k]);
    }
}

/* ---- the policy ----------------------------------------------------------------------------- */

/* Both return how far the policy's action of a row is from the data's, and write that's slope. */
static double away_from_numbers(aq_actor_critic_share *share, const float *own, const float *taken,
                                float scale, float *d)
{
    const uint32_t actions = share->setup->actions;
    double squares = 0.0;

    for (uint32_t i = 0; i < actions; i++) {
        const float beside = own[i] - taken[i];

        squares += (double)beside * (double)beside;
        d[i] = scale * 2.0f * beside / (float)actions;
    }
    aq_actor_critic_count_saturated(share, own, 1);
    share->sums.distance += squares / actions;
    return squares / actions;
}

static double away_from_choice(const aq_actor_critic_share *share, const float *logits,
                               int32_t taken, float scale, float *d)
{
    const uint32_t choices = share->setup->choices;
    const double total = aq_exact_log_sum_exp(logits, choices);

    for (uint32_t i = 0; i < choices; i++) {
        d[i] = scale * (float)aq_exact_exp((double)logits[i] - total);
    }
    d[taken] -= scale;
    return total - (double)logits[taken];
}

static void train_policy(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const size_t width = setup->inputs + setup->actions;
    const size_t outputs = aq_net_spec_outputs(&setup->policy.slice);
    const float *out =
        aq_net_forward(share->policy, &view->work->online->policy, view->obs, view->rows);

    for (uint32_t r = 0; r < view->rows; r++, out += outputs) {
        const double more =
            aq_exact_exp((double)setup->inverse_temperature * (double)share->next_values[r]);
        const double weight = more > WEIGHT_MAX ? WEIGHT_MAX : more; /* a NaN stays */
        const float scale = (float)weight * view->per_row;
        float *d = share->d_policy + r * outputs;
        const double away =
            setup->choices > 0
                ? away_from_choice(share, out, aq_actor_critic_choices(view)[r], scale, d)
                : away_from_numbers(share, out, share->pairs + r * width + setup->inputs, scale, d);

        share->sums.policy_value -= weight * away;
    }
    aq_net_backward(share->policy, share->d_policy, view->rows, &share->gradient.policy);
}

/* ---- the whole ------------------------------------------------------------------------------ */

void aq_actor_critic_train_implicit(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const bool has_choices = share->setup->choices > 0;
    const float *input = has_choices ? view->obs : share->pairs;
    const bool is_good = has_choices ? aq_actor_critic_are_choices(share, view)
                                     : aq_actor_critic_join_taken(share->setup, view, share->pairs);

    share->sums.has_bad_action = !is_good;
    if (!is_good) {
        return;
    }
    judge_taken(share, view, input);
    train_value(share, view);
    train_critics(share, view, input);
    train_policy(share, view);
}
