/*
 * Toy text against Gymnasium's transition tables, number for number, and against recorded episodes.
 * On slippery ground an episode can't be repeated, since NumPy draws otherwise: then each recorded
 * step has to be one that may come.
 */
#include "envs/env_golden.h"
#include "envs/env_open.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_gym.h"

/* Places of a "table", an "outcomes" and a "step" record. */
enum { STATES = 0, ACTIONS = 1, LIMIT = 2, THRESHOLD = 3 };
enum { CELL = 0, CELL_ACTION = 1, OUTCOMES = 2, NUMBERS_PER_OUTCOME = 4 };
enum { ACTION = 0, NEXT = 1, REWARD = 2, TERMINATED = 3, TRUNCATED = 4, CHANCE = 5 };

typedef struct game {
    aq_env *env;
    const struct aq_env_golden *golden;
    uint32_t cell;
    uint32_t starts, pairs, steps; /* records seen */
} game;

static void check_description(const game *g, const golden_record *record)
{
    const double *values = record->values;
    assert_true((double)g->env->schema.obs.choice_count == values[STATES]);
    assert_true((double)g->env->schema.action.choice_count == values[ACTIONS]);
    assert_true((double)g->env->step_limit == values[LIMIT]);
    assert_true(isnan(values[THRESHOLD]) ? isnan(g->env->reward_threshold)
                                         : g->env->reward_threshold == values[THRESHOLD]);
}

static void check_outcomes(const game *g, const golden_record *record)
{
    aq_golden_outcome outcomes[AQ_GOLDEN_OUTCOMES_MAX];
    const size_t count = g->golden->outcomes(g->env->params, (uint32_t)record->values[CELL],
                                             (uint32_t)record->values[CELL_ACTION], outcomes);
    assert_int_equal(record->count, OUTCOMES + count * NUMBERS_PER_OUTCOME);
    for (size_t i = 0; i < count; i++) {
        const double *values = &record->values[OUTCOMES + i * NUMBERS_PER_OUTCOME];
        assert_true(outcomes[i].chance == values[0]);
        assert_true((double)outcomes[i].next == values[1]);
        assert_true(outcomes[i].reward == values[2]);
        assert_true((double)outcomes[i].terminated == values[3]);
    }
}

static bool is_recorded(const aq_golden_outcome *outcome, const double *values)
{
    return outcome->chance == values[CHANCE] && (double)outcome->next == values[NEXT] &&
           outcome->reward == values[REWARD] && (double)outcome->terminated == values[TERMINATED];
}

static void check_may_come(const game *g, const golden_record *record)
{
    aq_golden_outcome outcomes[AQ_GOLDEN_OUTCOMES_MAX];
    const size_t count =
        g->golden->outcomes(g->env->params, g->cell, (uint32_t)record->values[ACTION], outcomes);
    size_t i = 0;
    while (i < count && !is_recorded(&outcomes[i], record->values)) {
        i++;
    }
    assert_true(i < count);
}

static void check_step(const game *g, const golden_record *record)
{
    const double cell = g->cell;
    const aq_golden_values at = {.count = 1,
                                 .rows = {{.name = "state", .count = 1, .numbers = &cell}}};
    const int32_t action = (int32_t)record->values[ACTION];
    _Alignas(16) uint8_t state[64] = {0};
    int32_t obs;
    float reward;
    assert_int_equal(g->golden->set(g->env->params, state, &at, NULL), 0);
    enum aq_step_end end = g->env->class->step(g->env->params, state, NULL, &action, &obs, &reward);
    assert_true((double)obs == record->values[NEXT]);
    assert_true((double)reward == record->values[REWARD]);
    assert_int_equal(end, record->values[TERMINATED] != 0.0 ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON);
}

static void take(game *g, const golden_record *record)
{
    const double *values = record->values;
    if (strcmp(record->kind, "table") == 0) {
        check_description(g, record);
    } else if (strcmp(record->kind, "start") == 0) {
        assert_true(g->golden->start_chance(g->env->params, (uint32_t)values[0]) == values[1]);
        g->starts++;
    } else if (strcmp(record->kind, "outcomes") == 0) {
        check_outcomes(g, record);
        g->pairs++;
    } else if (strcmp(record->kind, "reset") == 0) {
        g->cell = (uint32_t)values[0];
        assert_true(g->golden->start_chance(g->env->params, g->cell) > 0.0);
    } else {
        assert_string_equal(record->kind, "step");
        check_may_come(g, record);
        if (values[CHANCE] == 1.0) {
            check_step(g, record);
        }
        g->cell = (uint32_t)values[NEXT];
        g->steps++;
    }
}

static void check_table(const char *file_name, const char *task)
{
    FILE *file = golden_open(file_name);
    golden_record record;
    game g = {0};
    assert_succeeds(aq_env_open(task, &g.env, &refusal));
    g.golden = g.env->class->golden;
    while (golden_next(file, &record)) {
        take(&g, &record);
    }
    fclose(file);

    const uint32_t states = g.env->schema.obs.choice_count;
    assert_int_equal(g.pairs, states * g.env->schema.action.choice_count);
    assert_int_equal(g.steps, 120);
    double sum = 0.0;
    uint32_t starts = 0;
    for (uint32_t cell = 0; cell < states; cell++) {
        const double chance = g.golden->start_chance(g.env->params, cell);
        starts += chance > 0.0;
        sum += chance;
    }
    assert_int_equal(starts, g.starts); /* the file names those alone that are possible */
    assert_true(fabs(sum - 1.0) < 1e-12);
    aq_env_unref(g.env);
}

TEST(the_small_frozen_lake_agrees)
{
    check_table("gym/FrozenLake-v1_4x4_slippery.csv", "gym:FrozenLake-v1");
    check_table("gym/FrozenLake-v1_4x4_deterministic.csv", "gym:FrozenLake-v1?slippery=no");
}

TEST(the_large_frozen_lake_agrees)
{
    check_table("gym/FrozenLake-v1_8x8_slippery.csv", "gym:FrozenLake-v1?map=8x8");
    check_table("gym/FrozenLake-v1_8x8_deterministic.csv", "gym:FrozenLake-v1?map=8x8&slippery=no");
}

TEST(the_cliff_agrees)
{
    check_table("gym/CliffWalking-v1.csv", "gym:CliffWalking-v1");
    check_table("gym/CliffWalking-v1_slippery.csv", "gym:CliffWalking-v1?slippery=yes");
}

TEST(both_taxis_agree)
{
    check_table("gym/Taxi-v3.csv", "gym:Taxi-v3");
    check_table("gym/Taxi-v3.csv", "gym:Taxi-v4");
}
