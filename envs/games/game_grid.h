/*
 * Game grid: what the arcade games have in common. They are played on ten by ten cells; one is seen
 * as u8 channels that are 0 or 255, stored (row, column, channel), and drawn as a colour per
 * channel. No state.
 *
 * The actions are six for all of them. A task has those that its game knows, or all: what does
 * nothing in a game is then as good as staying. Or, where one can fire, it has two choices at once:
 * a move, and whether to fire.
 */
#ifndef AQ_ENVS_GAMES_GAME_GRID_H
#define AQ_ENVS_GAMES_GAME_GRID_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "envs/env.h"

enum {
    AQ_GAME_SIDE = 10,
    AQ_GAME_LAST = AQ_GAME_SIDE - 1, /* row or column */
    AQ_GAME_CHANNELS_MAX = 10,
    AQ_GAME_LIT = 255,
    AQ_GAME_STEP_LIMIT = 2500,
};

enum aq_game_action {
    AQ_GAME_STAY,
    AQ_GAME_LEFT,
    AQ_GAME_UP,
    AQ_GAME_RIGHT,
    AQ_GAME_DOWN,
    AQ_GAME_FIRE,
    AQ_GAME_ACTIONS,
};

/* What is done in a step. */
typedef struct aq_game_press {
    enum aq_game_action move; /* not AQ_GAME_FIRE */
    bool fires;
} aq_game_press;

/* How a game is seen. */
typedef struct aq_game_look {
    uint32_t channels;
    aq_colour background, colours[AQ_GAME_CHANNELS_MAX];
    void (*observe)(const void *params, const void *state, void *obs);
} aq_game_look;

/* A class's `defaults` have the actions that the game knows, firing as the last, and the ramp if it
 * has one. */
typedef struct aq_game_params {
    const aq_game_look *look;
    bool ramp;     /* it gets harder as one gets on */
    bool has_pair; /* to fire is a choice of its own, and no action of these */
    uint8_t action_count;
    uint8_t actions[AQ_GAME_ACTIONS]; /* enum aq_game_action, by the number in the schema */
} aq_game_params;

#define AQ_GAME_OPTIONS      "actions (minimal: those that do something, or all: six in every game)"
#define AQ_GAME_RAMP_OPTIONS AQ_GAME_OPTIONS ", ramp (yes or no: it gets harder as one gets on)"

#define AQ_GAME_FIRE_OPTIONS                                                                       \
    "actions (minimal: those that do something, all: six in every game, or pair: a move and "      \
    "whether to fire, at once), ramp (yes or no: it gets harder as one gets on)"

/* All members that the classes have in common; each file has what they name. */
#define AQ_GAME_MEMBERS                                                                            \
    .reward_threshold = NAN, .params_bytes = sizeof(aq_game_params), .defaults = &defaults,        \
    .open = aq_game_open, .schema = aq_game_schema, .reset = reset, .step = step,                  \
    .observe = observe, .draw = aq_game_draw, .script = script

/* As aq_env_class.open, .schema and .draw: each cell in the colour of the first of its channels
 * that is lit. */
int aq_game_open(void *params, aq_env_opening *opening, aq_error *error) AQ_MUST_USE;
void aq_game_schema(const void *params, aq_schema *ret_schema);
void aq_game_draw(const void *params, const void *state, aq_canvas *canvas);

/* What the action's row means; and the row of what a script wants, which the game knows. */
aq_game_press aq_game_press_of(const void *params, const void *row);
void aq_game_answer(const void *params, enum aq_game_action action, void *ret_row);

/* Where a walker in the cell comes to by that action, which the border stops. */
void aq_game_move(enum aq_game_action action, uint8_t *row, uint8_t *column);

/* What a script makes of the cells that it sees. */
typedef struct aq_game_map {
    uint8_t row, column; /* of the walker */
    bool barred[AQ_GAME_SIDE][AQ_GAME_SIDE];
    bool wanted[AQ_GAME_SIDE][AQ_GAME_SIDE];
    bool spare[AQ_GAME_SIDE][AQ_GAME_SIDE]; /* will do where none that is wanted can be reached */
} aq_game_map;

/* The first move of a shortest way there. */
enum aq_game_action aq_game_way(const aq_game_map *map);

static inline size_t aq_game_obs_bytes(uint32_t channels)
{
    return (size_t)AQ_GAME_SIDE * AQ_GAME_SIDE * channels;
}

static inline void aq_game_light(uint8_t *obs, uint32_t channels, uint32_t row, uint32_t column,
                                 uint32_t channel)
{
    obs[((size_t)row * AQ_GAME_SIDE + column) * channels + channel] = AQ_GAME_LIT;
}

/* Bit c of `columns` is column c. */
static inline void aq_game_light_row(uint8_t *obs, uint32_t channels, uint32_t row,
                                     uint32_t columns, uint32_t channel)
{
    for (; columns != 0; columns &= columns - 1) {
        aq_game_light(obs, channels, row, (uint32_t)__builtin_ctz(columns), channel);
    }
}

static inline bool aq_game_is_lit(const uint8_t *obs, uint32_t channels, uint32_t row,
                                  uint32_t column, uint32_t channel)
{
    return obs[((size_t)row * AQ_GAME_SIDE + column) * channels + channel] != 0;
}

#endif
