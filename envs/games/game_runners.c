/*
 * Game runners: see game_runners.h.
 */
#include "envs/games/game_runners.h"

#include <stddef.h>

aq_game_runner *aq_game_runner_in(aq_game_runner *runners, uint32_t row)
{
    return row >= 1 && row <= AQ_GAME_RUNNERS && runners[row - 1].kind != 0 ? &runners[row - 1]
                                                                            : NULL;
}

void aq_game_runners_move(aq_game_runner *runners)
{
    for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
        aq_game_runner *runner = &runners[i];
        const bool leaves = runner->column == (runner->to_right ? AQ_GAME_LAST : 0);
        if (runner->kind != 0 && leaves) {
            *runner = (aq_game_runner){0};
        } else if (runner->kind != 0) {
            runner->column = (uint8_t)(runner->column + (runner->to_right ? 1 : -1));
        }
    }
}

aq_game_runner *aq_game_runner_enter(aq_game_runner *runners, uint8_t kind, aq_rng *rng)
{
    aq_game_runner *free_rows[AQ_GAME_RUNNERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
        if (runners[i].kind == 0) {
            free_rows[count++] = &runners[i];
        }
    }
    if (count == 0) {
        return NULL;
    }
    aq_game_runner *runner = free_rows[aq_rng_below(rng, count)];
    const bool to_right = aq_rng_below(rng, 2) == 1;
    *runner = (aq_game_runner){kind, to_right ? 0 : AQ_GAME_LAST, to_right};
    return runner;
}

void aq_game_runners_light(const aq_game_runner *runners, uint8_t *obs, uint32_t channels,
                           const uint8_t *channels_of, uint32_t trail)
{
    for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
        const aq_game_runner *runner = &runners[i];
        if (runner->kind == 0) {
            continue;
        }
        aq_game_light(obs, channels, i + 1, runner->column, channels_of[runner->kind]);
        if (runner->column != (runner->to_right ? 0 : AQ_GAME_LAST)) {
            aq_game_light(obs, channels, i + 1,
                          (uint32_t)runner->column + (runner->to_right ? -1U : 1U), trail);
        }
    }
}
