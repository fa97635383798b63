/*
 * The map is read row by row: S start, C cliff, G goal, anything else ground.
 */
#include "envs/text/cliff_walking.h"

#include <math.h>

enum { ROWS = 4, COLUMNS = 12, START = 36, ACTIONS = 4 };

#define STEP_REWARD (-1.0)
#define FALL_REWARD (-100.0)

static const char map[] = "............"
                          "............"
                          "............"
                          "SCCCCCCCCCCG";

static aq_tabular_outcome outcome_of(const aq_tabular *table, uint32_t cell, uint32_t action,
                                     double chance)
{
    static const int down[ACTIONS] = {-1, 0, 1, 0}, right[ACTIONS] = {0, 1, 0, -1};
    const uint32_t next = aq_tabular_moved(table, cell, down[action], right[action]);
    const bool falls = table->cells[next] == 'C';
    return (aq_tabular_outcome){
        .chance = chance,
        .next = falls ? START : next,
        .reward = falls ? FALL_REWARD : STEP_REWARD,
        .terminated = table->cells[next] == 'G',
    };
}

static size_t outcomes(const aq_tabular *table, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes)
{
    if (!table->is_slippery) {
        ret_outcomes[0] = outcome_of(table, cell, action, 1.0);
        return 1;
    }
    for (uint32_t i = 0; i < 3; i++) {
        ret_outcomes[i] = outcome_of(table, cell, (action + 3 + i) % ACTIONS, 1.0 / 3.0);
    }
    return 3;
}

static bool is_start(const aq_tabular *table, uint32_t cell)
{
    (void)table;
    return cell == START;
}

static const aq_tabular_rules rules = {.outcomes = outcomes, .is_start = is_start};

static const aq_tabular grid = {
    .rules = &rules,
    .state_count = ROWS * COLUMNS,
    .action_count = ACTIONS,
    .rows = ROWS,
    .columns = COLUMNS,
    .cells = map,
};

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_tabular *table = params;
    int rc = aq_env_option_bool(opening->options, "slippery", &table->is_slippery, error);
    return rc != 0 ? rc : aq_tabular_open(table, opening, error);
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_tabular *table = params;
    const uint32_t at = ((const aq_tabular_state *)state)->cell;
    const aq_colour grass = {150, 185, 120}, other_grass = {140, 176, 112}, cliff = {70, 55, 50},
                    start = {225, 215, 160}, goal = {240, 190, 60}, walker = {190, 50, 60};
    for (uint32_t cell = 0; cell < table->state_count; cell++) {
        const uint32_t row = cell / COLUMNS, column = cell % COLUMNS;
        const char letter = table->cells[cell];
        aq_canvas_cell(canvas, ROWS, COLUMNS, row, column,
                       letter == 'C'             ? cliff
                       : letter == 'S'           ? start
                       : letter == 'G'           ? goal
                       : (row + column) % 2 == 0 ? grass
                                                 : other_grass);
    }
    aq_canvas_disc(canvas, aq_tabular_point(table, canvas, at / COLUMNS + 0.5, at % COLUMNS + 0.5),
                   0.35 / COLUMNS, walker);
}

const aq_env_class aq_cliff_walking_v1 = {
    .name = "gym:CliffWalking-v1",
    .summary = "Walk along a cliff from one corner to the other; a table of cells.",
    .options = "slippery",
    .reward_threshold = NAN,
    .defaults = &grid,
    .open = open_task,
    .draw = draw,
    AQ_TABULAR_MEMBERS,
};
