/*
 * The nearest name is found, and a far one is not offered.
 */
#include "common/base/nearest.h"
#include "tests/support/test.h"

static const char *nearest_of(const char *text)
{
    static const char *const names[] = {"seed", "replay.capacity", "replay.batch", "jobs",
                                        "max_env_steps"};
    static aq_nearest nearest; /* the name lies in it */
    aq_nearest_init(&nearest, text);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        aq_nearest_offer(&nearest, names[i]);
    }
    return aq_nearest_name(&nearest);
}

TEST(each_kind_of_slip_costs_one)
{
    assert_int_equal(aq_edit_distance("capacity", "capacity"), 0);
    assert_int_equal(aq_edit_distance("capcity", "capacity"), 1);   /* a letter missing */
    assert_int_equal(aq_edit_distance("cappacity", "capacity"), 1); /* one too many */
    assert_int_equal(aq_edit_distance("capasity", "capacity"), 1);  /* another letter */
    assert_int_equal(aq_edit_distance("capactiy", "capacity"), 1);  /* two swapped */
}

TEST(the_case_of_letters_does_not_count)
{
    assert_int_equal(aq_edit_distance("Capacity", "cAPACITY"), 0);
    assert_int_equal(aq_edit_distance("CAPACTIY", "capacity"), 1);
}

TEST(distance_counts_every_change)
{
    assert_int_equal(aq_edit_distance("", ""), 0);
    assert_int_equal(aq_edit_distance("", "abc"), 3);
    assert_int_equal(aq_edit_distance("abc", ""), 3);
    assert_int_equal(aq_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(aq_edit_distance("sitting", "kitten"), 3);
}

TEST(long_texts_are_infinitely_far)
{
    char text[AQ_NEAREST_TEXT_MAX + 2];
    memset(text, 'a', sizeof(text));
    text[AQ_NEAREST_TEXT_MAX] = '\0';
    assert_int_equal(aq_edit_distance(text, text), 0);
    text[AQ_NEAREST_TEXT_MAX] = 'a';
    text[AQ_NEAREST_TEXT_MAX + 1] = '\0';
    assert_true(aq_edit_distance(text, "a") == SIZE_MAX);
    assert_null(nearest_of(text));
}

TEST(a_slip_finds_its_name)
{
    assert_string_equal(nearest_of("replay.capcity"), "replay.capacity");
    assert_string_equal(nearest_of("sede"), "seed");
    assert_string_equal(nearest_of("SEDE"), "seed");
    assert_string_equal(nearest_of("job"), "jobs");
}

TEST(a_short_form_finds_its_name)
{
    assert_string_equal(nearest_of("max"), "max_env_steps");
    assert_string_equal(nearest_of("mes"), "max_env_steps");
    assert_string_equal(nearest_of("MaxEnv"), "max_env_steps");
    assert_string_equal(nearest_of("r.cap"), "replay.capacity");
    assert_string_equal(nearest_of("replay.b"), "replay.batch");
    assert_string_equal(nearest_of("steps"), "max_env_steps");
    assert_null(nearest_of("sme"));
    assert_null(nearest_of("replay."));
}

TEST(a_shared_group_makes_no_two_names_alike)
{
    assert_null(nearest_of("replay.size"));
}

TEST(a_foreign_text_finds_nothing)
{
    aq_nearest nothing_offered;
    assert_null(nearest_of("temperature"));
    assert_null(nearest_of(""));
    aq_nearest_init(&nothing_offered, "seed");
    assert_null(aq_nearest_name(&nothing_offered));
}
