/*
 * Miner: dig down for ore, ahead of the flood and from under the rocks.
 *
 * The miner moves by a cell (stay, up, down, left, right) through earth, which is dug away, and
 * ore, each piece of which gives 1. Rocks stop him. A rock with nothing beneath falls by a cell a
 * step; the miner's head holds up one that lies there, but one that falls onto him ends the
 * episode. Rocks move after the miner, those further down first.
 *
 * Every ten steps the whole view sinks by a row: the top row is flooded, and a fresh row comes in
 * at the bottom. The episode ends, too, for a miner who is in the top row then. A row of lights at
 * the top counts the steps until that happens.
 *
 * With the ramp, the flood comes a step earlier for every ten rows, down to four steps. In a fresh
 * row no two rocks are side by side, so there is a way down past them.
 */
#include "envs/games/miner.h"

#include <string.h>

enum {
    LAST_ROW = AQ_GAME_LAST,
    STEP_LIMIT = 1000,
    PERIOD_FIRST = 10,
    PERIOD_LAST = 4,
    ROWS_PER_PERIOD = 10,
    START_ROW = 3,
    FREE_ROWS = 2,    /* at the top of a new mine, without rocks */
    SHUNNED_ROWS = 2, /* at the top, by the script */
};

/* Shares of a fresh row's cells in 1/32: the others are earth. */
enum { SHARES = 32, EMPTY_SHARE = 2, ORE_SHARE = 4, ROCK_SHARE = 6 };

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_miner_state *s = state;
    const uint8_t *cells = &s->cells[0][0];
    uint8_t *cell = obs;
    memset(obs, 0, aq_game_obs_bytes(AQ_MINER_CHANNELS));
    for (uint32_t i = 0; i < AQ_GAME_SIDE * AQ_GAME_SIDE; i++, cell += AQ_MINER_CHANNELS) {
        /* Without a branch: an empty cell darkens its channel 0, which is the miner's. */
        cell[cells[i]] = cells[i] != AQ_MINER_CELL_EMPTY ? AQ_GAME_LIT : 0;
    }
    aq_game_light(obs, AQ_MINER_CHANNELS, s->row, s->column, AQ_MINER_MINER);
    for (uint32_t i = 0; i < s->wait; i++) {
        aq_game_light(obs, AQ_MINER_CHANNELS, 0, i, AQ_MINER_CLOCK);
    }
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(obs, AQ_MINER_CHANNELS, row, column, channel);
}

static void make_row(uint8_t *row, bool rocks, aq_rng *rng)
{
    uint64_t bits = aq_rng_next(rng);
    for (uint32_t column = 0; column < AQ_GAME_SIDE; column++, bits /= SHARES) {
        const uint32_t share = bits % SHARES;
        const bool beside_rock = column > 0 && row[column - 1] == AQ_MINER_CELL_ROCK;
        row[column] = AQ_MINER_CELL_EARTH;
        if (share < EMPTY_SHARE) {
            row[column] = AQ_MINER_CELL_EMPTY;
        } else if (share < EMPTY_SHARE + ORE_SHARE) {
            row[column] = AQ_MINER_CELL_ORE;
        } else if (share < EMPTY_SHARE + ORE_SHARE + ROCK_SHARE && rocks && !beside_rock) {
            row[column] = AQ_MINER_CELL_ROCK;
        }
    }
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_miner_state *s = state;
    s->row = START_ROW;
    s->column = (uint8_t)aq_rng_below(rng, AQ_GAME_SIDE);
    s->period = PERIOD_FIRST;
    s->wait = PERIOD_FIRST;
    s->depth = 0;
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        make_row(s->cells[row], row >= FREE_ROWS, rng);
    }
    s->cells[s->row][s->column] = AQ_MINER_CELL_EMPTY;
    observe(params, s, obs);
    return true;
}

/* The reward of what the miner walks into. */
static float move_miner(aq_miner_state *s, enum aq_game_action move)
{
    uint8_t row = s->row, column = s->column;
    aq_game_move(move, &row, &column);
    const uint8_t found = s->cells[row][column];
    if (found == AQ_MINER_CELL_ROCK || found == AQ_MINER_CELL_FALLING) {
        return 0.0f;
    }
    s->cells[row][column] = AQ_MINER_CELL_EMPTY;
    s->row = row;
    s->column = column;
    return found == AQ_MINER_CELL_ORE ? 1.0f : 0.0f;
}

/* True when a rock fell onto the miner. Rocks in the last row lie on ground that is not seen. */
static bool move_rocks(aq_miner_state *s)
{
    bool hit = false;
    for (uint32_t row = AQ_GAME_SIDE; row-- > 0;) {
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            uint8_t *cell = &s->cells[row][column];
            if (*cell != AQ_MINER_CELL_ROCK && *cell != AQ_MINER_CELL_FALLING) {
                continue;
            }
            const bool on_miner = row + 1 == s->row && column == s->column;
            if (on_miner && *cell == AQ_MINER_CELL_FALLING) {
                hit = true;
            }
            if (row < LAST_ROW && !on_miner && s->cells[row + 1][column] == AQ_MINER_CELL_EMPTY) {
                s->cells[row + 1][column] = AQ_MINER_CELL_FALLING;
                *cell = AQ_MINER_CELL_EMPTY;
            } else {
                *cell = AQ_MINER_CELL_ROCK;
            }
        }
    }
    return hit;
}

/* True when the miner was in the row that is flooded; the view stays as it is then. */
static bool sink(const aq_game_params *p, aq_miner_state *s, aq_rng *rng)
{
    if (s->row == 0) {
        return true;
    }
    memmove(s->cells[0], s->cells[1], sizeof(s->cells) - sizeof(s->cells[0]));
    make_row(s->cells[LAST_ROW], true, rng);
    s->row--;
    s->depth++;
    if (p->ramp && s->depth % ROWS_PER_PERIOD == 0 && s->period > PERIOD_LAST) {
        s->period--;
    }
    s->wait = s->period;
    return false;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_miner_state *s = state;
    *reward = move_miner(s, aq_game_press_of(params, action).move);
    bool over = move_rocks(s);
    s->wait--;
    if (!over && s->wait == 0) {
        over = sink(params, s, rng);
    }
    observe(params, s, obs);
    return over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

/* Goes to the nearest ore, or else down, past rocks and what lies under one that falls. It shuns
 * the upper rows. */
static void script(const void *params, const void *obs, void *action)
{
    aq_game_map map = {0};
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            if (is_lit(obs, row, column, AQ_MINER_MINER)) {
                map.row = (uint8_t)row;
                map.column = (uint8_t)column;
            }
            map.barred[row][column] = row < SHUNNED_ROWS ||
                                      is_lit(obs, row, column, AQ_MINER_ROCK) ||
                                      is_lit(obs, row, column, AQ_MINER_FALLING) ||
                                      is_lit(obs, row - 1, column, AQ_MINER_FALLING);
            map.wanted[row][column] = is_lit(obs, row, column, AQ_MINER_ORE);
            map.spare[row][column] = row == LAST_ROW;
        }
    }
    aq_game_answer(params, aq_game_way(&map), action);
}

static const aq_game_look look = {
    .channels = AQ_MINER_CHANNELS,
    .background = {25, 20, 20},
    .colours =
        {
            [AQ_MINER_MINER] = {255, 255, 255},
            [AQ_MINER_EARTH] = {110, 75, 45},
            [AQ_MINER_ROCK] = {150, 150, 155},
            [AQ_MINER_FALLING] = {235, 80, 70},
            [AQ_MINER_ORE] = {250, 205, 60},
            [AQ_MINER_CLOCK] = {60, 120, 220},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .ramp = true,
    .action_count = 5,
    .actions = {AQ_GAME_STAY, AQ_GAME_UP, AQ_GAME_DOWN, AQ_GAME_LEFT, AQ_GAME_RIGHT},
};

const aq_env_class aq_game_miner = {
    .name = "game:miner",
    .summary = "Dig down for ore, ahead of a flood and from under falling rocks.",
    .options = AQ_GAME_RAMP_OPTIONS,
    .step_limit = STEP_LIMIT,
    .state_bytes = sizeof(aq_miner_state),
    AQ_GAME_MEMBERS,
};
