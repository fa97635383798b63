/*
 * Compare curve: see compare_curve.h.
 */
#include "cli/compare/compare_curve.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/run_lines.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

/* By role and state: for people, and in metrics.jsonl below "time", with "_s" behind it. */
static const struct {
    const char *role;
    const char *key;
    const char *name;
} states[AQ_TIME_STATES] = {
    [AQ_TIME_ACTOR_INFERENCE] = {"actors", "inference", "inference"},
    [AQ_TIME_ACTOR_ENVIRONMENT] = {"actors", "environment", "environment"},
    [AQ_TIME_ACTOR_WAITING] = {"actors", "waiting", "waiting for replay"},
    [AQ_TIME_ACTOR_OTHER] = {"actors", "other", "packing, sending, idle"},
    [AQ_TIME_LEARNER_TRAINING] = {"learner", "training", "training"},
    [AQ_TIME_LEARNER_WAITING] = {"learner", "waiting", "waiting for samples"},
    [AQ_TIME_LEARNER_PUBLISHING] = {"learner", "publishing", "handing policies over"},
    [AQ_TIME_STAGE_QUANTIZING] = {"learner", "quantizing", "quantizing and publishing (beside)"},
    [AQ_TIME_REPLAY_INSERTING] = {"replay", "inserting", "inserting"},
    [AQ_TIME_REPLAY_SAMPLING] = {"replay", "sampling", "sampling"},
};

const char *aq_compare_state_name(enum aq_compare_state state)
{
    return states[state].name;
}

const char *aq_compare_state_role(enum aq_compare_state state)
{
    return states[state].role;
}

const char *aq_compare_state_key(enum aq_compare_state state)
{
    return states[state].key;
}

static uint64_t count_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static int add_point(aq_compare_curve *curve, const aq_curve_point *point)
{
    while (curve->count > 0 && curve->points[curve->count - 1].wall_s > point->wall_s) {
        curve->count--; /* the run was resumed from before that */
    }
    int rc = aq_grow(&curve->points, &curve->capacity, curve->count, sizeof(*point),
                     AQ_CURVE_POINTS_MAX);
    if (rc != 0) {
        return rc;
    }
    curve->points[curve->count++] = *point;
    return 0;
}

/* A confirmation is of a version that was screened already, and did well: with both, the versions
 * that did well would count twice. */
static int take_evaluation(aq_compare_curve *curve, const json_t *line)
{
    const aq_curve_point point = {
        .wall_s = aq_json_number_of(line, "wall_s"),
        .env_steps = aq_json_number_of(line, "env_steps"),
        .value = aq_json_number_of(line, "return_mean"),
    };
    bool is_whole = isfinite(point.wall_s) && isfinite(point.env_steps) && isfinite(point.value);
    bool counts = !json_is_true(json_object_get(line, "fell_back")) &&
                  !json_is_true(json_object_get(line, "confirmed"));
    return is_whole && counts ? add_point(curve, &point) : 0;
}

static void take_times(aq_compare_curve *curve, const json_t *times)
{
    double steps = aq_json_number_of(json_object_get(times, "actors"), "env_steps");
    curve->actor_steps = isfinite(steps) ? steps : curve->actor_steps;
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "%s_s", states[i].key);
        double seconds = aq_json_number_of(json_object_get(times, states[i].role), key);
        if (isfinite(seconds)) {
            curve->states[i] = seconds;
        }
    }
}

/* Progress and end say the same things of the run as a whole; the last of them counts. */
static void take_totals(aq_compare_curve *curve, const json_t *line)
{
    curve->wall_s = aq_json_number_of(line, "wall_s");
    curve->env_steps = count_of(line, "env_steps");
    curve->learner_steps = count_of(line, "learner_steps");
    curve->policy_versions = count_of(line, "policy_versions");
    curve->policy_fallbacks = count_of(line, "policy_fallbacks");
    curve->broadcast_bytes = count_of(line, "broadcast_bytes");
    curve->broadcast_bytes_fp32 = count_of(line, "broadcast_bytes_fp32");
    take_times(curve, json_object_get(line, "time"));
}

static void take_end(aq_compare_curve *curve, const json_t *line)
{
    const char *state = json_string_value(json_object_get(line, "state"));
    char end[sizeof(curve->end)] = "";
    if (aq_text_set(end, sizeof(end), state ? state : "") < 0) {
        return; /* longer than any state: the line is broken */
    }
    memcpy(curve->end, end, sizeof(end));
    take_totals(curve, line);
    curve->gap = aq_json_number_of(json_object_get(line, "precision_gap"), "mean");
}

typedef struct curve_reader {
    aq_compare_curve *curve;
    double staleness_sum;
    size_t staleness_count;
} curve_reader;

static int take_event(curve_reader *reader, const char *event, const json_t *line)
{
    aq_compare_curve *curve = reader->curve;
    if (strcmp(event, "evaluation") == 0) {
        return take_evaluation(curve, line);
    }
    if (strcmp(event, "end") == 0) {
        take_end(curve, line);
    } else if (strcmp(event, "progress") == 0) {
        double staleness = aq_json_number_of(line, "staleness");
        take_totals(curve, line);
        curve->end[0] = '\0'; /* it was resumed */
        if (isfinite(staleness)) {
            reader->staleness_sum += staleness;
            reader->staleness_count++;
        }
    }
    return 0;
}

static int take_line(void *user, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    const int rc = event ? take_event(user, event, line) : 0;
    json_decref(line);
    return rc;
}

int aq_compare_curve_read(const char *path, aq_compare_curve *ret_curve, aq_error *error)
{
    aq_compare_curve curve = {.wall_s = NAN, .actor_steps = NAN, .gap = NAN, .staleness = NAN};
    curve_reader reader = {.curve = &curve};
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        curve.states[i] = NAN;
    }
    const int rc = aq_run_lines_read(path, take_line, &reader, error);
    if (rc != 0) {
        aq_compare_curve_fini(&curve);
        return rc;
    }
    if (reader.staleness_count > 0) {
        curve.staleness = reader.staleness_sum / (double)reader.staleness_count;
    }
    *ret_curve = curve;
    return 0;
}

void aq_compare_curve_fini(aq_compare_curve *curve)
{
    aq_free(curve->points);
    *curve = (aq_compare_curve){0};
}

double aq_compare_curve_final(const aq_compare_curve *curve)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = curve->count; i-- > 0;) {
        if (count > 0 && curve->points[i].env_steps < 0.9 * (double)curve->env_steps) {
            break;
        }
        sum += curve->points[i].value;
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}
