/*
 * Maps are read row by row: S start, F ice, H hole, G goal.
 */
#include "envs/text/frozen_lake.h"

#include <math.h>

enum { ACTIONS = 4 };

/* The chance that a step on slippery ice goes as it should, and that it goes to a given side. */
#define STRAIGHT (1.0 / 3.0)
#define ASIDE    ((1.0 - STRAIGHT) / 2.0)

static const char map_4x4[] = "SFFF"
                              "FHFH"
                              "FFFH"
                              "HFFG";

static const char map_8x8[] = "SFFFFFFF"
                              "FFFFFFFF"
                              "FFFHFFFF"
                              "FFFFFHFF"
                              "FFFHFFFF"
                              "FHHFFFHF"
                              "FHFFHFHF"
                              "FFFHFFFG";

static const char *const map_names[] = {"4x4", "8x8", NULL};

static aq_tabular_outcome outcome_of(const aq_tabular *table, uint32_t cell, uint32_t action,
                                     double chance)
{
    static const int down[ACTIONS] = {0, 1, 0, -1}, right[ACTIONS] = {-1, 0, 1, 0};
    const uint32_t next = aq_tabular_moved(table, cell, down[action], right[action]);
    const char letter = table->cells[next];
    return (aq_tabular_outcome){
        .chance = chance,
        .next = next,
        .reward = letter == 'G' ? 1.0 : 0.0,
        .terminated = letter == 'G' || letter == 'H',
    };
}

static size_t outcomes(const aq_tabular *table, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes)
{
    const char letter = table->cells[cell];
    if (letter == 'G' || letter == 'H') { /* an episode that has ended stays there */
        ret_outcomes[0] = (aq_tabular_outcome){.chance = 1.0, .next = cell, .terminated = true};
        return 1;
    }
    if (!table->is_slippery) {
        ret_outcomes[0] = outcome_of(table, cell, action, 1.0);
        return 1;
    }
    ret_outcomes[0] = outcome_of(table, cell, (action + 3) % ACTIONS, ASIDE);
    ret_outcomes[1] = outcome_of(table, cell, action, STRAIGHT);
    ret_outcomes[2] = outcome_of(table, cell, (action + 1) % ACTIONS, ASIDE);
    return 3;
}

static bool is_start(const aq_tabular *table, uint32_t cell)
{
    return table->cells[cell] == 'S';
}

static const aq_tabular_rules rules = {.outcomes = outcomes, .is_start = is_start};

#define LAKE(side, map)                                                                            \
    {                                                                                              \
        .rules = &rules, .state_count = (side) * (side), .action_count = ACTIONS, .rows = (side),  \
        .columns = (side), .cells = (map), .is_slippery = true                                     \
    }

/* In the order of map_names. */
static const aq_tabular lakes[] = {LAKE(4, map_4x4), LAKE(8, map_8x8)};

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_tabular *table = params;
    const uint32_t own = table->rows == lakes[0].rows ? 0 : 1;
    uint32_t map = own;
    int rc = aq_env_option_choice(opening->options, "map", map_names, &map, error);
    if (rc == 0) {
        *table = lakes[map];
        if (map != own) { /* the threshold may be out of reach there in as many steps */
            opening->reward_threshold = (double)NAN;
        }
        rc = aq_env_option_bool(opening->options, "slippery", &table->is_slippery, error);
    }
    return rc != 0 ? rc : aq_tabular_open(table, opening, error);
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_tabular *table = params;
    const uint32_t at = ((const aq_tabular_state *)state)->cell;
    const aq_colour ice = {225, 238, 246}, hole = {40, 80, 130}, goal = {240, 190, 60},
                    start = {190, 225, 190}, elf = {190, 50, 60};
    for (uint32_t cell = 0; cell < table->state_count; cell++) {
        const char letter = table->cells[cell];
        aq_canvas_cell(canvas, table->rows, table->columns, cell / table->columns,
                       cell % table->columns,
                       letter == 'H'   ? hole
                       : letter == 'G' ? goal
                       : letter == 'S' ? start
                                       : ice);
    }
    aq_canvas_disc(
        canvas,
        aq_tabular_point(table, canvas, at / table->columns + 0.5, at % table->columns + 0.5),
        0.3 / table->rows, elf);
}

const aq_env_class aq_frozen_lake_v1 = {
    .name = "gym:FrozenLake-v1",
    .summary = "Cross a frozen lake without falling through a hole; a table of cells.",
    .options = "map, slippery",
    .step_limit = 100,
    .reward_threshold = 0.7,
    .defaults = &lakes[0],
    .open = open_task,
    .draw = draw,
    AQ_TABULAR_MEMBERS,
};

const aq_env_class aq_frozen_lake_8x8_v1 = {
    .name = "gym:FrozenLake8x8-v1",
    .summary = "Cross a larger frozen lake in 200 steps; a table of cells.",
    .options = "map, slippery",
    .step_limit = 200,
    .reward_threshold = 0.85,
    .defaults = &lakes[1],
    .open = open_task,
    .draw = draw,
    AQ_TABULAR_MEMBERS,
};
