/*
 * The tables that settings describe.
 */
#include "common/config/run_tables.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

typedef struct room {
    const char *settings[CONFIG_SETTINGS_MAX];
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
    EACH_ROW(i, rooms) {
        const aq_run_config config = config_with(rooms[i].settings);
        aq_run_tables tables;
        assert_int_equal(aq_run_tables_make(&config, &tables, NULL), 0);
        assert_int_equal(tables.count, 2);
        assert_true(tables.specs[0].tolerance == rooms[i].main);
        assert_true(tables.specs[1].tolerance == rooms[i].other);
    }
}

TEST(the_main_table_is_made_of_the_settings)
{
    static const char *const settings[CONFIG_SETTINGS_MAX] = {
        "replay.selector=prioritized", "replay.tables=recent: selector=lifo capacity=5000",
        "learner.n_step=5"};
    const aq_run_config config = config_with(settings);
    aq_run_tables tables;
    assert_int_equal(aq_run_tables_make(&config, &tables, NULL), 0);
    assert_int_equal(tables.count, 2);
    assert_int_equal(tables.learner, 0);
    const aq_table_spec *main_table = &tables.specs[0], *recent = &tables.specs[1];
    assert_string_equal(main_table->name, "main");
    assert_int_equal(main_table->selector, AQ_SELECTOR_PRIORITIZED);
    assert_int_equal(main_table->n_step, 5);
    assert_int_equal(main_table->capacity, 100000);
    assert_int_equal(recent->selector, AQ_SELECTOR_LIFO);
    assert_int_equal(recent->n_step, 5);
}
