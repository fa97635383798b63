/*
 * Sweep record: see sweep_record.h.
 */
#include "cli/sweep/journal/sweep_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/crc32c.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum { VERSION = 1, SUM_DIGITS = 8, STAGES_MAX = 2 * AQ_SWEEP_ROUND_MAX };

static const char *const event_names[] = {AQ_SWEEP_EVENTS(AQ_CHOICE_WORD) NULL};
static const char *const kind_names[] = {AQ_SWEEP_KINDS(AQ_CHOICE_WORD) NULL};

/* ---- writing -------------------------------------------------------------------------------- */

json_t *aq_sweep_point_json(const aq_sweep_space *space, const aq_sweep_point *point)
{
    json_t *json = json_object();
    for (size_t i = 0; i < space->count; i++) {
        if (point->values[i][0] != '\0') {
            (void)json_object_set_new(json, space->dims[i].key, json_string(point->values[i]));
        }
    }
    return json;
}

static json_t *stages_json(const aq_sweep_space *space, const aq_sweep_event *event)
{
    json_t *list = json_array();
    for (size_t i = 0; i < event->stage_count; i++) {
        const aq_sweep_stage *stage = &event->stages[i];
        aq_json_add(
            &list, json_pack("{s:s, s:i, s:i, s:o, s:o}", "kind", kind_names[stage->kind], "trial",
                             (int)stage->trial, "rung", (int)stage->rung, "from",
                             stage->from == AQ_SWEEP_NONE ? json_null() : json_integer(stage->from),
                             "settings", aq_sweep_point_json(space, &stage->point)));
    }
    return list;
}

static void add_outcome(json_t *json, const aq_sweep_outcome *outcome)
{
    json_t *figures = json_object();
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        (void)json_object_set_new(figures, aq_sweep_figure_name((enum aq_sweep_figure)i),
                                  aq_json_number(outcome->figures[i]));
    }
    (void)json_object_set_new(json, "failed", json_boolean(outcome->is_failed));
    (void)json_object_set_new(json, "solved", json_boolean(outcome->is_solved));
    (void)json_object_set_new(json, "figures", figures);
    if (outcome->is_failed) {
        (void)json_object_set_new(json, "reason", aq_json_text(outcome->reason));
    }
}

static json_t *event_json(const aq_sweep_space *space, uint64_t number, const aq_sweep_event *event)
{
    json_t *json = json_pack("{s:I, s:s, s:f}", "n", (json_int_t)number, "event",
                             event_names[event->kind], "time_s", event->time_s);
    if (json == NULL) {
        return NULL;
    }
    if (event->kind == AQ_SWEEP_EVENT_STUDY) {
        (void)json_object_set_new(json, "version", json_integer(VERSION));
        (void)json_object_set_new(json, "spec", json_integer(event->spec_sum));
        (void)json_object_set_new(json, "settings", json_integer(event->plan.settings_sum));
        (void)json_object_set_new(json, "steps", json_integer((json_int_t)event->plan.steps));
        (void)json_object_set_new(json, "resumes", json_boolean(event->plan.is_resumed));
        (void)json_object_set_new(json, "least_return", aq_json_number(event->plan.least_return));
    } else if (event->kind == AQ_SWEEP_EVENT_SUGGEST) {
        (void)json_object_set_new(json, "round", json_integer(event->round));
        (void)json_object_set_new(json, "stages", stages_json(space, event));
    } else if (event->kind != AQ_SWEEP_EVENT_END) {
        (void)json_object_set_new(json, "run", json_integer((json_int_t)event->run));
        (void)json_object_set_new(json, "attempt", json_integer(event->attempt));
        (void)json_object_set_new(json, "worker", json_string(event->worker));
    }
    if (event->kind == AQ_SWEEP_EVENT_RELEASE) {
        (void)json_object_set_new(json, "asked", json_boolean(event->is_asked));
    } else if (event->kind == AQ_SWEEP_EVENT_REPORT) {
        add_outcome(json, &event->outcome);
    }
    return json;
}

int aq_sweep_record_write(const aq_sweep_space *space, uint64_t number, const aq_sweep_event *event,
                          aq_buffer *out)
{
    json_t *json = event_json(space, number, event);
    char *text = json != NULL ? json_dumps(json, JSON_REAL_PRECISION(17)) : NULL;
    char sum[SUM_DIGITS + 2];
    const size_t before = out->size;
    json_decref(json);
    if (text == NULL) {
        return AQ_E_NOMEM;
    }
    (void)snprintf(sum, sizeof(sum), "%08" PRIx32 " ", aq_crc32c(0, text, strlen(text)));
    int rc = aq_buffer_append(out, sum, SUM_DIGITS + 1);
    rc = rc != 0 ? rc : aq_buffer_append(out, text, strlen(text));
    rc = rc != 0 ? rc : aq_buffer_append(out, "\n", 1);
    free(text);
    if (rc != 0) {
        out->size = before;
    }
    return rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int read_point(const aq_sweep_space *space, const json_t *json, aq_sweep_point *point)
{
    size_t found = 0;
    for (size_t i = 0; i < space->count; i++) {
        const char *value = json_string_value(json_object_get(json, space->dims[i].key));
        found += value != NULL;
        if (value != NULL && aq_text_set(point->values[i], AQ_SWEEP_VALUE_MAX, value) != 0) {
            return AQ_E_CORRUPT;
        }
    }
    return found == json_object_size(json) ? 0 : AQ_E_CORRUPT;
}

static int read_stage(const aq_sweep_space *space, json_t *json, aq_sweep_stage *stage)
{
    const char *kind;
    json_int_t trial, rung;
    json_t *from, *settings;
    if (json_unpack(json, "{s:s, s:I, s:I, s:o, s:o}", "kind", &kind, "trial", &trial, "rung",
                    &rung, "from", &from, "settings", &settings) != 0) {
        return AQ_E_CORRUPT;
    }
    const int found = aq_choice_find(kind_names, kind);
    const json_int_t source = json_integer_value(from);
    if (found < 0 || trial < 0 || trial > AQ_SWEEP_TRIALS_MAX || rung < 0 ||
        rung >= AQ_SWEEP_RUNGS_MAX || source < 0 || source >= AQ_SWEEP_STAGES_MAX ||
        !(json_is_null(from) || json_is_integer(from))) {
        return AQ_E_CORRUPT;
    }
    stage->kind = (enum aq_sweep_kind)found;
    stage->trial = (uint32_t)trial;
    stage->rung = (uint32_t)rung;
    stage->from = json_is_null(from) ? AQ_SWEEP_NONE : (uint32_t)source;
    return read_point(space, settings, &stage->point);
}

static int read_stages(const aq_sweep_space *space, const json_t *json, aq_sweep_event *event)
{
    const json_t *list = json_object_get(json, "stages");
    const json_t *round = json_object_get(json, "round");
    const size_t count = json_array_size(list);
    if (!json_is_integer(round) || json_integer_value(round) < 0 || count == 0 ||
        count > STAGES_MAX) {
        return AQ_E_CORRUPT;
    }
    event->round = (uint32_t)json_integer_value(round);
    event->stages = aq_alloc(count, sizeof(*event->stages));
    event->stage_count = count;
    int rc = event->stages != NULL ? 0 : AQ_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_stage(space, json_array_get(list, i), &event->stages[i]);
    }
    return rc;
}

static int read_claim(json_t *json, aq_sweep_event *event)
{
    json_int_t run, attempt;
    const char *worker;
    if (json_unpack(json, "{s:I, s:I, s:s}", "run", &run, "attempt", &attempt, "worker", &worker) !=
            0 ||
        run < 0 || attempt < 1 || attempt > UINT32_MAX ||
        aq_text_set(event->worker, sizeof(event->worker), worker) != 0) {
        return AQ_E_CORRUPT;
    }
    event->run = (size_t)run;
    event->attempt = (uint32_t)attempt;
    event->is_asked = json_is_true(json_object_get(json, "asked"));
    return 0;
}

static int read_outcome(const json_t *json, aq_sweep_outcome *outcome)
{
    const json_t *figures = json_object_get(json, "figures");
    const char *reason = json_string_value(json_object_get(json, "reason"));
    if (!json_is_object(figures)) {
        return AQ_E_CORRUPT;
    }
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        outcome->figures[i] =
            aq_json_number_of(figures, aq_sweep_figure_name((enum aq_sweep_figure)i));
    }
    outcome->is_failed = json_is_true(json_object_get(json, "failed"));
    outcome->is_solved = json_is_true(json_object_get(json, "solved"));
    (void)snprintf(outcome->reason, sizeof(outcome->reason), "%s", reason != NULL ? reason : "");
    return 0;
}

static int read_study(json_t *json, aq_sweep_event *event)
{
    json_int_t sum, settings = 0, steps; /* an older program wrote none of its settings */
    int resumes;
    double least_return;
    if (json_unpack(json, "{s:I, s?I, s:I, s:b, s:F}", "spec", &sum, "settings", &settings, "steps",
                    &steps, "resumes", &resumes, "least_return", &least_return) != 0 ||
        sum < 0 || sum > UINT32_MAX || settings < 0 || settings > UINT32_MAX || steps < 0) {
        return AQ_E_CORRUPT;
    }
    event->spec_sum = (uint32_t)sum;
    event->plan = (aq_sweep_plan){.steps = (uint64_t)steps,
                                  .is_resumed = resumes != 0,
                                  .settings_sum = (uint32_t)settings,
                                  .least_return = least_return};
    return 0;
}

static int read_event(const aq_sweep_space *space, uint64_t number, json_t *json,
                      aq_sweep_event *event)
{
    json_int_t its_number;
    const char *name;
    if (json_unpack(json, "{s:I, s:s, s:F}", "n", &its_number, "event", &name, "time_s",
                    &event->time_s) != 0) {
        return AQ_E_CORRUPT;
    }
    const int kind = aq_choice_find(event_names, name);
    if (kind < 0 || its_number < 0 || (uint64_t)its_number != number) {
        return AQ_E_CORRUPT;
    }
    event->kind = (enum aq_sweep_event_kind)kind;
    if (event->kind == AQ_SWEEP_EVENT_STUDY) {
        return read_study(json, event);
    }
    if (event->kind == AQ_SWEEP_EVENT_SUGGEST) {
        return read_stages(space, json, event);
    }
    int rc = event->kind == AQ_SWEEP_EVENT_END ? 0 : read_claim(json, event);
    return rc == 0 && event->kind == AQ_SWEEP_EVENT_REPORT ? read_outcome(json, &event->outcome)
                                                           : rc;
}

/* Of the first line; the first sweeps said none. */
static int check_version(const json_t *json, aq_error *error)
{
    const json_t *version = json_object_get(json, "version");
    return json_is_integer(version) && json_integer_value(version) != VERSION
               ? aq_fail(error, AQ_E_VERSION,
                         "of version %" JSON_INTEGER_FORMAT "; this program reads %d",
                         json_integer_value(version), VERSION)
               : 0;
}

static bool has_sum(const char *line, size_t size)
{
    char sum[SUM_DIGITS + 1];
    if (size <= SUM_DIGITS + 1 || line[SUM_DIGITS] != ' ') {
        return false;
    }
    (void)snprintf(sum, sizeof(sum), "%08" PRIx32,
                   aq_crc32c(0, line + SUM_DIGITS + 1, size - SUM_DIGITS - 1));
    return memcmp(sum, line, SUM_DIGITS) == 0;
}

int aq_sweep_record_read(const aq_sweep_space *space, uint64_t number, const char *line,
                         size_t size, aq_sweep_event *ret_event, aq_error *error)
{
    aq_sweep_event event = {0};
    if (!has_sum(line, size)) {
        return aq_fail(error, AQ_E_CORRUPT, "its checksum is another");
    }
    json_t *json = json_loadb(line + SUM_DIGITS + 1, size - SUM_DIGITS - 1, 0, NULL);
    int rc = json != NULL ? check_version(json, error) : AQ_E_CORRUPT;
    rc = rc != 0 ? rc : read_event(space, number, json, &event);
    json_decref(json);
    if (rc == AQ_E_VERSION) {
        return rc;
    }
    if (rc != 0) {
        aq_sweep_event_fini(&event);
        return aq_fail(error, rc, "%s",
                       rc == AQ_E_NOMEM ? aq_error_text(rc) : "it is no event of a sweep");
    }
    *ret_event = event;
    return 0;
}
