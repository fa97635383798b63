/*
 * Compare JSON: see compare_json.h.
 */
#include "cli/compare/compare_json.h"

#include <math.h>
#include <string.h>

#include "cli/compare/compare_columns.h"
#include "cli/compare/compare_scaling.h"
#include "cli/compare/compare_words.h"
#include "cli/text/command.h"
#include "common/sys/cpu.h"

enum { WORDS_BYTES_MAX = 1 << 20 };

/* Static storage. */
static const char *source_name(enum aq_threshold_source source)
{
    static const char *const names[] = {"given", "task", "reached"};
    return names[source];
}

/* Without memory the member is left out, which the packing of the whole then shows. */
static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void put_number(json_t *object, const char *key, double value)
{
    put(object, key, aq_json_number(value));
}

static void put_columns(json_t *object, enum aq_compare_subject subject, const aq_compare_row *row)
{
    const aq_compare_column *column = NULL;
    while ((column = aq_compare_column_next(subject, AQ_IN_JSON, column)) != NULL) {
        double ci95;
        const double value = aq_compare_column_value(column, row, &ci95);
        const char *words = aq_compare_column_words(column, row);
        const enum aq_compare_stored stored = aq_compare_kind_stored(column->kind);
        put(object, column->key,
            stored == AQ_STORED_SIZE    ? aq_json_count((uint64_t)value)
            : stored != AQ_STORED_WORDS ? aq_json_number(value)
            : words != NULL             ? json_string(words)
                                        : json_null());
        if (column->ci95_key != NULL) {
            put_number(object, column->ci95_key, ci95);
        }
    }
}

/* Seconds by role and state. */
static json_t *states_json(const double *states)
{
    json_t *all = json_object();
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        const aq_compare_state_words *words = aq_compare_state_at(i);
        if (json_object_get(all, words->role) == NULL) {
            put(all, words->role, json_object());
        }
        put_number(json_object_get(all, words->role), words->key, states[i]);
    }
    return all;
}

static json_t *joules_json(const aq_compare_row *row)
{
    json_t *by_role = json_object();
    for (unsigned i = 0; i < AQ_COMPARE_ROLES; i++) {
        put_number(by_role, aq_compare_role_name(i), row->role_joules[i]);
    }
    return by_role;
}

/* What modes are compared by, besides. */
static void put_mode(json_t *object, const aq_compare_summary *summary, const aq_compare_row *row)
{
    char text[256];
    json_t *behind = json_array(), *scaling = json_array(), *waits = json_array();
    put(object, "flags", json_string(aq_compare_arm_flags(row->arm, text, sizeof(text)) + 1));
    put_columns(object, AQ_COMPARE_MODES, row);
    for (size_t i = 0; i < AQ_CURVE_BINS; i++) {
        aq_json_add(&behind, aq_json_number(row->behind[i]));
    }
    for (size_t i = 0; i < AQ_SCALING_POINTS; i++) {
        const uint64_t parallel = aq_scaling_parallel(i);
        const aq_scaling at = aq_compare_scaling(summary, (size_t)(row - summary->rows), parallel);
        const char *by = isnan(at.efficiency) ? NULL : at.is_model ? "model" : "measured";
        aq_json_add(&scaling, json_pack("{s:o, s:o, s:s?}", "parallel", aq_json_count(parallel),
                                        "efficiency", aq_json_number(at.efficiency), "by", by));
    }
    for (size_t i = 0; i < AQ_CURVE_RANKS && i < row->arm->learners; i++) {
        aq_json_add(&waits, aq_json_number(row->rank_waits[i]));
    }
    put(object, "rank_waiting_shares", waits);
    put(object, "staleness_shares", behind);
    put(object, "scaling", scaling);
}

static json_t *row_json(const aq_compare_summary *summary, const aq_compare_row *row)
{
    char state[512];
    json_t *object = json_object();
    put(object, aq_compare_subject_name(summary->plan->request.subject),
        json_string(row->arm->name));
    put(object, "seeds", aq_json_count(row->finished));
    put(object, "seeds_asked", aq_json_count(summary->plan->seeds));
    put(object, "state", aq_json_text(aq_compare_row_state(summary, row, state, sizeof(state))));
    put_columns(object, AQ_COMPARE_PRECISIONS, row);
    put(object, "energy_by_role_j", joules_json(row));
    put(object, "time_s", states_json(row->states));
    if (summary->plan->request.subject == AQ_COMPARE_MODES) {
        put_mode(object, summary, row);
    }
    return object;
}

static json_t *run_json(const aq_compare_summary *summary, const aq_compare_run *run)
{
    const aq_compare_curve *curve = &run->curve;
    size_t at = aq_compare_curve_crossing(curve, summary->threshold);
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i}",
        aq_compare_subject_name(summary->plan->request.subject), summary->plan->arms[run->arm].name,
        "seed", aq_json_count(run->seed), "outcome", aq_run_outcome_name(run->outcome), "reason",
        aq_json_text(run->reason), "wall_s", aq_json_number(curve->wall_s), "env_steps",
        aq_json_count((uint64_t)curve->env_steps), "learner_steps",
        aq_json_count((uint64_t)curve->learner_steps), "return_last",
        aq_json_number(run->return_last), "return_best", aq_json_number(run->return_fresh),
        "time_to_threshold_s",
        aq_json_number(at < curve->returns.count ? curve->returns.points[at].wall_s : (double)NAN),
        "broadcast_bytes", aq_json_count((uint64_t)curve->broadcast_bytes), "restarts",
        (int)run->restarts, "resumed", (int)run->resumed);
    put(object, "format", run->format[0] != '\0' ? json_string(run->format) : json_null());
    put_number(object, "fallback_share", run->fallback_share);
    put_number(object, "energy_j", run->energy.energy_j);
    put(object, "energy_source", aq_json_text(run->energy.source));
    return object;
}

/* A text for each paragraph; one that there is no memory for is missing. */
static json_t *words_json(const aq_compare_summary *summary)
{
    aq_long_text words;
    json_t *list = json_array();
    char *rest = NULL;
    aq_long_text_init(&words, WORDS_BYTES_MAX);
    aq_compare_words(summary, &words);
    aq_long_text_add(&words, "%c", '\0'); /* a text from here on */
    for (char *line = words.rc ? NULL : strtok_r((char *)words.bytes.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        aq_json_add(&list, aq_json_text(line));
    }
    aq_long_text_fini(&words);
    return list;
}

json_t *aq_compare_json(const aq_compare_summary *summary)
{
    const aq_compare_plan *plan = summary->plan;
    json_t *rows = json_array(), *runs = json_array();
    char flags[AQ_CPU_TEXT_MAX];
    for (size_t i = 0; i < plan->arm_count; i++) {
        aq_json_add(&rows, row_json(summary, &summary->rows[i]));
    }
    for (size_t i = 0; i < summary->run_count; i++) {
        aq_json_add(&runs, run_json(summary, &summary->runs[i]));
    }
    return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:s, s:i, s:s, s:s, s:o, s:o, s:o}",
                     "task", plan->config.task, "preset", plan->config.preset, "threshold",
                     aq_json_number(summary->threshold), "threshold_source",
                     source_name(summary->threshold_source), "threshold_rule", "running mean",
                     "running_window", json_integer(AQ_RUNNING_WINDOW), "baseline",
                     plan->arms[summary->baseline].name, "cpu", summary->cpu, "cpus",
                     (int)summary->cpus, "cpu_flags",
                     aq_cpu_flags_text(aq_cpu_flags(), flags, sizeof(flags)), "software",
                     AQ_VERSION, "words", words_json(summary), "rows", rows, "runs", runs);
}
