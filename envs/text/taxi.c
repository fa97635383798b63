/*
 * Walls stand between columns only: `walls` marks the cells with one on their right side.
 */
#include "envs/text/taxi.h"

enum { SIDE = 5, STANDS = 4, IN_TAXI = 4, PASSENGERS = STANDS + 1 };
enum { STATES = SIDE * SIDE * PASSENGERS * STANDS };
enum { SOUTH, NORTH, EAST, WEST, PICK_UP, SET_DOWN, ACTIONS };

#define STEP_REWARD    (-1.0)
#define REFUSED_REWARD (-10.0)
#define ARRIVED_REWARD 20.0

typedef struct ride {
    uint32_t cell; /* row * SIDE + column */
    uint32_t passenger;
    uint32_t destination;
} ride;

static const char walls[] = ".|..."
                            ".|..."
                            "....."
                            "|.|.."
                            "|.|..";

/* Red, green, yellow, blue. */
static const uint32_t stands[STANDS] = {0 * SIDE + 0, 0 * SIDE + 4, 4 * SIDE + 0, 4 * SIDE + 3};

static ride ride_of(uint32_t state)
{
    return (ride){
        .cell = state / STANDS / PASSENGERS,
        .passenger = state / STANDS % PASSENGERS,
        .destination = state % STANDS,
    };
}

static uint32_t state_of(ride r)
{
    return (r.cell * PASSENGERS + r.passenger) * STANDS + r.destination;
}

static uint32_t driven(const aq_tabular *table, uint32_t cell, uint32_t action)
{
    switch (action) {
    case SOUTH:
        return aq_tabular_moved(table, cell, 1, 0);
    case NORTH:
        return aq_tabular_moved(table, cell, -1, 0);
    case EAST:
        return table->cells[cell] == '|' ? cell : aq_tabular_moved(table, cell, 0, 1);
    default:
        return cell % SIDE > 0 && table->cells[cell - 1] == '|'
                   ? cell
                   : aq_tabular_moved(table, cell, 0, -1);
    }
}

/* The stand at that cell, or STANDS. */
static uint32_t stand_at(uint32_t cell)
{
    uint32_t stand = 0;
    while (stand < STANDS && stands[stand] != cell) {
        stand++;
    }
    return stand;
}

static size_t outcomes(const aq_tabular *table, uint32_t state, uint32_t action,
                       aq_tabular_outcome *ret_outcomes)
{
    ride r = ride_of(state);
    const uint32_t stand = stand_at(r.cell);
    double reward = STEP_REWARD;
    bool has_arrived = false;
    if (action < PICK_UP) {
        r.cell = driven(table, r.cell, action);
    } else if (action == PICK_UP && r.passenger < STANDS && stand == r.passenger) {
        r.passenger = IN_TAXI;
    } else if (action == SET_DOWN && r.passenger == IN_TAXI && stand < STANDS) {
        r.passenger = stand;
        has_arrived = stand == r.destination;
        reward = has_arrived ? ARRIVED_REWARD : STEP_REWARD;
    } else {
        reward = REFUSED_REWARD;
    }
    ret_outcomes[0] = (aq_tabular_outcome){
        .chance = 1.0,
        .next = state_of(r),
        .reward = reward,
        .terminated = has_arrived,
    };
    return 1;
}

static bool is_start(const aq_tabular *table, uint32_t state)
{
    const ride r = ride_of(state);
    (void)table;
    return r.passenger < STANDS && r.passenger != r.destination;
}

static const aq_tabular_rules rules = {.outcomes = outcomes, .is_start = is_start};

static const aq_tabular grid = {
    .rules = &rules,
    .state_count = STATES,
    .action_count = ACTIONS,
    .rows = SIDE,
    .columns = SIDE,
    .cells = walls,
};

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_tabular *table = params;
    const ride r = ride_of(((const aq_tabular_state *)state)->cell);
    const aq_colour road = {232, 232, 226}, wall = {60, 60, 60}, person = {40, 40, 140},
                    empty = {235, 195, 50}, taken = {120, 190, 90}, mark = {30, 30, 30};
    const aq_colour paints[STANDS] = {
        {220, 120, 110}, {140, 200, 140}, {235, 220, 130}, {140, 170, 220}};
    for (uint32_t cell = 0; cell < SIDE * SIDE; cell++) {
        const uint32_t stand = stand_at(cell);
        aq_canvas_cell(canvas, SIDE, SIDE, cell / SIDE, cell % SIDE,
                       stand < STANDS ? paints[stand] : road);
    }
    for (uint32_t cell = 0; cell < SIDE * SIDE; cell++) {
        const uint32_t row = cell / SIDE, column = cell % SIDE;
        if (table->cells[cell] == '|') {
            aq_canvas_stroke(canvas, aq_tabular_point(table, canvas, row, column + 1),
                             aq_tabular_point(table, canvas, row + 1, column + 1), 0.012, wall);
        }
    }
    const uint32_t goal = stands[r.destination];
    aq_canvas_disc(canvas, aq_tabular_point(table, canvas, goal / SIDE + 0.2, goal % SIDE + 0.2),
                   0.02, mark);
    const aq_point middle =
        aq_tabular_point(table, canvas, r.cell / SIDE + 0.5, r.cell % SIDE + 0.5);
    aq_canvas_stroke(canvas, (aq_point){middle.x - 0.035, middle.y},
                     (aq_point){middle.x + 0.035, middle.y}, 0.08,
                     r.passenger == IN_TAXI ? taken : empty);
    if (r.passenger < STANDS) {
        const uint32_t waits = stands[r.passenger];
        aq_canvas_disc(canvas,
                       aq_tabular_point(table, canvas, waits / SIDE + 0.75, waits % SIDE + 0.75),
                       0.03, person);
    }
}

#define TAXI_MEMBERS                                                                               \
    .summary = "Fetch a passenger in a walled grid and set them down; a table of states.",         \
    .step_limit = 200, .reward_threshold = 8.0, .defaults = &grid, .open = aq_tabular_open,        \
    .draw = draw, AQ_TABULAR_MEMBERS

const aq_env_class aq_taxi_v3 = {.name = "gym:Taxi-v3", TAXI_MEMBERS};
const aq_env_class aq_taxi_v4 = {.name = "gym:Taxi-v4", TAXI_MEMBERS};
