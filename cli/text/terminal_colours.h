/*
 * Terminal colours: which of them standard output shows, by what the environment says of the
 * terminal that it is. The same for every command that has some. Any thread.
 */
#ifndef AQ_CLI_TEXT_TERMINAL_COLOURS_H
#define AQ_CLI_TEXT_TERMINAL_COLOURS_H

enum aq_terminal_colours {
    AQ_TERMINAL_PLAIN,
    AQ_TERMINAL_256,
    AQ_TERMINAL_24_BIT,
};

/* What a terminal can show by these variables of the environment, each NULL where it is not set. */
enum aq_terminal_colours aq_terminal_colours_by(const char *no_color, const char *colorterm,
                                                const char *term);

/* The same by NO_COLOR, COLORTERM and TERM; plain where standard output is no terminal. */
enum aq_terminal_colours aq_terminal_colours_of_output(void);

#endif
