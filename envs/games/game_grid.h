/*
 * Game grid: what the arcade games have in common. They are played on ten by ten cells; one is seen
 * as u8 channels that are 0 or 255, stored (row, column, channel), and drawn as a colour per
 * channel. No state.
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

enum { AQ_GAME_SIDE = 10, AQ_GAME_CHANNELS_MAX = 6, AQ_GAME_LIT = 255 };

typedef struct aq_game_params {
    bool ramp; /* it gets harder as one gets on */
} aq_game_params;

extern const aq_game_params aq_game_defaults;

/* As aq_env_class.open. */
int aq_game_open(void *params, aq_env_opening *opening, aq_error *error) AQ_MUST_USE;

/* All members that the classes have in common; each has functions of these names. */
#define AQ_GAME_MEMBERS                                                                            \
    .options = "ramp (yes or no: it gets harder as one gets on)", .reward_threshold = NAN,         \
    .params_bytes = sizeof(aq_game_params), .defaults = &aq_game_defaults, .open = aq_game_open,   \
    .schema = schema, .reset = reset, .step = step, .observe = observe, .draw = draw,              \
    .script = script

void aq_game_schema(uint32_t channels, uint32_t actions, aq_schema *ret_schema);

/* Where a walker in the cell comes to by that move, which the border stops: the moves of the games
 * in which one walks are the first actions. */
enum { AQ_MOVE_STAY, AQ_MOVE_UP, AQ_MOVE_DOWN, AQ_MOVE_LEFT, AQ_MOVE_RIGHT, AQ_MOVE_COUNT };
void aq_game_move(int32_t move, uint8_t *row, uint8_t *column);

/* What a script makes of the cells that it sees. */
typedef struct aq_game_map {
    uint8_t row, column; /* of the walker */
    bool barred[AQ_GAME_SIDE][AQ_GAME_SIDE];
    bool wanted[AQ_GAME_SIDE][AQ_GAME_SIDE];
    bool spare[AQ_GAME_SIDE][AQ_GAME_SIDE]; /* will do where none that is wanted can be reached */
} aq_game_map;

/* The first move of a shortest way there. */
int32_t aq_game_way(const aq_game_map *map);

static inline size_t aq_game_obs_bytes(uint32_t channels)
{
    return (size_t)AQ_GAME_SIDE * AQ_GAME_SIDE * channels;
}

static inline void aq_game_light(uint8_t *obs, uint32_t channels, uint32_t row, uint32_t column,
                                 uint32_t channel)
{
    obs[((size_t)row * AQ_GAME_SIDE + column) * channels + channel] = AQ_GAME_LIT;
}

static inline bool aq_game_is_lit(const uint8_t *obs, uint32_t channels, uint32_t row,
                                  uint32_t column, uint32_t channel)
{
    return obs[((size_t)row * AQ_GAME_SIDE + column) * channels + channel] != 0;
}

/* Draws an observation: each cell in the colour of the first of its channels that is lit. */
void aq_game_draw(const uint8_t *obs, uint32_t channels, const aq_colour *colours,
                  aq_colour background, aq_canvas *canvas);

#endif
