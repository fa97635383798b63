/*
 * game:seaquest. The rules stand in seaquest.c; the state is public so that a test can place fish.
 */
#ifndef AQ_ENVS_GAMES_SEAQUEST_H
#define AQ_ENVS_GAMES_SEAQUEST_H

#include "envs/env.h"
#include "envs/games/game_grid.h"
#include "envs/games/game_runners.h"

enum { AQ_SEAQUEST_DIVERS_MAX = 6, AQ_SEAQUEST_OXYGEN_MAX = 200 };

enum aq_seaquest_channel {
    AQ_SEAQUEST_FRONT, /* of the player's boat */
    AQ_SEAQUEST_BACK,
    AQ_SEAQUEST_SHOT,
    AQ_SEAQUEST_TORPEDO,
    AQ_SEAQUEST_FISH,
    AQ_SEAQUEST_ENEMY, /* a boat */
    AQ_SEAQUEST_DIVER,
    AQ_SEAQUEST_TRAIL,  /* behind a fish, an enemy or a diver */
    AQ_SEAQUEST_ABOARD, /* in the bottom row: a cell for each diver */
    AQ_SEAQUEST_OXYGEN, /* likewise: ten for all of it */
    AQ_SEAQUEST_CHANNELS,
};

enum aq_seaquest_kind { AQ_SEAQUEST_IS_FISH = 1, AQ_SEAQUEST_IS_ENEMY, AQ_SEAQUEST_IS_DIVER };

/* What flies along the rows: bit c is column c. */
typedef struct aq_seaquest_flight {
    uint16_t to_left[AQ_GAME_SIDE], to_right[AQ_GAME_SIDE];
} aq_seaquest_flight;

typedef struct aq_seaquest_state {
    aq_game_runner runners[AQ_GAME_RUNNERS];
    aq_seaquest_flight shots, torpedoes;
    uint8_t row, column, to_right; /* of the boat's front */
    uint8_t divers;                /* aboard */
    uint8_t oxygen;                /* steps that it lasts */
    uint8_t shot_wait;             /* steps until it can fire; 0: now */
    uint8_t torpedo_wait;          /* steps until enemies fire; 1: in the next one */
    uint8_t move_period;           /* steps that runners take for a cell */
    uint8_t enter_period;          /* steps from one to the next that comes in */
    uint8_t move_wait, enter_wait; /* steps until then; 1: in the next one */
} aq_seaquest_state;

extern const aq_env_class aq_game_seaquest;

#endif
