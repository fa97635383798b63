/*
 * Seaquest: rescue divers, shoot fish and boats, and come up for air.
 *
 * The player's boat has a front and a back. It moves (stay, left, up, right, down) from the
 * surface, row 0, down to row 8, and looks where it went sideways last. It fires from its front,
 * once in five steps; a shot flies a cell a step. Fish, enemy boats and divers come in from the
 * sides, one at most in each row below the surface; enemy boats fire every ten steps. A fish or
 * boat that is shot gives 1. A diver whom the boat meets comes aboard while there are fewer than
 * six. The episode ends when a fish, an enemy or a torpedo is where the boat's front or back is.
 *
 * Oxygen lasts for 200 steps below the surface. Coming up renews it and costs a diver; with six,
 * all of them leave, and each lit cell of the oxygen gives 1. The episode ends without oxygen, and
 * when the boat comes up with nobody aboard. With the ramp, things get faster and come more often
 * each time that the boat comes up.
 *
 * The boat moves first, then shots, torpedoes and the others.
 */
#include "envs/games/seaquest.h"

#include <string.h>

enum {
    LOWEST = AQ_GAME_RUNNERS, /* row that the boat can be in */
    SHOT_PERIOD = 5,
    TORPEDO_PERIOD = 10,
    MOVE_PERIOD_FIRST = 5,
    MOVE_PERIOD_LAST = 2,
    ENTER_PERIOD_FIRST = 12,
    ENTER_PERIOD_LAST = 4,
    OXYGEN_A_CELL = AQ_SEAQUEST_OXYGEN_MAX / AQ_GAME_SIDE,
    KINDS = 3,
};

#define ALL_COLUMNS ((1U << AQ_GAME_SIDE) - 1)

static uint32_t oxygen_cells(const aq_seaquest_state *s)
{
    return (s->oxygen + OXYGEN_A_CELL - 1U) / OXYGEN_A_CELL;
}

/* The columns of the boat's front and back; the back may be past the border. */
static uint32_t boat_columns(const aq_seaquest_state *s)
{
    const uint32_t front = 1U << s->column;
    return (front | (s->to_right ? front >> 1 : front << 1)) & ALL_COLUMNS;
}

static void light_flight(const aq_seaquest_flight *flight, uint8_t *obs, uint32_t channel)
{
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        aq_game_light_row(obs, AQ_SEAQUEST_CHANNELS, row,
                          flight->to_left[row] | flight->to_right[row], channel);
    }
}

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    static const uint8_t channels_of[] = {
        [AQ_SEAQUEST_IS_FISH] = AQ_SEAQUEST_FISH,
        [AQ_SEAQUEST_IS_ENEMY] = AQ_SEAQUEST_ENEMY,
        [AQ_SEAQUEST_IS_DIVER] = AQ_SEAQUEST_DIVER,
    };
    const aq_seaquest_state *s = state;
    memset(obs, 0, aq_game_obs_bytes(AQ_SEAQUEST_CHANNELS));
    aq_game_light(obs, AQ_SEAQUEST_CHANNELS, s->row, s->column, AQ_SEAQUEST_FRONT);
    aq_game_light_row(obs, AQ_SEAQUEST_CHANNELS, s->row, boat_columns(s) & ~(1U << s->column),
                      AQ_SEAQUEST_BACK);
    light_flight(&s->shots, obs, AQ_SEAQUEST_SHOT);
    light_flight(&s->torpedoes, obs, AQ_SEAQUEST_TORPEDO);
    aq_game_runners_light(s->runners, obs, AQ_SEAQUEST_CHANNELS, channels_of, AQ_SEAQUEST_TRAIL);
    aq_game_light_row(obs, AQ_SEAQUEST_CHANNELS, AQ_GAME_LAST, (1U << s->divers) - 1,
                      AQ_SEAQUEST_ABOARD);
    aq_game_light_row(obs, AQ_SEAQUEST_CHANNELS, AQ_GAME_LAST, (1U << oxygen_cells(s)) - 1,
                      AQ_SEAQUEST_OXYGEN);
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_seaquest_state *s = state;
    *s = (aq_seaquest_state){
        .column = AQ_GAME_SIDE / 2,
        .to_right = (uint8_t)aq_rng_below(rng, 2),
        .oxygen = AQ_SEAQUEST_OXYGEN_MAX,
        .torpedo_wait = TORPEDO_PERIOD,
        .move_period = MOVE_PERIOD_FIRST,
        .enter_period = ENTER_PERIOD_FIRST,
        .move_wait = MOVE_PERIOD_FIRST,
        .enter_wait = 1,
    };
    observe(params, s, obs);
    return true;
}

static void act(aq_seaquest_state *s, aq_game_press press)
{
    uint8_t row = s->row;
    s->shot_wait -= s->shot_wait > 0;
    if (press.move == AQ_GAME_LEFT || press.move == AQ_GAME_RIGHT) {
        s->to_right = press.move == AQ_GAME_RIGHT;
    }
    if (press.fires && s->shot_wait == 0) {
        s->shot_wait = SHOT_PERIOD;
        uint16_t *shots = s->to_right ? s->shots.to_right : s->shots.to_left;
        shots[s->row] |= (uint16_t)(1U << s->column);
    }
    aq_game_move(press.move, &row, &s->column);
    s->row = row <= LOWEST ? row : LOWEST;
}

static void fly(aq_seaquest_flight *flight)
{
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        flight->to_left[row] >>= 1;
        flight->to_right[row] = (uint16_t)(flight->to_right[row] << 1 & ALL_COLUMNS);
    }
}

/* The reward of fish and enemies in whose cell there is a shot, which is gone like them. */
static float hit_runners(aq_seaquest_state *s)
{
    float reward = 0.0f;
    for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
        aq_game_runner *runner = &s->runners[i];
        uint16_t *to_left = &s->shots.to_left[i + 1], *to_right = &s->shots.to_right[i + 1];
        const uint16_t column = (uint16_t)(1U << runner->column);
        if (runner->kind != 0 && runner->kind != AQ_SEAQUEST_IS_DIVER &&
            ((*to_left | *to_right) & column) != 0) {
            *to_left = (uint16_t)(*to_left & ~column);
            *to_right = (uint16_t)(*to_right & ~column);
            *runner = (aq_game_runner){0};
            reward += 1.0f;
        }
    }
    return reward;
}

/* Takes a diver aboard whom the boat meets; true when it meets something else. */
static bool meet(aq_seaquest_state *s)
{
    const uint32_t boat = boat_columns(s);
    aq_game_runner *runner = aq_game_runner_in(s->runners, s->row);
    if ((boat & (s->torpedoes.to_left[s->row] | s->torpedoes.to_right[s->row])) != 0) {
        return true;
    }
    if (runner == NULL || (boat >> runner->column & 1) == 0) {
        return false;
    }
    if (runner->kind == AQ_SEAQUEST_IS_DIVER && s->divers < AQ_SEAQUEST_DIVERS_MAX) {
        s->divers++;
        *runner = (aq_game_runner){0};
        return false;
    }
    return runner->kind != AQ_SEAQUEST_IS_DIVER;
}

static void fire_torpedoes(aq_seaquest_state *s)
{
    for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
        const aq_game_runner *runner = &s->runners[i];
        if (runner->kind == AQ_SEAQUEST_IS_ENEMY) {
            uint16_t *row =
                runner->to_right ? &s->torpedoes.to_right[i + 1] : &s->torpedoes.to_left[i + 1];
            const uint32_t column = 1U << runner->column;
            *row |= (uint16_t)((runner->to_right ? column << 1 : column >> 1) & ALL_COLUMNS);
        }
    }
}

/* All that moves by itself; the reward of what runs into a shot. */
static float move_others(aq_seaquest_state *s, aq_rng *rng)
{
    float reward = 0.0f;
    fly(&s->torpedoes);
    if (--s->move_wait == 0) {
        s->move_wait = s->move_period;
        aq_game_runners_move(s->runners);
        reward = hit_runners(s);
    }
    if (--s->enter_wait == 0) {
        s->enter_wait = s->enter_period;
        const uint8_t kind = (uint8_t)(1 + aq_rng_below(rng, KINDS));
        (void)aq_game_runner_enter(s->runners, kind, rng);
    }
    if (--s->torpedo_wait == 0) {
        s->torpedo_wait = TORPEDO_PERIOD;
        fire_torpedoes(s);
    }
    return reward;
}

/* The boat has come up; true when nobody is aboard. */
static bool surface(const aq_game_params *p, aq_seaquest_state *s, float *reward)
{
    if (s->divers == 0) {
        return true;
    }
    if (s->divers == AQ_SEAQUEST_DIVERS_MAX) {
        *reward += (float)oxygen_cells(s);
        s->divers = 0;
    } else {
        s->divers--;
    }
    s->oxygen = AQ_SEAQUEST_OXYGEN_MAX;
    s->move_period -= p->ramp && s->move_period > MOVE_PERIOD_LAST;
    s->enter_period -= p->ramp && s->enter_period > ENTER_PERIOD_LAST;
    return false;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    aq_seaquest_state *s = state;
    const uint8_t row = s->row;
    *reward = 0.0f;
    act(s, aq_game_press_of(params, action));
    bool over = meet(s);
    if (!over) {
        fly(&s->shots);
        *reward += hit_runners(s);
        *reward += move_others(s, rng);
        over = meet(s);
    }
    if (!over && s->row == 0 && row > 0) {
        over = surface(params, s, reward);
    } else if (s->row > 0) {
        s->oxygen--;
        over = over || s->oxygen == 0;
    }
    observe(params, s, obs);
    return over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static bool is_lit(const uint8_t *obs, uint32_t row, uint32_t column, uint32_t channel)
{
    return row < AQ_GAME_SIDE && column < AQ_GAME_SIDE &&
           aq_game_is_lit(obs, AQ_SEAQUEST_CHANNELS, row, column, channel);
}

static bool is_target(const uint8_t *obs, uint32_t row, uint32_t column)
{
    return is_lit(obs, row, column, AQ_SEAQUEST_FISH) ||
           is_lit(obs, row, column, AQ_SEAQUEST_ENEMY);
}

/* Whether something deadly may be in the cell, or the one behind, soon. */
static bool is_deadly(const uint8_t *obs, uint32_t row, uint32_t column)
{
    bool deadly = false;
    for (uint32_t i = 0; i < 5; i++) {
        deadly = deadly || is_target(obs, row, column + i - 2) ||
                 is_lit(obs, row, column + i - 2, AQ_SEAQUEST_TORPEDO);
    }
    return deadly;
}

static uint32_t count_lit(const uint8_t *obs, uint32_t channel)
{
    uint32_t count = 0;
    for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
        count += is_lit(obs, AQ_GAME_LAST, column, channel);
    }
    return count;
}

/* Turns to a fish or enemy in its row and fires; AQ_GAME_STAY where there is none. */
static enum aq_game_action aim(const uint8_t *obs, uint32_t row, uint32_t column)
{
    const bool to_right = column == 0 || is_lit(obs, row, column - 1, AQ_SEAQUEST_BACK);
    for (uint32_t other = 0; other < AQ_GAME_SIDE; other++) {
        if (is_target(obs, row, other)) {
            return (other > column) == to_right ? AQ_GAME_FIRE
                   : other > column             ? AQ_GAME_RIGHT
                                                : AQ_GAME_LEFT;
        }
    }
    return AQ_GAME_STAY;
}

/* Comes up with six divers, or for air; else shoots what is in its row; else goes to the nearest
 * diver, or to a row in which there is something to shoot. */
static void script(const void *params, const void *obs, void *action)
{
    enum { AIR_LOW = 3 };
    aq_game_map map = {0};
    const uint32_t aboard = count_lit(obs, AQ_SEAQUEST_ABOARD);
    const bool comes_up = aboard == AQ_SEAQUEST_DIVERS_MAX ||
                          (aboard > 0 && count_lit(obs, AQ_SEAQUEST_OXYGEN) <= AIR_LOW);
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        bool has_target = false;
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            has_target = has_target || is_target(obs, row, column);
        }
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            if (is_lit(obs, row, column, AQ_SEAQUEST_FRONT)) {
                map.row = (uint8_t)row;
                map.column = (uint8_t)column;
            }
            const bool barred =
                row > LOWEST || (row == 0 && !comes_up) || is_deadly(obs, row, column);
            map.barred[row][column] = barred;
            map.wanted[row][column] =
                comes_up ? row == 0 : !barred && is_lit(obs, row, column, AQ_SEAQUEST_DIVER);
            map.spare[row][column] = !barred && has_target;
        }
    }
    const enum aq_game_action shot = comes_up ? AQ_GAME_STAY : aim(obs, map.row, map.column);
    aq_game_answer(params, shot != AQ_GAME_STAY ? shot : aq_game_way(&map), action);
}

static const aq_game_look look = {
    .channels = AQ_SEAQUEST_CHANNELS,
    .background = {15, 40, 75},
    .colours =
        {
            [AQ_SEAQUEST_FRONT] = {255, 255, 255},
            [AQ_SEAQUEST_BACK] = {185, 185, 190},
            [AQ_SEAQUEST_SHOT] = {250, 235, 150},
            [AQ_SEAQUEST_TORPEDO] = {250, 130, 50},
            [AQ_SEAQUEST_FISH] = {110, 220, 120},
            [AQ_SEAQUEST_ENEMY] = {230, 80, 70},
            [AQ_SEAQUEST_DIVER] = {250, 205, 60},
            [AQ_SEAQUEST_TRAIL] = {35, 70, 110},
            [AQ_SEAQUEST_ABOARD] = {200, 120, 230},
            [AQ_SEAQUEST_OXYGEN] = {90, 190, 250},
        },
    .observe = observe,
};

static const aq_game_params defaults = {
    .look = &look,
    .ramp = true,
    .action_count = AQ_GAME_ACTIONS,
    .actions = {AQ_GAME_STAY, AQ_GAME_LEFT, AQ_GAME_UP, AQ_GAME_RIGHT, AQ_GAME_DOWN, AQ_GAME_FIRE},
};

const aq_env_class aq_game_seaquest = {
    .name = "game:seaquest",
    .summary = "Rescue divers, shoot fish and boats, and come up for air.",
    .options = AQ_GAME_FIRE_OPTIONS,
    .step_limit = AQ_GAME_STEP_LIMIT,
    .state_bytes = sizeof(aq_seaquest_state),
    AQ_GAME_MEMBERS,
};
