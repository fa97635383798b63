/*
 * Two structs of one table side by side: what differs, and what a start keeps of live changes.
 */
#include "tests/support/test.h"
#include "tests/unit/common/settings/settings_sample.h"

typedef struct told {
    size_t count;
    char text[256];
    int answer;
} told;

static int on_difference(void *user, const aq_setting *row, const char *before, const char *after)
{
    told *to = user;
    size_t used = strlen(to->text);
    to->count++;
    (void)snprintf(to->text + used, sizeof(to->text) - used, "%s: %s -> %s; ", row->key, before,
                   after);
    return to->answer;
}

static void set(sample *settings, const char *assignment)
{
    assert_int_equal(aq_settings_assign(&sample_table, assignment, settings, NULL), 0);
}

TEST(equal_structs_do_not_differ)
{
    sample a = sample_defaults(), b;
    told to = {0};
    memset(&b, 0x5a, sizeof(b)); /* what is behind the end of a text is no part of it */
    aq_settings_init(&sample_table, &b);
    assert_int_equal(aq_settings_compare(&sample_table, &a, &b, on_difference, &to), 0);
    assert_int_equal(to.count, 0);
}

TEST(differences_are_told_as_they_are_printed)
{
    sample a = sample_defaults(), b = a;
    told to = {0};
    set(&b, "policy.url=tcp://\"x\"");
    set(&b, "replay.alpha=0.25");
    set(&b, "policy.precision=fp16");
    assert_int_equal(aq_settings_compare(&sample_table, &a, &b, on_difference, &to), 0);
    assert_string_equal(to.text, "replay.alpha: 0.6 -> 0.25; policy.precision: int8 -> fp16; "
                                 "policy.url: \"\" -> \"tcp://\\\"x\\\"\"; ");
}

TEST(an_answer_ends_the_comparison)
{
    sample a = sample_defaults(), b = a;
    told to = {.answer = AQ_E_UNSUPPORTED};
    set(&b, "seed=7");
    set(&b, "replay.alpha=0.25");
    assert_int_equal(aq_settings_compare(&sample_table, &a, &b, on_difference, &to),
                     AQ_E_UNSUPPORTED);
    assert_int_equal(to.count, 1);
}

TEST(a_live_setting_that_is_given_as_before_keeps_its_change)
{
    sample given = sample_defaults(), used = given, now = given;
    set(&used, "policy.rate=5");
    set(&used, "policy.url=tcp://b");
    aq_settings_keep_live(&sample_table, &given, &used, &now);
    assert_true(now.rate == 5);
    assert_string_equal(now.url, "tcp://b");
}

TEST(a_live_setting_that_is_given_otherwise_counts)
{
    sample given = sample_defaults(), used = given, now = given;
    set(&used, "policy.rate=5");
    set(&now, "policy.rate=6");
    aq_settings_keep_live(&sample_table, &given, &used, &now);
    assert_true(now.rate == 6);
}

TEST(a_setting_that_is_not_live_is_as_it_is_given)
{
    sample given = sample_defaults(), used = given, now = given;
    set(&used, "seed=9");
    aq_settings_keep_live(&sample_table, &given, &used, &now);
    assert_int_equal(now.seed, 1);
}

TEST(only_live_settings_are_printed_as_such)
{
    sample settings = sample_defaults();
    aq_buffer *out = buffer_up_to(65536);
    assert_int_equal(aq_settings_print_yaml(&sample_table, &settings, out), 0);
    assert_int_equal(aq_buffer_append(out, "", 1), 0);
    const char *live = strstr((const char *)out->data, "# live: 'actorq set'");
    assert_non_null(live);
    assert_memory_equal(strchr(live, '\n') + 1, "  rate: ", 8);
}
