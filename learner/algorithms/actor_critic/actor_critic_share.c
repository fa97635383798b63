/*
 * A share of a step: its memory, its rows, and which way they go through the networks
 * (actor_critic_numbers.c, actor_critic_choices.c, actor_critic_implicit.c).
 */
#include "learner/algorithms/actor_critic/actor_critic_share.h"

#include <string.h>

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"
#include "learner/nn/net_train.h"
#include "learner/nn/passes.h"

/* ---- making it ------------------------------------------------------------------------------ */

static float *place(aq_arrays *at, size_t rows, size_t width)
{
    return aq_arrays_place(at, rows, width * sizeof(float));
}

static void lay_out(void *made, aq_arrays *at)
{
    aq_actor_critic_share *share = made;
    const aq_actor_critic_setup *setup = share->setup;
    const size_t rows = share->rows_max;
    const size_t outputs = aq_net_spec_outputs(&setup->critic.slice);
    const size_t inputs = setup->inputs, actions = setup->actions;
    const size_t drawn = setup->kind->is_soft && setup->choices == 0 ? actions : 0;
    const size_t judged = 2 + setup->candidates; /* actions of a row */
    float *gradient = place(at, aq_actor_critic_parameters(setup), 1);

    if (gradient != NULL) {
        share->gradient = aq_actor_critic_nets_view(setup, gradient);
    }
    share->obs = place(at, rows, inputs);
    share->next_obs = place(at, rows, inputs);
    share->next_action = place(at, rows, actions);
    share->pairs = place(at, judged * rows, inputs + actions);
    share->target = place(at, rows, outputs);
    share->next_values = place(at, rows, outputs);
    share->probabilities = place(at, 2 * rows, outputs);
    share->d_critic = place(at, judged * rows, outputs);
    share->candidate_density = place(at, setup->candidates * rows, 1);
    share->d_policy = place(at, rows, aq_net_spec_outputs(&setup->policy.slice));
    for (uint32_t k = 0; k < setup->judges; k++) {
        share->d_action[k] = place(at, rows, actions);
    }
    share->draw = (aq_soft_draw){
        .noise = place(at, rows, drawn),
        .mean = place(at, rows, drawn),
        .log_deviation = place(at, rows, drawn),
        .deviation = place(at, rows, drawn),
        .action = place(at, rows, drawn),
        .log_density = place(at, rows, drawn),
        .log_prob = place(at, drawn > 0 ? rows : 0, 1),
    };
}

static int make_net(const aq_actor_critic_setup *setup, const aq_net_split *split,
                    aq_fake_quant quant, uint32_t rows, aq_net_train **ret_net, aq_error *error)
{
    return aq_net_train_create(&(aq_net_train_config){.spec = &split->slice,
                                                      .split = split,
                                                      .rows_max = rows,
                                                      .backward_rows_max = rows,
                                                      .quant = quant,
                                                      .bf16_threads = setup->bf16_threads},
                               ret_net, error);
}

int aq_actor_critic_share_create(const aq_actor_critic_setup *setup, uint32_t rows_max,
                                 aq_actor_critic_share **ret_share, aq_error *error)
{
    aq_actor_critic_share *share = aq_alloc(1, sizeof(*share));

    if (share != NULL) {
        share->setup = setup;
        share->rows_max = rows_max;
        share->arrays = aq_arrays_make(lay_out, share);
    }
    if (share == NULL || share->arrays == NULL) {
        aq_free(share);
        return aq_fail(error, AQ_E_NOMEM, "no memory for a policy and its critics");
    }
    const aq_fake_quant off = {.bits = 0};
    int rc = make_net(setup, &setup->policy, setup->quant, rows_max, &share->policy, error);
    for (uint32_t k = 0; rc == 0 && k < setup->critics; k++) {
        const bool judges = k < setup->judges && setup->choices == 0;
        const uint32_t rows = (judges ? 2 + setup->candidates : 1) * rows_max;

        rc = make_net(setup, &setup->critic, off, rows, &share->critic[k], error);
    }
    if (rc == 0 && setup->kind->is_implicit) {
        rc = make_net(setup, &setup->value, off, rows_max, &share->value, error);
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
    for (uint32_t k = 0; k < AQ_CRITICS_MAX; k++) {
        aq_net_train_destroy(share->critic[k]);
    }
    aq_net_train_destroy(share->value);
    aq_net_train_destroy(share->policy);
    aq_free(share->arrays);
    aq_free(share);
}

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

/* ---- the whole ------------------------------------------------------------------------------ */

void aq_actor_critic_share_train(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                 uint32_t first, uint32_t rows)
{
    const aq_actor_critic_setup *setup = share->setup;
    const aq_batch *batch = work->batch;
    const aq_rows_view view = {
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
    if (setup->kind->is_implicit) {
        aq_actor_critic_train_implicit(share, &view);
    } else if (setup->choices > 0) {
        aq_actor_critic_train_choices(share, &view);
    } else {
        aq_actor_critic_train_numbers(share, &view);
    }
}

void aq_actor_critic_share_improve(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                   uint32_t first, uint32_t rows)
{
    const aq_rows_view view = {
        .work = work, .first = first, .rows = rows, .per_row = 1.0f / (float)work->batch->rows};

    if (rows > 0) {
        aq_actor_critic_improve_numbers(share, &view);
    }
}

float *aq_actor_critic_share_gradient(aq_actor_critic_share *share)
{
    return share->gradient.block;
}

void aq_actor_critic_share_add_sums(const aq_actor_critic_share *share, aq_actor_critic_sums *sums)
{
    const aq_actor_critic_sums *part = &share->sums;

    sums->loss += part->loss;
    sums->policy_value += part->policy_value;
    sums->own_size += part->own_size;
    sums->distance += part->distance;
    sums->value_gap += part->value_gap;
    sums->entropy += part->entropy;
    sums->saturated += part->saturated;
    sums->has_bad_action |= part->has_bad_action;
    aq_value_figures_merge(&sums->values, &part->values);
}
