/*
 * Game rig: one game whose state a test lays out, stepped by actions of the rules (enum
 * aq_game_action) whatever their numbers are, with what it shows.
 */
#ifndef AQ_TESTS_UNIT_ENVS_GAME_RIG_H
#define AQ_TESTS_UNIT_ENVS_GAME_RIG_H

#include "envs/games/game_grid.h"

typedef struct game_rig {
    const aq_env_class *game;
    aq_game_params params;
    aq_rng rng;
    float reward; /* of the last step */
    uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_GAME_CHANNELS_MAX];
} game_rig;

/* All six actions, and the ramp if it has one. */
game_rig game_rig_of(const aq_env_class *game);

/* A first state of that seed. */
void game_rig_reset(game_rig *rig, void *state, uint64_t seed);

enum aq_step_end game_rig_step(game_rig *rig, void *state, enum aq_game_action action);

/* A move and a shot at once, by the action of the option actions=pair. */
enum aq_step_end game_rig_step_and_fire(game_rig *rig, void *state, enum aq_game_action move);

/* So many steps, of which none ends the episode; the sum of their rewards. */
double game_rig_steps(game_rig *rig, void *state, enum aq_game_action action, uint32_t count);

bool game_rig_is_lit(const game_rig *rig, uint32_t row, uint32_t column, uint32_t channel);
uint32_t game_rig_count_lit(const game_rig *rig, uint32_t channel);

#endif
