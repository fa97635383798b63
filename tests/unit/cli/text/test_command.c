/*
 * JSON texts never become invalid JSON.
 */
#include "cli/text/command.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST(a_text_that_is_not_utf8_is_made_plain)
{
    json_t *good = cli_json(aq_json_text("run/\xc3\xa4"));
    json_t *bad = cli_json(aq_json_text("run/\xff.aq"));
    assert_string_equal(json_string_value(good), "run/\xc3\xa4");
    assert_string_equal(json_string_value(bad), "run/?.aq");
}
