/*
 * Sweep round: see sweep_round.h.
 */
#include "cli/sweep/study/sweep_round.h"

#include <math.h>

#include "cli/sweep/study/sweep_order.h"
#include "cli/sweep/study/sweep_population.h"
#include "cli/sweep/study/sweep_sobol.h"
#include "cli/sweep/study/sweep_tpe.h"
#include "common/base/memory.h"

enum { GOOD_MAX = 25, REPORTED = 2 /* the winner and what is given, always at once */ };
#define GOOD_SHARE 0.1

/* What is being decided on. */
typedef struct round_plan {
    const aq_sweep_study *study;
    aq_sweep_stage *stages;
    size_t count, most;
} round_plan;

static void add(round_plan *plan, aq_sweep_stage stage)
{
    if (plan->count < plan->most) {
        plan->stages[plan->count++] = stage;
    }
}

/* ---- promotions ----------------------------------------------------------------------------- */

/* Whether its trial takes one of the places: one that failed, at whatever rung, leaves it to the
 * next. */
static bool promote(round_plan *plan, uint32_t index)
{
    const aq_sweep_stage *stage = &plan->study->stages[index];
    const uint32_t last = aq_sweep_trial_last(plan->study, stage->trial);
    const bool is_fit = isfinite(aq_sweep_stage_score(plan->study, last));
    if (is_fit && last == index) {
        add(plan, (aq_sweep_stage){.kind = AQ_SWEEP_TUNE,
                                   .trial = stage->trial,
                                   .rung = stage->rung + 1,
                                   .from = plan->study->plan.is_resumed ? index : AQ_SWEEP_NONE,
                                   .point = stage->point});
    }
    return is_fit;
}

static size_t stages_of_rung(const aq_sweep_study *study, uint32_t rung, uint32_t *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < study->stage_count; i++) {
        if (study->stages[i].kind == AQ_SWEEP_TUNE && study->stages[i].rung == rung) {
            out[count++] = i;
        }
    }
    return count;
}

/* At the end of it all one of the best rung goes on, however few they are. */
static int promote_from(round_plan *plan, uint32_t rung, bool is_last_call, uint32_t *stages)
{
    const aq_sweep_study *study = plan->study;
    const size_t count = stages_of_rung(study, rung, stages);
    size_t best = (size_t)((double)count / study->spec->keep);
    if (is_last_call && best == 0) {
        best = count > 0 ? 1 : 0;
    }
    int rc = aq_sweep_sort(study, stages, count);
    for (size_t i = 0; rc == 0 && i < count && best > 0; i++) {
        best -= promote(plan, stages[i]);
    }
    return rc;
}

static int add_promotions(round_plan *plan, bool is_last_call)
{
    uint32_t *stages = aq_alloc(plan->study->stage_count + 1, sizeof(*stages));
    int rc = stages != NULL ? 0 : AQ_E_NOMEM;
    for (size_t rung = plan->study->spec->rung_count - 1; rc == 0 && rung-- > 0;) {
        rc = promote_from(plan, (uint32_t)rung, is_last_call, stages);
    }
    aq_free(stages);
    return rc;
}

/* ---- new trials ----------------------------------------------------------------------------- */

/* What is known, best first, then those of this round: nothing is known of them, so that they pass
 * for bad ones, and none is tried twice. */
static int choose_by_tpe(const round_plan *plan, const uint32_t *known, size_t known_count,
                         aq_rng *rng, aq_sweep_point *ret_point)
{
    const aq_sweep_study *study = plan->study;
    const aq_sweep_point **points = aq_alloc(known_count + plan->count + 1, sizeof(*points));
    size_t count = 0;
    if (points == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < known_count; i++) {
        points[count++] = &study->stages[known[i]].point;
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->stages[i].rung == 0) {
            points[count++] = &plan->stages[i].point;
        }
    }
    size_t good = (size_t)ceil(GOOD_SHARE * (double)known_count);
    good = good < GOOD_MAX ? good : GOOD_MAX;
    int rc = aq_sweep_tpe(&study->spec->space, points, count, good, rng, ret_point);
    aq_free(points);
    return rc;
}

/* Before anything can be learned from trials, they are spread. */
static bool is_spread(const aq_sweep_spec *spec, uint32_t trial)
{
    const uint32_t begin = 2 * (uint32_t)spec->space.count;
    return spec->method == AQ_SWEEP_SOBOL || spec->method == AQ_SWEEP_PBT ||
           (spec->method == AQ_SWEEP_TPE && trial < (begin > spec->round ? begin : spec->round));
}

static int choose_point(const round_plan *plan, uint32_t trial, const uint32_t *known,
                        size_t known_count, aq_sweep_point *ret_point)
{
    const aq_sweep_spec *spec = plan->study->spec;
    double places[AQ_SWEEP_DIMS_MAX];
    aq_rng rng;
    aq_rng_init(&rng, spec->seed, 1 + (uint64_t)trial);
    if (spec->method == AQ_SWEEP_GRID) {
        aq_sweep_grid_point(&spec->space, trial, ret_point);
        return 0;
    }
    if (spec->method == AQ_SWEEP_TPE && !is_spread(spec, trial)) {
        return choose_by_tpe(plan, known, known_count, &rng, ret_point);
    }
    if (is_spread(spec, trial)) {
        aq_sweep_sobol(spec->seed, trial, spec->space.count, places);
    } else {
        for (size_t i = 0; i < spec->space.count; i++) {
            places[i] = aq_rng_uniform(&rng);
        }
    }
    aq_sweep_point_at(&spec->space, places, ret_point);
    return 0;
}

static int add_trials(round_plan *plan)
{
    const aq_sweep_study *study = plan->study;
    uint32_t *known = NULL;
    size_t known_count = 0;
    int rc = aq_sweep_known(study, &known, &known_count);
    for (uint32_t trial = study->trials;
         rc == 0 && trial < study->spec->trials && plan->count < plan->most; trial++) {
        aq_sweep_stage stage = {.kind = AQ_SWEEP_TUNE, .trial = trial, .from = AQ_SWEEP_NONE};
        rc = choose_point(plan, trial, known, known_count, &stage.point);
        add(plan, stage);
    }
    aq_free(known);
    return rc;
}

/* ---- the report ----------------------------------------------------------------------------- */

static uint32_t count_winners(const aq_sweep_study *study)
{
    uint32_t count = 0;
    for (size_t i = 0; i < study->stage_count; i++) {
        count += study->stages[i].kind == AQ_SWEEP_WINNER;
    }
    return count;
}

/* The winner is trained anew as it was: a member of a population by the settings of those that it
 * comes from, rung by rung. */
static void add_report(round_plan *plan)
{
    const aq_sweep_study *study = plan->study;
    const aq_sweep_spec *spec = study->spec;
    const uint32_t done = count_winners(study);
    const uint32_t top = (uint32_t)spec->rung_count - 1;
    uint32_t winner = aq_sweep_winner(study);
    if (spec->report.count == 0 || winner == AQ_SWEEP_NONE ||
        done > (spec->method == AQ_SWEEP_PBT ? study->stages[winner].rung : 0)) {
        return;
    }
    aq_sweep_stage stage = {.kind = AQ_SWEEP_WINNER, .rung = top, .from = AQ_SWEEP_NONE};
    if (spec->method == AQ_SWEEP_PBT) {
        while (study->stages[winner].rung > done) {
            winner = study->stages[winner].from;
        }
        stage.rung = done;
        stage.from = done > 0 ? aq_sweep_study_last(study, AQ_SWEEP_WINNER) : AQ_SWEEP_NONE;
    }
    stage.point = study->stages[winner].point;
    add(plan, stage);
    if (done == 0) {
        add(plan, (aq_sweep_stage){.kind = AQ_SWEEP_GIVEN, .rung = top, .from = AQ_SWEEP_NONE});
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

int aq_sweep_next_round(const aq_sweep_study *study, aq_sweep_stage **ret_stages, size_t *ret_count)
{
    const aq_sweep_spec *spec = study->spec;
    round_plan plan = {.study = study, .most = spec->round};
    plan.stages = aq_alloc(spec->round > REPORTED ? spec->round : REPORTED, sizeof(*plan.stages));
    int rc = plan.stages != NULL ? 0 : AQ_E_NOMEM;
    if (rc == 0 && count_winners(study) == 0) {
        if (spec->method == AQ_SWEEP_PBT && study->stage_count > 0) {
            rc = aq_sweep_population_next(study, plan.stages, &plan.count);
        } else {
            rc = add_promotions(&plan, false);
            rc = rc != 0 ? rc : add_trials(&plan);
        }
        if (rc == 0 && plan.count == 0 && spec->method != AQ_SWEEP_PBT) {
            rc = add_promotions(&plan, true);
        }
    }
    if (rc == 0 && plan.count == 0) {
        plan.most = REPORTED;
        add_report(&plan);
    }
    if (rc != 0) {
        aq_free(plan.stages);
        return rc;
    }
    *ret_stages = plan.stages;
    *ret_count = plan.count;
    return 0;
}
