/*
 * Settings of replay with which somebody would wait for ever, or something would be lost that was
 * asked to be kept, are refused before a run starts.
 */
#include <string.h>

#include "common/config/run_config.h"
#include "tests/support/test.h"

enum { SETTINGS_MAX = 6, WORDS_MAX = 4 };

static aq_run_config config_with(const char *const *assignments)
{
    aq_run_config config;
    aq_error error = {0};
    memset(&config, 0, sizeof(config));
    aq_settings_init(aq_run_config_table(), &config);
    for (int i = 0; i < SETTINGS_MAX && assignments[i] != NULL; i++) {
        assert_succeeds(aq_settings_assign(aq_run_config_table(), assignments[i], &config, &error),
                        &error);
    }
    return config;
}

typedef struct refusal {
    const char *settings[SETTINGS_MAX];
    const char *words[WORDS_MAX];
} refusal;

TEST(settings_that_contradict_each_other_are_refused)
{
    static const refusal refusals[] = {
        {{"learner.table=mian"}, {"learner.table", "'mian'", "did you mean main?"}},
        {{"learner.table=elsewhere"}, {"'elsewhere'", "see replay.tables"}},
        {{"replay.tables=recent"}, {"replay: ", "\"recent\" has no name"}},
        {{"replay.tables=recent: capacity=50"}, {"table recent: capacity is 50"}},
        {{"replay.sequence_length=8"},
         {"learner.table main", "sequences of 8", "sequence_length=0 works"}},
        {{"replay.tables=whole: sequence_length=33"},
         {"replay.chunk_length is 32", "sequence_length 33 of table whole"}},
        {{"replay.tables=long: n_step=40"}, {"replay.chunk_length is 32", "learner.n_step 40"}},
        {{"replay.tables=small: capacity=100", "replay.chunk_length=60", "replay.min_size=2000"},
         {"table small: capacity 100", "which takes 120"}},
        {{"replay.tables=q: selector=queue"},
         {"table q is a queue", "learner.table is main", "for ever"}},
        {{"replay.tables=other: samples_per_insert=4"},
         {"table other has samples_per_insert 4", "learner.table is main"}},
        {{"replay.tables=other: capacity=5000", "learner.table=other"},
         {"table main has samples_per_insert 32", "learner.table is other", "=0 works"}},
        {{"replay.selector=queue"}, {"table main: a queue", "samples_per_insert=0 works"}},
        {{"replay.selector=queue", "replay.samples_per_insert=0", "replay.capacity=1000"},
         {"table main is a queue of capacity 1000", "512 items", "1024 is the least"}},
        {{"replay.times_sampled_max=8"}, {"times_sampled_max 8", "samples_per_insert 32"}},
        {{"replay.segment_bytes=65536"}, {"replay.segment_bytes 65536", "net.message_bytes"}},
        {{"replay.memory_bytes=1000000", "replay.storage=memory"},
         {"replay.memory_bytes 1000000", "replay.storage=segments works"}},
        {{"replay.memory_bytes=1000000", "replay.compression=true"},
         {"replay.memory_bytes 1000000", "replay.compression=false works"}},
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const aq_run_config config = config_with(refusals[i].settings);
        aq_error error = {0};
        assert_int_equal(aq_run_config_validate(&config, &error), AQ_E_INVALID);
        for (int k = 0; k < WORDS_MAX && refusals[i].words[k] != NULL; k++) {
            assert_says(error.text, refusals[i].words[k]);
        }
    }
}

TEST(what_goes_together_is_accepted)
{
    static const char *const settings[][SETTINGS_MAX] = {
        {"replay.selector=prioritized", "replay.priority_exponent=0"},
        {"replay.selector=prioritized", "replay.remover=lowest-priority"},
        {"replay.selector=queue", "replay.samples_per_insert=0", "replay.capacity=1024"},
        {"replay.samples_per_insert=0", "replay.tolerance=1"},
        {"replay.times_sampled_max=32"},
        {"replay.tables=recent: selector=lifo capacity=10000; whole: sequence_length=32"},
        {"replay.tables=other: samples_per_insert=4", "learner.table=other",
         "replay.samples_per_insert=0"},
        {"replay.segment_bytes=262144"},
        {"replay.memory_bytes=1000000"},
        {"replay.storage=memory", "replay.compression=true"},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const aq_run_config config = config_with(settings[i]);
        aq_error error = {0};
        assert_succeeds(aq_run_config_validate(&config, &error), &error);
    }
}

typedef struct room {
    const char *settings[SETTINGS_MAX];
    double main, other; /* what the tolerance of the tables comes to */
} room;

TEST(without_a_tolerance_there_is_enough)
{
    static const room rooms[] = {
        {{"replay.tables=other: samples_per_insert=0.25"}, 2000, 2048 + 32},
        {{"actor.count=64", "replay.tables=other: samples_per_insert=1"}, 16384, 16384},
        {{"actor.count=64", "replay.tables=other: samples_per_insert=1 tolerance=5"}, 16384, 5},
        {{"replay.tolerance=3000", "replay.tables=other: samples_per_insert=1"}, 3000, 3000},
        {{"replay.tolerance=3000", "replay.tables=other: samples_per_insert=0.25 tolerance=0"},
         3000,
         2048 + 32},
        {{"replay.tables=other: selector=lifo"}, 2000, 0},
    };
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        const aq_run_config config = config_with(rooms[i].settings);
        aq_table_spec specs[AQ_TABLES_MAX];
        uint32_t count = 0, learner = 7;
        assert_int_equal(aq_run_config_tables(&config, specs, &count, &learner, NULL), 0);
        assert_int_equal(count, 2);
        if (specs[0].tolerance != rooms[i].main || specs[1].tolerance != rooms[i].other) {
            fail_msg("%s: %g and %g", rooms[i].settings[0], specs[0].tolerance, specs[1].tolerance);
        }
    }
}

TEST(the_main_table_is_made_of_the_settings)
{
    static const char *const settings[SETTINGS_MAX] = {
        "replay.selector=prioritized", "replay.tables=recent: selector=lifo capacity=5000",
        "learner.n_step=5"};
    const aq_run_config config = config_with(settings);
    aq_table_spec specs[AQ_TABLES_MAX];
    uint32_t count = 0, learner = 7;
    assert_int_equal(aq_run_config_tables(&config, specs, &count, &learner, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(learner, 0);
    assert_string_equal(specs[0].name, "main");
    assert_int_equal(specs[0].selector, AQ_SELECTOR_PRIORITIZED);
    assert_int_equal(specs[0].n_step, 5);
    assert_int_equal(specs[0].capacity, 100000);
    assert_int_equal(specs[1].selector, AQ_SELECTOR_LIFO);
    assert_int_equal(specs[1].n_step, 5);
}
