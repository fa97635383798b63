/*
 * game:lanes. The rules stand in lanes.c; the state is public so that a test can lay out a road.
 */
#ifndef AQ_ENVS_GAMES_LANES_H
#define AQ_ENVS_GAMES_LANES_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum { AQ_LANES_COUNT = AQ_GAME_SIDE - 2 };

enum aq_lanes_channel {
    AQ_LANES_WALKER,
    AQ_LANES_LETTER,
    AQ_LANES_TO_RIGHT, /* a car on its way to the right */
    AQ_LANES_TO_LEFT,
    AQ_LANES_LIGHT, /* a car enters here in the next step */
    AQ_LANES_CHANNELS,
};

/* A lane is a ring: a car that leaves at one end comes in at the other. */
typedef struct aq_lane {
    uint16_t cars;    /* bit c: there is a car in column c */
    uint8_t letter;   /* the column where one lies */
    uint8_t to_right; /* else to the left */
    uint8_t period;   /* steps that a car takes for a cell */
    uint8_t wait;     /* steps until the cars move; 1: in the next one */
} aq_lane;

typedef struct aq_lanes_state {
    aq_lane lanes[AQ_LANES_COUNT]; /* lane i is row i + 1 */
    uint8_t row, column;           /* of the walker */
} aq_lanes_state;

extern const aq_env_class aq_game_lanes;

#endif
