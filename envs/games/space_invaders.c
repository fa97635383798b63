/*
 * Space invaders: shoot aliens before they come down.
 *
 * The cannon moves along the bottom row and fires (stay, left, right, fire), once in five steps.
 * Shots fly up by a cell a step, the aliens' bombs down. A wave is a block of four rows of six. All
 * of it moves sideways by a cell every so many steps; where one would leave the grid, all move down
 * instead and turn round. That takes ten steps, and as few as there are aliens when those are
 * fewer, so the last one moves in every step. Every eight steps an alien drawn among the lowest of
 * their columns drops a bomb.
 *
 * An alien that is shot gives 1. The episode ends when a bomb and the cannon are in one cell, or
 * when an alien comes to the bottom row. The cannon moves first, then shots, bombs and aliens.
 *
 * When no alien is left, the next wave comes; with the ramp, each is a step faster, up to four.
 */
#include "envs/games/space_invaders.h"

#include <string.h>

enum {
    WAVE_ROWS = 4,
    WAVE_COLUMNS = 0x0fc, /* 2 to 7 */
    WAVE_PERIOD_FIRST = 10,
    WAVE_PERIOD_LAST = 4,
    BOMB_PERIOD = 8,
    SHOT_PERIOD = 5,
    RIGHT_BORDER = 1 << AQ_GAME_LAST,
    LEFT_BORDER = 1,
};

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_invaders_state *s = state;
    const uint32_t direction = s->to_right ? AQ_INVADERS_TO_RIGHT : AQ_INVADERS_TO_LEFT;
    memset(obs, 0, aq_game_obs_bytes(AQ_INVADERS_CHANNELS));
    aq_game_light(obs, AQ_INVADERS_CHANNELS, AQ_GAME_LAST, s->cannon, AQ_INVADERS_CANNON);
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        aq_game_light_row(obs, AQ_INVADERS_CHANNELS, row, s->aliens[row], AQ_INVADERS_ALIEN);
        aq_game_light_row(obs, AQ_INVADERS_CHANNELS, row, s->aliens[row], direction);
        aq_game_light_row(obs, AQ_INVADERS_CHANNELS, row, s->shots[row], AQ_INVADERS_SHOT);
        aq_game_light_row(obs, AQ_INVADERS_CHANNELS, row, s->bombs[row], AQ_INVADERS_BOMB);
    }
}

/* Columns in which there are aliens, and how many aliens there are. */
static uint32_t count_aliens(const aq_invaders_state *s, uint32_t *ret_columns)
{
    uint32_t count = 0;
    *ret_columns = 0;
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        count += (uint32_t)__builtin_popcount(s->aliens[row]);
        *ret_columns |= s->aliens[row];
    }
    return count;
}

static void begin_wave(aq_invaders_state *s)
{
    for (uint32_t row = 0; row < WAVE_ROWS; row++) {
        s->aliens[row] = WAVE_COLUMNS;
    }
    s->move_wait = s->wave_period;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_invaders_state *s = state;
    memset(s, 0, sizeof(*s));
    s->cannon = AQ_GAME_SIDE / 2;
    s->to_right = (uint8_t)aq_rng_below(rng, 2);
    s->wave_period = WAVE_PERIOD_FIRST;
    s->bomb_wait = BOMB_PERIOD;
    begin_wave(s);
    observe(params, s, obs);
    return true;
}

/* The reward of aliens in whose cell there is a shot. */
static float hit_aliens(aq_invaders_state *s)
{
    uint32_t hits = 0;
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        const uint16_t hit = s->aliens[row] & s->shots[row];
        s->aliens[row] ^= hit;
        s->shots[row] ^= hit;
        hits += (uint32_t)__builtin_popcount(hit);
    }
    return (float)hits;
}

static void act(aq_invaders_state *s, aq_game_press press)
{
    uint8_t row = AQ_GAME_LAST;
    s->shot_wait -= s->shot_wait > 0;
    memmove(&s->shots[0], &s->shots[1], sizeof(s->shots) - sizeof(s->shots[0]));
    s->shots[AQ_GAME_LAST] = 0;
    if (press.fires && s->shot_wait == 0) {
        s->shots[AQ_GAME_LAST - 1] |= (uint16_t)(1U << s->cannon);
        s->shot_wait = SHOT_PERIOD;
    }
    aq_game_move(press.move, &row, &s->cannon);
}

static bool is_bombed(const aq_invaders_state *s)
{
    return (s->bombs[AQ_GAME_LAST] >> s->cannon & 1) != 0;
}

static void move_bombs(aq_invaders_state *s)
{
    memmove(&s->bombs[1], &s->bombs[0], sizeof(s->bombs) - sizeof(s->bombs[0]));
    s->bombs[0] = 0;
}

static void drop_bomb(aq_invaders_state *s, uint32_t columns, aq_rng *rng)
{
    const uint32_t nth = (uint32_t)aq_rng_below(rng, (uint32_t)__builtin_popcount(columns));
    for (uint32_t i = 0; i < nth; i++) {
        columns &= columns - 1;
    }
    columns &= -columns;
    for (uint32_t row = AQ_GAME_LAST; row > 0; row--) {
        if ((s->aliens[row - 1] & columns) != 0) {
            s->bombs[row] |= (uint16_t)columns;
            return;
        }
    }
}

static void move_aliens(aq_invaders_state *s, uint32_t columns)
{
    if ((columns & (s->to_right ? RIGHT_BORDER : LEFT_BORDER)) != 0) {
        memmove(&s->aliens[1], &s->aliens[0], sizeof(s->aliens) - sizeof(s->aliens[0]));
        s->aliens[0] = 0;
        s->to_right = !s->to_right;
        return;
    }
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        s->aliens[row] = (uint16_t)(s->to_right ? s->aliens[row] << 1 : s->aliens[row] >> 1);
    }
}

static void next_wave(const aq_game_params *p, aq_invaders_state *s)
{
    s->wave_period -= p->ramp && s->wave_period > WAVE_PERIOD_LAST;
    begin_wave(s);
}

/* All that the aliens do, with shots in their way; the reward of it. */
static float move_wave(const aq_game_params *p, aq_invaders_state *s, aq_rng *rng)
{
    float reward = 0.0f;
    uint32_t columns;
    uint32_t count = count_aliens(s, &columns);
    if (count > 0 && --s->move_wait == 0) {
        move_aliens(s, columns);
        reward = hit_aliens(s);
        count = count_aliens(s, &columns);
        s->move_wait = s->wave_period;
    }
    s->bomb_wait--;
    if (s->bomb_wait == 0) {
        s->bomb_wait = BOMB_PERIOD;
        if (count > 0) {
            drop_bomb(s, columns, rng);
        }
    }
    if (count == 0) {
        next_wave(p, s);
    } else if (s->move_wait > count) {
        s->move_wait = (uint8_t)count;
    }
    return reward;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_invaders_state *s = state;
    act(s, aq_game_press_of(params, action));
    *reward = hit_aliens(s);
    bool over = is_bombed(s);
    move_bombs(s);
    over = over || is_bombed(s);
    if (!over) {
        *reward += move_wave(params, s, rng);
        over = is_bombed(s) || s->aliens[AQ_GAME_LAST] != 0;
    }
    observe(params, s, obs);
    return over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(obs, AQ_INVADERS_CHANNELS, row, column, channel);
}

/* Steps until a bomb is in the cannon's row there; more than there are rows when none falls. */
static uint32_t time_there(const uint8_t *obs, uint32_t column)
{
    uint32_t row = AQ_GAME_LAST;
    while (row > 0 && !is_lit(obs, row, column, AQ_INVADERS_BOMB)) {
        row--;
    }
    return AQ_GAME_LAST - row;
}

/* Out from under a bomb that is near, to the side with more time; else below the nearest column of
 * aliens, as far ahead as they go in the time of a shot, and fires. */
static void script(const void *params, const void *obs, void *action)
{
    enum { NEAR = 2 };
    uint32_t cannon = 0, best = AQ_GAME_SIDE, goal = 0;
    while (!is_lit(obs, AQ_GAME_LAST, cannon, AQ_INVADERS_CANNON)) {
        cannon++;
    }
    for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
        const uint32_t far = column > cannon ? column - cannon : cannon - column;
        for (uint32_t row = 0; row < AQ_GAME_SIDE && far < best; row++) {
            if (is_lit(obs, row, column, AQ_INVADERS_ALIEN)) {
                best = far;
                goal = column;
            }
        }
    }
    const uint32_t left = cannon > 0 ? time_there(obs, cannon - 1) : 0;
    const uint32_t right = cannon < AQ_GAME_LAST ? time_there(obs, cannon + 1) : 0;
    const uint32_t here = time_there(obs, cannon);
    enum aq_game_action move = goal < cannon   ? AQ_GAME_LEFT
                               : goal > cannon ? AQ_GAME_RIGHT
                                               : AQ_GAME_FIRE;
    const uint32_t there = move == AQ_GAME_LEFT ? left : move == AQ_GAME_RIGHT ? right : here;
    if (there <= NEAR) {
        move = here > NEAR ? AQ_GAME_FIRE : left > right ? AQ_GAME_LEFT : AQ_GAME_RIGHT;
    }
    aq_game_answer(params, move, action);
}

static const aq_game_look look = {
    .channels = AQ_INVADERS_CHANNELS,
    .background = {10, 10, 20},
    .colours =
        {
            [AQ_INVADERS_CANNON] = {255, 255, 255},
            [AQ_INVADERS_ALIEN] = {110, 220, 120},
            [AQ_INVADERS_TO_LEFT] = {110, 220, 120},
            [AQ_INVADERS_TO_RIGHT] = {110, 220, 120},
            [AQ_INVADERS_SHOT] = {90, 190, 250},
            [AQ_INVADERS_BOMB] = {235, 80, 70},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .ramp = true,
    .action_count = 4,
    .actions = {AQ_GAME_STAY, AQ_GAME_LEFT, AQ_GAME_RIGHT, AQ_GAME_FIRE},
};

const aq_env_class aq_game_space_invaders = {
    .name = "game:space_invaders",
    .summary = "Shoot aliens before they come down, and dodge their bombs.",
    .options = AQ_GAME_FIRE_OPTIONS,
    .step_limit = AQ_GAME_STEP_LIMIT,
    .state_bytes = sizeof(aq_invaders_state),
    AQ_GAME_MEMBERS,
};
