/*
 * Juggle: keep balls in the air with a tray.
 *
 * The tray is two cells wide and moves along the bottom row (stay, left, right). A ball that lands
 * on it gives 1 and is thrown again at once; one that lands beside it ends the episode. Each flight
 * takes sixteen steps, up to the top row and down on a parabola, to a column drawn when the ball is
 * thrown, where a shadow shows it. The tray moves first, the balls after.
 *
 * With the ramp, a second, third and fourth ball are thrown in from the side, after 5, 12 and 25
 * catches; without it there are two balls all the time.
 *
 * No throw asks for what cannot be done: balls land in the order in which they were thrown, and one
 * lands as many columns from the one before, at most, as there are steps between the two. Going to
 * the next shadow is enough, once one knows which that is.
 */
#include "envs/games/juggle.h"

#include <string.h>

#include "common/base/assert.h"

enum {
    LAST_ROW = AQ_GAME_SIDE - 1,
    LAST_COLUMN = AQ_GAME_SIDE - 1,
    TRAY_WIDTH = 2,
    STEP_LIMIT = 500,
    BALLS_WITHOUT_RAMP = 2,
    SPACING_MIN = 3, /* steps between a throw and a ball that comes in after it */
};

/* Catches from which there is another ball. */
static const uint32_t ball_at[] = {0, 5, 12, 25};

_Static_assert(sizeof(ball_at) / sizeof(ball_at[0]) == AQ_JUGGLE_BALLS_MAX, "one for each ball");

static void schema(const void *params, aq_schema *ret_schema)
{
    (void)params;
    aq_game_schema(AQ_JUGGLE_CHANNELS, AQ_JUGGLE_ACTIONS, ret_schema);
}

/* Both to the nearest cell. The height is LAST_ROW * 4 t (T - t) / T^2. */
static uint32_t column_of(const aq_juggle_ball *ball)
{
    const uint32_t left = AQ_JUGGLE_FLIGHT - ball->time;
    return (ball->from * left + ball->to * ball->time + AQ_JUGGLE_FLIGHT / 2) / AQ_JUGGLE_FLIGHT;
}

static uint32_t row_of(const aq_juggle_ball *ball)
{
    const uint32_t square = AQ_JUGGLE_FLIGHT * AQ_JUGGLE_FLIGHT;
    const uint32_t left = AQ_JUGGLE_FLIGHT - ball->time;
    return LAST_ROW - (LAST_ROW * 4 * ball->time * left + square / 2) / square;
}

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_juggle_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_JUGGLE_CHANNELS));
    for (uint32_t i = 0; i < TRAY_WIDTH; i++) {
        aq_game_light(obs, AQ_JUGGLE_CHANNELS, LAST_ROW, s->tray + i, AQ_JUGGLE_TRAY);
    }
    for (uint32_t i = 0; i < s->ball_count; i++) {
        const aq_juggle_ball *ball = &s->balls[i];
        const bool rising = ball->time < AQ_JUGGLE_FLIGHT / 2;
        aq_game_light(obs, AQ_JUGGLE_CHANNELS, row_of(ball), column_of(ball),
                      rising ? AQ_JUGGLE_RISING : AQ_JUGGLE_FALLING);
        aq_game_light(obs, AQ_JUGGLE_CHANNELS, LAST_ROW, ball->to, AQ_JUGGLE_SHADOW);
    }
}

static void throw_ball(aq_juggle_state *s, aq_juggle_ball *ball, uint8_t from, aq_rng *rng)
{
    const uint32_t low = s->last_to > s->since ? s->last_to - s->since : 0;
    const uint32_t far = s->last_to + s->since;
    const uint32_t high = far < LAST_COLUMN ? far : LAST_COLUMN;
    ball->from = from;
    ball->to = (uint8_t)(low + aq_rng_below(rng, high - low + 1));
    ball->time = 0;
    s->last_to = ball->to;
    s->since = 0;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_juggle_state *s = state;
    memset(s, 0, sizeof(*s));
    s->tray = (uint8_t)aq_rng_below(rng, AQ_GAME_SIDE - TRAY_WIDTH + 1);
    s->since = AQ_GAME_SIDE; /* the first flight is long enough to get anywhere */
    s->ball_count = 1;
    throw_ball(s, &s->balls[0], s->tray, rng);
    observe(params, s, obs);
    return true;
}

static void move_tray(aq_juggle_state *s, int32_t action)
{
    if (action == AQ_JUGGLE_LEFT && s->tray > 0) {
        s->tray--;
    } else if (action == AQ_JUGGLE_RIGHT && s->tray < AQ_GAME_SIDE - TRAY_WIDTH) {
        s->tray++;
    }
}

static uint32_t balls_wanted(const aq_game_params *p, uint32_t catches)
{
    uint32_t balls = 0;
    while (balls < AQ_JUGGLE_BALLS_MAX && catches >= ball_at[balls]) {
        balls++;
    }
    return p->ramp ? balls : BALLS_WITHOUT_RAMP;
}

/* All balls land at different times, as they were thrown at different times. */
static void move_balls(aq_juggle_state *s, aq_rng *rng, bool *ret_caught, bool *ret_dropped)
{
    for (uint32_t i = 0; i < s->ball_count; i++) {
        aq_juggle_ball *ball = &s->balls[i];
        if (++ball->time < AQ_JUGGLE_FLIGHT) {
            continue;
        }
        if (ball->to < s->tray || ball->to >= s->tray + TRAY_WIDTH) {
            *ret_dropped = true;
            continue;
        }
        *ret_caught = true;
        s->catches++;
        throw_ball(s, ball, ball->to, rng);
    }
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_juggle_state *s = state;
    const int32_t choice = *(const int32_t *)action;
    bool caught = false, dropped = false;
    AQ_ASSERT(choice >= 0);
    AQ_ASSERT(choice < AQ_JUGGLE_ACTIONS);

    move_tray(s, choice);
    s->since += s->since < AQ_GAME_SIDE;
    move_balls(s, rng, &caught, &dropped);
    if (!dropped && s->since >= SPACING_MIN && s->ball_count < balls_wanted(params, s->catches)) {
        aq_juggle_ball *ball = &s->balls[s->ball_count++];
        throw_ball(s, ball, aq_rng_below(rng, 2) ? LAST_COLUMN : 0, rng);
    }
    *reward = caught ? 1.0f : 0.0f;
    observe(params, s, obs);
    return dropped ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return aq_game_is_lit(obs, AQ_JUGGLE_CHANNELS, row, column, channel);
}

/* The column of the ball that lands next, which is the lowest that falls, or else the highest. */
static uint32_t next_ball(const uint8_t *obs)
{
    for (uint32_t i = 0; i < 2 * AQ_GAME_SIDE; i++) {
        const bool falls = i < AQ_GAME_SIDE;
        const uint32_t row = falls ? LAST_ROW - i : i - AQ_GAME_SIDE;
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            if (is_lit(obs, row, column, falls ? AQ_JUGGLE_FALLING : AQ_JUGGLE_RISING)) {
                return column;
            }
        }
    }
    return 0;
}

/* Goes below the shadow nearest to the ball that lands next: a guess, where there are several. */
static void script(const void *obs, void *action)
{
    const uint32_t ball = next_ball(obs);
    uint32_t goal = 0, nearest = AQ_GAME_SIDE, right = 0; /* the last column of the tray */
    for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
        const uint32_t far = column < ball ? ball - column : column - ball;
        if (is_lit(obs, LAST_ROW, column, AQ_JUGGLE_SHADOW) && far < nearest) {
            nearest = far;
            goal = column;
        }
        right = is_lit(obs, LAST_ROW, column, AQ_JUGGLE_TRAY) ? column : right;
    }
    *(int32_t *)action = goal > right                ? AQ_JUGGLE_RIGHT
                         : goal + TRAY_WIDTH > right ? AQ_JUGGLE_STAY
                                                     : AQ_JUGGLE_LEFT;
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    static const aq_colour colours[AQ_JUGGLE_CHANNELS] = {
        [AQ_JUGGLE_TRAY] = {255, 255, 255},
        [AQ_JUGGLE_RISING] = {250, 200, 70},
        [AQ_JUGGLE_FALLING] = {240, 100, 80},
        [AQ_JUGGLE_SHADOW] = {90, 95, 120},
    };
    const aq_colour air = {28, 32, 48};
    uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_JUGGLE_CHANNELS];
    observe(params, state, obs);
    aq_game_draw(obs, AQ_JUGGLE_CHANNELS, colours, air, canvas);
}

const aq_env_class aq_game_juggle = {
    .name = "game:juggle",
    .summary = "Keep up to four balls in the air with a tray.",
    .step_limit = STEP_LIMIT,
    .state_bytes = sizeof(aq_juggle_state),
    AQ_GAME_MEMBERS,
};
