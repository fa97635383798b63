/*
 * Game runners: things that come in from the sides, run through their row and leave at the other
 * side; one at most in each row between the first and the last. The games that have them say what
 * they are and when they move. No state.
 */
#ifndef AQ_ENVS_GAMES_GAME_RUNNERS_H
#define AQ_ENVS_GAMES_GAME_RUNNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/rng.h"
#include "envs/games/game_grid.h"

enum { AQ_GAME_RUNNERS = AQ_GAME_SIDE - 2 };

/* Number i runs in row i + 1. */
typedef struct aq_game_runner {
    uint8_t kind; /* as the game counts; 0: there is none */
    uint8_t column;
    uint8_t to_right; /* else to the left */
} aq_game_runner;

/* The runner in that row, or NULL where nobody runs. */
aq_game_runner *aq_game_runner_in(aq_game_runner *runners, uint32_t row);

static inline bool aq_game_runner_is_at(const aq_game_runner *runner, uint32_t column)
{
    return runner->kind != 0 && runner->column == column;
}

/* All by a cell; those past the border are gone. */
void aq_game_runners_move(aq_game_runner *runners);

/* One comes into a row that is free, drawn like its side; the one that came, or NULL where no row
 * is free. */
aq_game_runner *aq_game_runner_enter(aq_game_runner *runners, uint8_t kind, aq_rng *rng);

/* Lights kind k in channel channels_of[k], and in `trail` the cell that each came from. */
void aq_game_runners_light(const aq_game_runner *runners, uint8_t *obs, uint32_t channels,
                           const uint8_t *channels_of, uint32_t trail);

#endif
