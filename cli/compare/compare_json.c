/*
 * Compare JSON: see compare_json.h.
 */
#include "cli/compare/compare_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare/compare_mode_figures.h"
#include "cli/compare/compare_scaling.h"
#include "cli/compare/compare_words.h"
#include "cli/text/command.h"
#include "common/sys/cpu.h"
#include "common/sys/machine.h"

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

static void put_crossing(json_t *object, const aq_compare_crossing *crossing)
{
    put_number(object, "time_to_threshold_s", crossing->time_s.mean);
    put_number(object, "env_steps_to_threshold", crossing->env_steps.mean);
    put(object, "seeds_reached", aq_json_count(crossing->reached));
    put_number(object, "speedup", crossing->speedup);
    put(object, "speedup_missing",
        crossing->missing != NULL ? json_string(crossing->missing) : json_null());
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

static void put_energy(json_t *object, const aq_compare_row *row)
{
    put_number(object, "energy_j", row->energy_j);
    put(object, "energy_source",
        row->energy_source ? json_string(row->energy_source) : json_string("not measured"));
    put_number(object, "gco2", row->gco2);
    put_number(object, "energy_ratio", row->energy_ratio);
    put_number(object, "energy_idle_j", row->idle_j);
    json_t *by_role = json_object();
    for (unsigned i = 0; i < AQ_COMPARE_ROLES; i++) {
        put_number(by_role, aq_compare_role_name(i), row->role_joules[i]);
    }
    put(object, "energy_by_role_j", by_role);
}

/* What modes are compared by, besides. */
static void put_mode(json_t *object, const aq_compare_summary *summary, const aq_compare_row *row)
{
    char text[256];
    json_t *behind = json_array(), *scaling = json_array(), *waits = json_array();
    put(object, "flags", json_string(aq_compare_arm_flags(row->arm, text, sizeof(text)) + 1));
    for (size_t i = 0; i < aq_mode_figure_count(); i++) {
        const aq_mode_figure *figure = aq_mode_figure_at(i);
        double ci95;
        put_number(object, figure->key, aq_mode_figure_value(figure, row, &ci95));
        if (figure->kind <= AQ_KIND_STEPS) {
            (void)snprintf(text, sizeof(text), "%s_ci95", figure->key);
            put_number(object, text, ci95);
        }
    }
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
    put_number(object, "wall_s", row->wall_s);
    put_number(object, "env_steps_per_s", row->env_steps_per_s);
    put_number(object, "learner_steps_per_s", row->learner_steps_per_s);
    put_number(object, "throughput_ratio", row->throughput_ratio);
    put_number(object, "actor_steps_per_s", row->actor_steps_per_s);
    put_number(object, "actor_throughput_ratio", row->actor_ratio);
    put_number(object, "return_mean", row->last.mean);
    put_number(object, "return_ci95", row->last.ci95);
    put_number(object, "return_best_mean", row->fresh.mean);
    put_number(object, "return_best_ci95", row->fresh.ci95);
    put_number(object, "fp32_gap_mean", row->gap.mean);
    put_number(object, "fp32_gap_ci95", row->gap.ci95);
    put_crossing(object, &row->crossing);
    put_number(object, "broadcast_bytes", row->broadcast_bytes);
    put_number(object, "broadcast_bytes_fp32", row->broadcast_bytes_fp32);
    put_number(object, "broadcast_ratio", row->broadcast_ratio);
    put_number(object, "fallback_share", row->fallback_share);
    put_number(object, "staleness", row->staleness);
    put_energy(object, row);
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
        aq_json_count(curve->env_steps), "learner_steps", aq_json_count(curve->learner_steps),
        "return_last", aq_json_number(run->return_last), "return_best",
        aq_json_number(run->return_fresh), "time_to_threshold_s",
        aq_json_number(at < curve->returns.count ? curve->returns.points[at].wall_s : (double)NAN),
        "broadcast_bytes", aq_json_count(curve->broadcast_bytes), "restarts", (int)run->restarts,
        "resumed", (int)run->resumed);
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
