/*
 * A share's way through the networks where actions are numbers. For its rows:
 *
 *   policy'(s'), Q_target(s', that)                the target; policy' is the target policy, or, of
 *                                                  one that draws, the learned one
 *   policy(x), Q([s, a ; x, policy(x)])            one pass through a critic over twice the rows
 *   back through the critics                       the first half to their parameters, from the
 *                                                  loss; the other to its action, from the value
 *   back through the policy                        from that slope
 *
 * So the products of both losses are the same ones, twice as tall; only the gradients of the
 * critics' weights take the first half alone. Critics that do not judge the policy see the first
 * half only. Where values are conservative, candidates lie between the halves, and count with the
 * first (actor_critic_conservative.c). Actions are within +-1 in here, as the policy gives them.
 *
 * One that clones (td3_bc) loses - Q(s, policy(s)) / mean |Q| + bc_weight * mean of squares of
 * policy(s) - a instead, where the mean size of the values is of all rows, and a constant.
 *
 * One that draws gives u = mean + deviation * noise and the action a = tanh(u), and loses
 * temperature * log_prob(a) - Q(x, a). With the noise as it is,
 *
 *   d log_prob / du = 2 a,   da / du = 1 - a^2,   d log_prob / d log_deviation = -1, besides
 */
#include <math.h>

#include "common/base/rng.h"
#include "common/policy/gaussian.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"
#include "learner/nn/passes.h"

/* Streams of the noise, of which each row of each step has one: "td3 nois". */
#define NOISE_STREAM UINT64_C(0x746433206e6f6973)

/* What a row's value loses by how likely its action was to be drawn. */
static float price(const aq_actor_critic_share *share, const aq_rows_view *view, uint32_t row)
{
    return share->setup->kind->is_soft ? view->work->temperature * share->draw.log_prob[row] : 0.0f;
}

/* ---- the target ----------------------------------------------------------------------------- */

/* The target policy's actions with TD3's noise, which depends on seed, step and row alone. */
static const float *add_noise(aq_actor_critic_share *share, const aq_rows_view *view,
                              const float *actions)
{
    const aq_actor_critic_setup *setup = share->setup;
    const float most = setup->target_noise_clip;
    float *out = share->next_action;

    for (uint32_t r = 0; r < view->rows; r++) {
        aq_rng rng;

        aq_rng_init(&rng, setup->seed,
                    NOISE_STREAM + view->work->step * AQ_BATCH_ROWS_MAX +
                        aq_actor_critic_noise_row(share, view, r));
        for (uint32_t i = 0; i < setup->actions; i++) {
            float noise = setup->target_noise * (float)aq_rng_normal(&rng);

            noise = noise > most ? most : noise < -most ? -most : noise;
            noise += *actions++;
            *out++ = noise > 1.0f ? 1.0f : noise < -1.0f ? -1.0f : noise;
        }
    }
    return share->next_action;
}

static void project(aq_actor_critic_share *share, const aq_rows_view *view,
                    const float *next_logits)
{
    const aq_atoms *atoms = &share->setup->atoms;
    float *next = share->next_values;

    aq_passes_best()->softmax(next_logits, view->rows, atoms->count, next);
    for (uint32_t r = 0; r < view->rows; r++) {
        const float reward = view->reward[r] - view->bootstrap[r] * price(share, view, r);
        const float *p = next + (size_t)r * atoms->count;

        aq_atoms_project(atoms, reward, view->bootstrap[r], p,
                         share->target + (size_t)r * atoms->count);
        aq_atoms_add_beyond(atoms, reward, view->bootstrap[r], p, &share->sums.values.mass_below,
                            &share->sums.values.mass_above);
    }
}

static void make_target(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const aq_actor_critic_nets *target = view->work->target;
    const float *next = aq_net_forward(share->policy, &target->policy, view->next_obs, view->rows);

    if (setup->kind->is_soft) {
        next = aq_actor_critic_draw(share, view, 0, next);
    } else if (setup->target_noise > 0.0f) {
        next = add_noise(share, view, next);
    }
    aq_actor_critic_join(setup, view->next_obs, next, view->rows, share->pairs);
    for (uint32_t k = 0; k < setup->critics; k++) {
        const float *values =
            aq_net_forward(share->critic[k], &target->critic[k], share->pairs, view->rows);

        if (setup->kind->is_distributional) {
            project(share, view, values);
            return;
        }
        for (uint32_t r = 0; r < view->rows; r++) {
            const float y =
                view->reward[r] + view->bootstrap[r] * (values[r] - price(share, view, r));

            /* A NaN stays: it must be seen. */
            share->target[r] = k > 0 && !(y < share->target[r]) && y == y ? share->target[r] : y;
        }
    }
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Cross entropy of the rows that were done, and the slope of the mean atom of those beyond. */
static void distribution_slopes(aq_actor_critic_share *share, const aq_rows_view *view,
                                const float *logits, uint32_t rows)
{
    const aq_atoms *atoms = &share->setup->atoms;
    float *p = share->probabilities, *d = share->d_critic;
    const float *target = share->target;

    aq_passes_best()->softmax(logits, rows, atoms->count, p);
    for (uint32_t r = 0; r < rows; r++) {
        const float mean = aq_atoms_mean(atoms, p);

        if (r < view->rows) {
            const double loss = aq_atoms_cross_entropy(atoms, logits, p, target);
            const float scale = view->per_row * view->weight[r];

            view->priority[r] = (float)loss;
            share->sums.loss += loss * view->weight[r];
            aq_value_figures_add(&share->sums.values, mean, mean - aq_atoms_mean(atoms, target));
            for (uint32_t k = 0; k < atoms->count; k++) {
                d[k] = scale * (p[k] - target[k]);
            }
            target += atoms->count;
        } else {
            share->sums.policy_value += mean - price(share, view, r - view->rows);
            for (uint32_t k = 0; k < atoms->count; k++) {
                d[k] = p[k] * (atoms->value[k] - mean);
            }
        }
        p += atoms->count;
        d += atoms->count;
        logits += atoms->count;
    }
}

/* Which of the judges' values of a row is the least. */
static uint32_t least_of(const aq_actor_critic_share *share, const float *const values[],
                         uint32_t row)
{
    uint32_t least = 0;

    for (uint32_t k = 1; k < share->setup->judges; k++) {
        least = values[k][row] < values[least][row] ? k : least;
    }
    return least;
}

/* Actions of a row that count in the critic's loss: what was done, and the candidates behind. */
static uint32_t counted_rows(const aq_actor_critic_share *share, const aq_rows_view *view)
{
    return (1 + share->setup->candidates) * view->rows;
}

static void value_slopes(aq_actor_critic_share *share, const aq_rows_view *view,
                         const float *const values[], uint32_t critic, uint32_t rows)
{
    const uint32_t own = counted_rows(share, view);

    for (uint32_t r = 0; r < view->rows; r++) {
        share->d_critic[r] = aq_actor_critic_add_error(share, view, critic, r, values[critic][r]);
    }
    if (share->setup->candidates > 0) {
        aq_actor_critic_conserve_numbers(share, view, critic, values[critic]);
    }
    for (uint32_t r = own; r < rows; r++) {
        const bool counts = least_of(share, values, r) == critic;

        share->d_critic[r] = counts ? 1.0f : 0.0f;
        share->sums.policy_value += counts ? values[critic][r] - price(share, view, r - own) : 0.0f;
        share->sums.own_size += (double)fabsf(values[critic][r]);
    }
}

/* All critics' losses and, for those that judge it, what the policy is worth; back to all gradients
 * of them. */
static void train_critics(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const uint32_t judges = view->work->improves_policy ? setup->judges : 0;
    const uint32_t counted = counted_rows(share, view);
    const float *values[AQ_CRITICS_MAX];

    for (uint32_t k = 0; k < setup->critics; k++) {
        values[k] = aq_net_forward(share->critic[k], &view->work->online->critic[k], share->pairs,
                                   k < judges ? counted + view->rows : counted);
    }
    for (uint32_t k = 0; k < setup->critics; k++) {
        const uint32_t rows = k < judges ? counted + view->rows : counted;

        if (setup->kind->is_distributional) {
            distribution_slopes(share, view, values[k], rows);
        } else {
            value_slopes(share, view, values, k, rows);
        }
        aq_net_backward_as(share->critic[k], &(aq_net_backward_plan){
                                                 .d_out = share->d_critic,
                                                 .rows = rows,
                                                 .counted_rows = counted,
                                                 .gradient = &share->gradient.critic[k],
                                                 .d_input = k < judges ? share->d_action[k] : NULL,
                                                 .input_first_row = counted,
                                                 .input_first_column = setup->inputs,
                                             });
    }
}

/* ---- the policy ----------------------------------------------------------------------------- */

/* Adds the slope of how far each row's action is from the data's. */
static void add_cloning(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const size_t width = setup->inputs + setup->actions;
    const float *taken = share->pairs + setup->inputs, *own = taken + view->rows * width;
    const float scale = 2.0f * setup->bc_weight * view->per_row / (float)setup->actions;

    for (uint32_t r = 0; r < view->rows; r++, taken += width, own += width) {
        for (uint32_t i = 0; i < setup->actions; i++) {
            const float beside = own[i] - taken[i];

            share->d_action[0][(size_t)r * setup->actions + i] += scale * beside;
            share->sums.distance += (double)beside * (double)beside / setup->actions;
        }
    }
}

/* From the slope of each row's value along its action to that of what the policy loses by it. */
static void turn_to_loss(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const uint32_t actions = share->setup->actions;
    const float most = share->setup->action_slope_max;

    for (uint32_t k = 1; k < share->setup->judges; k++) {
        aq_passes_best()->add(share->d_action[0], share->d_action[k], (size_t)view->rows * actions);
    }
    for (uint32_t r = 0; r < view->rows; r++) {
        float *d = share->d_action[0] + (size_t)r * actions;
        float squares = 0.0f, scale = -view->per_row * view->work->value_scale;

        for (uint32_t i = 0; i < actions; i++) {
            squares += d[i] * d[i];
        }
        const float norm = sqrtf(squares);
        if (most > 0.0f && norm > most) {
            scale *= most / norm;
        }
        for (uint32_t i = 0; i < actions; i++) {
            d[i] *= scale;
        }
    }
}

/* From the slope along each action to those of means and logarithms of deviations. */
static void turn_to_outputs(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_soft_draw *draw = &share->draw;
    const uint32_t actions = share->setup->actions;
    const float priced = view->work->temperature * view->per_row;
    size_t at = 0;

    for (uint32_t r = 0; r < view->rows; r++) {
        float *d_mean = share->d_policy + (size_t)r * 2 * actions, *d_log = d_mean + actions;

        for (uint32_t i = 0; i < actions; i++, at++) {
            const float a = draw->action[at];
            const float du = 2.0f * priced * a + share->d_action[0][at] * (1.0f - a * a);

            d_mean[i] = du;
            d_log[i] = (float)aq_log_deviation_slope(
                (double)draw->log_deviation[at],
                (double)(du * draw->deviation[at] * draw->noise[at] - priced));
        }
    }
}

void aq_actor_critic_improve_numbers(aq_actor_critic_share *share, const aq_rows_view *view)
{
    turn_to_loss(share, view);
    if (share->setup->kind->clones) {
        add_cloning(share, view);
    }
    if (!share->setup->kind->is_soft) {
        aq_net_backward(share->policy, share->d_action[0], view->rows, &share->gradient.policy);
        return;
    }
    turn_to_outputs(share, view);
    aq_net_backward(share->policy, share->d_policy, view->rows, &share->gradient.policy);
    for (uint32_t r = 0; r < view->rows; r++) {
        share->sums.entropy -= share->draw.log_prob[r];
    }
    aq_actor_critic_temperature_slope(share, view);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The policy's own actions, as the last of the pairs. */
static void join_own(aq_actor_critic_share *share, const aq_rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const size_t width = setup->inputs + setup->actions;
    const float *x = setup->kind->improves_at_next ? view->next_obs : view->obs;
    const float *action = aq_net_forward(share->policy, &view->work->online->policy, x, view->rows);

    if (setup->candidates > 0) {
        aq_actor_critic_join_candidates(share, view, action, share->pairs + view->rows * width);
    }
    if (setup->kind->is_soft) {
        action = aq_actor_critic_draw(share, view, 0, action);
    }
    aq_actor_critic_count_saturated(share, action, view->rows);
    aq_actor_critic_join(setup, x, action, view->rows,
                         share->pairs + counted_rows(share, view) * width);
}

void aq_actor_critic_train_numbers(aq_actor_critic_share *share, const aq_rows_view *view)
{
    make_target(share, view);
    share->sums.has_bad_action = !aq_actor_critic_join_taken(share->setup, view, share->pairs);
    if (view->work->improves_policy) {
        join_own(share, view);
    }
    train_critics(share, view);
    if (view->work->improves_policy && !share->setup->kind->clones) {
        aq_actor_critic_improve_numbers(share, view);
    }
}
