/*
 * Game rig: see game_rig.h.
 */
#include "tests/unit/envs/game_rig.h"

#include "tests/support/test.h"

game_rig game_rig_of(const aq_env_class *game)
{
    game_rig rig = {.game = game, .params = *(const aq_game_params *)game->defaults};
    rig.params.action_count = AQ_GAME_ACTIONS;
    for (uint8_t i = 0; i < AQ_GAME_ACTIONS; i++) {
        rig.params.actions[i] = i;
    }
    aq_rng_init(&rig.rng, 3, 0);
    return rig;
}

void game_rig_reset(game_rig *rig, void *state, uint64_t seed)
{
    aq_rng_init(&rig->rng, seed, 0);
    assert_true(rig->game->reset(&rig->params, state, &rig->rng, rig->obs));
}

enum aq_step_end game_rig_step(game_rig *rig, void *state, enum aq_game_action action)
{
    const int32_t row = (int32_t)action;
    rig->reward = NAN;
    return rig->game->step(&rig->params, state, &rig->rng, &row, rig->obs, &rig->reward);
}

enum aq_step_end game_rig_step_and_fire(game_rig *rig, void *state, enum aq_game_action move)
{
    const int32_t row[] = {(int32_t)move, 1};
    aq_game_params pair = rig->params;
    pair.has_pair = true;
    pair.action_count = AQ_GAME_FIRE;
    rig->reward = NAN;
    return rig->game->step(&pair, state, &rig->rng, row, rig->obs, &rig->reward);
}

double game_rig_steps(game_rig *rig, void *state, enum aq_game_action action, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(game_rig_step(rig, state, action), AQ_STEP_GOES_ON);
        sum += (double)rig->reward;
    }
    return sum;
}

bool game_rig_is_lit(const game_rig *rig, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(rig->obs, rig->params.look->channels, row, column, channel);
}

uint32_t game_rig_count_lit(const game_rig *rig, uint32_t channel)
{
    uint32_t count = 0;
    for (uint32_t cell = 0; cell < AQ_GAME_SIDE * AQ_GAME_SIDE; cell++) {
        count += game_rig_is_lit(rig, cell / AQ_GAME_SIDE, cell % AQ_GAME_SIDE, channel);
    }
    return count;
}
