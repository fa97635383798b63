/*
 * Terminal colours: see terminal_colours.h.
 */
#include "cli/text/terminal_colours.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set(const char *variable)
{
    return variable != NULL && variable[0] != '\0';
}

enum aq_terminal_colours aq_terminal_colours_by(const char *no_color, const char *colorterm,
                                                const char *term)
{
    if (is_set(no_color) || !is_set(term) || strcmp(term, "dumb") == 0 ||
        strncmp(term, "vt", 2) == 0) {
        return AQ_TERMINAL_PLAIN;
    }
    if (is_set(colorterm) &&
        (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0)) {
        return AQ_TERMINAL_24_BIT;
    }
    return strstr(term, "-direct") != NULL ? AQ_TERMINAL_24_BIT : AQ_TERMINAL_256;
}

enum aq_terminal_colours aq_terminal_colours_of_output(void)
{
    return isatty(STDOUT_FILENO)
               ? aq_terminal_colours_by(getenv("NO_COLOR"), getenv("COLORTERM"), getenv("TERM"))
               : AQ_TERMINAL_PLAIN;
}
