/*
 * Pages of runs, made of folders that are written here.
 */
#include "cli/plot/run_page.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { PAGE_BYTES_MAX = 1 << 22 };

static const char *const metrics =
    "{\"event\":\"evaluation\",\"wall_s\":1,\"env_steps\":100,\"return_mean\":10,"
    "\"return_std\":1,\"episodes\":10,\"fell_back\":false,\"confirmed\":false}\n"
    "{\"event\":\"progress\",\"wall_s\":1.5,\"env_steps\":150,\"learner_steps\":20,"
    "\"loss\":0.5,\"actors\":2,\"replay\":{\"stored\":7}}\n"
    "{\"event\":\"evaluation\",\"wall_s\":2,\"env_steps\":200,\"return_mean\":30,"
    "\"return_std\":1,\"episodes\":10,\"fell_back\":false,\"confirmed\":false}\n"
    "{\"event\":\"progress\",\"wall_s\":2.5,\"env_steps\":250,\"learner_steps\":40,"
    "\"loss\":0.25,\"actors\":2,\"replay\":{\"stored\":9}}\n"
    "{\"event\":\"end\",\"wall_s\":3,\"state\":\"solved\",\"env_steps\":300,\"learner_steps\":50,"
    "\"policy_versions\":40,\"policy_fallbacks\":10,\"best\":{\"return_mean\":30}}\n";

static void write_run(void **state, const char *name, const char *format)
{
    char text[256];
    const char *run = cli_path(state, name);
    cli_make_folder(run);
    file_put_text(file_in(run, "run.json"),
                  "{\"run_id\":\"1122334455667788\",\"task\":\"gym:CartPole-v1\",\"seed\":1,"
                  "\"made\":\"2026-01-31T12:00:00Z\",\"software\":\"0.1.0\"}");
    (void)snprintf(text, sizeof(text), "quantizer:\n  format: %s\n", format);
    file_put_text(file_in(run, "config.yaml"), text);
    file_put_text(file_in(run, "metrics.jsonl"), metrics);
}

static char said[256];

static void say(const char *words)
{
    (void)snprintf(said, sizeof(said), "%s", words);
}

TEST_ENDING(end_text, aq_long_text_fini);

static aq_long_text page_text; /* of the test */

TEST_IN_FOLDER(runs_are_rows_and_their_curves_are_in_common_pictures)
{
    aq_run_page page;
    write_run(state, "a", "int8");
    write_run(state, "b<", "fp32");
    const char *const runs[] = {cli_path(state, "a"), cli_path(state, "stray"),
                                cli_path(state, "b<")};
    aq_long_text_init(&page_text, PAGE_BYTES_MAX);
    at_end(end_text, &page_text);
    assert_int_equal(aq_run_page_make(runs, 3, "run", say, &page_text, &page, NULL), 0);
    assert_says(said, "stray");
    assert_int_equal(page.runs, 2);
    assert_int_equal(page.charts, 2); /* the return and the loss */
    aq_long_text_add(&page_text, "%c", '\0');
    const char *text = (const char *)page_text.bytes.data;
    assert_says(text, "<td class=\"words\">solved</td><td>30.0</td><td>25 %</td><td>300</td>");
    assert_says(text, "<th class=\"words\">format</th>");
    assert_says(text, "<td class=\"words\">int8</td>");
    assert_says(text, "b&lt;</td>");
    assert_says(text, ">loss</text>");
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "src="));
}

TEST_IN_FOLDER(a_run_whose_curves_are_left_out_is_said)
{
    aq_run_page page;
    write_run(state, "a", "int8");
    write_run(state, "b", "no-format");
    const char *const runs[] = {cli_path(state, "a"), cli_path(state, "b")};
    aq_long_text_init(&page_text, PAGE_BYTES_MAX);
    at_end(end_text, &page_text);
    said[0] = '\0';
    assert_succeeds(aq_run_page_make(runs, 2, "run", say, &page_text, &page, &refusal));
    assert_int_equal(page.runs, 2);
    assert_says(said, "b/config.yaml");
}

TEST_IN_FOLDER(a_page_of_no_run_is_none)
{
    aq_run_page page;
    const char *const runs[] = {cli_path(state, "nowhere")};
    aq_long_text_init(&page_text, PAGE_BYTES_MAX);
    at_end(end_text, &page_text);
    assert_refused(aq_run_page_make(runs, 1, "run", say, &page_text, &page, &refusal),
                   AQ_E_NOT_FOUND, "nowhere");
}

TEST_IN_FOLDER(without_memory_there_is_no_page)
{
    aq_run_page page;
    write_run(state, "a", "int8");
    const char *const runs[] = {cli_path(state, "a")};
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        aq_long_text_fini(&page_text);
        aq_long_text_init(&page_text, PAGE_BYTES_MAX);
        rc = aq_run_page_make(runs, 1, "run", say, &page_text, &page, NULL);
        rc = rc != 0 ? rc : page_text.rc;
    }
    aq_long_text_fini(&page_text);
}
