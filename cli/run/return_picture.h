/*
 * Return picture: the evaluations of a run over its environment steps, in some lines of characters
 * for a terminal.
 */
#ifndef AQ_CLI_RUN_RETURN_PICTURE_H
#define AQ_CLI_RUN_RETURN_PICTURE_H

#include <stddef.h>
#include <stdio.h>

typedef struct aq_return_point {
    double env_steps, mean;
} aq_return_point;

/* At least two points, in the order of their steps, on lines of at most `width` columns; else, or
 * where that is too narrow, nothing is drawn. */
void aq_return_picture_draw(FILE *out, const aq_return_point *points, size_t count, size_t width);

/* Of RUN/metrics.jsonl, but for versions that fell back to fp32; nothing for one that can't be
 * read. */
void aq_return_picture_print(FILE *out, const char *run_dir, size_t width);

#endif
