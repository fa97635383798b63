/*
 * Sets of processors: as they are written, and running on them.
 */
#include "common/sys/cpus.h"
#include "tests/support/test.h"

static aq_cpus allowed_to(int last)
{
    aq_cpus cpus = {{false}};
    for (int i = 0; i <= last; i++) {
        cpus.has[i] = true;
    }
    return cpus;
}

TEST(lists_are_read_as_they_are_written)
{
    static const struct {
        const char *text, *written;
        size_t count;
    } rows[] = {{"0", "0", 1}, {"0,2-4", "0,2-4", 4}, {"4,3,0", "0,3-4", 3}, {"1-1", "1", 1}};
    const aq_cpus allowed = allowed_to(7);
    char written[AQ_CPUS_TEXT_MAX];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_cpus cpus;
        assert_succeeds(aq_cpus_read(rows[i].text, &allowed, &cpus, NULL));
        aq_cpus_text(&cpus, written, sizeof(written));
        assert_string_equal(written, rows[i].written);
        assert_int_equal(aq_cpus_count(&cpus), rows[i].count);
    }
}

TEST(what_is_no_list_or_not_there_is_refused)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", "no list"},
        {"x", "no list"},
        {"1,", "no list"},
        {"3-1", "no list"},
        {"-1", "no list"},
        {"1 ", "no list"},
        {"1024", "no list"},
        {"99999999999999999999", "no list"},
        {"0-8", "processor 8 is not among those that this "
                "process may run on: 0-7"},
    };
    const aq_cpus allowed = allowed_to(7);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_cpus cpus;
        aq_error error = {0};
        assert_int_equal(aq_cpus_read(rows[i].text, &allowed, &cpus, &error), AQ_E_INVALID);
        assert_non_null(strstr(error.text, rows[i].said));
    }
}

TEST(a_text_without_room_is_cut)
{
    const aq_cpus cpus = {{true, false, true, false, true}};
    char text[4];
    aq_cpus_text(&cpus, text, sizeof(text));
    assert_string_equal(text, "0,2");
}

TEST(a_thread_runs_on_what_it_is_held_to)
{
    aq_cpus before, one = {{false}}, now;
    size_t first = 0;
    aq_cpus_allowed(&before);
    while (!before.has[first]) {
        first++;
    }
    one.has[first] = true;
    assert_succeeds(aq_cpus_use(&one, NULL));
    aq_cpus_allowed(&now);
    assert_memory_equal(&now, &one, sizeof(now));
    assert_succeeds(aq_cpus_use(&before, NULL));
    const aq_cpus none = {{false}};
    aq_error error = {0};
    assert_int_not_equal(aq_cpus_use(&none, &error), 0);
    assert_non_null(strstr(error.text, "can't be used"));
}
