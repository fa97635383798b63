/*
 * The line that says where a run stands, what it says, and where it is cut.
 */
#include "cli/train/progress.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"
#include "tests/unit/common/sys/stderr_capture.h"

enum { WIDE = 1000 };

static aq_progress progress_of(const status_fixture *fixture)
{
    aq_progress progress;
    aq_progress_init(&progress);
    aq_progress_take(&progress, AQ_NS_PER_S, &fixture->reply);
    return progress;
}

static const char *line_in(const status_fixture *fixture, const char *trouble, unsigned columns)
{
    static char line[1024];
    const aq_progress progress = progress_of(fixture);
    assert_ptr_equal(
        aq_progress_line(&progress, &fixture->reply, trouble, columns, line, sizeof(line)), line);
    return line;
}

static const char *line_of(const status_fixture *fixture, unsigned columns)
{
    return line_in(fixture, "", columns);
}

/* What runs is a learner; a test may change it. */
static void status_fixture_setup(status_fixture *fixture)
{
    status_fixture_learner(fixture);
}

static void status_fixture_teardown(status_fixture *fixture)
{
    (void)fixture;
}

/* ---- the line ------------------------------------------------------------------------------ */

TEST_IN(status_fixture, fixture, the_line_says_what_matters_first)
{
    fixture->learner.env_steps = 125000;
    fixture->learner.evaluations = 3;
    fixture->learner.return_mean = 187.34;
    assert_string_equal(line_of(fixture, WIDE),
                        "return 187.3  25%  <= ? left  125.0k/500.0k steps  "
                        "2.5k/s  trained 3.1k 450/s  sent 161.2 kB");
    fixture->learner.return_fell_back = true;
    assert_says(line_of(fixture, WIDE), "return 187.3 (fp32)  25%");
}

TEST_IN(status_fixture, fixture, a_line_in_a_file_says_all)
{
    char line[1024];
    fixture->learner.env_steps = 125000;
    fixture->learner.evaluations = 3;
    fixture->learner.return_mean = 187.34;
    const aq_progress progress = progress_of(fixture);
    assert_string_equal(aq_progress_plain_line(&progress, &fixture->reply, "", line, sizeof(line)),
                        " 25%  steps 125.0k/500.0k 2.5k/s  learner 3.1k 450/s  return 187.3  "
                        "sent 161.2 kB (whole fp32 606.4 kB)  <= ? left");
    assert_says(aq_progress_plain_line(&progress, &fixture->reply, "no actor", line, sizeof(line)),
                "no actor   25%");
}

TEST_IN(status_fixture, fixture, steps_that_nothing_limits_have_no_limit)
{
    char line[1024];
    fixture->learner.env_steps = 125000;
    fixture->learner.env_steps_limit = 0;
    const aq_progress progress = progress_of(fixture);
    assert_says(line_of(fixture, WIDE), "  125.0k steps  ");
    assert_says(aq_progress_plain_line(&progress, &fixture->reply, "", line, sizeof(line)),
                "  steps 125.0k 2.5k/s  ");
}

TEST_IN(status_fixture, fixture, trouble_comes_before_everything)
{
    assert_says(line_in(fixture, "replay 0 cannot write: full", WIDE),
                "replay 0 cannot write: full  return ");
    assert_string_equal(line_in(fixture, "replay 0 cannot write: full", 9), "replay 0 ");
}

TEST_IN(status_fixture, fixture, what_is_left_goes_by_the_pace_of_the_whole_run)
{
    char line[1024];
    fixture->learner.env_steps = 100000;
    aq_progress progress = progress_of(fixture);
    fixture->learner.env_steps = 200000; /* 20 % to 40 % in ten seconds */
    fixture->learner.env_steps_per_s = 1;
    aq_progress_take(&progress, 11 * AQ_NS_PER_S, &fixture->reply);
    assert_says(aq_progress_line(&progress, &fixture->reply, "", WIDE, line, sizeof(line)),
                "40%  <= 30.0s left");
}

TEST_IN(status_fixture, fixture, what_is_left_is_of_the_limits_of_now)
{
    char line[1024];
    fixture->learner.env_steps = 250000;
    aq_progress progress = progress_of(fixture);
    fixture->learner.env_steps = 300000; /* 62.5 % to 75 % of what is now the limit */
    fixture->learner.env_steps_limit = 400000;
    aq_progress_take(&progress, 11 * AQ_NS_PER_S, &fixture->reply);
    assert_says(aq_progress_line(&progress, &fixture->reply, "", WIDE, line, sizeof(line)),
                "75%  <= 20.0s left");
}

TEST_IN(status_fixture, fixture, the_limit_that_is_nearest_is_the_budget)
{
    aq_progress progress;
    fixture->learner.env_steps = 50000;
    fixture->learner.learner_steps = 300;
    fixture->learner.wall_s = 20;
    fixture->learner.learner_steps_limit = 1000;
    aq_progress_init(&progress);
    aq_progress_take(&progress, 1, &fixture->reply);
    assert_near(progress.share, 0.3, 1e-9);
    fixture->learner.wall_limit_s = 40;
    aq_progress_take(&progress, 2, &fixture->reply);
    assert_near(progress.share, 0.5, 1e-9);
    fixture->learner.wall_limit_s = 80; /* changed while it runs */
    aq_progress_take(&progress, 3, &fixture->reply);
    assert_near(progress.share, 0.3, 1e-9);
    fixture->learner.env_steps = 510000; /* what came after the last step is no more than all */
    aq_progress_take(&progress, 4, &fixture->reply);
    assert_near(progress.share, 1, 0);
}

TEST_IN(status_fixture, fixture, returns_are_a_spark_line)
{
    char line[1024];
    fixture->learner.evaluations = 0;
    aq_progress progress = progress_of(fixture);
    for (int i = 1; i <= 4; i++) {
        fixture->learner.evaluations = (uint64_t)i;
        fixture->learner.return_mean = 10 * i;
        aq_progress_take(&progress, i * AQ_NS_PER_S, &fixture->reply);
        aq_progress_take(&progress, i * AQ_NS_PER_S, &fixture->reply); /* the same one */
    }
    assert_says(aq_progress_line(&progress, &fixture->reply, "", WIDE, line, sizeof(line)),
                "return 40.0 ▁▃▆█  ");
}

TEST_IN(status_fixture, fixture, what_is_not_known_yet_is_a_question_mark)
{
    fixture->learner.evaluations = 0;
    fixture->learner.return_mean = NAN;
    assert_says(line_of(fixture, WIDE), "return ?  ");
    assert_says(line_of(fixture, WIDE), "<= ? left");
}

TEST_IN(status_fixture, fixture, a_run_without_a_limit_divides_by_nothing)
{
    fixture->learner.env_steps = 0;
    fixture->learner.env_steps_limit = 0;
    assert_says(line_of(fixture, WIDE), "  0%  ");
}

TEST_IN(status_fixture, fixture, the_line_is_no_wider_than_the_terminal_and_has_whole_fields)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s", line_of(fixture, WIDE));
    const size_t first = strcspn(whole, "%");
    for (unsigned columns = 0; columns <= strlen(whole) + 5; columns++) {
        const char *line = line_of(fixture, columns);
        const char *rest = whole + strlen(line);
        assert_true(strlen(line) <= columns);
        assert_memory_equal(line, whole, strlen(line));
        assert_true(columns < first || *rest == '\0' || strncmp(rest, "  ", 2) == 0);
    }
}

TEST_IN(status_fixture, fixture, a_small_buffer_is_enough)
{
    char small[61];
    const aq_progress progress = progress_of(fixture);
    memset(small, '!', sizeof(small));
    aq_progress_line(&progress, &fixture->reply, "", WIDE, small, sizeof(small) - 1);
    assert_true(strlen(small) < sizeof(small) - 1);
    assert_int_equal(small[sizeof(small) - 1], '!');
}

TEST_IN(status_fixture, fixture, absurd_numbers_stay_within_the_line)
{
    fixture->learner.env_steps = fixture->learner.learner_steps = UINT64_MAX;
    fixture->learner.env_steps_limit = UINT64_MAX;
    fixture->learner.broadcast_bytes = fixture->learner.broadcast_bytes_fp32 = UINT64_MAX;
    fixture->learner.env_steps_per_s = 1e-300;
    fixture->learner.learner_steps_per_s = -1e300;
    fixture->learner.return_mean = -1e300;
    assert_true(strlen(line_of(fixture, 200)) <= 200);
}

/* ---- showing it ---------------------------------------------------------------------------- */

static const char *captured(void)
{
    static char text[8192];
    (void)stderr_capture_end(text, sizeof(text));
    return text;
}

static size_t count_in(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

TEST_IN(status_fixture, fixture, in_a_file_there_is_a_line_every_two_seconds)
{
    aq_progress progress;
    stderr_capture_begin();
    aq_progress_init(&progress); /* a file is no terminal */
    for (int64_t ms = 0; ms <= 5000; ms += 25) {
        aq_progress_show(&progress, ms * AQ_NS_PER_MS, &fixture->reply, "");
    }
    aq_progress_clear(&progress);
    const char *text = captured();
    assert_int_equal(count_in(text, "left\n"), 3);
    assert_int_equal(count_in(text, "\n"), 3);
    assert_null(strpbrk(text, "\r\033"));
}

TEST_IN(status_fixture, fixture, lines_in_a_file_are_further_apart_in_an_old_run)
{
    aq_progress progress;
    stderr_capture_begin();
    aq_progress_init(&progress);
    aq_progress_show(&progress, AQ_NS_PER_S, &fixture->reply, "");
    for (int64_t s = 36001; s < 36061; s++) { /* 20 s apart after ten hours */
        aq_progress_show(&progress, s * AQ_NS_PER_S, &fixture->reply, "");
    }
    assert_int_equal(count_in(captured(), "\n"), 1 + 3);
}

TEST_IN(status_fixture, fixture, on_a_terminal_the_line_is_drawn_over_itself_and_cleared)
{
    aq_progress progress;
    stderr_capture_begin();
    aq_progress_init(&progress);
    progress.is_terminal = true;
    for (int64_t ms = 0; ms < 1000; ms += 25) {
        aq_progress_show(&progress, ms * AQ_NS_PER_MS, &fixture->reply, "");
    }
    aq_progress_clear(&progress);
    aq_progress_clear(&progress); /* nothing stands there any more */
    const char *text = captured();
    assert_int_equal(count_in(text, "\r\033[Kreturn"), 10); /* ten times a second */
    assert_int_equal(count_in(text, "\r\033[K"), 11);
    assert_true(strlen(text) <= 10 * (4 + 80) + 4); /* 80 columns where nobody says */
    assert_null(strchr(text, '\n'));
}

TEST(a_status_that_is_no_learners_shows_nothing)
{
    status_fixture fixture;
    aq_progress progress;
    status_fixture_shard(&fixture);
    stderr_capture_begin();
    aq_progress_init(&progress);
    aq_progress_show(&progress, 0, &fixture.reply, "");
    aq_progress_clear(&progress);
    assert_string_equal(captured(), "");
}
