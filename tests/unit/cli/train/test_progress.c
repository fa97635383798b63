/*
 * The line that says where a run stands, what it says, and where it is cut.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/train/progress.h"
#include "common/base/clock.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"
#include "tests/unit/common/sys/stderr_capture.h"

enum { WIDE = 1000 };

static const char *line_of(const status_fixture *fixture, bool with_bar, unsigned columns)
{
    static char line[1024];
    assert_ptr_equal(aq_progress_line(&fixture->reply, with_bar, columns, line, sizeof(line)),
                     line);
    return line;
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

TEST_IN(status_fixture, fixture, the_line_says_where_the_run_stands)
{
    fixture->learner.env_steps = 125000;
    fixture->learner.evaluations = 3;
    fixture->learner.return_mean = 187.34;
    assert_string_equal(line_of(fixture, false, WIDE),
                        " 25%  steps 125.0k/500.0k 2.5k/s  learner 3.1k 450/s  return 187.3  "
                        "sent 161.2 kB (whole fp32 606.4 kB)  <= 2m30s left");
    fixture->learner.return_fell_back = true;
    assert_says(line_of(fixture, false, WIDE), "return 187.3 (fp32)  sent");
}

TEST_IN(status_fixture, fixture, a_bar_is_drawn_before_it)
{
    fixture->learner.env_steps = 125000;
    assert_says(line_of(fixture, true, WIDE), "[#####...............]  25%  steps 125.0k");
    fixture->learner.env_steps = 0;
    assert_says(line_of(fixture, true, WIDE), "[....................]   0%");
    fixture->learner.env_steps = 500000;
    assert_says(line_of(fixture, true, WIDE), "[####################] 100%");
}

TEST_IN(status_fixture, fixture, what_came_after_the_last_step_is_no_more_than_all)
{
    fixture->learner.env_steps = 510000;
    const char *line = line_of(fixture, true, WIDE);
    assert_says(line, "[####################] 100%");
    assert_says(line, "<= 0us left");
}

TEST_IN(status_fixture, fixture, what_is_not_known_yet_is_a_question_mark)
{
    static const double rates[] = {0, NAN, -1};
    fixture->learner.evaluations = 0;
    fixture->learner.return_mean = NAN;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        fixture->learner.env_steps_per_s = rates[i];
        const char *line = line_of(fixture, true, WIDE);
        assert_says(line, "return ?");
        assert_says(line, "<= ? left");
    }
}

TEST_IN(status_fixture, fixture, a_run_without_a_limit_divides_by_nothing)
{
    fixture->learner.env_steps = 0;
    fixture->learner.env_steps_limit = 0;
    assert_says(line_of(fixture, true, WIDE), "[....................]   0%");
}

TEST_IN(status_fixture, fixture, the_line_is_as_wide_as_the_terminal_and_no_wider)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s", line_of(fixture, true, WIDE));
    size_t length = strlen(whole);
    for (unsigned columns = 0; columns <= length + 5; columns++) {
        const char *line = line_of(fixture, true, columns);
        assert_int_equal(strlen(line), columns < length ? columns : length);
        assert_memory_equal(line, whole, strlen(line));
    }
}

TEST_IN(status_fixture, fixture, a_small_buffer_is_enough_for_a_narrow_terminal)
{
    char whole[1024], small[61];
    snprintf(whole, sizeof(whole), "%s", line_of(fixture, true, WIDE));
    for (unsigned columns = 0; columns < 100; columns++) {
        memset(small, '!', sizeof(small));
        aq_progress_line(&fixture->reply, true, columns, small, sizeof(small) - 1);
        size_t expected = columns < sizeof(small) - 2 ? columns : sizeof(small) - 2;
        assert_int_equal(strlen(small), expected);
        assert_memory_equal(small, whole, expected);
        assert_int_equal(small[sizeof(small) - 1], '!');
    }
}

TEST_IN(status_fixture, fixture, absurd_numbers_stay_within_the_line)
{
    fixture->learner.env_steps = fixture->learner.learner_steps = UINT64_MAX;
    fixture->learner.env_steps_limit = UINT64_MAX;
    fixture->learner.broadcast_bytes = fixture->learner.broadcast_bytes_fp32 = UINT64_MAX;
    fixture->learner.env_steps_per_s = 1e-300;
    fixture->learner.learner_steps_per_s = -1e300;
    fixture->learner.return_mean = -1e300;
    assert_true(strlen(line_of(fixture, true, 200)) <= 200);
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
        aq_progress_show(&progress, ms * AQ_NS_PER_MS, &fixture->reply);
    }
    aq_progress_clear(&progress);
    const char *text = captured();
    assert_int_equal(count_in(text, "left\n"), 3);
    assert_int_equal(count_in(text, "\n"), 3);
    assert_null(strpbrk(text, "\r\033"));
    assert_null(strchr(text, '#')); /* no bar */
}

TEST_IN(status_fixture, fixture, on_a_terminal_the_line_is_drawn_over_itself_and_cleared)
{
    aq_progress progress;
    stderr_capture_begin();
    aq_progress_init(&progress);
    progress.is_terminal = true;
    for (int64_t ms = 0; ms < 1000; ms += 25) {
        aq_progress_show(&progress, ms * AQ_NS_PER_MS, &fixture->reply);
    }
    aq_progress_clear(&progress);
    aq_progress_clear(&progress); /* nothing stands there any more */
    const char *text = captured();
    assert_int_equal(count_in(text, "\r\033[K["), 10); /* ten times a second */
    assert_int_equal(count_in(text, "\r\033[K"), 11);
    assert_int_equal(strlen(text), 10 * (4 + 80) + 4); /* 80 columns where nobody says */
    assert_null(strchr(text, '\n'));
}

TEST(a_status_that_is_no_learners_shows_nothing)
{
    status_fixture fixture;
    aq_progress progress;
    status_fixture_shard(&fixture);
    stderr_capture_begin();
    aq_progress_init(&progress);
    aq_progress_show(&progress, 0, &fixture.reply);
    aq_progress_clear(&progress);
    assert_string_equal(captured(), "");
}
