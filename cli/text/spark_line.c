/*
 * Spark line: see spark_line.h.
 */
#include "cli/text/spark_line.h"

#include <math.h>
#include <string.h>

enum { CELLS_KEPT = 2 * AQ_SPARK_CELLS, HEIGHTS = 8 };

static const char *const bars[HEIGHTS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* Full: each two become one. */
static void halve(aq_spark *spark)
{
    for (size_t i = 0; i < CELLS_KEPT / 2; i++) {
        spark->cells[i] = 0.5 * (spark->cells[2 * i] + spark->cells[2 * i + 1]);
    }
    spark->count = CELLS_KEPT / 2;
    spark->stride *= 2;
}

void aq_spark_add(aq_spark *spark, double value)
{
    if (!isfinite(value)) {
        return;
    }
    spark->stride = spark->stride > 0 ? spark->stride : 1;
    spark->sum += value;
    if (++spark->summed < spark->stride) {
        return;
    }
    spark->cells[spark->count++] = spark->sum / (double)spark->summed;
    spark->sum = 0;
    spark->summed = 0;
    if (spark->count == CELLS_KEPT) {
        halve(spark);
    }
}

const char *aq_spark_draw(const aq_spark *spark, char out[AQ_SPARK_BYTES])
{
    const size_t group = spark->count > AQ_SPARK_CELLS ? 2 : 1;
    double low = INFINITY, high = -INFINITY;
    size_t used = 0;
    for (size_t i = 0; i < spark->count; i++) {
        low = fmin(low, spark->cells[i]);
        high = fmax(high, spark->cells[i]);
    }
    out[0] = '\0';
    for (size_t i = 0; spark->count > 1 && i < spark->count; i += group) {
        const size_t last = i + group < spark->count ? i + group - 1 : spark->count - 1;
        const double mean = 0.5 * (spark->cells[i] + spark->cells[last]);
        const double share = high > low ? (mean - low) / (high - low) : 0;
        const char *bar = bars[(size_t)(share * (HEIGHTS - 1) + 0.5)];
        memcpy(out + used, bar, strlen(bar) + 1);
        used += strlen(bar);
    }
    return out;
}
