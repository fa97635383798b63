/*
 * A status shows what a person asks first, in an order that can be scanned.
 */
#include "cli/watch/status_page.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"

/* What was not yet, or went wrong, is told, too. */
static void make_young(status_fixture *fixture)
{
    static char reason[] = "no space left on the device";
    fixture->reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    fixture->learner.return_mean = fixture->learner.return_best = (double)NAN;
    fixture->metrics[0].value = (double)NAN;
    fixture->replay_use.priorities_sent = 0;
    fixture->replay.stuck = reason;
    fixture->learner.trouble = reason;
}

static void add_shard(status_fixture *fixture)
{
    fixture->members[3].role = ACTORQ__V1__ROLE__ROLE_REPLAY;
    fixture->members[3].replay = &fixture->replay;
}

static void make_troubled(status_fixture *fixture)
{
    static char reason[] = "segment-7: no space left on the device";
    fixture->replay.sync_failures = 2;
    fixture->replay.stuck = reason;
    fixture->replay.mapped_bytes = 1000000;
    fixture->tables[1].times_sampled = (double)NAN;
    fixture->members[0].intake = NULL; /* known from its marks alone */
}

static void take_log_away(status_fixture *fixture)
{
    fixture->replay.durable_messages = fixture->replay.disk_bytes = fixture->replay.backlog_bytes =
        0;
}

/* Two reasons, of which only the first is labelled. */
static void make_slow(status_fixture *fixture)
{
    static Actorq__V1__FindingStatus found[2], *pointers[2];
    static char words[] = "values are large", setting[] = "learner.tau=0.005";
    for (size_t i = 0; i < 2; i++) {
        actorq__v1__finding_status__init(&found[i]);
        found[i].words = words;
        found[i].setting = setting;
        pointers[i] = &found[i];
    }
    fixture->learner.n_findings = 2;
    fixture->learner.findings = pointers;
}

/* From a data set, say. */
static void take_limit_away(status_fixture *fixture)
{
    fixture->learner.env_steps_limit = 0;
}

static void make_empty(status_fixture *fixture)
{
    actorq__v1__status_reply__init(&fixture->reply);
}

static const struct page {
    const char *name;
    void (*fill)(status_fixture *fixture);
    void (*change)(status_fixture *fixture);
    size_t members_max;
} pages[] = {
    {"status_learner.txt", status_fixture_learner, NULL, SIZE_MAX},
    {"status_learner_of_many.txt", status_fixture_learner, make_slow, 1},
    {"status_learner_young.txt", status_fixture_learner, make_young, SIZE_MAX},
    {"status_learner_unlimited.txt", status_fixture_learner, take_limit_away, 0},
    {"status_two_shards.txt", status_fixture_learner, add_shard, SIZE_MAX},
    {"status_shard.txt", status_fixture_shard, NULL, SIZE_MAX},
    {"status_shard_troubled.txt", status_fixture_shard, make_troubled, SIZE_MAX},
    {"status_shard_in_memory.txt", status_fixture_shard, take_log_away, SIZE_MAX},
    {"status_empty.txt", make_empty, NULL, SIZE_MAX},
};

TEST(pages_say_what_is_asked_first)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        status_fixture fixture = {0};
        pages[i].fill(&fixture);
        if (pages[i].change != NULL) {
            pages[i].change(&fixture);
        }
        assert_int_equal(aq_status_page_print(cli_print_begin(), "tcp://learner:5550",
                                              &fixture.reply, pages[i].members_max),
                         0);
        const char *text = cli_print_end();
        cli_assert_page(pages[i].name, text);
        assert_null(strchr(text, '\033')); /* a host's name cannot clear the terminal */
    }
}

static const char *page_of(const status_fixture *fixture)
{
    assert_int_equal(aq_status_page_print(cli_print_begin(), "x", &fixture->reply, SIZE_MAX), 0);
    return cli_print_end();
}

TEST(a_run_without_a_best_version_tells_of_none)
{
    status_fixture fixture = {0};
    status_fixture_learner(&fixture);
    fixture.learner.return_best = (double)NAN;
    assert_null(strstr(page_of(&fixture), "best return"));
}

TEST(a_learner_that_was_started_again_tells_the_best_of_before)
{
    status_fixture fixture = {0};
    status_fixture_learner(&fixture);
    fixture.learner.return_mean = (double)NAN;
    fixture.learner.evaluations = 0;
    const char *page = page_of(&fixture);
    assert_says(page, "no evaluation since the learner was started");
    assert_says(page, "best return     201.8");
}

TEST(slow_steps_are_told_with_their_digits)
{
    status_fixture fixture = {0};
    status_fixture_learner(&fixture);
    fixture.learner.env_steps_per_s = 2.5;
    fixture.learner.learner_steps_per_s = 0.4;
    const char *page = page_of(&fixture);
    assert_says(page, ", 2.5/s\n");
    assert_says(page, " steps, 0.4/s; waits");
}

TEST(an_evaluation_of_one_episode_has_no_deviation)
{
    status_fixture fixture = {0};
    status_fixture_learner(&fixture);
    fixture.learner.return_episodes = 1;
    assert_says(page_of(&fixture), "187.2 over 1 episode of version 29");
}

TEST(what_a_shard_holds_is_called_what_it_is)
{
    static char name[] = "gradients";
    status_fixture fixture = {0};
    status_fixture_shard(&fixture);
    fixture.tables[0].name = name;
    const char *page = page_of(&fixture);
    assert_says(page, "12.0k gradients, ");
    assert_says(page, "12.3k gradients, 2.5k/s");
    assert_null(strstr(page, "transitions"));
}

/* A resumed run has none yet. */
TEST(the_latest_comparison_with_fp32_is_told_where_there_is_one)
{
    static const struct {
        double latest;
        const char *shown;
    } cases[] = {
        {-2.5, "over 20 pairs of episodes of 2 versions; the latest by -2.5\n"},
        {(double)NAN, "over 20 pairs of episodes of 2 versions\n"},
    };
    EACH_ROW(i, cases) {
        status_fixture fixture = {0};
        Actorq__V1__PrecisionGapStatus gap = ACTORQ__V1__PRECISION_GAP_STATUS__INIT;
        status_fixture_learner(&fixture);
        gap.versions = 2;
        gap.episodes = 20;
        gap.latest_mean = cases[i].latest;
        fixture.learner.precision_gap = &gap;
        FILE *out = cli_print_begin();
        assert_int_equal(aq_status_page_print(out, "x", &fixture.reply, SIZE_MAX), 0);
        assert_says(cli_print_end(), cases[i].shown);
    }
}

/* So that it can be opened where the page is read. */
TEST(a_dashboard_that_is_served_everywhere_is_where_the_learner_was_asked)
{
    static char everywhere[] = "http://[::]:9101", everywhere_4[] = "https://0.0.0.0:9101",
                one[] = "http://127.0.0.1:9101";
    static const struct {
        const char *asked;
        char *http;
        const char *shown;
    } cases[] = {
        {"tcp://learner:5550", everywhere, " http://learner:9101/\n"},
        {"tcp://[fd00::7]:5550", everywhere, " http://[fd00::7]:9101/\n"},
        {"tcp://10.0.0.7:5550", everywhere_4, " https://10.0.0.7:9101/\n"},
        {"ipc:///run/learner", everywhere, " http://127.0.0.1:9101/\n"},
        {"tcp://learner:5550", one, " http://127.0.0.1:9101/\n"},
    };
    EACH_ROW(i, cases) {
        status_fixture fixture = {0};
        status_fixture_learner(&fixture);
        fixture.reply.http = cases[i].http;
        FILE *out = cli_print_begin();
        assert_int_equal(aq_status_page_print(out, cases[i].asked, &fixture.reply, SIZE_MAX), 0);
        assert_says(cli_print_end(), cases[i].shown);
    }
}

TEST(without_memory_the_page_fails)
{
    status_fixture fixture;
    int rc = AQ_E_NOMEM;
    status_fixture_learner(&fixture);
    FILE *out = cli_print_begin();
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_status_page_print(out, "x", &fixture.reply, SIZE_MAX);
    }
    (void)cli_print_end();
}
