/*
 * Freeway: cross a road of eight lanes, again and again.
 *
 * The walker begins in the bottom row and moves up or down, once in three steps. Reaching the top
 * row gives 1, and the walker begins anew at the bottom, with a new pace and direction for every
 * car. A car drives along each lane, a cell every one to five steps, and comes in again at the
 * other end. Whoever is in a cell with a car begins anew at the bottom. The walker moves first.
 * Nothing ends an episode but its limit of steps.
 *
 * What trails a car shows its direction by its place, and its pace by its channel.
 */
#include "envs/games/freeway.h"

#include <string.h>

enum { STEPS_A_MOVE = 3 };

static uint8_t cell_on(uint8_t column, bool to_right)
{
    return (uint8_t)((column + (to_right ? 1 : AQ_GAME_SIDE - 1)) % AQ_GAME_SIDE);
}

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    const aq_freeway_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_FREEWAY_CHANNELS));
    aq_game_light(obs, AQ_FREEWAY_CHANNELS, s->row, AQ_FREEWAY_COLUMN, AQ_FREEWAY_WALKER);
    for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
        const aq_freeway_car *car = &s->cars[i];
        aq_game_light(obs, AQ_FREEWAY_CHANNELS, i + 1, car->column, AQ_FREEWAY_CAR);
        aq_game_light(obs, AQ_FREEWAY_CHANNELS, i + 1, cell_on(car->column, !car->to_right),
                      AQ_FREEWAY_TRAIL + car->period - 1U);
    }
}

static void draw_paces(aq_freeway_state *s, aq_rng *rng)
{
    for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
        aq_freeway_car *car = &s->cars[i];
        car->to_right = (uint8_t)aq_rng_below(rng, 2);
        car->period = (uint8_t)(1 + aq_rng_below(rng, AQ_FREEWAY_PERIODS));
        car->wait = car->period;
    }
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_freeway_state *s = state;
    for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
        s->cars[i].column = (uint8_t)aq_rng_below(rng, AQ_GAME_SIDE);
    }
    draw_paces(s, rng);
    s->row = AQ_GAME_LAST;
    s->wait = 0;
    observe(params, s, obs);
    return true;
}

static bool is_run_over(const aq_freeway_state *s)
{
    return s->row > 0 && s->row < AQ_GAME_LAST && s->cars[s->row - 1].column == AQ_FREEWAY_COLUMN;
}

static void move_cars(aq_freeway_state *s)
{
    for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
        aq_freeway_car *car = &s->cars[i];
        if (--car->wait == 0) {
            car->wait = car->period;
            car->column = cell_on(car->column, car->to_right);
        }
    }
}

static void move_walker(aq_freeway_state *s, enum aq_game_action action)
{
    uint8_t column = AQ_FREEWAY_COLUMN;
    if (s->wait > 0) {
        s->wait--;
    } else if (action == AQ_GAME_UP || action == AQ_GAME_DOWN) {
        aq_game_move(action, &s->row, &column);
        s->wait = STEPS_A_MOVE - 1;
    }
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_freeway_state *s = state;
    move_walker(s, aq_game_press_of(params, action).move);
    bool over = is_run_over(s);
    move_cars(s);
    over = over || is_run_over(s);
    const bool across = s->row == 0;
    if (across) {
        draw_paces(s, rng);
    }
    if (over || across) {
        s->row = AQ_GAME_LAST;
    }
    *reward = across ? 1.0f : 0.0f;
    observe(params, s, obs);
    return AQ_STEP_GOES_ON;
}

/* Whether the row's car may be in the walker's column within the steps that a move takes. */
static bool is_risky(const uint8_t *obs, uint32_t row)
{
    if (row == 0 || row >= AQ_GAME_LAST) {
        return false;
    }
    for (uint8_t column = 0; column < AQ_GAME_SIDE; column++) {
        if (!aq_game_is_lit(obs, AQ_FREEWAY_CHANNELS, row, column, AQ_FREEWAY_CAR)) {
            continue;
        }
        for (uint32_t period = 1; period <= AQ_FREEWAY_PERIODS; period++) {
            const uint32_t trail = AQ_FREEWAY_TRAIL + period - 1;
            const bool to_right =
                aq_game_is_lit(obs, AQ_FREEWAY_CHANNELS, row, cell_on(column, false), trail);
            const bool to_left =
                aq_game_is_lit(obs, AQ_FREEWAY_CHANNELS, row, cell_on(column, true), trail);
            uint8_t at = column;
            bool meets = at == AQ_FREEWAY_COLUMN;
            for (uint32_t cell = 0; cell * period < STEPS_A_MOVE; cell++) {
                at = cell_on(at, to_right);
                meets = meets || at == AQ_FREEWAY_COLUMN;
            }
            if ((to_right || to_left) && meets) {
                return true;
            }
        }
    }
    return false;
}

/* Goes up where no car may come, else stays where none may, else goes back, else up in hope. */
static void script(const void *params, const void *obs, void *action)
{
    uint32_t row = AQ_GAME_LAST;
    while (!aq_game_is_lit(obs, AQ_FREEWAY_CHANNELS, row, AQ_FREEWAY_COLUMN, AQ_FREEWAY_WALKER)) {
        row--;
    }
    const enum aq_game_action move = !is_risky(obs, row - 1)   ? AQ_GAME_UP
                                     : !is_risky(obs, row)     ? AQ_GAME_STAY
                                     : !is_risky(obs, row + 1) ? AQ_GAME_DOWN
                                                               : AQ_GAME_UP;
    aq_game_answer(params, move, action);
}

static const aq_game_look look = {
    .channels = AQ_FREEWAY_CHANNELS,
    .background = {40, 40, 48},
    .colours =
        {
            [AQ_FREEWAY_WALKER] = {255, 255, 255},
            [AQ_FREEWAY_CAR] = {230, 90, 60},
            [AQ_FREEWAY_TRAIL] = {140, 130, 90},
            [AQ_FREEWAY_TRAIL + 1] = {120, 112, 82},
            [AQ_FREEWAY_TRAIL + 2] = {100, 95, 74},
            [AQ_FREEWAY_TRAIL + 3] = {84, 80, 66},
            [AQ_FREEWAY_TRAIL + 4] = {68, 66, 58},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .action_count = 3,
    .actions = {AQ_GAME_STAY, AQ_GAME_UP, AQ_GAME_DOWN},
};

const aq_env_class aq_game_freeway = {
    .name = "game:freeway",
    .summary = "Cross a road of eight lanes as often as time allows.",
    .options = AQ_GAME_OPTIONS,
    .step_limit = AQ_GAME_STEP_LIMIT,
    .state_bytes = sizeof(aq_freeway_state),
    AQ_GAME_MEMBERS,
};
