/*
 * game:miner. The rules stand in miner.c; the state is public so that a test can lay out a mine.
 */
#ifndef AQ_ENVS_GAMES_MINER_H
#define AQ_ENVS_GAMES_MINER_H

#include "envs/env.h"
#include "envs/games/game_grid.h"

enum aq_miner_channel {
    AQ_MINER_MINER,
    AQ_MINER_EARTH,
    AQ_MINER_ROCK,    /* at rest */
    AQ_MINER_FALLING, /* a rock that has moved in the last step */
    AQ_MINER_ORE,
    AQ_MINER_CLOCK, /* in the top row, from the left: steps until the mine sinks */
    AQ_MINER_CHANNELS,
};

/* The numbers of the channels, so that a cell's content is the channel to light. */
enum aq_miner_cell {
    AQ_MINER_CELL_EMPTY = 0,
    AQ_MINER_CELL_EARTH = AQ_MINER_EARTH,
    AQ_MINER_CELL_ROCK = AQ_MINER_ROCK,
    AQ_MINER_CELL_FALLING = AQ_MINER_FALLING,
    AQ_MINER_CELL_ORE = AQ_MINER_ORE,
};

typedef struct aq_miner_state {
    uint8_t cells[AQ_GAME_SIDE][AQ_GAME_SIDE]; /* enum aq_miner_cell; empty under the miner */
    uint8_t row, column;                       /* of the miner */
    uint8_t period;                            /* steps between two sinkings */
    uint8_t wait;                              /* steps until the next one, 1 or more */
    uint32_t depth;                            /* rows that have sunk */
} aq_miner_state;

extern const aq_env_class aq_game_miner;

#endif
