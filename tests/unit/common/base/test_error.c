/*
 * Codes have names and texts; failing is one line; a context goes before what is known.
 */
#include <errno.h>

#include "tests/support/test.h"

TEST(every_code_has_a_name_and_a_text)
{
    for (int code = AQ_E_PEER; code < 0; code++) {
        assert_string_not_equal(aq_error_name(code), "UNKNOWN");
        assert_string_not_equal(aq_error_text(code), "unknown error");
    }
    assert_string_equal(aq_error_name(AQ_E_NOMEM), "NOMEM");
    assert_string_equal(aq_error_text(AQ_E_NOMEM), "out of memory");
}

TEST(a_foreign_code_is_unknown)
{
    assert_string_equal(aq_error_name(-999), "UNKNOWN");
    assert_string_equal(aq_error_name(1), "UNKNOWN");
    assert_string_equal(aq_error_text(-999), "unknown error");
    assert_string_equal(aq_error_name(AQ_OK), "OK");
}

TEST(fail_fills_the_error_and_returns_the_code)
{
    assert_int_equal(aq_fail(&refusal, AQ_E_INVALID, "%s: no such task", "pong"), AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    assert_string_equal(refusal.text, "pong: no such task");
}

TEST(fail_takes_no_error)
{
    assert_int_equal(aq_fail(NULL, AQ_E_IO, "%d", 1), AQ_E_IO);
    assert_int_equal(aq_fail_context(NULL, AQ_E_IO, "%d", 1), AQ_E_IO);
}

TEST(a_long_text_is_cut_and_terminated)
{
    char text[2 * AQ_ERROR_TEXT_MAX];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    aq_fail(&refusal, AQ_E_IO, "%s", text);
    assert_int_equal(strlen(refusal.text), AQ_ERROR_TEXT_MAX - 1);
    aq_fail_context(&refusal, AQ_E_IO, "reading");
    assert_int_equal(strlen(refusal.text), AQ_ERROR_TEXT_MAX - 1);
    assert_memory_equal(refusal.text, "reading: xxx", 12);
    aq_fail_context(&refusal, AQ_E_IO, "%s", text);
    assert_int_equal(strlen(refusal.text), AQ_ERROR_TEXT_MAX - 1);
}

TEST(the_old_text_may_be_an_argument)
{
    aq_fail(&refusal, AQ_E_IO, "short read");
    aq_fail(&refusal, AQ_E_CORRUPT, "segment 3: %s", refusal.text);
    assert_int_equal(refusal.code, AQ_E_CORRUPT);
    assert_string_equal(refusal.text, "segment 3: short read");
}

TEST(a_context_goes_before_the_text_and_keeps_the_code)
{
    aq_fail(&refusal, AQ_E_NO_SPACE, "disk full");
    assert_int_equal(aq_fail_context(&refusal, AQ_E_IO, "checkpoint %d", 7), AQ_E_NO_SPACE);
    assert_int_equal(refusal.code, AQ_E_NO_SPACE);
    assert_string_equal(refusal.text, "checkpoint 7: disk full");
}

TEST(a_context_of_an_empty_error_says_what_the_code_means)
{
    assert_int_equal(aq_fail_context(&refusal, AQ_E_NOMEM, "table"), AQ_E_NOMEM);
    assert_int_equal(refusal.code, AQ_E_NOMEM);
    assert_string_equal(refusal.text, "table: out of memory");
}

TEST(errno_values_find_their_code)
{
    assert_int_equal(aq_error_from_errno(ENOMEM), AQ_E_NOMEM);
    assert_int_equal(aq_error_from_errno(ENOSPC), AQ_E_NO_SPACE);
    assert_int_equal(aq_error_from_errno(EDQUOT), AQ_E_NO_SPACE);
    assert_int_equal(aq_error_from_errno(ENOENT), AQ_E_NOT_FOUND);
    assert_int_equal(aq_error_from_errno(EEXIST), AQ_E_EXISTS);
    assert_int_equal(aq_error_from_errno(ETIMEDOUT), AQ_E_TIMEOUT);
    assert_int_equal(aq_error_from_errno(EAGAIN), AQ_E_AGAIN);
    assert_int_equal(aq_error_from_errno(EADDRINUSE), AQ_E_IN_USE);
    assert_int_equal(aq_error_from_errno(EIO), AQ_E_IO);
}

TEST(a_failure_without_errno_stays_a_failure)
{
    assert_int_equal(aq_error_from_errno(0), AQ_E_IO);
}
