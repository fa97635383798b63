/*
 * game:space_invaders. The rules stand in space_invaders.c; the state is public so that a test can
 * place aliens.
 */
#ifndef AQ_ENVS_GAMES_SPACE_INVADERS_H
#define AQ_ENVS_GAMES_SPACE_INVADERS_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum aq_invaders_channel {
    AQ_INVADERS_CANNON,
    AQ_INVADERS_ALIEN,
    AQ_INVADERS_TO_LEFT, /* where an alien is, as they all move to the left */
    AQ_INVADERS_TO_RIGHT,
    AQ_INVADERS_SHOT,
    AQ_INVADERS_BOMB,
    AQ_INVADERS_CHANNELS,
};

/* Rows of bits: bit c is column c. */
typedef struct aq_invaders_state {
    uint16_t aliens[AQ_GAME_SIDE];
    uint16_t shots[AQ_GAME_SIDE];
    uint16_t bombs[AQ_GAME_SIDE];
    uint8_t cannon;      /* its column */
    uint8_t to_right;    /* the aliens' direction */
    uint8_t wave_period; /* steps that many aliens take for a cell */
    uint8_t move_wait;   /* steps until they move; 1: in the next one */
    uint8_t bomb_wait;   /* likewise, until one of them drops a bomb */
    uint8_t shot_wait;   /* steps until the cannon can fire; 0: now */
} aq_invaders_state;

extern const aq_env_class aq_game_space_invaders;

#endif
