/*
 * Game grid: what the arcade games have in common. They are played on ten by ten cells; one is seen
 * as u8 channels that are 0 or 255, stored (row, column, channel), and drawn as a colour per
 * channel. No state.
 */
#ifndef AQ_ENVS_GAMES_GAME_GRID_H
#define AQ_ENVS_GAMES_GAME_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "envs/canvas.h"
#include "envs/env_options.h"

enum { AQ_GAME_SIDE = 10, AQ_GAME_CHANNELS_MAX = 6, AQ_GAME_LIT = 255 };

typedef struct aq_game_params {
    bool ramp; /* it gets harder as one gets on */
} aq_game_params;

extern const char aq_game_options[]; /* for aq_env_class.options */

/* As of aq_env_class.open. */
int aq_game_open(void *params, const char *argument, aq_env_options *options, uint32_t *step_limit,
                 double *reward_threshold, aq_error *error) AQ_MUST_USE;

void aq_game_schema(uint32_t channels, uint32_t actions, aq_schema *ret_schema);

/* Where a walker in the cell comes to by that move, which the border stops: the moves of the games
 * in which one walks are the first actions. */
enum { AQ_MOVE_STAY, AQ_MOVE_UP, AQ_MOVE_DOWN, AQ_MOVE_LEFT, AQ_MOVE_RIGHT, AQ_MOVE_COUNT };
void aq_game_move(int32_t move, uint8_t *row, uint8_t *column);

static inline size_t aq_game_obs_bytes(uint32_t channels)
{
    return (size_t)AQ_GAME_SIDE * AQ_GAME_SIDE * channels;
}

static inline void aq_game_light(uint8_t *obs, uint32_t channels, uint32_t row, uint32_t column,
                                 uint32_t channel)
{
    obs[((size_t)row * AQ_GAME_SIDE + column) * channels + channel] = AQ_GAME_LIT;
}

/* Draws an observation: each cell in the colour of the first of its channels that is lit. */
void aq_game_draw(const uint8_t *obs, uint32_t channels, const aq_colour *colours,
                  aq_colour background, aq_canvas *canvas);

#endif
