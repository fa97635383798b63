/*
 * Run series: see run_series.h. Lines are looked through for the quantity's name before they are
 * parsed, as there may be millions of others.
 */
#include "cli/plot/run_series.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/run_lines.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum { NAME_BYTES_MAX = 128 };

typedef struct series_reader {
    char name[NAME_BYTES_MAX]; /* the quantity's path, its slashes are ends of texts */
    size_t name_bytes;
    const char *last_key; /* of that path: what a line must have in it */
    aq_run_series series;
    /* The last line that said both, and how many points there were by then: later ones wait for the
     * next such line, to be put between. */
    double anchor_env_steps, anchor_learner_steps;
    size_t anchored;
} series_reader;

/* ---- lines ---------------------------------------------------------------------------------- */

/* The quantity in the line, NaN when it is not there. */
static double quantity_of(const series_reader *reader, const json_t *line)
{
    const json_t *at = line;
    for (size_t i = 0; i < reader->name_bytes; i += strlen(reader->name + i) + 1) {
        at = json_object_get(at, reader->name + i);
    }
    return json_is_number(at) ? json_number_value(at) : NAN;
}

static int add(series_reader *reader, const aq_series_point *point)
{
    aq_run_series *series = &reader->series;
    int rc = aq_grow(&series->points, &series->capacity, series->count, sizeof(*point),
                     AQ_SERIES_POINTS_MAX);
    if (rc != 0) {
        return rc;
    }
    series->points[series->count++] = *point;
    return 0;
}

/* The run stood here before: what it did from there on is not what it became. */
static void forget_after(series_reader *reader, double env_steps)
{
    aq_run_series *series = &reader->series;
    while (series->count > 0 && series->points[series->count - 1].env_steps > env_steps) {
        series->count--;
    }
    if (reader->anchored > series->count) {
        reader->anchored = series->count;
    }
}

/* Points since the anchor are put on the straight line from there to here. */
static void anchor(series_reader *reader, double env_steps, double learner_steps)
{
    const double from = reader->anchor_env_steps;
    const double slope =
        env_steps > from ? (learner_steps - reader->anchor_learner_steps) / (env_steps - from) : 0;
    for (size_t i = reader->anchored; i < reader->series.count; i++) {
        aq_series_point *point = &reader->series.points[i];
        point->learner_steps =
            fmin(learner_steps, reader->anchor_learner_steps + slope * (point->env_steps - from));
    }
    reader->anchored = reader->series.count;
    reader->anchor_env_steps = env_steps;
    reader->anchor_learner_steps = learner_steps;
}

/* Whether the line is a point: a version that fell back to fp32 is none of the run's format. */
static bool counts(series_reader *reader, const json_t *line)
{
    const bool fell_back = json_is_true(json_object_get(line, "fell_back"));
    reader->series.fell_back += fell_back && isfinite(quantity_of(reader, line));
    return !fell_back && !json_is_true(json_object_get(line, "confirmed"));
}

static int take_line(void *user, const char *text)
{
    series_reader *reader = user;
    /* A line with learner steps is needed for those around it. */
    if (!strstr(text, reader->last_key) && !strstr(text, "\"learner_steps\"")) {
        return 0;
    }
    json_t *line = json_loads(text, 0, NULL);
    const double learner_steps = aq_json_number_of(line, "learner_steps");
    aq_series_point point = {
        .wall_s = aq_json_number_of(line, "wall_s"),
        .env_steps = aq_json_number_of(line, "env_steps"),
        .value = counts(reader, line) ? quantity_of(reader, line) : (double)NAN,
    };
    json_decref(line);
    if (!isfinite(point.wall_s) || !isfinite(point.env_steps)) {
        return 0;
    }
    forget_after(reader, point.env_steps);
    if (reader->series.count > 0) { /* lines of one moment may have read the clock in turn */
        point.wall_s = fmax(point.wall_s, reader->series.points[reader->series.count - 1].wall_s);
    }
    if (isfinite(learner_steps) && (point.env_steps < reader->anchor_env_steps ||
                                    learner_steps < reader->anchor_learner_steps)) {
        reader->anchor_env_steps = point.env_steps; /* gone back: nothing is known in between */
        reader->anchor_learner_steps = learner_steps;
    }
    point.learner_steps = reader->anchor_learner_steps;
    int rc = isfinite(point.value) ? add(reader, &point) : 0;
    if (rc == 0 && isfinite(learner_steps)) {
        anchor(reader, point.env_steps, learner_steps);
    }
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int take_name(series_reader *reader, const char *quantity)
{
    const char *name = strcmp(quantity, "return") == 0 ? "return_mean" : quantity;
    int rc = aq_text_set(reader->name, sizeof(reader->name), name);
    if (rc != 0 || name[0] == '\0') {
        return AQ_E_INVALID;
    }
    reader->name_bytes = strlen(name) + 1;
    reader->last_key = reader->name;
    for (char *slash = reader->name; (slash = strchr(slash, '/')) != NULL;) {
        *slash++ = '\0';
        reader->last_key = slash;
    }
    return 0;
}

int aq_run_series_read(const char *folder, const char *quantity, aq_run_series *ret_series,
                       aq_error *error)
{
    series_reader reader = {.last_key = NULL};
    if (take_name(&reader, quantity)) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no name of a quantity", quantity);
    }
    const int rc = aq_run_lines_read(folder, take_line, &reader, error);
    if (rc != 0) {
        aq_run_series_fini(&reader.series);
        return rc;
    }
    *ret_series = reader.series;
    return 0;
}

void aq_run_series_fini(aq_run_series *series)
{
    aq_free(series->points);
    *series = (aq_run_series){0};
}
