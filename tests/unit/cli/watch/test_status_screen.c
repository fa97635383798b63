/*
 * A status is never taller than the terminal, and leaves out no member that there is room for.
 */
#include <string.h>

#include "cli/watch/status_screen.h"
#include "common/base/memory.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"

enum { WIDE = 1000, NARROW = 80, ROWS_MAX = 200 };

TEST_ENDING(release, aq_free);

static const char *screen_of(const status_fixture *fixture, size_t rows, size_t columns)
{
    static const char clears[] = "\033[H\033[J";
    FILE *out = cli_print_begin();
    assert_int_equal(aq_status_screen_print(out, "x", &fixture->reply, rows, columns), 0);
    char *text = aq_text_copy(cli_print_end());
    at_end(release, text);
    assert_memory_equal(text, clears, strlen(clears));
    return text + strlen(clears);
}

/* What is printed is ASCII here. */
static size_t rows_of(const char *text, size_t columns)
{
    size_t rows = 0;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        rows += length <= columns ? 1 : (length + columns - 1) / columns;
        line += length + 1;
    }
    return rows;
}

TEST(a_screen_is_as_tall_as_the_terminal_at_most)
{
    static const size_t widths[] = {WIDE, NARROW};
    status_fixture fixture;
    status_fixture_learner(&fixture);
    EACH_ROW(i, widths) {
        const char *whole = screen_of(&fixture, ROWS_MAX, widths[i]);
        const size_t tallest = rows_of(whole, widths[i]);
        assert_null(strstr(whole, "more\n"));
        for (size_t rows = 1; rows < tallest; rows++) {
            const char *text = screen_of(&fixture, rows, widths[i]);
            assert_true(rows_of(text, widths[i]) <= rows);
            assert_true(strcmp(text, whole) != 0);
        }
        assert_string_equal(screen_of(&fixture, tallest, widths[i]), whole);
    }
}

TEST(members_go_first_and_the_last_facts_after_them)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    const size_t tallest = rows_of(screen_of(&fixture, ROWS_MAX, WIDE), WIDE);
    const char *text = screen_of(&fixture, tallest - 1, WIDE);
    assert_says(text, "box-a");
    assert_says(text, "  and 2 more\n");
    assert_says(text, "box-r");
    text = screen_of(&fixture, 2, WIDE);
    assert_says(text, "learner at x: gym:CartPole-v1, running\n  run ");
    assert_int_equal(rows_of(text, WIDE), 2);
}

TEST(every_failed_allocation_is_reported)
{
    status_fixture fixture;
    int rc = AQ_E_NOMEM;
    status_fixture_learner(&fixture);
    FILE *out = cli_print_begin();
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_status_screen_print(out, "x", &fixture.reply, ROWS_MAX, WIDE);
    }
    (void)cli_print_end();
}
