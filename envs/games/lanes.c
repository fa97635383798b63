/*
 * Lanes: pick up letters that the wind has blown onto a road.
 *
 * The rows at the top and at the bottom are kerbs; between them are eight lanes. In each lane lies
 * a letter. One that the walker picks up gives 1, and another is blown into the same lane, to
 * another column. Cars drive over letters without harm.
 *
 * Cars drive to the right or to the left, one cell every three to six steps, those of a lane all at
 * the same pace. In a step the walker moves first (stay, up, down, left, right), the cars after.
 * The episode ends, without a reward, when walker and car are in one cell at either time. What is
 * seen tells which cells those are: where a car is, and where headlights show that one comes.
 *
 * With the ramp, every letter makes a lane faster, chosen at random, up to a cell a step.
 */
#include "envs/games/lanes.h"

#include <string.h>

#include "common/base/assert.h"

enum {
    LAST_ROW = AQ_GAME_SIDE - 1,
    STEP_LIMIT = 500,
    PERIOD_MIN = 3, /* at the start */
    PERIOD_MAX = 6,
};

#define ALL_COLUMNS ((1U << AQ_GAME_SIDE) - 1)

/* The cars of a lane, from some place of the ring on: one or two, of one to three cells. At least
 * four cells in a row are free, so every lane can be crossed at every pace. */
static const uint16_t traffic[] = {0x001, 0x003, 0x007, 0x021, 0x011, 0x023};

enum { TRAFFIC_COUNT = sizeof(traffic) / sizeof(traffic[0]) };

static uint16_t rotate_right_by(uint16_t cars, uint32_t columns)
{
    return (uint16_t)((cars << columns | cars >> (AQ_GAME_SIDE - columns)) & ALL_COLUMNS);
}

/* The lane's cars after they have moved on by a cell. */
static uint16_t moved(const aq_lane *lane)
{
    return rotate_right_by(lane->cars, lane->to_right ? 1 : AQ_GAME_SIDE - 1);
}

static void schema(const void *params, aq_schema *ret_schema)
{
    (void)params;
    aq_game_schema(AQ_LANES_CHANNELS, AQ_MOVE_COUNT, ret_schema);
}

static void light_row(uint8_t *obs, uint32_t row, uint32_t columns, uint32_t channel)
{
    for (; columns != 0; columns &= columns - 1) {
        aq_game_light(obs, AQ_LANES_CHANNELS, row, (uint32_t)__builtin_ctz(columns), channel);
    }
}

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_lanes_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_LANES_CHANNELS));
    aq_game_light(obs, AQ_LANES_CHANNELS, s->row, s->column, AQ_LANES_WALKER);
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        const aq_lane *lane = &s->lanes[i];
        aq_game_light(obs, AQ_LANES_CHANNELS, i + 1, lane->letter, AQ_LANES_LETTER);
        light_row(obs, i + 1, lane->cars, lane->to_right ? AQ_LANES_TO_RIGHT : AQ_LANES_TO_LEFT);
        if (lane->wait == 1) {
            light_row(obs, i + 1, moved(lane) & ~(uint32_t)lane->cars, AQ_LANES_LIGHT);
        }
    }
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_lanes_state *s = state;
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        aq_lane *lane = &s->lanes[i];
        const uint16_t cars = traffic[aq_rng_below(rng, TRAFFIC_COUNT)];
        lane->cars = rotate_right_by(cars, (uint32_t)aq_rng_below(rng, AQ_GAME_SIDE));
        lane->letter = (uint8_t)aq_rng_below(rng, AQ_GAME_SIDE);
        lane->to_right = (uint8_t)aq_rng_below(rng, 2);
        lane->period = (uint8_t)(PERIOD_MIN + aq_rng_below(rng, PERIOD_MAX - PERIOD_MIN + 1));
        lane->wait = (uint8_t)(1 + aq_rng_below(rng, lane->period));
    }
    s->row = LAST_ROW;
    s->column = (uint8_t)aq_rng_below(rng, AQ_GAME_SIDE);
    observe(params, s, obs);
    return true;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(obs, AQ_LANES_CHANNELS, row, column, channel);
}

static bool is_on_kerb(const aq_lanes_state *s)
{
    return s->row == 0 || s->row == LAST_ROW;
}

/* Whether there is a car where the walker is. */
static bool is_run_over(const aq_lanes_state *s)
{
    return !is_on_kerb(s) && (s->lanes[s->row - 1].cars >> s->column & 1) != 0;
}

static void move_cars(aq_lanes_state *s)
{
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        aq_lane *lane = &s->lanes[i];
        if (--lane->wait == 0) {
            lane->wait = lane->period;
            lane->cars = moved(lane);
        }
    }
}

static void speed_up(aq_lane *lane)
{
    if (lane->period > 1) {
        lane->period--;
        lane->wait = lane->wait > lane->period ? lane->period : lane->wait;
    }
}

/* The reward of what lies where the walker is. */
static float take_letter(const aq_game_params *p, aq_lanes_state *s, aq_rng *rng)
{
    if (is_on_kerb(s) || s->lanes[s->row - 1].letter != s->column) {
        return 0.0f;
    }
    const uint32_t far = 1 + (uint32_t)aq_rng_below(rng, AQ_GAME_SIDE - 1);
    s->lanes[s->row - 1].letter = (uint8_t)((s->column + far) % AQ_GAME_SIDE);
    if (p->ramp) {
        speed_up(&s->lanes[aq_rng_below(rng, AQ_LANES_COUNT)]);
    }
    return 1.0f;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_lanes_state *s = state;
    const int32_t move = *(const int32_t *)action;
    AQ_ASSERT(move >= 0);
    AQ_ASSERT(move < AQ_MOVE_COUNT);

    aq_game_move(move, &s->row, &s->column);
    bool over = is_run_over(s);
    move_cars(s);
    over = over || is_run_over(s);
    *reward = over ? 0.0f : take_letter(params, s, rng);
    observe(params, s, obs);
    return over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

/* Goes to the nearest letter, past cells where a car is or comes next; else to where none comes. */
static void script(const void *obs, void *action)
{
    aq_game_map map = {0};
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            if (is_lit(obs, row, column, AQ_LANES_WALKER)) {
                map.row = (uint8_t)row;
                map.column = (uint8_t)column;
            }
            map.barred[row][column] = is_lit(obs, row, column, AQ_LANES_TO_RIGHT) ||
                                      is_lit(obs, row, column, AQ_LANES_TO_LEFT) ||
                                      is_lit(obs, row, column, AQ_LANES_LIGHT);
            map.wanted[row][column] = is_lit(obs, row, column, AQ_LANES_LETTER);
            map.spare[row][column] = !map.barred[row][column];
        }
    }
    *(int32_t *)action = aq_game_way(&map);
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    static const aq_colour colours[AQ_LANES_CHANNELS] = {
        [AQ_LANES_WALKER] = {255, 255, 255}, [AQ_LANES_LETTER] = {80, 220, 100},
        [AQ_LANES_TO_RIGHT] = {230, 90, 60}, [AQ_LANES_TO_LEFT] = {80, 140, 240},
        [AQ_LANES_LIGHT] = {120, 115, 70},
    };
    const aq_colour tarmac = {40, 40, 48};
    uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_LANES_CHANNELS];
    observe(params, state, obs);
    aq_game_draw(obs, AQ_LANES_CHANNELS, colours, tarmac, canvas);
}

const aq_env_class aq_game_lanes = {
    .name = "game:lanes",
    .summary = "Pick up letters from a road of eight lanes, between the cars.",
    .step_limit = STEP_LIMIT,
    .state_bytes = sizeof(aq_lanes_state),
    AQ_GAME_MEMBERS,
};
