/*
 * game:asterix. The rules stand in asterix.c; the state is public so that a test can place things.
 */
#ifndef AQ_ENVS_GAMES_ASTERIX_H
#define AQ_ENVS_GAMES_ASTERIX_H

#include "envs/env.h"
#include "envs/games/game_grid.h"
#include "envs/games/game_runners.h"

enum aq_asterix_channel {
    AQ_ASTERIX_PLAYER,
    AQ_ASTERIX_ENEMY,
    AQ_ASTERIX_TRAIL, /* behind an enemy or gold */
    AQ_ASTERIX_GOLD,
    AQ_ASTERIX_CHANNELS,
};

enum aq_asterix_kind { AQ_ASTERIX_IS_ENEMY = 1, AQ_ASTERIX_IS_GOLD = 2 };

typedef struct aq_asterix_state {
    aq_game_runner runners[AQ_GAME_RUNNERS];
    uint8_t row, column;  /* of the player, in rows 1 to 8 */
    uint8_t move_period;  /* steps that runners take for a cell */
    uint8_t enter_period; /* steps from one to the next that comes in */
    uint8_t move_wait;    /* steps until they move; 1: in the next one */
    uint8_t enter_wait;   /* likewise */
    uint16_t ramp_wait;   /* likewise, until it gets harder */
} aq_asterix_state;

extern const aq_env_class aq_game_asterix;

#endif
