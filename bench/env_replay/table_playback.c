/*
 * Table playback: see table_playback.h. Tables may list their outcomes in any order, and one twice,
 * so outcomes are compared by the state that they lead to.
 */
#include "bench/env_replay/table_playback.h"

#include <inttypes.h>
#include <math.h>

enum { STEPS_A_PAIR = 4 }; /* of chance: enough to meet most outcomes of most pairs */

/* The outcomes of one action in one state. */
typedef struct outcomes {
    size_t count;
    const aq_tabular_outcome *rows;
} outcomes;

/* What is known about the way to one next state. */
typedef struct way {
    double chance;
    double reward;      /* mean over the ways there; NaN without one */
    double termination; /* chance that the episode ends on it; likewise */
} way;

static way way_to(const outcomes *set, uint32_t next)
{
    double chance = 0, reward = 0, termination = 0;
    for (size_t i = 0; i < set->count; i++) {
        const aq_tabular_outcome *outcome = &set->rows[i];
        if (outcome->next == next) {
            chance += outcome->chance;
            reward += outcome->chance * outcome->reward;
            termination += outcome->terminated ? outcome->chance : 0;
        }
    }
    return (way){chance, reward / chance, termination / chance};
}

static outcomes recorded_outcomes(const aq_recorded_table *table, uint32_t cell, uint32_t action)
{
    size_t pair = (size_t)cell * table->actions + action;
    return (outcomes){.count = table->offsets[pair + 1] - table->offsets[pair],
                      .rows = table->outcomes + table->offsets[pair]};
}

static void compare_ways(aq_playback_report *report, int64_t cell, way ours, way recorded)
{
    aq_worst_offer(&report->obs, cell, ours.chance, recorded.chance);
    if (ours.chance > 0 && recorded.chance > 0) {
        aq_worst_offer(&report->reward, cell, ours.reward, recorded.reward);
        report->mismatched_flags += fabs(ours.termination - recorded.termination) > 1e-9;
    }
}

static int compare_pair(aq_playback_subject *subject, const aq_recorded_table *table, uint32_t cell,
                        uint32_t action, aq_playback_report *report, aq_error *error)
{
    aq_tabular_outcome rows[AQ_ORIGINAL_OUTCOMES_MAX];
    outcomes recorded = recorded_outcomes(table, cell, action);
    outcomes ours = {.rows = rows};
    ours.count = subject->original->outcomes(subject->env->params, cell, action, rows);
    if (ours.count == 0 || ours.count > AQ_ORIGINAL_OUTCOMES_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s has no outcomes of action %" PRIu32 " in state %" PRIu32,
                       subject->env->name, action, cell);
    }
    for (size_t i = 0; i < recorded.count; i++) {
        uint32_t next = recorded.rows[i].next;
        compare_ways(report, cell, way_to(&ours, next), way_to(&recorded, next));
    }
    for (size_t i = 0; i < ours.count; i++) {
        uint32_t next = ours.rows[i].next;
        compare_ways(report, cell, way_to(&ours, next), way_to(&recorded, next));
    }
    return 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static int set_cell(aq_playback_subject *subject, uint32_t cell, bool is_start, aq_error *error)
{
    double number = cell;
    aq_golden_values values = {.count = 1, .rows = {{"state", 1, &number}}};
    return aq_playback_subject_set(subject, &values, is_start, error);
}

/* The state is one that episodes end in: they never step from it. */
static bool is_end(const aq_recorded_table *table, uint32_t cell)
{
    for (uint32_t action = 0; action < table->actions; action++) {
        outcomes set = recorded_outcomes(table, cell, action);
        for (size_t i = 0; i < set.count; i++) {
            if (set.rows[i].next != cell || !set.rows[i].terminated) {
                return false;
            }
        }
    }
    return true;
}

/* What came of a step must be among the outcomes, with its reward and its flag. Several may lead to
 * one state: the nearest counts. */
static void compare_outcome(aq_playback_report *report, int64_t cell, const outcomes *set,
                            double next, double reward, bool terminated)
{
    const aq_tabular_outcome *nearest = NULL;
    for (size_t i = 0; i < set->count; i++) {
        const aq_tabular_outcome *outcome = &set->rows[i];
        if ((double)outcome->next == next &&
            (nearest == NULL || fabs(outcome->reward - reward) < fabs(nearest->reward - reward))) {
            nearest = outcome;
        }
    }
    aq_worst_offer(&report->obs, cell, nearest != NULL ? 0 : 1, 0);
    if (nearest != NULL) {
        aq_worst_offer(&report->reward, cell, reward, nearest->reward);
        report->mismatched_flags += terminated != nearest->terminated;
    }
}

/* One step of ours, against the table. */
static int step_in_table(aq_playback_subject *subject, const aq_recorded_table *table,
                         uint32_t cell, uint32_t action, aq_playback_report *report,
                         aq_error *error)
{
    double number = action;
    int rc = aq_playback_subject_step(subject, &number, error);
    if (rc != 0) {
        return rc;
    }
    outcomes set = recorded_outcomes(table, cell, action);
    compare_outcome(report, cell, &set, subject->obs[0], subject->reward, subject->terminated);
    return 0;
}

static int step_pair(aq_playback_subject *subject, const aq_recorded_table *table, uint32_t cell,
                     uint32_t action, aq_playback_report *report, aq_error *error)
{
    for (int i = 0; i < STEPS_A_PAIR; i++) {
        int rc = set_cell(subject, cell, true, error);
        if (rc != 0) {
            return rc;
        }
        rc = step_in_table(subject, table, cell, action, report, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- episodes ------------------------------------------------------------------------------- */

/* The recorded steps are possible in our table too, and end as ours do after as many steps. */
static void compare_episode(const aq_playback_subject *subject, const aq_table_episode *episode,
                            aq_playback_report *report)
{
    const uint32_t step_limit = subject->env->step_limit;
    uint32_t cell = episode->start;
    uint32_t elapsed = 0;
    for (size_t i = 0; i < episode->step_count; i++) {
        aq_tabular_outcome rows[AQ_ORIGINAL_OUTCOMES_MAX];
        const aq_table_step *step = &episode->steps[i];
        outcomes ours = {.rows = rows};
        ours.count = subject->original->outcomes(subject->env->params, cell, step->action, rows);
        compare_outcome(report, cell, &ours, step->next, step->reward, step->terminated);
        elapsed++;
        bool truncated = step_limit > 0 && elapsed >= step_limit;
        report->mismatched_flags += truncated != step->truncated;
        bool has_ended = step->terminated || step->truncated;
        cell = has_ended ? step->restart : step->next;
        elapsed = has_ended ? 0 : elapsed;
    }
}

static int check_sizes(const aq_playback_subject *subject, const aq_recorded_table *table,
                       aq_error *error)
{
    const aq_schema *schema = &subject->env->schema;
    if (subject->original->outcomes == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "%s is no table", subject->env->name);
    }
    if (schema->obs.kind != AQ_SPACE_DISCRETE || schema->obs.choice_count != table->cells ||
        schema->action.kind != AQ_SPACE_DISCRETE || schema->action.choice_count != table->actions) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "the recording has %" PRIu32 " states and %" PRIu32
                       " actions, which is not what %s has",
                       table->cells, table->actions, subject->env->name);
    }
    return 0;
}

static int compare_cell(aq_playback_subject *subject, const aq_recorded_table *table, uint32_t cell,
                        aq_playback_report *report, aq_error *error)
{
    if (table->start_chances.numbers != NULL) {
        aq_worst_offer(&report->state, cell,
                       subject->original->start_chance(subject->env->params, cell),
                       table->start_chances.numbers[cell]);
    }
    for (uint32_t action = 0; action < table->actions; action++) {
        int rc = compare_pair(subject, table, cell, action, report, error);
        if (rc == 0 && !is_end(table, cell)) {
            rc = step_pair(subject, table, cell, action, report, error);
        }
        if (rc != 0) {
            return rc;
        }
        report->steps++;
    }
    return 0;
}

int aq_table_playback(aq_playback_subject *subject, const aq_recorded_table *table,
                      aq_playback_report *report, aq_error *error)
{
    int rc = check_sizes(subject, table, error);
    for (uint32_t cell = 0; rc == 0 && cell < table->cells; cell++) {
        rc = compare_cell(subject, table, cell, report, error);
    }
    for (size_t i = 0; rc == 0 && i < table->episode_count; i++) {
        compare_episode(subject, &table->episodes[i], report);
    }
    return rc;
}
