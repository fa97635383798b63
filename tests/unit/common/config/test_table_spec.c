/*
 * Tables of replay are described by a line each; what is wrong with a line is said by quoting it.
 */
#include "common/config/run_config.h"
#include "common/config/table_spec.h"
#include "tests/support/test.h"

static aq_table_spec main_table(void)
{
    return (aq_table_spec){
        .name = "main",
        .selector = AQ_SELECTOR_PRIORITIZED,
        .priority_exponent = 0.6,
        .capacity = 100000,
        .n_step = 3,
        .sequence_period = 1,
        .min_size = 1000,
        .samples_per_insert = 8.0,
        .tolerance = 2000.0,
    };
}

static uint32_t parse(const char *text, aq_table_spec *specs)
{
    uint32_t count = 0;
    specs[0] = main_table();
    assert_succeeds(aq_table_specs_parse(text, specs, &count, &refusal));
    return count;
}

static void refuse(const char *text, const char *words)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    uint32_t count = 77;
    specs[0] = main_table();
    assert_refused(aq_table_specs_parse(text, specs, &count, &refusal), AQ_E_INVALID, words);
    assert_int_equal(count, 77);
}

static void refuse_spec(const aq_table_spec *spec, const char *words)
{
    assert_refused(aq_table_spec_validate(spec, &refusal), AQ_E_INVALID, words);
}

TEST(an_empty_text_adds_no_table)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse("", specs), 1);
    assert_int_equal(parse("   ", specs), 1);
    assert_int_equal(parse(" ; ;", specs), 1);
}

TEST(what_a_description_says_is_taken)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse("recent: selector=lifo  remover=lowest-priority priority_exponent=0.5 "
                           "capacity=10k capacity_bytes=1e6 times_sampled_max=4 n_step=5 "
                           "min_size=200 samples_per_insert=2.5 tolerance=300 ;"
                           "whole: sequence_length=40 sequence_period=20",
                           specs),
                     3);
    assert_string_equal(specs[1].name, "recent");
    assert_int_equal(specs[1].selector, AQ_SELECTOR_LIFO);
    assert_int_equal(specs[1].remover, AQ_REMOVER_LOWEST_PRIORITY);
    assert_true(specs[1].priority_exponent == 0.5);
    assert_int_equal(specs[1].capacity, 10000);
    assert_int_equal(specs[1].capacity_bytes, 1000000);
    assert_int_equal(specs[1].times_sampled_max, 4);
    assert_int_equal(specs[1].n_step, 5);
    assert_int_equal(specs[1].min_size, 200);
    assert_true(specs[1].samples_per_insert == 2.5);
    assert_true(specs[1].tolerance == 300.0);
    assert_string_equal(specs[2].name, "whole");
    assert_int_equal(specs[2].sequence_length, 40);
    assert_int_equal(specs[2].sequence_period, 20);
    assert_int_equal(aq_table_spec_span(&specs[2]), 40);
    assert_int_equal(aq_table_spec_span(&specs[1]), 5);
}

TEST(what_it_leaves_out_is_as_in_the_main_table_but_nobody_is_stopped)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse("other:", specs), 2);
    assert_int_equal(specs[1].selector, AQ_SELECTOR_PRIORITIZED);
    assert_int_equal(specs[1].capacity, 100000);
    assert_int_equal(specs[1].n_step, 3);
    assert_int_equal(specs[1].min_size, 1000);
    assert_true(specs[1].samples_per_insert == 0.0);
    assert_int_equal(parse("small: capacity=500", specs), 2);
    assert_int_equal(specs[1].min_size, 500);
}

TEST(n_step_alone_means_n_step_items)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    uint32_t count = 0;
    specs[0] = main_table();
    specs[0].sequence_length = 40;
    assert_succeeds(aq_table_specs_parse("steps: n_step=2; same:", specs, &count, &refusal));
    assert_int_equal(specs[1].sequence_length, 0);
    assert_int_equal(aq_table_spec_span(&specs[1]), 2);
    assert_int_equal(specs[2].sequence_length, 40);
}

TEST(a_text_that_is_none_is_quoted)
{
    refuse("recent", "\"recent\" has no name");
    refuse(": capacity=1000", "is no name of a table");
    refuse("two words: capacity=1000", "\"two words\" is no name");
    refuse("a-name-that-is-longer-than-31-letters: n_step=1", "is no name of a table");
    refuse("r\303\251cent: n_step=1", "is no name of a table");
    refuse("recent: capacity", "\"capacity\" is no key=value");
    refuse("recent: capacity=1.5",
           "table recent: replay.capacity: '1.5' is not a whole number (allowed: 2");
    refuse("recent: capacity=", "'' is not a whole number");
    refuse("recent: capacity=-5", "'-5' is out of bounds");
    refuse("recent: n_step=4294967297", "learner.n_step: '4294967297' is out of bounds");
    refuse("recent: tolerance=nan", "'nan' is not a finite decimal number");
    refuse("recent: selector=newest", "replay.selector: 'newest' is ");
    refuse("recent: capacity=1000 capacity=1000", "is said twice");
    refuse("recent: capacty=1000", "did you mean capacity?");
    refuse("recent: zzzzzzzzz=1", "sets nothing that a table has");
    refuse("recent: n_step=1; recent: n_step=2", "two tables are called recent");
    refuse("main: n_step=1", "two tables are called main");
}

TEST(parts_are_found_by_colons_semicolons_and_blanks_alone)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse(";; one :capacity=2000  n_step=2 ;two:; ", specs), 3);
    assert_string_equal(specs[1].name, "one");
    assert_int_equal(specs[1].capacity, 2000);
    assert_int_equal(specs[1].n_step, 2);
    assert_string_equal(specs[2].name, "two");
    refuse("one: n_step=2: two:", "'2:' is not a whole number");
    refuse("one: n_step==2", "'=2' is not a whole number");
    refuse("one\ttwo: n_step=2", "\"one\ttwo\" is no name");
    refuse("one: n_step=2 n_step=2 capacity=1", "\"n_step=2\" is said twice");
}

TEST(what_is_quoted_is_cut)
{
    char text[AQ_TABLES_TEXT_MAX + 1] = "one: ";
    memset(text + 5, 'a', 100);
    text[105] = '\0';
    refuse(text, "aaa\" is no key=value");
    memset(text, 'a', 100);
    text[100] = '\0';
    refuse(text, "aaa\" has no name");
    memset(text, 'a', AQ_TABLES_TEXT_MAX);
    text[AQ_TABLES_TEXT_MAX] = '\0';
    refuse(text, "more than 1023 bytes");
}

TEST(there_are_at_most_eight_tables)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse("a:;b:;c:;d:;e:;f:;g:", specs), 8);
    refuse("a:;b:;c:;d:;e:;f:;g:;h:", "more than 8 tables");
}

TEST(bounds_are_those_of_the_settings)
{
    refuse("recent: capacity=1", "replay.capacity: '1' is out of bounds (allowed: 2 to");
    refuse("recent: n_step=65", "learner.n_step: '65' is out of bounds");
    refuse("recent: n_step=0", "learner.n_step: '0' is out of bounds");
    refuse("recent: sequence_length=1025", "replay.sequence_length: '1025'");
    refuse("recent: sequence_length=10 sequence_period=0", "replay.sequence_period: '0'");
    refuse("recent: priority_exponent=5", "replay.priority_exponent: '5'");
    refuse("recent: samples_per_insert=0.0001", "0, which keeps no proportion, or 0.001");
    refuse("recent: samples_per_insert=1 tolerance=1e10", "replay.tolerance: '1e10'");
    refuse("recent: capacity=1000 min_size=1001", "capacity 1000 is less than min_size 1001");
}

TEST(a_queue_keeps_no_proportion_and_loses_nothing)
{
    aq_table_spec specs[AQ_TABLES_MAX];
    assert_int_equal(parse("q: selector=queue times_sampled_max=1", specs), 2);
    refuse("q: selector=queue samples_per_insert=1", "samples_per_insert=0 works");
    refuse("q: selector=queue remover=lowest-priority", "remover=fifo works");
    refuse("q: selector=queue capacity_bytes=1e6", "capacity_bytes=0 works");
    refuse("q: selector=queue times_sampled_max=2", "times_sampled_max 2");
}

TEST(items_that_leave_too_early_for_the_ratio_are_refused)
{
    aq_table_spec spec = main_table();
    spec.times_sampled_max = 7;
    refuse_spec(&spec, "everybody would wait");
    spec.times_sampled_max = 8;
    assert_int_equal(aq_table_spec_validate(&spec, NULL), 0);
    spec.sequence_length = 10;
    spec.sequence_period = 5;
    spec.times_sampled_max = 39;
    refuse_spec(&spec, "39 draws cannot be drawn 40 times");
    spec.times_sampled_max = 40;
    assert_int_equal(aq_table_spec_validate(&spec, NULL), 0);
}

TEST(a_spec_from_a_peer_is_checked_whole)
{
    aq_table_spec spec = main_table();
    spec.selector = 5;
    refuse_spec(&spec, "selector 5 is not known");
    spec = main_table();
    spec.remover = 2;
    refuse_spec(&spec, "remover 2 is not known");
    spec = main_table();
    spec.priority_exponent = (double)NAN;
    refuse_spec(&spec, "priority_exponent");
    spec = main_table();
    memset(spec.name, 'x', sizeof(spec.name));
    refuse_spec(&spec, "1 to 31 characters");
    spec = main_table();
    spec.name[0] = '\0';
    refuse_spec(&spec, "1 to 31 characters");
    spec = main_table();
    spec.name[1] = '\n';
    refuse_spec(&spec, "no letter");
}

TEST(priorities_are_used_to_choose_or_to_remove)
{
    aq_table_spec spec = main_table();
    assert_true(aq_table_spec_uses_priorities(&spec));
    spec.selector = AQ_SELECTOR_UNIFORM;
    assert_false(aq_table_spec_uses_priorities(&spec));
    spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
    assert_true(aq_table_spec_uses_priorities(&spec));
}
