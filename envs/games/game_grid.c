/*
 * Game grid: see game_grid.h.
 */
#include "envs/games/game_grid.h"

#include <string.h>

#include "common/base/assert.h"

int aq_game_open(void *params, aq_env_opening *opening, aq_error *error)
{
    static const char *const sets[] = {"minimal", "all", "pair", NULL};
    static const char *const sets_of_no_fire[] = {"minimal", "all", NULL};
    aq_game_params *p = params;
    const bool can_fire = p->actions[p->action_count - 1] == AQ_GAME_FIRE;
    uint32_t set = 0;
    int rc = aq_env_option_choice(opening->options, "actions", can_fire ? sets : sets_of_no_fire,
                                  &set, error);
    if (rc == 0 && set == 1) {
        p->action_count = AQ_GAME_ACTIONS;
        for (uint8_t i = 0; i < AQ_GAME_ACTIONS; i++) {
            p->actions[i] = i;
        }
    } else if (rc == 0 && set == 2) {
        p->has_pair = true;
        p->action_count--;
    }
    /* A game without one leaves the option to be refused. */
    return rc != 0 || !p->ramp ? rc : aq_env_option_bool(opening->options, "ramp", &p->ramp, error);
}

void aq_game_schema(const void *params, aq_schema *ret_schema)
{
    const aq_game_params *p = params;
    memset(ret_schema, 0, sizeof(*ret_schema));
    ret_schema->obs = (aq_space){
        .kind = AQ_SPACE_BOX,
        .dtype = AQ_DTYPE_U8,
        .rank = 3,
        .shape = {AQ_GAME_SIDE, AQ_GAME_SIDE, p->look->channels},
        .bound_count = 1,
        .low = {0},
        .high = {AQ_GAME_LIT},
    };
    const uint32_t pair[] = {p->action_count, 2};
    if (p->has_pair) {
        aq_space_init_choices(&ret_schema->action, 2, pair);
    } else {
        aq_space_init_discrete(&ret_schema->action, p->action_count);
    }
}

aq_game_press aq_game_press_of(const void *params, const void *row)
{
    const aq_game_params *p = params;
    const int32_t *numbers = row;
    AQ_ASSERT(numbers[0] >= 0);
    AQ_ASSERT(numbers[0] < p->action_count);
    const enum aq_game_action action = p->actions[numbers[0]];
    const bool is_shot = action == AQ_GAME_FIRE;
    return (aq_game_press){
        .move = is_shot ? AQ_GAME_STAY : action,
        .fires = p->has_pair ? numbers[1] != 0 : is_shot,
    };
}

void aq_game_answer(const void *params, enum aq_game_action action, void *ret_row)
{
    const aq_game_params *p = params;
    int32_t *numbers = ret_row;
    if (p->has_pair) {
        numbers[1] = action == AQ_GAME_FIRE;
        action = action == AQ_GAME_FIRE ? AQ_GAME_STAY : action;
    }
    numbers[0] = 0;
    while (p->actions[numbers[0]] != action) {
        numbers[0]++;
        AQ_ASSERT(numbers[0] < p->action_count);
    }
}

void aq_game_move(enum aq_game_action action, uint8_t *row, uint8_t *column)
{
    if (action == AQ_GAME_UP && *row > 0) {
        (*row)--;
    } else if (action == AQ_GAME_DOWN && *row < AQ_GAME_LAST) {
        (*row)++;
    } else if (action == AQ_GAME_LEFT && *column > 0) {
        (*column)--;
    } else if (action == AQ_GAME_RIGHT && *column < AQ_GAME_LAST) {
        (*column)++;
    }
}

enum aq_game_action aq_game_way(const aq_game_map *map)
{
    static const enum aq_game_action moves[] = {AQ_GAME_UP, AQ_GAME_DOWN, AQ_GAME_LEFT,
                                                AQ_GAME_RIGHT};
    struct {
        uint8_t row, column;
        enum aq_game_action move; /* with which the way to here began */
    } cells[AQ_GAME_SIDE * AQ_GAME_SIDE] = {{map->row, map->column, AQ_GAME_STAY}};
    bool seen[AQ_GAME_SIDE][AQ_GAME_SIDE], has_spare = false;
    enum aq_game_action spare = AQ_GAME_STAY;
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
        for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
            uint8_t to_row = cells[at].row, to_column = cells[at].column;
            aq_game_move(moves[i], &to_row, &to_column);
            if (!seen[to_row][to_column]) {
                seen[to_row][to_column] = true;
                cells[count].row = to_row;
                cells[count].column = to_column;
                cells[count++].move = at == 0 ? moves[i] : cells[at].move;
            }
        }
    }
    return spare;
}

static aq_colour cell_colour(const uint8_t *cell, const aq_game_look *look)
{
    for (uint32_t channel = 0; channel < look->channels; channel++) {
        if (cell[channel]) {
            return look->colours[channel];
        }
    }
    return look->background;
}

void aq_game_draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_game_look *look = ((const aq_game_params *)params)->look;
    uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_GAME_CHANNELS_MAX];
    const uint8_t *cell = obs;
    look->observe(params, state, obs);
    for (uint32_t row = 0; row < AQ_GAME_SIDE; row++) {
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++, cell += look->channels) {
            aq_canvas_cell(canvas, AQ_GAME_SIDE, AQ_GAME_SIDE, row, column,
                           cell_colour(cell, look));
        }
    }
}
