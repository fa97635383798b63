/*
 * game:freeway. The rules stand in freeway.c; the state is public so that a test can place cars.
 */
#ifndef AQ_ENVS_GAMES_FREEWAY_H
#define AQ_ENVS_GAMES_FREEWAY_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum { AQ_FREEWAY_LANES = AQ_GAME_SIDE - 2, AQ_FREEWAY_PERIODS = 5, AQ_FREEWAY_COLUMN = 4 };

enum aq_freeway_channel {
    AQ_FREEWAY_WALKER,
    AQ_FREEWAY_CAR,
    AQ_FREEWAY_TRAIL, /* and the next four: behind a car that takes 1, 2 ... steps for a cell */
    AQ_FREEWAY_CHANNELS = AQ_FREEWAY_TRAIL + AQ_FREEWAY_PERIODS,
};

typedef struct aq_freeway_car {
    uint8_t column;
    uint8_t to_right; /* else to the left */
    uint8_t period;   /* steps that it takes for a cell */
    uint8_t wait;     /* steps until it moves; 1: in the next one */
} aq_freeway_car;

typedef struct aq_freeway_state {
    aq_freeway_car cars[AQ_FREEWAY_LANES]; /* number i is in row i + 1 */
    uint8_t row;                           /* of the walker */
    uint8_t wait;                          /* steps until the walker may move; 0: now */
} aq_freeway_state;

extern const aq_env_class aq_game_freeway;

#endif
