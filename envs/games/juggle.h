/*
 * game:juggle. The rules stand in juggle.c; the state is public so that a test can throw a ball.
 */
#ifndef AQ_ENVS_GAMES_JUGGLE_H
#define AQ_ENVS_GAMES_JUGGLE_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum { AQ_JUGGLE_BALLS_MAX = 4, AQ_JUGGLE_FLIGHT = 16 /* steps from a throw to the landing */ };

enum aq_juggle_action {
    AQ_JUGGLE_STAY,
    AQ_JUGGLE_LEFT,
    AQ_JUGGLE_RIGHT,
    AQ_JUGGLE_ACTIONS,
};

enum aq_juggle_channel {
    AQ_JUGGLE_TRAY,
    AQ_JUGGLE_RISING,
    AQ_JUGGLE_FALLING,
    AQ_JUGGLE_SHADOW, /* in the last row: a ball will land here */
    AQ_JUGGLE_CHANNELS,
};

typedef struct aq_juggle_ball {
    uint8_t from, to; /* columns */
    uint8_t time;     /* steps since it was thrown */
} aq_juggle_ball;

typedef struct aq_juggle_state {
    aq_juggle_ball balls[AQ_JUGGLE_BALLS_MAX];
    uint8_t ball_count;
    uint8_t tray;    /* its left column of two */
    uint8_t last_to; /* where the ball thrown last will land */
    uint8_t since;   /* steps since that was thrown, up to AQ_GAME_SIDE */
    uint32_t catches;
} aq_juggle_state;

extern const aq_env_class aq_game_juggle;

#endif
