/*
 * A live run is found by its URL or its folder, and everything else is answered in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/operate/live_endpoint.h"
#include "tests/unit/cli/cli_fixture.h"

static void assert_found(const char *text, const char *expected)
{
    char url[AQ_URL_MAX];
    aq_error error = {0};
    if (aq_live_endpoint_url(text, url, &error)) {
        fail_msg("%s", error.text);
    }
    assert_string_equal(url, expected);
}

static void assert_refused(const char *text, int code, const char *words)
{
    char url[AQ_URL_MAX] = "untouched";
    aq_error error = {0};
    assert_int_equal(aq_live_endpoint_url(text, url, &error), code);
    cli_assert_in(error.text, words);
    assert_string_equal(url, "untouched");
}

static void test_a_url_is_itself(void **state)
{
    (void)state;
    assert_found("tcp://learner:5550", "tcp://learner:5550");
    assert_found("ipc:///tmp/x", "ipc:///tmp/x");
}

static void test_a_bad_url_is_refused_with_what_is_allowed(void **state)
{
    (void)state;
    assert_refused("tcp://learner", AQ_E_INVALID, "port");
    assert_refused("http://learner:80", AQ_E_INVALID, "http://learner:80");
}

static void test_a_wildcard_cannot_be_called(void **state)
{
    (void)state;
    assert_refused("tcp://*:5550", AQ_E_INVALID, "called at one");
    assert_refused("tcp://0.0.0.0:5550", AQ_E_INVALID, "called at one");
}

static void test_a_folder_of_a_live_run_names_its_learner(void **state)
{
    cli_write_text(cli_path(state, "endpoint.json"), "{\"learner\": \"ipc:///tmp/aq/learner\"}");
    assert_found(*state, "ipc:///tmp/aq/learner");
}

static void test_a_folder_without_a_live_run_says_so(void **state)
{
    assert_refused(*state, AQ_E_NOT_FOUND, "endpoint.json");
}

static void test_a_damaged_endpoint_file_is_named(void **state)
{
    const char *path = cli_path(state, "endpoint.json");
    static const char *const bad[] = {"", "{", "[]", "{\"learner\": 5}", "{\"learner\": \"x\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char url[AQ_URL_MAX];
        aq_error error = {0};
        cli_write_text(path, bad[i]);
        assert_true(aq_live_endpoint_url(*state, url, &error) < 0);
        assert_non_null(strstr(error.text, path));
    }
}

static void test_what_is_neither_url_nor_folder_is_refused(void **state)
{
    (void)state;
    assert_refused("nowhere/at-all", AQ_E_INVALID, "neither a URL");
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, cli_fixture_setup, cli_fixture_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_url_is_itself),
        cmocka_unit_test(test_a_bad_url_is_refused_with_what_is_allowed),
        cmocka_unit_test(test_a_wildcard_cannot_be_called),
        IN_FOLDER(test_a_folder_of_a_live_run_names_its_learner),
        IN_FOLDER(test_a_folder_without_a_live_run_says_so),
        IN_FOLDER(test_a_damaged_endpoint_file_is_named),
        cmocka_unit_test(test_what_is_neither_url_nor_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
