/*
 * A live run is found by its URL or its folder, and everything else is answered in words.
 */
#include "cli/operate/live_endpoint.h"
#include "common/sys/folder_lock.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static void assert_found(const char *text, const char *expected)
{
    char url[AQ_URL_MAX];
    assert_succeeds(aq_live_endpoint_url(text, url, &refusal));
    assert_string_equal(url, expected);
}

static void refuse(const char *text, int code, const char *words)
{
    char url[AQ_URL_MAX] = "untouched";
    assert_refused(aq_live_endpoint_url(text, url, &refusal), code, words);
    assert_string_equal(url, "untouched");
}

TEST(a_url_is_itself)
{
    assert_found("tcp://learner:5550", "tcp://learner:5550");
    assert_found("ipc:///tmp/x", "ipc:///tmp/x");
}

TEST(a_bad_url_is_refused_with_what_is_allowed)
{
    refuse("tcp://learner", AQ_E_INVALID, "port");
    refuse("http://learner:80", AQ_E_INVALID, "http://learner:80");
}

TEST(what_can_only_be_listened_at_cannot_be_called)
{
    refuse("tcp://*:5550", AQ_E_INVALID, "not one to call");
    refuse("tcp://0.0.0.0:5550", AQ_E_INVALID, "not one to call");
    refuse("tcp://127.0.0.1:0", AQ_E_INVALID, "not one to call");
}

TEST_IN_FOLDER(a_folder_of_a_live_run_names_its_learner)
{
    aq_folder_lock *lock;
    file_put_text(cli_path(state, "endpoint.json"), "{\"learner\": \"ipc:///tmp/aq/learner\"}");
    assert_succeeds(aq_folder_lock_take(*state, &lock, &refusal));
    assert_found(*state, "ipc:///tmp/aq/learner");
    aq_folder_lock_release(lock);
    refuse(*state, AQ_E_NOT_FOUND, "no learner runs in this folder"); /* as in a copy of it */
}

TEST_IN_FOLDER(a_live_run_says_where_its_dashboard_is)
{
    static const char *const nowhere[] = {"{\"learner\": \"ipc:///x\"}", "{\"http\": \"\"}", "",
                                          "[]", "{\"http\": 5}"};
    char http[AQ_URL_MAX] = "", large[8192];
    aq_folder_lock *lock;
    const char *path = cli_path(state, "endpoint.json");
    assert_int_equal(aq_folder_lock_take(*state, &lock, NULL), 0);
    assert_false(aq_live_endpoint_http(*state, http));
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        file_put_text(path, nowhere[i]);
        assert_false(aq_live_endpoint_http(*state, http));
    }
    file_put_text(path, "{\"learner\": \"ipc:///x\", \"http\": \"http://127.0.0.1:24680\"}");
    assert_true(aq_live_endpoint_http(*state, http));
    assert_string_equal(http, "http://127.0.0.1:24680");
    (void)snprintf(large, sizeof(large), "%*s", (int)sizeof(large) - 1, file_text(path));
    file_put_text(path, large); /* the same behind blanks */
    assert_false(aq_live_endpoint_http(*state, http));
    file_put_text(path, "{\"learner\": \"ipc:///x\", \"http\": \"http://127.0.0.1:24680\"}");
    aq_folder_lock_release(lock);
    assert_false(aq_live_endpoint_http(*state, http)); /* what was killed left its file */
}

TEST_IN_FOLDER(a_folder_without_a_live_run_says_so)
{
    refuse(*state, AQ_E_NOT_FOUND, "endpoint.json");
}

TEST_IN_FOLDER(a_damaged_endpoint_file_is_named)
{
    const char *path = cli_path(state, "endpoint.json");
    static const char *const bad[] = {"", "{", "[]", "{\"learner\": 5}", "{\"learner\": \"x\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char url[AQ_URL_MAX];
        file_put_text(path, bad[i]);
        assert_true(aq_live_endpoint_url(*state, url, &refusal) < 0);
        assert_says(refusal.text, path);
    }
}

TEST(what_is_neither_url_nor_folder_is_refused)
{
    refuse("nowhere/at-all", AQ_E_INVALID, "neither a URL");
}
