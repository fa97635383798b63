/*
 * Plot PNG: an SVG picture as PNG, at twice its size, drawn by librsvg. That is a large library
 * with larger ones under it, for one option of one command: it is loaded when it is asked for, and
 * neither the build nor the other commands know it. One thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_PNG_H
#define AQ_CLI_PLOT_PLOT_PNG_H

#include "common/base/buffer.h"
#include "common/base/error.h"

#define AQ_RSVG_LIBRARY "librsvg-2.so.2"

/* Appends the picture to `out`. `library` is AQ_RSVG_LIBRARY. AQ_E_UNSUPPORTED: it is not here;
 * AQ_E_INVALID: it refuses the SVG, in its own words; AQ_E_NOMEM, AQ_E_TOO_BIG beyond the buffer's
 * limit. On failure out's content is as before. */
int aq_plot_png(const char *library, const aq_buffer *svg, aq_buffer *out,
                aq_error *error) AQ_MUST_USE;

#endif
