/*
 * A share's way through the networks where actions are choices. The policy gives each choice's
 * logit and a critic each choice's value, so that what a draw is expected to bring is a sum over
 * all choices, and nothing needs to be drawn. With q the least of the critics' values,
 *
 *   target   y = reward + bootstrap * sum of p' (q_target(s') - temperature * log p')
 *   policy   sum of p f,  f = temperature * log p - q(s);  its slope by a logit is p (f - that sum)
 */
#include <string.h>

#include "common/base/exact_math.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"

/* Of one row: logits, and the values of critics, one after the other. */
typedef struct choices {
    uint32_t count, critics;
    float temperature;
    const float *logits;
    const float *values[AQ_CRITICS_MAX];
} choices;

static choices choices_of(const aq_actor_critic_share *share, const aq_rows_view *view,
                          const float *logits, const float *const values[], uint32_t row)
{
    const uint32_t count = share->setup->choices;
    choices of = {
        .count = count,
        .critics = share->setup->critics,
        .temperature = view->work->temperature,
        .logits = logits + (size_t)row * count,
    };

    for (uint32_t k = 0; k < of.critics; k++) {
        of.values[k] = values[k] + (size_t)row * count;
    }
    return of;
}

static double least_value(const choices *of, uint32_t choice)
{
    double least = (double)of->values[0][choice];

    for (uint32_t k = 1; k < of->critics; k++) {
        const double value = (double)of->values[k][choice];

        least = value < least || value != value ? value : least; /* a NaN must be seen */
    }
    return least;
}

/* What the policy's draws lose, on average, and their entropy. */
static double loss_of(const choices *of, double *ret_entropy)
{
    const double total = aq_exact_log_sum_exp(of->logits, of->count);
    double loss = 0.0, entropy = 0.0;

    for (uint32_t i = 0; i < of->count; i++) {
        const double log_p = (double)of->logits[i] - total, p = aq_exact_exp(log_p);

        loss += p * ((double)of->temperature * log_p - least_value(of, i));
        entropy -= p * log_p;
    }
    *ret_entropy = entropy;
    return loss;
}

static void loss_slope(const choices *of, double loss, float scale, float *d_logits)
{
    const double total = aq_exact_log_sum_exp(of->logits, of->count);

    for (uint32_t i = 0; i < of->count; i++) {
        const double log_p = (double)of->logits[i] - total;
        const double f = (double)of->temperature * log_p - least_value(of, i);

        d_logits[i] = scale * (float)(aq_exact_exp(log_p) * (f - loss));
    }
}

/* ---- the rows ------------------------------------------------------------------------------- */

static void forward(aq_actor_critic_share *share, const aq_actor_critic_nets *nets,
                    const float *obs, uint32_t rows, const float *ret_values[])
{
    for (uint32_t k = 0; k < share->setup->critics; k++) {
        ret_values[k] = aq_net_forward(share->critic[k], &nets->critic[k], obs, rows);
    }
}

static void make_target(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_nets *target = view->work->target;
    const float *values[AQ_CRITICS_MAX];
    const float *logits =
        aq_net_forward(share->policy, &target->policy, view->next_obs, view->rows);

    forward(share, target, view->next_obs, view->rows, values);
    for (uint32_t r = 0; r < view->rows; r++) {
        const choices of = choices_of(share, view, logits, values, r);
        double entropy;

        share->target[r] = view->reward[r] - view->bootstrap[r] * (float)loss_of(&of, &entropy);
    }
}

static void train_policy(aq_actor_critic_share *share, const aq_rows_view *view,
                         const float *const values[])
{
    const uint32_t count = share->setup->choices;
    const float *logits =
        aq_net_forward(share->policy, &view->work->online->policy, view->obs, view->rows);

    for (uint32_t r = 0; r < view->rows; r++) {
        const choices of = choices_of(share, view, logits, values, r);
        double entropy;
        const double loss = loss_of(&of, &entropy);

        loss_slope(&of, loss, view->per_row, share->d_policy + (size_t)r * count);
        share->sums.policy_value -= loss;
        share->sums.entropy += entropy;
    }
    aq_net_backward(share->policy, share->d_policy, view->rows, &share->gradient.policy);
    aq_actor_critic_temperature_slope(share, view);
}

static void train_critic(aq_actor_critic_share *share, const aq_rows_view *view, uint32_t critic,
                         const float *values)
{
    const int32_t *actions = aq_actor_critic_choices(view);
    const uint32_t count = share->setup->choices;

    for (uint32_t r = 0; r < view->rows; r++) {
        float *d = share->d_critic + (size_t)r * count;

        memset(d, 0, count * sizeof(*d));
        d[actions[r]] = aq_actor_critic_add_error(share, view, critic, r,
                                                  values[(size_t)r * count + (size_t)actions[r]]);
    }
    aq_actor_critic_conserve_choices(share, view, critic, values);
    aq_net_backward(share->critic[critic], share->d_critic, view->rows,
                    &share->gradient.critic[critic]);
}

void aq_actor_critic_train_choices(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const float *values[AQ_CRITICS_MAX];

    if (!aq_actor_critic_are_choices(share, view)) {
        share->sums.has_bad_action = true;
        return;
    }
    make_target(share, view);
    forward(share, view->work->online, view->obs, view->rows, values);
    train_policy(share, view, values);
    for (uint32_t k = 0; k < share->setup->critics; k++) {
        train_critic(share, view, k, values[k]);
    }
}
