/*
 * Return picture: the evaluations of a run over its environment steps, in some lines of characters
 * for a terminal.
 */
#ifndef AQ_CLI_RUN_RETURN_PICTURE_H
#define AQ_CLI_RUN_RETURN_PICTURE_H

#include <stddef.h>
#include <stdio.h>

#include "cli/run/run_series.h"

/* At least two evaluations, on lines of at most `width` columns; else, or where that is too narrow,
 * nothing is drawn. */
void aq_return_picture_draw(FILE *out, const aq_run_series *returns, size_t width);

/* Nothing for a run that can't be read. */
void aq_return_picture_print(FILE *out, const char *run_dir, size_t width);

#endif
