/*
 * What a terminal shows is said by the environment.
 */
#include "cli/text/terminal_colours.h"
#include "tests/support/test.h"

TEST(the_environment_says_what_a_terminal_can_show)
{
    static const struct {
        const char *no_color, *colorterm, *term;
        enum aq_terminal_colours colours;
    } rows[] = {
        {NULL, NULL, "xterm-256color", AQ_TERMINAL_256},
        {NULL, "truecolor", "xterm-256color", AQ_TERMINAL_24_BIT},
        {NULL, "24bit", "screen", AQ_TERMINAL_24_BIT},
        {NULL, NULL, "xterm-direct", AQ_TERMINAL_24_BIT},
        {NULL, "yes", "linux", AQ_TERMINAL_256},
        {"", NULL, "xterm", AQ_TERMINAL_256},
        {"1", "truecolor", "xterm", AQ_TERMINAL_PLAIN},
        {NULL, "truecolor", "dumb", AQ_TERMINAL_PLAIN},
        {NULL, NULL, "vt100", AQ_TERMINAL_PLAIN},
        {NULL, NULL, NULL, AQ_TERMINAL_PLAIN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(aq_terminal_colours_by(rows[i].no_color, rows[i].colorterm, rows[i].term),
                         rows[i].colours);
    }
}
