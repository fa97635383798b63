/*
 * Return picture: see return_picture.h.
 */
#include "cli/run/return_picture.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/run/run_lines.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum {
    ROWS = 8,
    COLUMNS_LEAST = 10,
    COLUMNS_MOST = 60,
    LABEL_WIDTH = 13,
    EIGHTHS = 8,
    POINTS_MAX = 1 << 20
};

static const char *const bars[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* ---- drawing -------------------------------------------------------------------------------- */

/* Means of the points in each column; one without any is as the one before it. */
static void fill_columns(const aq_return_point *points, size_t count, double *columns, size_t width)
{
    const double last = points[count - 1].env_steps;
    size_t next = 0;
    for (size_t i = 0; i < width; i++) {
        const double end = last * (double)(i + 1) / (double)width;
        double sum = 0;
        size_t summed = 0;
        for (; next < count && (points[next].env_steps <= end || i + 1 == width); next++) {
            sum += points[next].mean;
            summed++;
        }
        columns[i] = summed > 0 ? sum / (double)summed : i > 0 ? columns[i - 1] : (double)NAN;
    }
}

static void draw_row(FILE *out, const double *columns, size_t width, size_t row, double low,
                     double high)
{
    if (row == ROWS - 1 || row == 0) {
        (void)fprintf(out, "  %10.1f ", row == 0 ? low : high);
    } else {
        (void)fprintf(out, "  %10s ", "");
    }
    for (size_t i = 0; i < width; i++) {
        const double height = (columns[i] - low) / (high - low) * (ROWS * EIGHTHS - 1) + 1;
        const double here = fmin(fmax(height - (double)(row * EIGHTHS), 0), EIGHTHS);
        (void)fputs(isnan(columns[i]) ? " " : bars[(size_t)here], out);
    }
    (void)fputc('\n', out);
}

void aq_return_picture_draw(FILE *out, const aq_return_point *points, size_t count, size_t width)
{
    double columns[COLUMNS_MOST], low = INFINITY, high = -INFINITY;
    char steps[32];
    if (count < 2 || width < LABEL_WIDTH + COLUMNS_LEAST) {
        return;
    }
    width = width - LABEL_WIDTH < COLUMNS_MOST ? width - LABEL_WIDTH : COLUMNS_MOST;
    fill_columns(points, count, columns, width);
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
    (void)fprintf(out, "  %10s 0%*s\n", "return", (int)width - 1,
                  aq_text_count(steps, sizeof(steps), points[count - 1].env_steps));
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct point_list {
    aq_return_point *points;
    size_t count, capacity;
} point_list;

/* The run stood here before: what it did from there on is not what it became. */
static void forget_after(point_list *list, double env_steps)
{
    while (list->count > 0 && list->points[list->count - 1].env_steps > env_steps) {
        list->count--;
    }
}

/* Of evaluations in the run's format; a confirmation is of a version that was screened already. */
static int take_line(void *user, const char *text)
{
    point_list *list = user;
    if (strstr(text, "\"evaluation\"") == NULL) {
        return 0;
    }
    json_t *line = json_loads(text, 0, NULL);
    const json_t *steps = json_object_get(line, "env_steps");
    const json_t *mean = json_object_get(line, "return_mean");
    int rc = 0;
    if (json_is_number(steps) && json_is_number(mean) &&
        !json_is_true(json_object_get(line, "fell_back")) &&
        !json_is_true(json_object_get(line, "confirmed"))) {
        forget_after(list, json_number_value(steps));
        rc =
            aq_grow(&list->points, &list->capacity, list->count, sizeof(*list->points), POINTS_MAX);
        if (rc == 0) {
            list->points[list->count++] =
                (aq_return_point){json_number_value(steps), json_number_value(mean)};
        }
    }
    json_decref(line);
    return rc;
}

void aq_return_picture_print(FILE *out, const char *run_dir, size_t width)
{
    point_list list = {0};
    if (aq_run_lines_read(run_dir, take_line, &list, NULL) == 0) {
        aq_return_picture_draw(out, list.points, list.count, width);
    }
    aq_free(list.points);
}
