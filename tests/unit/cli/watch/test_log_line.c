/*
 * A line of either form has the same parts, and what is no log line is a text.
 */
#include "cli/watch/log_line.h"
#include "tests/support/test.h"

static aq_log_line line;

TEST(a_logfmt_line_is_taken_apart)
{
    aq_log_line_read("ts=2026-11-20T10:30:38.805Z level=warn role=actor id=3 event=shard_lost "
                     "slot=0 url=\"a b\" msg=\"it is \\\"gone\\\"\"",
                     &line);
    assert_false(line.is_text);
    assert_string_equal(line.ts, "2026-11-20T10:30:38.805Z");
    assert_int_equal(line.level, AQ_LOG_WARN);
    assert_string_equal(line.role, "actor");
    assert_int_equal(line.id, 3);
    assert_string_equal(line.event, "shard_lost");
    assert_string_equal(line.pairs, "slot=0 url=\"a b\"");
    assert_string_equal(line.message, "it is \\\"gone\\\"");
}

TEST(a_json_line_has_the_same_parts)
{
    char again[2 * AQ_LOG_LINE_BYTES];
    aq_log_line_read("{\"ts\":\"2026-11-20T10:30:38.805Z\",\"level\":\"warn\",\"role\":\"actor\","
                     "\"id\":3,\"event\":\"shard_lost\",\"slot\":0,\"share\":0.25,\"best\":null,"
                     "\"ok\":true,\"url\":\"a b\",\"msg\":\"gone\"}",
                     &line);
    assert_string_equal(aq_log_line_logfmt(&line, again),
                        "ts=2026-11-20T10:30:38.805Z level=warn role=actor id=3 event=shard_lost "
                        "slot=0 share=0.25 best=nan ok=true url=\"a b\" msg=\"gone\"");
}

TEST(a_line_of_a_daemon_without_a_number_has_none)
{
    aq_log_line_read("ts=2026-11-20T10:30:38.805Z level=info role=learner event=exit", &line);
    assert_int_equal(line.id, -1);
    assert_string_equal(line.pairs, "");
    assert_string_equal(line.message, "");
}

TEST(what_is_no_log_line_is_a_text)
{
    static const char *const texts[] = {"actorq-learner: the folder holds a run already", "",
                                        "{\"not\": \"ours\"}", "{broken", "==12==ERROR: x"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        aq_log_line_read(texts[i], &line);
        assert_true(line.is_text);
        assert_string_equal(line.pairs, texts[i]);
    }
}
