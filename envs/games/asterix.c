/*
 * Asterix: pick up gold, and keep away from enemies.
 *
 * Enemies and gold come in from the sides, one at most in each of the eight inner rows, which are
 * the player's, too (stay, left, up, right, down). Gold that the player meets gives 1; meeting an
 * enemy ends the episode. The player moves first, the others after. What trails each of them shows
 * its direction.
 *
 * With the ramp, things get faster and come more often every 120 steps.
 */
#include "envs/games/asterix.h"

#include <string.h>

enum {
    MOVE_PERIOD_FIRST = 5,
    MOVE_PERIOD_LAST = 1,
    ENTER_PERIOD_FIRST = 10,
    ENTER_PERIOD_LAST = 2,
    RAMP_PERIOD = 120,
    GOLD_IN = 3, /* one of so many is gold */
};

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    static const uint8_t channels_of[] = {
        [AQ_ASTERIX_IS_ENEMY] = AQ_ASTERIX_ENEMY,
        [AQ_ASTERIX_IS_GOLD] = AQ_ASTERIX_GOLD,
    };
    const aq_asterix_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_ASTERIX_CHANNELS));
    aq_game_light(obs, AQ_ASTERIX_CHANNELS, s->row, s->column, AQ_ASTERIX_PLAYER);
    aq_game_runners_light(s->runners, obs, AQ_ASTERIX_CHANNELS, channels_of, AQ_ASTERIX_TRAIL);
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    (void)rng;
    aq_asterix_state *s = state;
    *s = (aq_asterix_state){
        .row = AQ_GAME_SIDE / 2,
        .column = AQ_GAME_SIDE / 2,
        .move_period = MOVE_PERIOD_FIRST,
        .enter_period = ENTER_PERIOD_FIRST,
        .move_wait = MOVE_PERIOD_FIRST,
        .enter_wait = 1,
        .ramp_wait = RAMP_PERIOD,
    };
    observe(params, s, obs);
    return true;
}

static void walk(aq_asterix_state *s, enum aq_game_action action)
{
    uint8_t row = s->row;
    aq_game_move(action, &row, &s->column);
    s->row = row >= 1 && row <= AQ_GAME_RUNNERS ? row : s->row;
}

/* Takes gold where the player is; true when there is an enemy. */
static bool meet(aq_asterix_state *s, float *reward)
{
    aq_game_runner *runner = &s->runners[s->row - 1];
    if (!aq_game_runner_is_at(runner, s->column)) {
        return false;
    }
    if (runner->kind == AQ_ASTERIX_IS_GOLD) {
        *reward += 1.0f;
        *runner = (aq_game_runner){0};
        return false;
    }
    return true;
}

/* One comes in, from the other side where the player stands at its own. */
static void enter(aq_asterix_state *s, aq_rng *rng)
{
    const bool is_gold = aq_rng_below(rng, GOLD_IN) == 0;
    aq_game_runner *runner =
        aq_game_runner_enter(s->runners, is_gold ? AQ_ASTERIX_IS_GOLD : AQ_ASTERIX_IS_ENEMY, rng);
    if (runner == &s->runners[s->row - 1] && runner->column == s->column) {
        runner->to_right = !runner->to_right;
        runner->column = (uint8_t)(AQ_GAME_LAST - runner->column);
    }
}

static void get_harder(const aq_game_params *p, aq_asterix_state *s)
{
    if (!p->ramp || --s->ramp_wait > 0) {
        return;
    }
    s->ramp_wait = RAMP_PERIOD;
    s->move_period -= s->move_period > MOVE_PERIOD_LAST;
    s->enter_period -= s->enter_period > ENTER_PERIOD_LAST;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_asterix_state *s = state;
    *reward = 0.0f;
    walk(s, aq_game_press_of(params, action).move);
    bool over = meet(s, reward);
    if (!over && --s->move_wait == 0) {
        s->move_wait = s->move_period;
        aq_game_runners_move(s->runners);
        over = meet(s, reward);
    }
    if (--s->enter_wait == 0) {
        s->enter_wait = s->enter_period;
        enter(s, rng);
    }
    get_harder(params, s);
    observe(params, s, obs);
    return over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return column < AQ_GAME_SIDE && aq_game_is_lit(obs, AQ_ASTERIX_CHANNELS, row, column, channel);
}

/* Whether an enemy is there or comes there next. */
static bool is_deadly(const uint8_t *obs, uint32_t row, uint32_t column)
{
    const bool from_left = is_lit(obs, row, column - 1, AQ_ASTERIX_ENEMY) &&
                           (column == 1 || is_lit(obs, row, column - 2, AQ_ASTERIX_TRAIL));
    const bool from_right =
        is_lit(obs, row, column + 1, AQ_ASTERIX_ENEMY) &&
        (column == AQ_GAME_LAST - 1 || is_lit(obs, row, column + 2, AQ_ASTERIX_TRAIL));
    return is_lit(obs, row, column, AQ_ASTERIX_ENEMY) || from_left || from_right;
}

/* Goes to the nearest gold past what is deadly; else to where nothing is. */
static void script(const void *params, const void *obs, void *action)
{
    aq_game_map map = {0};
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        const bool is_inside = row >= 1 && row <= AQ_GAME_RUNNERS;
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            if (is_lit(obs, row, column, AQ_ASTERIX_PLAYER)) {
                map.row = (uint8_t)row;
                map.column = (uint8_t)column;
            }
            map.barred[row][column] = !is_inside || is_deadly(obs, row, column);
            map.wanted[row][column] = is_lit(obs, row, column, AQ_ASTERIX_GOLD);
            map.spare[row][column] = !map.barred[row][column];
        }
    }
    aq_game_answer(params, aq_game_way(&map), action);
}

static const aq_game_look look = {
    .channels = AQ_ASTERIX_CHANNELS,
    .background = {20, 25, 40},
    .colours =
        {
            [AQ_ASTERIX_PLAYER] = {255, 255, 255},
            [AQ_ASTERIX_ENEMY] = {230, 80, 70},
            [AQ_ASTERIX_TRAIL] = {70, 70, 85},
            [AQ_ASTERIX_GOLD] = {250, 205, 60},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .ramp = true,
    .action_count = 5,
    .actions = {AQ_GAME_STAY, AQ_GAME_LEFT, AQ_GAME_UP, AQ_GAME_RIGHT, AQ_GAME_DOWN},
};

const aq_env_class aq_game_asterix = {
    .name = "game:asterix",
    .summary = "Pick up gold that runs by, and keep away from enemies.",
    .options = AQ_GAME_RAMP_OPTIONS,
    .step_limit = AQ_GAME_STEP_LIMIT,
    .state_bytes = sizeof(aq_asterix_state),
    AQ_GAME_MEMBERS,
};
