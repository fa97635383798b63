/*
 * A JSON line says what the logfmt line says, is an object whatever the values hold, and is whole.
 */
#include "common/sys/log.h"
#include "common/sys/log_json.h"
#include "tests/support/test.h"
#include "tests/unit/common/sys/stderr_capture.h"

static char line[AQ_LOG_JSON_LINE_MAX + 1];

static const char *line_of(const char *fields, const char *quoted_message)
{
    size_t size = aq_log_json_line("event=e", fields, quoted_message, line);
    assert_true(size <= AQ_LOG_JSON_LINE_MAX);
    line[size] = '\0';
    return line;
}

TEST(numbers_and_truths_are_what_they_are)
{
    assert_string_equal(line_of("a=118 b=-0.5 c=1e-3 d=true e=false f=0", ""),
                        "{\"event\":\"e\",\"a\":118,\"b\":-0.5,\"c\":1e-3,\"d\":true,\"e\":false,"
                        "\"f\":0}\n");
}

TEST(what_json_would_not_read_as_a_number_is_a_text)
{
    assert_string_equal(line_of("a=007 b=1. c=.5 d=+1 e=1e f=- g=0x1f h=1_0", ""),
                        "{\"event\":\"e\",\"a\":\"007\",\"b\":\"1.\",\"c\":\".5\",\"d\":\"+1\","
                        "\"e\":\"1e\",\"f\":\"-\",\"g\":\"0x1f\",\"h\":\"1_0\"}\n");
}

TEST(an_id_of_sixteen_digits_is_a_text_whatever_its_digits)
{
    assert_string_equal(line_of("a=1234567890123456 b=12345678901234e1 c=123456789012345", ""),
                        "{\"event\":\"e\",\"a\":\"1234567890123456\",\"b\":\"12345678901234e1\","
                        "\"c\":123456789012345}\n");
}

TEST(what_is_not_finite_is_null)
{
    assert_string_equal(line_of("a=nan b=-nan c=inf d=-inf", ""),
                        "{\"event\":\"e\",\"a\":null,\"b\":null,\"c\":null,\"d\":null}\n");
}

TEST(a_bare_value_is_escaped)
{
    assert_string_equal(line_of("a=x\"y\\z b=\xc3\xbc c=\xff\xc3", ""),
                        "{\"event\":\"e\",\"a\":\"x\\\"y\\\\z\",\"b\":\"\xc3\xbc\","
                        "\"c\":\"\\ufffd\\ufffd\"}\n");
}

TEST(a_quoted_value_and_the_message_stay_as_they_are)
{
    char value[64];
    char message[64];
    char fields[80] = "a=";
    strcat(fields, aq_log_quote(value, sizeof(value), "12 \"x\"\n\xff"));
    assert_string_equal(line_of(fields, aq_log_quote(message, sizeof(message), "so it goes")),
                        "{\"event\":\"e\",\"a\":\"12 \\\"x\\\"\\n\\ufffd\",\"msg\":\"so it "
                        "goes\"}\n");
}

TEST(fields_that_do_not_fit_are_left_out_whole)
{
    char fields[1200];
    memset(fields, '\xff', sizeof(fields)); /* each byte takes six in JSON */
    memcpy(fields, "a=1 b=", 6);
    fields[sizeof(fields) - 1] = '\0';
    assert_string_equal(line_of(fields, "\"kept\""),
                        "{\"event\":\"e\",\"a\":1,\"cut\":true,\"msg\":\"kept\"}\n");
}

TEST(the_longest_logfmt_line_fits_in_json)
{
    char message[4000];
    char value[1100];
    char out[8192];
    memset(message, '\x01', sizeof(message) - 1);
    memset(value, 'v', sizeof(value) - 1);
    message[sizeof(message) - 1] = value[sizeof(value) - 1] = '\0';
    stderr_capture_begin();
    aq_log(AQ_LOG_WARN, "a_name_of_an_event_that_is_as_long_as_one_may_be", message, "v=%s", value);
    size_t size = stderr_capture_end(out, sizeof(out));
    assert_true(size < AQ_LOG_JSON_LINE_MAX);
    assert_says(out, "\"v\":\"vvv");
    assert_string_equal(out + size - 6, "...\"}\n");
}

TEST(a_log_line_can_be_json)
{
    char out[4096];
    stderr_capture_begin();
    aq_log(AQ_LOG_INFO, "joined", "welcome", "slot=%d url=%s", 3, "ipc:///tmp/x");
    stderr_capture_end(out, sizeof(out));
    assert_memory_equal(out, "{\"ts\":\"20", 9);
    assert_string_equal(strchr(out, ',') + 1,
                        "\"level\":\"info\",\"role\":\"actor\",\"id\":3,\"event\":\"joined\","
                        "\"slot\":3,\"url\":\"ipc:///tmp/x\",\"msg\":\"welcome\"}\n");
}

static int log_in_json(void **state)
{
    (void)state;
    aq_log_open("actor", 3);
    aq_log_set_format(AQ_LOG_JSON);
    return 0;
}

TEST_GROUP(log_in_json, NULL);
