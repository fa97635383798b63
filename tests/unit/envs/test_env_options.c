/*
 * Options behind a task's name: how they are cut apart, and what is refused, in words.
 */
#include "envs/env_options.h"
#include "tests/support/test.h"

static void refused(const char *name, const char *words)
{
    aq_env_options options;
    assert_refused(aq_env_options_parse(name, &options, &refusal), AQ_E_INVALID, words);
}

TEST(a_name_without_options_is_the_task)
{
    aq_env_options options;
    assert_int_equal(aq_env_options_parse("gym:CartPole-v1", &options, NULL), 0);
    assert_string_equal(options.task, "gym:CartPole-v1");
    assert_int_equal(options.count, 0);
    assert_null(aq_env_option_text(&options, "map"));
    assert_int_equal(aq_env_options_finish(&options, "none", NULL), 0);
}

TEST(options_are_found_by_their_keys)
{
    aq_env_options options;
    assert_int_equal(aq_env_options_parse("py:a.b:Env-v0?map=8x8&x=1=2", &options, NULL), 0);
    assert_string_equal(options.task, "py:a.b:Env-v0");
    assert_string_equal(aq_env_option_text(&options, "map"), "8x8");
    assert_string_equal(aq_env_option_text(&options, "x"), "1=2");
    assert_int_equal(aq_env_options_finish(&options, "none", NULL), 0);
}

TEST(what_is_no_option_is_refused)
{
    char longest[2 * AQ_TASK_NAME_MAX];
    refused("a?", "key=value");
    refused("a?map", "'map'");
    refused("a?map=", "key=value");
    refused("a?=8x8", "key=value");
    refused("a?map=1&", "key=value");
    refused("a?map=1&map=2", "map is given twice");
    refused("a?a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1&n=1&o=1&p=1&q=1",
            "more than 16");
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    refused(longest, "letters");
}

TEST(what_nobody_took_is_refused_by_name)
{
    aq_env_options options;
    assert_int_equal(aq_env_options_parse("a?map=1&colour=red", &options, NULL), 0);
    (void)aq_env_option_text(&options, "map");
    assert_refused(aq_env_options_finish(&options, "map, size", &refusal), AQ_E_INVALID, "colour");
    assert_says(refusal.text, "map, size");
}

TEST(numbers_are_checked_against_their_bounds)
{
    aq_env_options options;
    uint32_t whole = 77;
    double real = 7.5;
    assert_int_equal(aq_env_options_parse("a?n=4&x=0.5&wrong=two", &options, NULL), 0);
    assert_int_equal(aq_env_option_u32(&options, "absent", 1, 2, &whole, NULL), 0);
    assert_int_equal(whole, 77);
    assert_int_equal(aq_env_option_f64(&options, "absent", 1, 2, &real, NULL), 0);
    assert_true(real == 7.5);
    assert_refused(aq_env_option_u32(&options, "n", 1, 3, &whole, &refusal), AQ_E_INVALID, "n=4");
    assert_says(refusal.text, "from 1 to 3");
    assert_int_equal(whole, 77);
    assert_int_equal(aq_env_option_u32(&options, "n", 1, 4, &whole, NULL), 0);
    assert_int_equal(whole, 4);
    assert_int_equal(aq_env_option_f64(&options, "x", 1, 2, &real, &refusal), AQ_E_INVALID);
    assert_int_equal(aq_env_option_f64(&options, "x", 0, 2, &real, NULL), 0);
    assert_true(real == 0.5);
    assert_int_equal(aq_env_option_u32(&options, "wrong", 0, 9, &whole, NULL), AQ_E_INVALID);
    assert_int_equal(aq_env_option_f64(&options, "wrong", 0, 9, &real, NULL), AQ_E_INVALID);
}

TEST(yes_and_no_are_the_only_answers)
{
    aq_env_options options;
    bool value = true;
    assert_int_equal(aq_env_options_parse("a?on=yes&off=no&odd=true", &options, NULL), 0);
    assert_int_equal(aq_env_option_bool(&options, "off", &value, NULL), 0);
    assert_false(value);
    assert_int_equal(aq_env_option_bool(&options, "on", &value, NULL), 0);
    assert_true(value);
    assert_int_equal(aq_env_option_bool(&options, "absent", &value, NULL), 0);
    assert_true(value);
    assert_refused(aq_env_option_bool(&options, "odd", &value, &refusal), AQ_E_INVALID,
                   "neither yes nor no");
}

TEST(a_choice_is_one_of_those_there_are)
{
    static const char *const maps[] = {"4x4", "8x8", NULL};
    aq_env_options options;
    uint32_t choice = 0;
    assert_int_equal(aq_env_options_parse("a?map=8x8&other=9x9", &options, NULL), 0);
    assert_int_equal(aq_env_option_choice(&options, "map", maps, &choice, NULL), 0);
    assert_int_equal(choice, 1);
    assert_refused(aq_env_option_choice(&options, "other", maps, &choice, &refusal), AQ_E_INVALID,
                   "4x4, 8x8");
    assert_int_equal(choice, 1);
}
