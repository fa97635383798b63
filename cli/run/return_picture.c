/*
 * Return picture: see return_picture.h.
 */
#include "cli/run/return_picture.h"

#include <math.h>
#include <string.h>

#include "common/base/parse.h"

enum { ROWS = 8, COLUMNS_LEAST = 10, COLUMNS_MOST = 60, LABEL_WIDTH = 13, EIGHTHS = 8 };

static const char *const bars[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* Means of the points in each column; one without any is as the one before it. */
static void fill_columns(const aq_run_series *returns, double *columns, size_t width)
{
    const aq_series_point *points = returns->points;
    const size_t count = returns->count;
    const double last = points[count - 1].env_steps;
    size_t next = 0;
    for (size_t i = 0; i < width; i++) {
        const double end = last * (double)(i + 1) / (double)width;
        double sum = 0;
        size_t summed = 0;
        for (; next < count && (points[next].env_steps <= end || i + 1 == width); next++) {
            sum += points[next].value;
            summed++;
        }
        columns[i] = summed > 0 ? sum / (double)summed : i > 0 ? columns[i - 1] : (double)NAN;
    }
}

static void draw_row(FILE *out, const double *columns, size_t width, size_t row, double low,
                     double high)
{
    char label[32] = "";
    if (row == ROWS - 1 || row == 0) {
        (void)aq_text_return(label, sizeof(label), row == 0 ? low : high, 1);
    }
    (void)fprintf(out, "  %10s ", label);
    for (size_t i = 0; i < width; i++) {
        const double height = (columns[i] - low) / (high - low) * (ROWS * EIGHTHS - 1) + 1;
        const double here = fmin(fmax(height - (double)(row * EIGHTHS), 0), EIGHTHS);
        (void)fputs(isnan(columns[i]) ? " " : bars[(size_t)here], out);
    }
    (void)fputc('\n', out);
}

void aq_return_picture_draw(FILE *out, const aq_run_series *returns, size_t width)
{
    double columns[COLUMNS_MOST], low = INFINITY, high = -INFINITY;
    char steps[32];
    if (returns->count < 2 || width < LABEL_WIDTH + COLUMNS_LEAST) {
        return;
    }
    width = width - LABEL_WIDTH < COLUMNS_MOST ? width - LABEL_WIDTH : COLUMNS_MOST;
    fill_columns(returns, columns, width);
    for (size_t i = 0; i < width; i++) {
        low = fmin(low, columns[i]);
        high = fmax(high, columns[i]);
    }
    if (!(high > low)) {
        return;
    }
    (void)fputc('\n', out);
    for (size_t row = ROWS; row-- > 0;) {
        draw_row(out, columns, width, row, low, high);
    }
    (void)fprintf(
        out, "  %10s 0%*s\n", "return", (int)width - 1,
        aq_text_count(steps, sizeof(steps), returns->points[returns->count - 1].env_steps));
}

void aq_return_picture_print(FILE *out, const char *run_dir, size_t width)
{
    static const char *const quantity = "return";
    aq_run_series returns = {0};
    if (aq_run_series_read(run_dir, &quantity, 1, &returns, NULL) == 0) {
        aq_return_picture_draw(out, &returns, width);
    }
    aq_run_series_fini(&returns);
}
