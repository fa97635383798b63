/*
 * Game grid: see game_grid.h.
 */
#include "envs/games/game_grid.h"

#include <string.h>

#include "common/base/assert.h"

const aq_game_params aq_game_defaults = {.ramp = true};

int aq_game_open(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_game_params *p = params;
    return aq_env_option_bool(opening->options, "ramp", &p->ramp, error);
}

void aq_game_schema(uint32_t channels, uint32_t actions, aq_schema *ret_schema)
{
    AQ_ASSERT(channels <= AQ_GAME_CHANNELS_MAX);
    memset(ret_schema, 0, sizeof(*ret_schema));
    ret_schema->obs = (aq_space){
        .kind = AQ_SPACE_BOX,
        .dtype = AQ_DTYPE_U8,
        .rank = 3,
        .shape = {AQ_GAME_SIDE, AQ_GAME_SIDE, channels},
        .bound_count = 1,
        .low = {0},
        .high = {AQ_GAME_LIT},
    };
    aq_space_init_discrete(&ret_schema->action, actions);
}

void aq_game_move(int32_t move, uint8_t *row, uint8_t *column)
{
    if (move == AQ_MOVE_UP && *row > 0) {
        (*row)--;
    } else if (move == AQ_MOVE_DOWN && *row < AQ_GAME_SIDE - 1) {
        (*row)++;
    } else if (move == AQ_MOVE_LEFT && *column > 0) {
        (*column)--;
    } else if (move == AQ_MOVE_RIGHT && *column < AQ_GAME_SIDE - 1) {
        (*column)++;
    }
}

int32_t aq_game_way(const aq_game_map *map)
{
    struct {
        uint8_t row, column;
        int32_t move; /* with which the way to here began */
    } cells[AQ_GAME_SIDE * AQ_GAME_SIDE] = {{map->row, map->column, AQ_MOVE_STAY}};
    bool seen[AQ_GAME_SIDE][AQ_GAME_SIDE], has_spare = false;
    int32_t spare = AQ_MOVE_STAY;
    memcpy(seen, map->barred, sizeof(seen));
    seen[map->row][map->column] = true;
    for (uint32_t at = 0, count = 1; at < count; at++) {
        if (map->wanted[cells[at].row][cells[at].column]) {
            return cells[at].move;
        }
        if (!has_spare && map->spare[cells[at].row][cells[at].column]) {
            has_spare = true;
            spare = cells[at].move;
        }
        for (int32_t move = AQ_MOVE_UP; move < AQ_MOVE_COUNT; move++) {
            uint8_t to_row = cells[at].row, to_column = cells[at].column;
            aq_game_move(move, &to_row, &to_column);
            if (!seen[to_row][to_column]) {
                seen[to_row][to_column] = true;
                cells[count].row = to_row;
                cells[count].column = to_column;
                cells[count++].move = at == 0 ? move : cells[at].move;
            }
        }
    }
    return spare;
}

static aq_colour cell_colour(const uint8_t *cell, uint32_t channels, const aq_colour *colours,
                             aq_colour background)
{
    for (uint32_t channel = 0; channel < channels; channel++) {
        if (cell[channel]) {
            return colours[channel];
        }
    }
    return background;
}

void aq_game_draw(const uint8_t *obs, uint32_t channels, const aq_colour *colours,
                  aq_colour background, aq_canvas *canvas)
{
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++, obs += channels) {
            aq_canvas_cell(canvas, AQ_GAME_SIDE, AQ_GAME_SIDE, row, column,
                           cell_colour(obs, channels, colours, background));
        }
    }
}
