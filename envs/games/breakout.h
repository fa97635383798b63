/*
 * game:breakout. The rules stand in breakout.c; the state is public so that a test can lay bricks.
 */
#ifndef AQ_ENVS_GAMES_BREAKOUT_H
#define AQ_ENVS_GAMES_BREAKOUT_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum { AQ_BREAKOUT_BRICK_ROWS = 3, AQ_BREAKOUT_FIRST_BRICK_ROW = 1 };

enum aq_breakout_channel {
    AQ_BREAKOUT_PADDLE,
    AQ_BREAKOUT_BALL,
    AQ_BREAKOUT_TRAIL, /* where the ball was */
    AQ_BREAKOUT_BRICK,
    AQ_BREAKOUT_CHANNELS,
};

typedef struct aq_breakout_state {
    uint16_t bricks[AQ_BREAKOUT_BRICK_ROWS]; /* bit c: there is one in column c */
    uint8_t row, column;                     /* of the ball */
    uint8_t last_row, last_column;           /* where it was a step ago */
    uint8_t to_right, down;                  /* its direction */
    uint8_t paddle;                          /* its column */
} aq_breakout_state;

extern const aq_env_class aq_game_breakout;

#endif
