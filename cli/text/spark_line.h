/*
 * Spark line: a curve as a word of a few characters, "▁▂▄▆█": each stands for an equal share of the
 * values so far, and its height is between the least and the greatest. One thread.
 */
#ifndef AQ_CLI_TEXT_SPARK_LINE_H
#define AQ_CLI_TEXT_SPARK_LINE_H

#include <stddef.h>

enum { AQ_SPARK_CELLS = 10, AQ_SPARK_BYTES = 3 * AQ_SPARK_CELLS + 1 };

/* Zeroed it is empty. */
typedef struct aq_spark {
    double cells[2 * AQ_SPARK_CELLS]; /* means of `stride` values each, the oldest first */
    size_t count, stride;
    double sum; /* of the next cell */
    size_t summed;
} aq_spark;

void aq_spark_add(aq_spark *spark, double value); /* one that is not finite is passed over */

/* In UTF-8; "" for less than two cells. Returns `out`. */
const char *aq_spark_draw(const aq_spark *spark, char out[AQ_SPARK_BYTES]);

#endif
