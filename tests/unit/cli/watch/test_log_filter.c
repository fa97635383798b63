/*
 * Which lines are shown.
 */
#include "cli/watch/log_filter.h"
#include "tests/support/test.h"

/* 2026-11-20T10:30:00Z */
#define NOW_NS (INT64_C(1795170600) * AQ_NS_PER_S)

static const char when[] = "2026-11-20T10:00:00.000Z";
static aq_log_line line;

static aq_log_filter any(void)
{
    return (aq_log_filter){.id = -1, .level = AQ_LOG_DEBUG};
}

static bool passes(const aq_log_filter *filter, const char *text, const char *name)
{
    aq_log_line_read(text, &line);
    return aq_log_filter_passes(filter, &line, name, when);
}

static const char warning[] =
    "ts=2026-11-20T10:00:00.000Z level=warn role=actor id=3 event=shard_lost";

TEST(each_condition_must_hold)
{
    aq_log_filter filter = any();
    assert_true(passes(&filter, warning, "actor-3"));
    filter.level = AQ_LOG_ERROR;
    assert_false(passes(&filter, warning, "actor-3"));
    filter = any();
    filter.role = "learner";
    assert_false(passes(&filter, warning, "actor-3"));
    filter.role = "actor";
    filter.id = 3;
    filter.event = "shard_lost";
    assert_true(passes(&filter, warning, "actor-3"));
    filter.id = 4;
    assert_false(passes(&filter, warning, "actor-3"));
    filter = any();
    filter.event = "ready";
    assert_false(passes(&filter, warning, "actor-3"));
}

TEST(a_text_goes_by_the_name_of_its_file)
{
    aq_log_filter filter = any();
    filter.level = AQ_LOG_ERROR;
    assert_true(passes(&filter, "Killed", "actor-3"));
    filter.role = "actor";
    filter.id = 3;
    assert_true(passes(&filter, "Killed", "actor-3"));
    assert_false(passes(&filter, "Killed", "actor-4"));
    assert_false(passes(&filter, "Killed", "learner"));
    filter.event = "ready";
    assert_false(passes(&filter, "Killed", "actor-3"));
}

TEST(since_is_a_time_ago_or_a_moment)
{
    aq_log_filter filter = any();
    assert_int_equal(aq_log_filter_since(&filter, "15m", NOW_NS, NULL), 0);
    assert_string_equal(filter.since, "2026-11-20T10:15:00");
    assert_false(passes(&filter, warning, "actor-3"));
    assert_int_equal(aq_log_filter_since(&filter, "1d", NOW_NS, NULL), 0);
    assert_string_equal(filter.since, "2026-11-19T10:30:00");
    assert_true(passes(&filter, warning, "actor-3"));
    assert_int_equal(aq_log_filter_since(&filter, "2026-11-20T10:00", NOW_NS, NULL), 0);
    assert_true(passes(&filter, warning, "actor-3"));
    assert_int_equal(aq_log_filter_since(&filter, "2024-02-29T1", NOW_NS, NULL), 0);
    assert_int_equal(aq_log_filter_since(&filter, "2026-11-20T10:00:01", NOW_NS, NULL), 0);
    assert_false(passes(&filter, warning, "actor-3"));
}

TEST(other_times_are_refused)
{
    static const char *const texts[] = {"",
                                        "m",
                                        "15",
                                        "-5m",
                                        "1w",
                                        "yesterday",
                                        "2026-11",
                                        "2026/11/20",
                                        "99999999999d",
                                        "2026-11-20T10:30:00.000ZZ",
                                        "2026-13-01",
                                        "2026-00-01",
                                        "2026-02-29",
                                        "2026-11-31",
                                        "2026-11-20T25",
                                        "2026-11-20T9",
                                        "2026-11-20T10:60",
                                        "2026-11-20T10:30:61"};
    aq_log_filter filter = any();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_refused(aq_log_filter_since(&filter, texts[i], NOW_NS, &refusal), AQ_E_INVALID,
                       "neither a time ago");
    }
}

TEST(a_role_is_one_that_there_is)
{
    aq_log_filter filter = {.id = -1};
    assert_succeeds(aq_log_filter_role(&filter, "evaluator", &refusal));
    assert_string_equal(filter.role, "evaluator");
    assert_int_equal(aq_log_filter_role(&filter, "actors", &refusal), AQ_E_INVALID);
    assert_string_equal(refusal.text, "'actors' is not one of learner, replay, actor, evaluator");
    assert_string_equal(filter.role, "evaluator");
}
