/*
 * Conservative values (CQL): a critic's loss grows by what actions in general are worth beyond what
 * was done, so that what the data does not hold is not overrated.
 *
 *   conservative_weight * (log of the sum over actions of exp Q(s, a') - Q(s, a))
 *
 * over all choices. Numbers are too many for that: the sum is then a mean over candidates, half of
 * them drawn evenly from the range and half from the policy, each divided by the density that it
 * was drawn with,
 *
 *   log of the mean of exp(Q(s, a') - log density(a'))
 *
 * Candidates are constants: the policy learns nothing from this. Their pairs lie one candidate
 * after the other, each of all rows.
 */
#include <math.h>

#include "common/base/exact_math.h"
#include "common/policy/draw_source.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"

/* What candidates of the range are made from, with the run's seed and their number: "cql draw". */
#define EVEN_STREAM UINT64_C(0x63716c2064726177)

/* ---- candidates ----------------------------------------------------------------------------- */

static const float *draw_evenly(aq_actor_critic_share *share, const aq_rows_view *view,
                                uint32_t number)
{
    const aq_head_drawing *even = aq_head_of(AQ_HEAD_CATEGORICAL)->drawing; /* from [0, 1) */
    const uint32_t actions = share->setup->actions;
    float *action = share->next_action;

    for (uint32_t r = 0; r < view->rows; r++, action += actions) {
        const aq_draw_at at = {.key = (share->setup->seed ^ EVEN_STREAM) + number,
                               .draw = view->work->step,
                               .lane = aq_actor_critic_noise_row(share, view, r),
                               .octaves = 1};
        aq_draw_noise(even, &at, actions, action);
        for (uint32_t i = 0; i < actions; i++) {
            action[i] = 2.0f * action[i] - 1.0f;
        }
    }
    return share->next_action;
}

void aq_actor_critic_join_candidates(aq_actor_critic_share *share, const aq_rows_view *view,
                                     const float *outputs, float *out)
{
    const aq_actor_critic_setup *setup = share->setup;
    const uint32_t half = setup->candidates / 2;
    const size_t width = setup->inputs + setup->actions;
    const float even_density = (float)(-aq_exact_log(2.0) * setup->actions);
    float *density = share->candidate_density;

    for (uint32_t c = 0; c < setup->candidates; c++) {
        const bool is_even = c < half;
        const float *actions = is_even ? draw_evenly(share, view, c)
                                       : aq_actor_critic_draw(share, view, 1 + c - half, outputs);

        aq_actor_critic_join(setup, view->obs, actions, view->rows, out);
        out += view->rows * width;
        for (uint32_t r = 0; r < view->rows; r++) {
            *density++ = is_even ? even_density : share->draw.log_prob[r];
        }
    }
}

/* ---- the loss ------------------------------------------------------------------------------- */

/* Returns what a row counts, once its sum over actions is known. */
static float add_gap(aq_actor_critic_share *share, const aq_rows_view *view, uint32_t critic,
                     uint32_t row, double gap)
{
    const float weight = share->setup->conservative_weight * view->weight[row];

    share->sums.loss += (double)weight * gap;
    share->sums.value_gap += critic == 0 ? gap : 0.0;
    return weight * view->per_row;
}

/* Log of the mean over candidates; a NaN stays one. */
static double mean_of_candidates(const aq_actor_critic_share *share, const float *values,
                                 uint32_t rows, uint32_t row)
{
    const uint32_t candidates = share->setup->candidates;
    const float *density = share->candidate_density + row;
    double most = -INFINITY, sum = 0.0;

    for (uint32_t c = 0; c < candidates; c++) {
        const double at = (double)(values[(size_t)c * rows] - density[(size_t)c * rows]);

        most = at > most || at != at ? at : most;
    }
    for (uint32_t c = 0; c < candidates; c++) {
        sum += aq_exact_exp((double)(values[(size_t)c * rows] - density[(size_t)c * rows]) - most);
    }
    return most + aq_exact_log(sum / candidates);
}

void aq_actor_critic_conserve_numbers(aq_actor_critic_share *share, const aq_rows_view *view,
                                      uint32_t critic, const float *values)
{
    const uint32_t rows = view->rows, candidates = share->setup->candidates;

    for (uint32_t r = 0; r < rows; r++) {
        const float *of = values + rows + r, *density = share->candidate_density + r;
        float *d = share->d_critic + rows + r;
        const double all = mean_of_candidates(share, of, rows, r);
        const float scale = add_gap(share, view, critic, r, all - (double)values[r]);

        share->d_critic[r] -= scale;
        for (size_t c = 0; c < (size_t)candidates * rows; c += rows) {
            d[c] = scale * (float)(aq_exact_exp((double)(of[c] - density[c]) - all) / candidates);
        }
    }
}

void aq_actor_critic_conserve_choices(aq_actor_critic_share *share, const aq_rows_view *view,
                                      uint32_t critic, const float *values)
{
    const int32_t *actions = aq_actor_critic_choices(view);
    const uint32_t count = share->setup->choices;

    if (!share->setup->kind->is_conservative) {
        return;
    }
    for (uint32_t r = 0; r < view->rows; r++, values += count) {
        float *d = share->d_critic + (size_t)r * count;
        const double all = aq_exact_log_sum_exp(values, count);
        const float scale = add_gap(share, view, critic, r, all - (double)values[actions[r]]);

        d[actions[r]] -= scale;
        for (uint32_t i = 0; i < count; i++) {
            d[i] += scale * (float)aq_exact_exp((double)values[i] - all);
        }
    }
}
