/*
 * Sweep study: see sweep_study.h.
 */
#include "cli/sweep/study/sweep_study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/growing.h"
#include "common/base/memory.h"

enum { RUNS_MAX = 1 << 22 };

const char *aq_sweep_kind_name(enum aq_sweep_kind kind)
{
    static const char *const names[] = {AQ_SWEEP_KINDS(AQ_CHOICE_WORD)};
    return names[kind];
}

const char *aq_sweep_run_state_name(enum aq_sweep_run_state state)
{
    static const char *const names[] = {AQ_SWEEP_RUN_STATES(AQ_CHOICE_WORD)};
    return names[state];
}

void aq_sweep_event_fini(aq_sweep_event *event)
{
    aq_free(event->stages);
    event->stages = NULL;
}

void aq_sweep_study_init(aq_sweep_study *study, const aq_sweep_spec *spec, uint32_t spec_sum)
{
    *study = (aq_sweep_study){.spec = spec, .spec_sum = spec_sum};
}

void aq_sweep_study_fini(aq_sweep_study *study)
{
    aq_free(study->stages);
    aq_free(study->runs);
    *study = (aq_sweep_study){.spec = study->spec};
}

/* ---- events --------------------------------------------------------------------------------- */

static int refuse(aq_error *error, const char *words)
{
    return aq_fail(error, AQ_E_CORRUPT, "%s", words);
}

static int begin(aq_sweep_study *study, const aq_sweep_event *event, aq_error *error)
{
    if (study->is_begun) {
        return refuse(error, "the study begins twice");
    }
    if (event->spec_sum != study->spec_sum) {
        return aq_fail(error, AQ_E_FOREIGN, "the study was begun with another SPEC.yaml");
    }
    study->is_begun = true;
    study->plan = event->plan;
    study->began_s = event->time_s;
    return 0;
}

/* Of a trial, or of what is reported in the end. */
static const aq_sweep_seeds *seeds_of(const aq_sweep_study *study, const aq_sweep_stage *stage)
{
    return stage->kind == AQ_SWEEP_TUNE ? &study->spec->tune : &study->spec->report;
}

/* Trials begin in the order of their numbers, and go from rung to rung. */
static bool is_next_of_trial(const aq_sweep_study *study, const aq_sweep_stage *stage)
{
    if (stage->trial >= study->trials) {
        return stage->trial == study->trials && stage->rung == 0;
    }
    return stage->rung == study->stages[aq_sweep_trial_last(study, stage->trial)].rung + 1;
}

/* Number `index` of a round. All of a population go on at once, in their order, and each from one
 * of the rung before. */
static bool fits(const aq_sweep_study *study, const aq_sweep_event *event, size_t index)
{
    const aq_sweep_spec *spec = study->spec;
    const aq_sweep_stage *stage = &event->stages[index];
    const aq_sweep_stage *last =
        study->stage_count > 0 ? &study->stages[study->stage_count - 1] : NULL;
    const bool goes_on = stage->from != AQ_SWEEP_NONE;
    const bool is_population = spec->method == AQ_SWEEP_PBT;
    if (stage->rung >= spec->rung_count || stage->trial >= spec->trials ||
        (goes_on &&
         (stage->from >= study->stage_count || study->stages[stage->from].kind != stage->kind ||
          study->stages[stage->from].rung + 1 != stage->rung ||
          !aq_sweep_stage_is_over(study, stage->from)))) {
        return false;
    }
    switch (stage->kind) {
    case AQ_SWEEP_TUNE:
        return (last == NULL || last->kind == AQ_SWEEP_TUNE) && is_next_of_trial(study, stage) &&
               (is_population
                    ? event->stage_count == spec->trials && stage->trial == index &&
                          goes_on == (stage->rung > 0)
                    : !goes_on || stage->from == aq_sweep_trial_last(study, stage->trial));
    case AQ_SWEEP_WINNER:
        return last != NULL && stage->from == aq_sweep_study_last(study, AQ_SWEEP_WINNER) &&
               (!is_population || goes_on == (stage->rung > 0));
    default:
        return last != NULL && last->kind == AQ_SWEEP_WINNER;
    }
}

static int add_stage(aq_sweep_study *study, const aq_sweep_stage *given, aq_error *error)
{
    const aq_sweep_seeds *seeds = seeds_of(study, given);
    int rc = aq_grow(&study->stages, &study->stage_capacity, study->stage_count,
                     sizeof(*study->stages), AQ_SWEEP_STAGES_MAX);
    for (size_t i = 0; rc == 0 && i < seeds->count; i++) {
        rc = aq_grow(&study->runs, &study->run_capacity, study->run_count + i, sizeof(*study->runs),
                     RUNS_MAX);
        if (rc == 0) {
            study->runs[study->run_count + i] =
                (aq_sweep_run){.stage = (uint32_t)study->stage_count, .seed = seeds->seeds[i]};
        }
    }
    if (rc != 0) {
        return aq_fail(error, rc, "the study: %s", aq_error_text(rc));
    }
    aq_sweep_stage *stage = &study->stages[study->stage_count++];
    *stage = *given;
    stage->round = study->rounds;
    stage->first_run = study->run_count;
    stage->run_count = seeds->count;
    study->run_count += seeds->count;
    study->trials += stage->kind == AQ_SWEEP_TUNE && stage->rung == 0;
    return 0;
}

static int suggest(aq_sweep_study *study, const aq_sweep_event *event, aq_error *error)
{
    const size_t stages = study->stage_count, runs = study->run_count;
    const uint32_t trials = study->trials;
    if (event->round != study->rounds || !aq_sweep_study_is_idle(study)) {
        return refuse(error, "a round is not the next one");
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < event->stage_count; i++) {
        rc = fits(study, event, i) ? add_stage(study, &event->stages[i], error)
                                   : refuse(error, "a stage is none that can be");
    }
    if (rc != 0) {
        study->stage_count = stages;
        study->run_count = runs;
        study->trials = trials;
        return rc;
    }
    study->rounds++;
    return 0;
}

static int claim(aq_sweep_run *run, const aq_sweep_event *event, aq_error *error)
{
    /* One that runs is claimed again when the lease of its worker has ended. */
    if (run->state > AQ_SWEEP_RUNNING || event->attempt != run->attempt + 1) {
        return refuse(error, "a run is claimed that is not to be had");
    }
    run->losses += run->state == AQ_SWEEP_RUNNING;
    run->state = AQ_SWEEP_RUNNING;
    run->attempt = event->attempt;
    memcpy(run->worker, event->worker, sizeof(run->worker));
    return 0;
}

static int give_back(aq_sweep_study *study, const aq_sweep_event *event, aq_error *error)
{
    aq_sweep_run *run = &study->runs[event->run];
    if (!aq_sweep_study_holds(study, event->run, event->attempt)) {
        return refuse(error, "a run is reported by one that does not have it");
    }
    run->losses += event->kind == AQ_SWEEP_EVENT_RELEASE && !event->is_asked;
    run->worker[0] = '\0';
    run->state = AQ_SWEEP_OPEN;
    if (event->kind == AQ_SWEEP_EVENT_REPORT) {
        run->state = event->outcome.is_failed ? AQ_SWEEP_FAILED : AQ_SWEEP_DONE;
        run->outcome = event->outcome;
        study->runs_done++;
    }
    return 0;
}

int aq_sweep_study_apply(aq_sweep_study *study, const aq_sweep_event *event, aq_error *error)
{
    int rc = 0;
    if (study->is_begun == (event->kind == AQ_SWEEP_EVENT_STUDY) || study->is_ended) {
        return refuse(error, study->is_begun ? "the study goes on behind its end"
                                             : "the study does not begin");
    }
    if (event->kind >= AQ_SWEEP_EVENT_CLAIM && event->kind <= AQ_SWEEP_EVENT_REPORT &&
        event->run >= study->run_count) {
        return refuse(error, "there is no such run");
    }
    switch (event->kind) {
    case AQ_SWEEP_EVENT_STUDY:
        rc = begin(study, event, error);
        break;
    case AQ_SWEEP_EVENT_SUGGEST:
        rc = suggest(study, event, error);
        break;
    case AQ_SWEEP_EVENT_CLAIM:
        rc = claim(&study->runs[event->run], event, error);
        break;
    case AQ_SWEEP_EVENT_RELEASE:
    case AQ_SWEEP_EVENT_REPORT:
        rc = give_back(study, event, error);
        break;
    default:
        rc = aq_sweep_study_is_idle(study) ? 0 : refuse(error, "the study ends before its runs");
        study->is_ended = rc == 0;
    }
    study->last_s = rc == 0 ? fmax(event->time_s, study->last_s) : study->last_s; /* hosts differ */
    return rc;
}

/* ---- questions ------------------------------------------------------------------------------ */

uint64_t aq_sweep_study_steps(const aq_sweep_study *study, uint32_t rung)
{
    return study->spec->rungs[rung] > 0 ? study->spec->rungs[rung] : study->plan.steps;
}

bool aq_sweep_study_is_idle(const aq_sweep_study *study)
{
    return study->runs_done == study->run_count;
}

bool aq_sweep_study_holds(const aq_sweep_study *study, size_t run, uint32_t attempt)
{
    return study->runs[run].state == AQ_SWEEP_RUNNING && study->runs[run].attempt == attempt;
}

bool aq_sweep_stage_is_over(const aq_sweep_study *study, size_t stage)
{
    const aq_sweep_stage *its = &study->stages[stage];
    for (size_t i = 0; i < its->run_count; i++) {
        if (study->runs[its->first_run + i].state < AQ_SWEEP_DONE) {
            return false;
        }
    }
    return true;
}

double aq_sweep_stage_figure(const aq_sweep_study *study, size_t stage, enum aq_sweep_figure figure)
{
    const aq_sweep_stage *its = &study->stages[stage];
    double sum = 0;
    for (size_t i = 0; i < its->run_count; i++) {
        const aq_sweep_run *run = &study->runs[its->first_run + i];
        sum += run->state == AQ_SWEEP_DONE ? run->outcome.figures[figure] : (double)NAN;
    }
    return its->run_count > 0 ? sum / (double)its->run_count : (double)NAN;
}

double aq_sweep_stage_score(const aq_sweep_study *study, size_t stage)
{
    return aq_sweep_stage_figure(study, stage, study->spec->score);
}

size_t aq_sweep_run_source(const aq_sweep_study *study, size_t run)
{
    const aq_sweep_stage *stage = &study->stages[study->runs[run].stage];
    return stage->from == AQ_SWEEP_NONE
               ? AQ_SWEEP_NONE
               : study->stages[stage->from].first_run + (run - stage->first_run);
}

size_t aq_sweep_run_trained(const aq_sweep_study *study, size_t run)
{
    size_t source = aq_sweep_run_source(study, run);
    while (source != AQ_SWEEP_NONE &&
           (study->runs[source].outcome.is_solved || study->runs[source].outcome.is_failed)) {
        run = source;
        source = aq_sweep_run_source(study, run);
    }
    return run;
}

double aq_sweep_run_spent(const aq_sweep_study *study, size_t run, enum aq_sweep_figure figure)
{
    const size_t source = aq_sweep_run_source(study, run);
    double spent = study->runs[run].outcome.figures[figure];
    if (study->runs[run].state < AQ_SWEEP_DONE || isnan(spent)) {
        return 0;
    }
    if (source != AQ_SWEEP_NONE) { /* counted there already */
        spent = fmax(0, spent - fmax(0, study->runs[source].outcome.figures[figure]));
    }
    return spent;
}

double aq_sweep_study_spent(const aq_sweep_study *study, enum aq_sweep_figure figure)
{
    double spent = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        spent += aq_sweep_run_spent(study, i, figure);
    }
    return spent;
}

uint32_t aq_sweep_study_last(const aq_sweep_study *study, enum aq_sweep_kind kind)
{
    size_t stage = study->stage_count;
    while (stage > 0 && study->stages[stage - 1].kind != kind) {
        stage--;
    }
    return stage > 0 ? (uint32_t)stage - 1 : AQ_SWEEP_NONE;
}

uint32_t aq_sweep_trial_last(const aq_sweep_study *study, uint32_t trial)
{
    size_t stage = study->stage_count - 1;
    while (study->stages[stage].kind != AQ_SWEEP_TUNE || study->stages[stage].trial != trial) {
        stage--;
    }
    return (uint32_t)stage;
}

void aq_sweep_run_name(const aq_sweep_study *study, size_t run, char *out, size_t size)
{
    const aq_sweep_stage *stage = &study->stages[study->runs[run].stage];
    const uint64_t seed = study->runs[run].seed;
    if (stage->kind == AQ_SWEEP_TUNE) {
        (void)snprintf(out, size, "runs/trial-%" PRIu32 "-rung-%" PRIu32 "-seed-%" PRIu64,
                       stage->trial, stage->rung, seed);
    } else {
        (void)snprintf(out, size, "runs/%s-seed-%" PRIu64, aq_sweep_kind_name(stage->kind), seed);
    }
}
