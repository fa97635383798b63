/*
 * Breakout: break bricks with a ball that must not be lost.
 *
 * The paddle, a cell wide, moves along the bottom row (stay, left, right). The ball moves by a cell
 * a step, along a diagonal. It is reflected by the walls, the ceiling and the bricks; a brick that
 * it hits is gone and gives 1. The paddle sends it up again: on in its direction when the ball was
 * right above, and back to the other side when it would come down onto the paddle from the side.
 * The episode ends when the ball comes to the bottom row. The paddle moves first.
 *
 * When no brick is left, the next touch of the paddle brings three new rows.
 *
 * Of the step in which a brick is hit the ball keeps its row: with nothing but diagonals it would
 * only ever see half of the cells, as bishops do. Where it would be in another brick then, it
 * breaks that, too, and goes back to where it was before, which is free: it is never where a brick
 * is.
 */
#include "envs/games/breakout.h"

#include <string.h>

enum {
    ABOVE_PADDLE = AQ_GAME_LAST - 1,
    START_ROW = 5, /* of the ball, which falls */
};

#define ALL_COLUMNS ((1U << AQ_GAME_SIDE) - 1)

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_breakout_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_BREAKOUT_CHANNELS));
    aq_game_light(obs, AQ_BREAKOUT_CHANNELS, AQ_GAME_LAST, s->paddle, AQ_BREAKOUT_PADDLE);
    aq_game_light(obs, AQ_BREAKOUT_CHANNELS, s->row, s->column, AQ_BREAKOUT_BALL);
    aq_game_light(obs, AQ_BREAKOUT_CHANNELS, s->last_row, s->last_column, AQ_BREAKOUT_TRAIL);
    for (uint32_t i = 0; i < AQ_BREAKOUT_BRICK_ROWS; i++) {
        aq_game_light_row(obs, AQ_BREAKOUT_CHANNELS, AQ_BREAKOUT_FIRST_BRICK_ROW + i, s->bricks[i],
                          AQ_BREAKOUT_BRICK);
    }
}

static void lay_bricks(aq_breakout_state *s)
{
    for (uint32_t i = 0; i < AQ_BREAKOUT_BRICK_ROWS; i++) {
        s->bricks[i] = ALL_COLUMNS;
    }
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_breakout_state *s = state;
    memset(s, 0, sizeof(*s));
    lay_bricks(s);
    s->row = START_ROW;
    s->column = (uint8_t)(1 + aq_rng_below(rng, AQ_GAME_SIDE - 2));
    s->to_right = (uint8_t)aq_rng_below(rng, 2);
    s->down = 1;
    s->last_row = START_ROW - 1;
    s->last_column = (uint8_t)(s->column + (s->to_right ? -1 : 1));
    s->paddle = s->column;
    observe(params, s, obs);
    return true;
}

/* The column that the ball comes to, with what a wall makes of its direction. */
static uint8_t next_column(uint8_t column, uint8_t *to_right)
{
    if (column == (*to_right ? AQ_GAME_LAST : 0)) {
        *to_right = !*to_right;
    }
    return (uint8_t)(column + (*to_right ? 1 : -1));
}

/* Whether there was a brick. */
static bool break_brick(aq_breakout_state *s, uint32_t row, uint32_t column)
{
    const uint32_t i = row - AQ_BREAKOUT_FIRST_BRICK_ROW;
    if (i >= AQ_BREAKOUT_BRICK_ROWS || (s->bricks[i] >> column & 1) == 0) {
        return false;
    }
    s->bricks[i] = (uint16_t)(s->bricks[i] & ~(1U << column));
    return true;
}

/* The ball in the row above the paddle; true when it is lost. */
static bool come_down(aq_breakout_state *s)
{
    uint8_t to_right = s->to_right;
    const uint8_t below = next_column(s->column, &to_right);
    if (s->paddle != s->column && s->paddle != below) {
        s->row = AQ_GAME_LAST;
        s->column = below;
        return true;
    }
    s->to_right = s->paddle == s->column ? to_right : !to_right;
    s->column = next_column(s->column, &s->to_right);
    s->row--;
    s->down = false;
    if ((s->bricks[0] | s->bricks[1] | s->bricks[2]) == 0) {
        lay_bricks(s);
    }
    return false;
}

/* The reward of a step in the air. */
static float fly(aq_breakout_state *s)
{
    const uint8_t last_row = s->last_row, last_column = s->last_column;
    const uint8_t column = next_column(s->column, &s->to_right);
    if (!s->down && s->row == 0) {
        s->down = true;
    }
    const uint32_t row = s->row + (s->down ? 1U : -1U);
    if (!break_brick(s, row, column)) {
        s->row = (uint8_t)row;
        s->column = column;
        return 0.0f;
    }
    s->down = !s->down;
    if (!break_brick(s, s->row, column)) {
        s->column = column;
        return 1.0f;
    }
    s->to_right = last_column > s->column;
    s->row = last_row;
    s->column = last_column;
    return 2.0f;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    (void)rng;
    aq_breakout_state *s = state;
    const enum aq_game_action move = aq_game_press_of(params, action).move;
    uint8_t bottom = AQ_GAME_LAST;
    bool lost = false;
    if (move == AQ_GAME_LEFT || move == AQ_GAME_RIGHT) {
        aq_game_move(move, &bottom, &s->paddle);
    }
    const uint8_t row = s->row, column = s->column;
    *reward = 0.0f;
    if (s->down && s->row == ABOVE_PADDLE) {
        lost = come_down(s);
    } else {
        *reward = fly(s);
    }
    s->last_row = row;
    s->last_column = column;
    observe(params, s, obs);
    return lost ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(obs, AQ_BREAKOUT_CHANNELS, row, column, channel);
}

/* Stays below a ball that rises. For one that falls it goes where that can be met, from above or,
 * with an even number of bricks and in time, from the side, so that the ball takes many ways. */
static void script(const void *params, const void *obs, void *action)
{
    uint8_t row = 0, column = 0, last_row = 0, last_column = 0, paddle = 0;
    uint32_t bricks = 0;
    for (uint8_t i = 0; i < AQ_GAME_SIDE; i++) {
        for (uint8_t j = 0; j < AQ_GAME_SIDE; j++) {
            if (is_lit(obs, i, j, AQ_BREAKOUT_BALL)) {
                row = i;
                column = j;
            } else if (is_lit(obs, i, j, AQ_BREAKOUT_TRAIL)) {
                last_row = i;
                last_column = j;
            }
            paddle = is_lit(obs, i, j, AQ_BREAKOUT_PADDLE) ? j : paddle;
            bricks += is_lit(obs, i, j, AQ_BREAKOUT_BRICK);
        }
    }
    const uint8_t time = (uint8_t)(AQ_GAME_LAST - row);
    uint8_t to_right = column > last_column, goal = next_column(column, &to_right);
    if (row > last_row || (row == last_row && row > AQ_BREAKOUT_BRICK_ROWS)) {
        to_right = column > last_column;
        for (; row < ABOVE_PADDLE; row++) {
            column = next_column(column, &to_right);
        }
        goal = next_column(column, &to_right);
        goal = bricks % 2 == 1 || goal > paddle + time || paddle > goal + time ? column : goal;
    }
    aq_game_answer(params,
                   goal < paddle   ? AQ_GAME_LEFT
                   : goal > paddle ? AQ_GAME_RIGHT
                                   : AQ_GAME_STAY,
                   action);
}

static const aq_game_look look = {
    .channels = AQ_BREAKOUT_CHANNELS,
    .background = {15, 15, 25},
    .colours =
        {
            [AQ_BREAKOUT_PADDLE] = {255, 255, 255},
            [AQ_BREAKOUT_BALL] = {250, 205, 60},
            [AQ_BREAKOUT_TRAIL] = {95, 80, 40},
            [AQ_BREAKOUT_BRICK] = {220, 85, 65},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .action_count = 3,
    .actions = {AQ_GAME_STAY, AQ_GAME_LEFT, AQ_GAME_RIGHT},
};

const aq_env_class aq_game_breakout = {
    .name = "game:breakout",
    .summary = "Break rows of bricks with a ball that must not be lost.",
    .options = AQ_GAME_OPTIONS,
    .step_limit = AQ_GAME_STEP_LIMIT,
    .state_bytes = sizeof(aq_breakout_state),
    AQ_GAME_MEMBERS,
};
