/*
 * A share of a step. For its rows:
 *
 *   policy_target(s'), Q_target(s', that)          the target
 *   policy(x), Q([s, a ; x, policy(x)])            one pass through the critic over twice the rows
 *   back through the critic                        the first half to its parameters, from the loss;
 *                                                  the other to its action, from the value itself
 *   back through the policy                        from that slope
 *
 * So the products of both losses are the same ones, twice as tall; only the gradients of the
 * critic's weights take the first half alone. Of several critics, all others see the first half
 * only. Actions are within +-1 in here, as the policy gives them.
 */
#include "learner/algorithms/actor_critic/actor_critic_share.h"

#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "learner/nn/passes.h"

/* Streams of the noise, of which each row of each step has one: "td3 nois". */
#define NOISE_STREAM UINT64_C(0x746433206e6f6973)

/* An action may be past its bounds by what rounding does. */
static const float ACTION_MAX = 1.001f;

/* From here on the tanh that an action comes from hardly has a slope. */
static const float ACTION_SATURATED = 0.99f;

struct aq_actor_critic_share {
    const aq_actor_critic_setup *setup;
    aq_net_train *policy, *critic;
    aq_actor_critic_nets gradient;
    aq_actor_critic_sums sums;
    float *obs, *next_obs; /* (rows, inputs), of observations in bytes */
    float *next_action;    /* (rows, actions), with its noise */
    float *pairs;          /* (2 rows, inputs + actions) */
    float *target;         /* (rows, critic's outputs): value or distribution */
    float *next_values;    /* (rows, critic's outputs) */
    float *probabilities;  /* (2 rows, critic's outputs); distributional only */
    float *d_critic;       /* (2 rows, critic's outputs) */
    float *d_action;       /* (rows, actions) */
};

/* Rows of a batch, as they are worked on. */
typedef struct rows_view {
    const aq_actor_critic_work *work;
    uint32_t first, rows;
    const float *obs, *next_obs, *reward, *bootstrap, *weight;
    float *priority;
    float per_row; /* of the whole batch */
} rows_view;

size_t aq_actor_critic_parameters(const aq_actor_critic_setup *setup)
{
    return aq_net_spec_parameters(&setup->policy) +
           setup->kind->critics * aq_net_spec_parameters(&setup->critic);
}

aq_actor_critic_nets aq_actor_critic_nets_view(const aq_actor_critic_setup *setup, float *block)
{
    aq_actor_critic_nets nets = {.block = block, .policy = aq_params_view(&setup->policy, block)};
    float *at = block + nets.policy.count;

    for (uint32_t k = 0; k < setup->kind->critics; k++) {
        nets.critic[k] = aq_params_view(&setup->critic, at);
        at += nets.critic[k].count;
    }
    return nets;
}

/* The struct with its arrays behind it, in one block. */
static aq_actor_critic_share *share_alloc(const aq_actor_critic_setup *setup, uint32_t rows)
{
    const size_t outputs = aq_net_spec_outputs(&setup->critic) * sizeof(float);
    const size_t inputs = setup->inputs * sizeof(float), actions = setup->actions * sizeof(float);
    size_t bytes = sizeof(aq_actor_critic_share);
    const size_t gradient = aq_arrays_add(&bytes, aq_actor_critic_parameters(setup), sizeof(float));
    const size_t obs = aq_arrays_add(&bytes, rows, inputs);
    const size_t next_obs = aq_arrays_add(&bytes, rows, inputs);
    const size_t next_action = aq_arrays_add(&bytes, rows, actions);
    const size_t pairs = aq_arrays_add(&bytes, 2 * (size_t)rows, inputs + actions);
    const size_t target = aq_arrays_add(&bytes, rows, outputs);
    const size_t next_values = aq_arrays_add(&bytes, rows, outputs);
    const size_t probabilities = aq_arrays_add(&bytes, 2 * (size_t)rows, outputs);
    const size_t d_critic = aq_arrays_add(&bytes, 2 * (size_t)rows, outputs);
    const size_t d_action = aq_arrays_add(&bytes, rows, actions);
    char *block = aq_alloc_large(1, bytes);
    aq_actor_critic_share *share = (aq_actor_critic_share *)block;

    if (block == NULL) {
        return NULL;
    }
    share->setup = setup;
    share->gradient = aq_actor_critic_nets_view(setup, (float *)(void *)(block + gradient));
    share->obs = (float *)(void *)(block + obs);
    share->next_obs = (float *)(void *)(block + next_obs);
    share->next_action = (float *)(void *)(block + next_action);
    share->pairs = (float *)(void *)(block + pairs);
    share->target = (float *)(void *)(block + target);
    share->next_values = (float *)(void *)(block + next_values);
    share->probabilities = (float *)(void *)(block + probabilities);
    share->d_critic = (float *)(void *)(block + d_critic);
    share->d_action = (float *)(void *)(block + d_action);
    return share;
}

int aq_actor_critic_share_create(const aq_actor_critic_setup *setup, uint32_t rows_max,
                                 aq_actor_critic_share **ret_share, aq_error *error)
{
    aq_actor_critic_share *share = share_alloc(setup, rows_max);

    if (share == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a policy and its critics");
    }
    int rc = aq_net_train_create(&(aq_net_train_config){.spec = &setup->policy,
                                                        .rows_max = rows_max,
                                                        .backward_rows_max = rows_max,
                                                        .quant = setup->quant},
                                 &share->policy, error);
    if (rc == 0) {
        rc = aq_net_train_create(&(aq_net_train_config){.spec = &setup->critic,
                                                        .rows_max = 2 * rows_max,
                                                        .backward_rows_max = 2 * rows_max},
                                 &share->critic, error);
    }
    if (rc != 0) {
        aq_actor_critic_share_destroy(share);
        return rc;
    }
    *ret_share = share;
    return 0;
}

void aq_actor_critic_share_destroy(aq_actor_critic_share *share)
{
    if (share == NULL) {
        return;
    }
    aq_net_train_destroy(share->critic);
    aq_net_train_destroy(share->policy);
    aq_free(share);
}

/* ---- what goes in --------------------------------------------------------------------------- */

/* A column of observations as floats: the batch's own, or in `place`. */
static const float *load_obs(const aq_actor_critic_setup *setup, const aq_batch *batch,
                             const uint8_t *column, uint32_t first, uint32_t rows, float *place)
{
    const uint8_t *from = column + (size_t)first * batch->obs_bytes;

    if (setup->obs_dtype != AQ_DTYPE_U8) {
        return (const float *)(const void *)from;
    }
    aq_passes_best()->unit_from_u8(from, place, (size_t)rows * setup->inputs);
    return place;
}

/* Rows of (observation, action). */
static void join(const aq_actor_critic_setup *setup, const float *obs, const float *action,
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

/* The same with the batch's actions, brought to +-1. False when one is beyond. */
static bool join_taken(const aq_actor_critic_setup *setup, const rows_view *view, float *out)
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

/* ---- the target ----------------------------------------------------------------------------- */

/* The target policy's actions with TD3's noise, which depends on seed, step and row alone. */
static const float *add_noise(aq_actor_critic_share *share, const rows_view *view,
                              const float *actions)
{
    const aq_actor_critic_setup *setup = share->setup;
    const float most = setup->target_noise_clip;
    float *out = share->next_action;

    for (uint32_t r = 0; r < view->rows; r++) {
        aq_rng rng;

        aq_rng_init(&rng, setup->seed,
                    NOISE_STREAM + view->work->step * AQ_BATCH_ROWS_MAX + view->first + r);
        for (uint32_t i = 0; i < setup->actions; i++) {
            float noise = setup->target_noise * (float)aq_rng_normal(&rng);

            noise = noise > most ? most : noise < -most ? -most : noise;
            noise += *actions++;
            *out++ = noise > 1.0f ? 1.0f : noise < -1.0f ? -1.0f : noise;
        }
    }
    return share->next_action;
}

static void project(aq_actor_critic_share *share, const rows_view *view, const float *next_logits)
{
    const aq_atoms *atoms = &share->setup->atoms;
    float *next = share->next_values;

    aq_passes_best()->softmax(next_logits, view->rows, atoms->count, next);
    for (uint32_t r = 0; r < view->rows; r++) {
        aq_atoms_project(atoms, view->reward[r], view->bootstrap[r],
                         next + (size_t)r * atoms->count, share->target + (size_t)r * atoms->count);
        aq_atoms_add_beyond(atoms, view->reward[r], view->bootstrap[r],
                            next + (size_t)r * atoms->count, &share->sums.values.mass_below,
                            &share->sums.values.mass_above);
    }
}

static void make_target(aq_actor_critic_share *share, const rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const aq_actor_critic_nets *target = view->work->target;
    const float *next = aq_net_forward(share->policy, &target->policy, view->next_obs, view->rows);

    if (setup->target_noise > 0.0f) {
        next = add_noise(share, view, next);
    }
    join(setup, view->next_obs, next, view->rows, share->pairs);
    for (uint32_t k = 0; k < setup->kind->critics; k++) {
        const float *values =
            aq_net_forward(share->critic, &target->critic[k], share->pairs, view->rows);

        if (setup->kind->is_distributional) {
            project(share, view, values);
            return;
        }
        for (uint32_t r = 0; r < view->rows; r++) {
            const float y = view->reward[r] + view->bootstrap[r] * values[r];

            /* A NaN stays: it must be seen. */
            share->target[r] = k > 0 && !(y < share->target[r]) && y == y ? share->target[r] : y;
        }
    }
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Cross entropy of the rows that were done, and the slope of the mean atom of those beyond. */
static void distribution_slopes(aq_actor_critic_share *share, const rows_view *view,
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
            share->sums.policy_value += mean;
            for (uint32_t k = 0; k < atoms->count; k++) {
                d[k] = p[k] * (atoms->value[k] - mean);
            }
        }
        p += atoms->count;
        d += atoms->count;
        logits += atoms->count;
    }
}

static void value_slopes(aq_actor_critic_share *share, const rows_view *view, const float *values,
                         uint32_t rows, uint32_t critic)
{
    for (uint32_t r = 0; r < view->rows; r++) {
        const float error = values[r] - share->target[r];
        const float priority = fabsf(error) / (float)share->setup->kind->critics;

        view->priority[r] = critic == 0 ? priority : view->priority[r] + priority;
        share->sums.loss += 0.5 * (double)view->weight[r] * error * error;
        if (critic == 0) {
            aq_value_figures_add(&share->sums.values, values[r], error);
        }
        share->d_critic[r] = view->per_row * view->weight[r] * error;
    }
    for (uint32_t r = view->rows; r < rows; r++) {
        share->sums.policy_value += values[r];
        share->d_critic[r] = 1.0f;
    }
}

/* From the slope of each row's value along its action to that of the policy's loss. */
static void turn_to_policy(aq_actor_critic_share *share, const rows_view *view)
{
    const uint32_t actions = share->setup->actions;
    const float most = share->setup->action_slope_max;

    for (uint32_t r = 0; r < view->rows; r++) {
        float *d = share->d_action + (size_t)r * actions;
        float squares = 0.0f, scale = -view->per_row;

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

/* One critic's loss and, for the first, what the policy is worth; back to all gradients of it. */
static void train_critic(aq_actor_critic_share *share, const rows_view *view, uint32_t critic,
                         bool with_policy)
{
    const aq_actor_critic_setup *setup = share->setup;
    const uint32_t rows = with_policy ? 2 * view->rows : view->rows;
    const float *values =
        aq_net_forward(share->critic, &view->work->online->critic[critic], share->pairs, rows);

    if (setup->kind->is_distributional) {
        distribution_slopes(share, view, values, rows);
    } else {
        value_slopes(share, view, values, rows, critic);
    }
    aq_net_backward_as(share->critic, &(aq_net_backward_plan){
                                          .d_out = {share->d_critic},
                                          .rows = rows,
                                          .counted_rows = view->rows,
                                          .gradient = &share->gradient.critic[critic],
                                          .d_input = with_policy ? share->d_action : NULL,
                                          .input_first_row = view->rows,
                                          .input_first_column = setup->inputs,
                                      });
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void count_saturated(aq_actor_critic_share *share, const float *action, uint32_t rows)
{
    for (size_t i = 0; i < (size_t)rows * share->setup->actions; i++) {
        share->sums.saturated += fabsf(action[i]) > ACTION_SATURATED;
    }
}

static void train_rows(aq_actor_critic_share *share, const rows_view *view)
{
    const aq_actor_critic_setup *setup = share->setup;
    const bool with_policy = view->work->improves_policy;
    const float *x = setup->kind->improves_at_next ? view->next_obs : view->obs;

    make_target(share, view);
    share->sums.has_bad_action = !join_taken(setup, view, share->pairs);
    if (with_policy) {
        const float *action =
            aq_net_forward(share->policy, &view->work->online->policy, x, view->rows);

        count_saturated(share, action, view->rows);
        join(setup, x, action, view->rows,
             share->pairs + (size_t)view->rows * (setup->inputs + setup->actions));
    }
    for (uint32_t k = 0; k < setup->kind->critics; k++) {
        train_critic(share, view, k, with_policy && k == 0);
    }
    if (with_policy) {
        turn_to_policy(share, view);
        aq_net_backward(share->policy, share->d_action, view->rows, &share->gradient.policy);
    }
}

void aq_actor_critic_share_train(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                 uint32_t first, uint32_t rows)
{
    const aq_actor_critic_setup *setup = share->setup;
    const aq_batch *batch = work->batch;
    const rows_view view = {
        .work = work,
        .first = first,
        .rows = rows,
        .obs = load_obs(setup, batch, batch->obs, first, rows, share->obs),
        .next_obs = load_obs(setup, batch, batch->next_obs, first, rows, share->next_obs),
        .reward = batch->reward + first,
        .bootstrap = batch->bootstrap + first,
        .weight = batch->weight + first,
        .priority = batch->priority + first,
        .per_row = 1.0f / (float)batch->rows,
    };

    share->sums = (aq_actor_critic_sums){0};
    if (rows == 0) {
        memset(share->gradient.block, 0, aq_actor_critic_parameters(setup) * sizeof(float));
        return;
    }
    aq_net_train_quantize(share->policy, work->is_quantized);
    train_rows(share, &view);
}

float *aq_actor_critic_share_gradient(aq_actor_critic_share *share)
{
    return share->gradient.block;
}

aq_actor_critic_sums aq_actor_critic_share_sums(const aq_actor_critic_share *share)
{
    return share->sums;
}
