/*
 * Draws of a policy that gives means and logarithms of deviations: see actor_critic_rows.h.
 */
#include <string.h>

#include "common/policy/draw_source.h"
#include "learner/algorithms/actor_critic/actor_critic_rows.h"
#include "learner/nn/passes.h"

/* What draws are made from, with the run's seed and the draw's number: "sac draw". */
#define DRAW_STREAM UINT64_C(0x7361632064726177)

uint32_t aq_actor_critic_noise_row(const aq_actor_critic_share *share, const aq_rows_view *view,
                                   uint32_t row)
{
    return share->setup->noise_first + view->first + row;
}

static void make_noise(aq_actor_critic_share *share, const aq_rows_view *view, uint32_t number)
{
    const aq_head_drawing *drawing = aq_head_of(AQ_HEAD_SQUASHED)->drawing;
    const uint32_t actions = share->setup->actions;

    for (uint32_t r = 0; r < view->rows; r++) {
        const aq_draw_at at = {.key = (share->setup->seed ^ DRAW_STREAM) + number,
                               .draw = view->work->step,
                               .lane = aq_actor_critic_noise_row(share, view, r),
                               .octaves = 1};
        aq_draw_noise(drawing, &at, actions, share->draw.noise + (size_t)r * actions);
    }
}

const float *aq_actor_critic_draw(aq_actor_critic_share *share, const aq_rows_view *view,
                                  uint32_t number, const float *outputs)
{
    const aq_soft_draw *draw = &share->draw;
    const uint32_t actions = share->setup->actions;

    make_noise(share, view, number);
    for (uint32_t r = 0; r < view->rows; r++) {
        const size_t at = (size_t)r * actions;

        memcpy(draw->mean + at, outputs + 2 * at, actions * sizeof(float));
        memcpy(draw->log_deviation + at, outputs + 2 * at + actions, actions * sizeof(float));
    }
    aq_passes_best()->squash(&(aq_squash_pass){.count = (size_t)view->rows * actions,
                                               .mean = draw->mean,
                                               .log_deviation = draw->log_deviation,
                                               .noise = draw->noise,
                                               .ret_deviation = draw->deviation,
                                               .ret_action = draw->action,
                                               .ret_log_density = draw->log_density});
    for (uint32_t r = 0; r < view->rows; r++) {
        draw->log_prob[r] = 0.0f;
        for (uint32_t i = 0; i < actions; i++) {
            draw->log_prob[r] += draw->log_density[(size_t)r * actions + i];
        }
    }
    return draw->action;
}
