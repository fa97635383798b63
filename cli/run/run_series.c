/*
 * Run series: see run_series.h. Lines are looked through for names before they are parsed, as there
 * may be millions of others; each is parsed once, whatever the number of quantities.
 */
#include "cli/run/run_series.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/run/run_lines.h"
#include "cli/text/command.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum { NAME_BYTES_MAX = 128 };

/* Lines of one moment may have read the clock in turn; who went back to a checkpoint lost more. */
#define ONE_MOMENT_S 0.5

/* Of one quantity. */
typedef struct series_reader {
    char name[NAME_BYTES_MAX]; /* the quantity's path, its slashes are ends of texts */
    size_t name_bytes;
    const char *last_key; /* of that path: what a line must have in it */
    aq_run_series series;
    /* The last line that said both, and how many points there were by then: later ones wait for the
     * next such line, to be put between. */
    double anchor_wall_s, anchor_learner_steps;
    size_t anchored;
} series_reader;

typedef struct line_reader {
    series_reader *readers;
    size_t count;
} line_reader;

/* What all quantities take from a line. */
typedef struct series_line {
    const json_t *json;
    double wall_s, env_steps;
    double learner_steps; /* NaN: it does not say */
    bool has_learner_steps, fell_back, confirmed;
} series_line;

/* ---- lines ---------------------------------------------------------------------------------- */

/* The quantity in the line, NULL when it is not there. */
static const json_t *quantity_of(const series_reader *reader, const json_t *line)
{
    const json_t *at = line;
    for (size_t i = 0; i < reader->name_bytes; i += strlen(reader->name + i) + 1) {
        at = json_object_get(at, reader->name + i);
    }
    return at;
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

static const aq_series_point *last_of(const aq_run_series *series)
{
    return series->count > 0 ? &series->points[series->count - 1] : NULL;
}

/* The run stood here before: what it did from there on is not what it became. Its time has gone
 * back then; its environment steps have not where shards kept them. */
static void forget_after(series_reader *reader, double wall_s, double env_steps)
{
    aq_run_series *series = &reader->series;
    const aq_series_point *last = last_of(series);
    const bool went_back = last != NULL && last->wall_s - wall_s > ONE_MOMENT_S;
    while (last != NULL && (last->env_steps > env_steps || (went_back && last->wall_s > wall_s))) {
        series->count--;
        last = last_of(series);
    }
    if (reader->anchored > series->count) {
        reader->anchored = series->count;
    }
}

/* Points since the anchor are put on the straight line from there to here, by time: environment
 * steps stand still where a dataset is learned from. */
static void anchor(series_reader *reader, double wall_s, double learner_steps)
{
    const double from = reader->anchor_wall_s;
    const double slope =
        wall_s > from ? (learner_steps - reader->anchor_learner_steps) / (wall_s - from) : 0;
    for (size_t i = reader->anchored; i < reader->series.count; i++) {
        aq_series_point *point = &reader->series.points[i];
        point->learner_steps = fmin(learner_steps, reader->anchor_learner_steps +
                                                       slope * fmax(0, point->wall_s - from));
    }
    reader->anchored = reader->series.count;
    reader->anchor_wall_s = wall_s;
    reader->anchor_learner_steps = learner_steps;
}

static int take_quantity(series_reader *reader, const series_line *line)
{
    const json_t *found = quantity_of(reader, line->json);
    /* A line with learner steps is needed for those around it. */
    if (found == NULL && !line->has_learner_steps) {
        return 0;
    }
    const double value = json_is_number(found) ? json_number_value(found) : (double)NAN;
    /* A version that fell back to fp32 is no point of the run's format. */
    reader->series.fell_back += line->fell_back && isfinite(value);
    if (!isfinite(line->wall_s) || !isfinite(line->env_steps)) {
        return 0;
    }
    aq_series_point point = {
        .wall_s = line->wall_s,
        .env_steps = line->env_steps,
        .value = line->fell_back || line->confirmed ? (double)NAN : value,
    };
    forget_after(reader, point.wall_s, point.env_steps);
    if (reader->series.count > 0) {
        point.wall_s = fmax(point.wall_s, last_of(&reader->series)->wall_s);
    }
    if (isfinite(line->learner_steps) && (point.wall_s < reader->anchor_wall_s ||
                                          line->learner_steps < reader->anchor_learner_steps)) {
        reader->anchor_wall_s = point.wall_s; /* gone back: nothing is known in between */
        reader->anchor_learner_steps = line->learner_steps;
    }
    point.learner_steps = reader->anchor_learner_steps;
    int rc = isfinite(point.value) ? add(reader, &point) : 0;
    if (rc == 0 && isfinite(line->learner_steps)) {
        anchor(reader, point.wall_s, line->learner_steps);
    }
    return rc;
}

static bool is_wanted(const line_reader *lines, const char *text)
{
    bool wanted = strstr(text, "\"learner_steps\"") != NULL;
    for (size_t i = 0; !wanted && i < lines->count; i++) {
        wanted = strstr(text, lines->readers[i].last_key) != NULL;
    }
    return wanted;
}

static int take_line(void *user, const char *text)
{
    const line_reader *lines = user;
    if (!is_wanted(lines, text)) {
        return 0;
    }
    json_t *json = json_loads(text, 0, NULL);
    const series_line line = {
        .json = json,
        .wall_s = aq_json_number_of(json, "wall_s"),
        .env_steps = aq_json_number_of(json, "env_steps"),
        .learner_steps = aq_json_number_of(json, "learner_steps"),
        .has_learner_steps = json_object_get(json, "learner_steps") != NULL,
        .fell_back = json_is_true(json_object_get(json, "fell_back")),
        .confirmed = json_is_true(json_object_get(json, "confirmed")),
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < lines->count; i++) {
        rc = take_quantity(&lines->readers[i], &line);
    }
    json_decref(json);
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

int aq_run_series_read(const char *folder, const char *const *quantities, size_t count,
                       aq_run_series *ret_series, aq_error *error)
{
    line_reader lines = {.readers = aq_alloc(count, sizeof(*lines.readers)), .count = count};
    int rc = lines.readers != NULL ? 0 : aq_fail(error, AQ_E_NOMEM, "out of memory");
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (take_name(&lines.readers[i], quantities[i]) != 0) {
            rc = aq_fail(error, AQ_E_INVALID, "'%s' is no name of a quantity", quantities[i]);
        }
    }
    rc = rc != 0 ? rc : aq_run_lines_read(folder, take_line, &lines, error);
    for (size_t i = 0; lines.readers != NULL && i < count; i++) {
        if (rc == 0) {
            ret_series[i] = lines.readers[i].series;
        } else {
            aq_run_series_fini(&lines.readers[i].series);
        }
    }
    aq_free(lines.readers);
    return rc;
}

void aq_run_series_fini(aq_run_series *series)
{
    aq_free(series->points);
    *series = (aq_run_series){0};
}
