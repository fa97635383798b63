/*
 * Plot letters: a small alphabet of straight strokes, for pictures that must not depend on the
 * fonts of a machine: printable ASCII and a few signs. Anything else is a box. Static storage, any
 * thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_LETTERS_H
#define AQ_CLI_PLOT_PLOT_LETTERS_H

#include <stdint.h>

enum {
    AQ_LETTER_BASELINE = 7, /* y of it; capitals begin at 0, descenders end at 9 */
    AQ_LETTER_SPACING = 2,  /* between two letters */
};

/* The strokes of a character: digits in pairs, x to the right and y downwards, a stroke is a run of
 * pairs, blanks are between strokes; a pair alone is a dot. `*ret_width` is the largest x. */
const char *aq_plot_letter(uint32_t code_point, uint32_t *ret_width);

#endif
