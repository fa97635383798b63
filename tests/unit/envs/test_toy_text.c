/*
 * Toy text beyond its tables: what is seen, how often slippery ground goes aside, where episodes
 * begin, and which states may be put in.
 */
#include "envs/text/cliff_walking.h"
#include "envs/text/frozen_lake.h"
#include "envs/text/taxi.h"
#include "tests/support/must.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

enum { TAXI_STATES = 500 };

static void check_text(const char *name, const char *expected)
{
    char text[128];
    aq_env *env = env_lane_open(name);
    assert_string_equal(aq_schema_text(&env->schema, text, sizeof(text)), expected);
}

TEST(a_state_is_seen_as_a_choice)
{
    check_text("gym:FrozenLake-v1", "discrete 16 -> discrete 4");
    check_text("gym:FrozenLake-v1?map=8x8", "discrete 64 -> discrete 4");
    check_text("gym:FrozenLake8x8-v1", "discrete 64 -> discrete 4");
    check_text("gym:CliffWalking-v1", "discrete 48 -> discrete 4");
    check_text("gym:Taxi-v3", "discrete 500 -> discrete 6");
    check_text("gym:Blackjack-v1", "discrete 704 -> discrete 2");
}

TEST(a_state_can_be_seen_as_one_of_many)
{
    check_text("gym:FrozenLake-v1?one_hot=yes", "box f32[16] -> discrete 4");
    check_text("gym:CliffWalking-v1?one_hot=yes", "box f32[48] -> discrete 4");
    check_text("gym:Taxi-v4?one_hot=yes", "box f32[500] -> discrete 6");
    check_text("gym:Taxi-v4?one_hot=bytes", "box u8[500] -> discrete 6");
    check_text("gym:Blackjack-v1?one_hot=bytes", "box u8[704] -> discrete 2");
}

static void check_one_of_many(const env_lane *counted, const env_lane *shown)
{
    const aq_space *space = &shown->env->schema.obs;
    const bool is_bytes = space->dtype == AQ_DTYPE_U8;
    const uint32_t state = *(const uint32_t *)(const void *)counted->obs;
    for (uint32_t i = 0; i < space->shape[0]; i++) {
        const float value =
            is_bytes ? (float)shown->obs[i] : ((const float *)(const void *)shown->obs)[i];
        assert_true(value == (i != state ? 0.0f : is_bytes ? 255.0f : 1.0f));
    }
}

/* Both are played alike, and only what is seen differs. */
static void check_shown(const char *name, const char *shown_name)
{
    env_lane counted, shown;
    env_lane_init(&counted, env_lane_open(name), 5);
    env_lane_init(&shown, env_lane_open(shown_name), 5);
    for (uint64_t i = test_rounds(2000); i > 0; i--) {
        check_one_of_many(&counted, &shown);
        env_lane_step(&counted);
        env_lane_step(&shown);
        assert_true(counted.reward == shown.reward);
        assert_int_equal(counted.end, shown.end);
    }
    env_lane_fini(&counted);
    env_lane_fini(&shown);
}

TEST(one_of_many_is_what_is_set_and_all_else_stays)
{
    check_shown("gym:Taxi-v3", "gym:Taxi-v3?one_hot=yes");
    check_shown("gym:FrozenLake-v1", "gym:FrozenLake-v1?one_hot=bytes");
    check_shown("gym:Blackjack-v1?natural=yes", "gym:Blackjack-v1?one_hot=bytes&natural=yes");
    check_shown("gym:CliffWalking-v1?sticky=0.3", "gym:CliffWalking-v1?sticky=0.3&one_hot=yes");
}

TEST(the_two_large_lakes_differ_in_length_and_threshold_alone)
{
    aq_env *named = env_lane_open("gym:FrozenLake8x8-v1");
    aq_env *mapped = env_lane_open("gym:FrozenLake-v1?map=8x8");
    assert_int_equal(named->step_limit, 200);
    assert_true(named->reward_threshold == 0.85);
    assert_int_equal(mapped->step_limit, 100);
    assert_true(isnan(mapped->reward_threshold));
    assert_memory_equal(named->params, mapped->params, sizeof(aq_tabular));
}

TEST(an_option_of_another_kind_is_refused)
{
    aq_env *env;
    assert_int_equal(aq_env_open("gym:FrozenLake-v1?map=5x5", &env, &refusal), AQ_E_INVALID);
    assert_int_equal(aq_env_open("gym:CliffWalking-v1?slippery=maybe", &env, &refusal),
                     AQ_E_INVALID);
    assert_int_equal(aq_env_open("gym:Taxi-v3?one_hot=2", &env, &refusal), AQ_E_INVALID);
    assert_int_equal(aq_env_open("gym:Taxi-v3?slippery=yes", &env, &refusal), AQ_E_INVALID);
}

/* 10,000 steps down from a cell in open ground: a third each goes down, left and right. */
static void check_slips(const char *name, uint32_t from, int32_t down, const uint32_t *targets)
{
    enum { STEPS = 10000, WAYS = 3 };
    const double error = sqrt(STEPS * (1.0 / 3.0) * (2.0 / 3.0));
    aq_env *env = env_lane_open(name);
    uint32_t counts[WAYS] = {0};
    aq_rng rng = rng_of(8, 0);
    for (int n = 0; n < STEPS; n++) {
        aq_tabular_state s = {.cell = from};
        int32_t obs;
        float reward;
        (void)env->class->step(env->params, &s, &rng, &down, &obs, &reward);
        uint32_t way = 0;
        while (way < WAYS && targets[way] != s.cell) {
            way++;
        }
        assert_true(way < WAYS);
        counts[way]++;
    }
    for (int way = 0; way < WAYS; way++) {
        assert_true(fabs(counts[way] - STEPS / 3.0) <= 4 * error);
    }
}

TEST(slippery_ground_goes_three_ways_alike)
{
    const uint32_t lake[] = {17, 8, 10}, cliff[] = {26, 13, 15};
    check_slips("gym:FrozenLake-v1?map=8x8", 9, 1, lake);
    check_slips("gym:CliffWalking-v1?slippery=yes", 14, 2, cliff);
}

TEST(a_taxi_starts_everywhere_alike)
{
    enum { RESETS = 30000, STARTS = 300 };
    static uint32_t counts[TAXI_STATES];
    const double expected = (double)RESETS / STARTS;
    aq_env *env = env_lane_open("gym:Taxi-v3");
    const aq_tabular *table = env->params;
    uint32_t seen = 0;
    double chi_square = 0.0;
    aq_rng rng = rng_of(9, 0);
    for (int n = 0; n < RESETS; n++) {
        aq_tabular_state s;
        int32_t obs;
        env->class->reset(env->params, &s, &rng, &obs);
        assert_int_equal(obs, s.cell);
        counts[s.cell]++;
    }
    for (uint32_t cell = 0; cell < TAXI_STATES; cell++) {
        const bool is_start = table->rules->is_start(table, cell);
        assert_true(is_start || counts[cell] == 0);
        seen += counts[cell] > 0;
        if (is_start) {
            chi_square += (counts[cell] - expected) * (counts[cell] - expected) / expected;
        }
    }
    assert_int_equal(seen, STARTS);
    /* Chi-square of 299 degrees of freedom: 4 standard deviations of sqrt(2 * 299). */
    assert_true(fabs(chi_square - (STARTS - 1)) <= 4 * sqrt(2.0 * (STARTS - 1)));
}

/* What the best policy makes of the steps that are left, by dynamic programming. */
static double best_return(const aq_env *env)
{
    static double now[TAXI_STATES], next[TAXI_STATES];
    const aq_tabular *table = env->params;
    const uint32_t states = env->schema.obs.choice_count;
    double mean = 0.0;
    memset(next, 0, sizeof(next));
    for (uint32_t step = 0; step < env->step_limit; step++) {
        for (uint32_t s = 0; s < states; s++) {
            now[s] = -INFINITY;
            for (uint32_t action = 0; action < env->schema.action.choice_count; action++) {
                aq_tabular_outcome outcomes[AQ_TABULAR_OUTCOMES_MAX];
                const size_t count = table->rules->outcomes(table, s, action, outcomes);
                double worth = 0.0;
                for (size_t i = 0; i < count; i++) {
                    const double after = outcomes[i].terminated ? 0.0 : next[outcomes[i].next];
                    worth += outcomes[i].chance * (outcomes[i].reward + after);
                }
                now[s] = fmax(now[s], worth);
            }
        }
        memcpy(next, now, sizeof(next));
    }
    for (uint32_t s = 0; s < states; s++) {
        mean += table->rules->is_start(table, s) ? next[s] / table->start_count : 0.0;
    }
    return mean;
}

/* Gymnasium's threshold for the taxi is above that, so its preset has another; a lake's would be on
 * another map, which has none. */
TEST(what_the_best_policy_reaches_is_known)
{
    static const struct {
        const char *task;
        double best;
        bool is_enough; /* to be solved */
    } rows[] = {{"gym:Taxi-v3", 7.93, false},
                {"gym:Taxi-v4", 7.93, false},
                {"gym:FrozenLake-v1", 0.74419, true},
                {"gym:FrozenLake-v1?map=8x8", 0.64072, false},
                {"gym:FrozenLake8x8-v1", 0.91322, true},
                {"gym:FrozenLake8x8-v1?map=4x4", 0.81673, false}};
    EACH_ROW(i, rows) {
        const aq_env *env = env_lane_open(rows[i].task);
        assert_true(fabs(best_return(env) - rows[i].best) < 1e-5);
        assert_int_equal(rows[i].best > env->reward_threshold, rows[i].is_enough);
    }
}

TEST(lakes_and_cliffs_start_at_their_start)
{
    const char *const names[] = {"gym:FrozenLake-v1", "gym:FrozenLake8x8-v1",
                                 "gym:CliffWalking-v1"};
    const uint32_t starts[] = {0, 0, 36};
    for (int i = 0; i < 3; i++) {
        aq_env *env = env_lane_open(names[i]);
        aq_tabular_state s;
        int32_t obs;
        aq_rng rng = rng_of(1, 0);
        env->class->reset(env->params, &s, &rng, &obs);
        assert_int_equal(s.cell, starts[i]);
    }
}

TEST(a_recorded_state_that_is_none_is_refused)
{
    const double cells[] = {16.0, -1.0, 2.5, NAN};
    aq_env *env = env_lane_open("gym:FrozenLake-v1");
    aq_tabular_state s = {.cell = 5};
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        const aq_golden_values values = {
            .count = 1, .rows = {{.name = "state", .count = 1, .numbers = &cells[i]}}};
        assert_int_equal(env->class->put(env->params, &s, &values, &refusal), AQ_E_INVALID);
        assert_int_equal(s.cell, 5);
    }
}

TEST(a_picture_shows_where_one_is)
{
    enum { WIDTH = 60, HEIGHT = 40, BYTES = WIDTH * HEIGHT * 3 };
    const char *const names[] = {"gym:FrozenLake-v1", "gym:CliffWalking-v1", "gym:Taxi-v3"};
    static uint8_t pictures[2][BYTES];
    for (int i = 0; i < 3; i++) {
        aq_env *env = env_lane_open(names[i]);
        for (uint32_t k = 0; k < 2; k++) {
            const aq_tabular_state s = {.cell = 1 + 9 * k};
            aq_canvas canvas = {.width = WIDTH, .height = HEIGHT, .pixels = pictures[k]};
            env->class->draw(env->params, &s, &canvas);
        }
        assert_memory_not_equal(pictures[0], pictures[1], BYTES);
    }
}
