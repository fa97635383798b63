/*
 * Pacing: what its settings come to, and what they go together with.
 */
#include "common/config/pacing.h"
#include "common/config/run_rules.h"
#include "common/config/run_tables.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

enum { SETTINGS_MAX = 8 };

/* A queue that can be paced. */
static const char *const queue[] = {"replay.selector=queue", "replay.samples_per_insert=0",
                                    "learner.n_step=1", NULL};

static void set(aq_run_config *config, const char *const *settings)
{
    for (; *settings != NULL; settings++) {
        config_set(config, *settings);
    }
}

static aq_run_config config_of(const char *const *base, const char *const *settings)
{
    aq_run_config config = config_defaults();
    set(&config, base);
    set(&config, settings);
    return config;
}

TEST(what_the_settings_come_to)
{
    static const struct {
        const char *settings[SETTINGS_MAX];
        uint32_t versions_max;
        uint64_t steps, rows;
    } cases[] = {
        {{"learner.lag_max=auto"}, 0, 0, 512},
        {{"learner.lag_max=none"}, 0, 0, 512},
        {{"learner.lag_max=0"}, 1, 0, 512},
        {{"learner.lag_max=7"}, 8, 0, 512},
        {{"learner.lag_max=0", "replay.sequence_length=16", "replay.sequence_period=16"},
         1,
         256,
         256},
        {{"learner.lag_max=0", "replay.sequence_length=16", "replay.sequence_period=16",
          "learner.group_steps=1000"},
         1,
         1000,
         1000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        aq_run_config config = config_of(queue, cases[i].settings);
        assert_succeeds(aq_pacing_check(&config, &refusal));
        assert_int_equal(aq_pacing_versions_max(&config), cases[i].versions_max);
        assert_int_equal(aq_pacing_group_steps(&config), cases[i].steps);
        assert_int_equal(aq_pacing_group_rows(&config), cases[i].rows);
    }
}

/* Also where they are asked for by rows. */
TEST(a_group_has_room_for_whole_sequences)
{
    static const char *const sequences[] = {"replay.sequence_length=16", NULL};
    aq_run_config config = config_of(queue, sequences);
    assert_int_equal(aq_pacing_group_steps_max(&config, 16), 256 + 16);
    config_set(&config, "replay.selector=uniform");
    assert_int_equal(aq_pacing_group_steps_max(&config, 16), 512 * 16);
}

TEST(settings_that_do_not_go_with_pacing_are_refused)
{
    static const struct {
        const char *settings[SETTINGS_MAX];
        const char *words;
    } cases[] = {
        {{"learner.lag_max=-1"}, "learner.lag_max is \"-1\"; \"auto\", \"none\" and 0 to 1000000"},
        {{"learner.lag_max=few"}, "learner.lag_max is \"few\""},
        {{"learner.lag_max=0", "replay.selector=uniform"}, "replay.selector=queue"},
        {{"learner.lag_max=0", "replay.tables=a: selector=lifo"}, "an empty replay.tables"},
        {{"learner.lag_max=0", "actor.random_first=true"}, "actor.random_first=false works"},
        {{"learner.lag_max=none", "actor.random_first=true", "learner.algorithm=ppo",
          "replay.sequence_length=16", "replay.sequence_period=16"},
         "no policy chose, and ppo learns"},
        {{"learner.lag_max=0", "learner.n_step=3"}, "learner.n_step is 3"},
        {{"learner.lag_max=0", "replay.sequence_length=16"}, "replay.sequence_period is 1"},
        {{"learner.lag_max=none", "replay.sequence_length=16"}, "replay.sequence_period is 1"},
        {{"learner.lag_max=0", "replay.capacity=1023"}, "1024 is the least that works"},
        {{"learner.lag_max=1", "replay.capacity=1535"}, "1536 is the least that works"},
        {{"replay.sequence_length=32", "actor.envs=4096"}, "at most 65536 are possible"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        aq_run_config config = config_of(queue, cases[i].settings);
        assert_refused(aq_run_rules_check(&config, &refusal), AQ_E_INVALID, cases[i].words);
    }
}

TEST(a_paced_run_may_ask_for_less_than_min_size)
{
    aq_run_config config = config_of(queue, (const char *const[]){"learner.lag_max=0", NULL});
    aq_run_tables tables;
    assert_succeeds(aq_run_tables_make(&config, &tables, &refusal));
    assert_int_equal(tables.specs[0].min_size, 1);
}
