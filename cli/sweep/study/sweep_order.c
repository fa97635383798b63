/*
 * Sweep order: see sweep_order.h.
 */
#include "cli/sweep/study/sweep_order.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/memory.h"

typedef struct ranked {
    uint32_t stage;
    uint32_t front; /* 0: nothing beats it */
    double score, cost;
} ranked;

static double score_of(const aq_sweep_study *study, uint32_t stage)
{
    const double score = aq_sweep_stage_score(study, stage);
    return isnan(score) ? -INFINITY : score;
}

static double cost_of(const aq_sweep_study *study, uint32_t stage)
{
    if (study->spec->cost == AQ_SWEEP_FIGURE_COUNT) {
        return 0;
    }
    const double cost = aq_sweep_stage_figure(study, stage, study->spec->cost);
    return isnan(cost) ? INFINITY : cost;
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_score(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    const int score = compare(b->score, a->score);
    const int cost = compare(a->cost, b->cost);
    return score != 0 ? score : cost != 0 ? cost : compare(a->stage, b->stage);
}

static int by_front(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    return a->front != b->front ? compare(a->front, b->front) : by_score(left, right);
}

/* Each is a front behind the last that beats it; all of those stand before it. */
static void find_fronts(ranked *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const bool beats = rows[j].cost <= rows[i].cost &&
                               (rows[j].score > rows[i].score || rows[j].cost < rows[i].cost);
            if (beats && rows[j].front >= rows[i].front) {
                rows[i].front = rows[j].front + 1;
            }
        }
    }
}

int aq_sweep_sort(const aq_sweep_study *study, uint32_t *stages, size_t count)
{
    const bool has_cost = study->spec->cost != AQ_SWEEP_FIGURE_COUNT;
    ranked *rows = aq_alloc(count + 1, sizeof(*rows));
    if (rows == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = (ranked){stages[i], 0, score_of(study, stages[i]), cost_of(study, stages[i])};
    }
    qsort(rows, count, sizeof(*rows), by_score);
    if (has_cost) {
        find_fronts(rows, count);
        qsort(rows, count, sizeof(*rows), by_front);
    }
    for (size_t i = 0; i < count; i++) {
        stages[i] = rows[i].stage;
    }
    aq_free(rows);
    return 0;
}

bool aq_sweep_are_alike(const aq_sweep_study *study, uint32_t left, uint32_t right)
{
    return compare(score_of(study, left), score_of(study, right)) == 0 &&
           compare(cost_of(study, left), cost_of(study, right)) == 0;
}

/* Of a stage that is over: 0 where it failed, else from 1 with its rung. */
static size_t level_of(const aq_sweep_study *study, uint32_t stage)
{
    return isfinite(aq_sweep_stage_score(study, stage)) ? study->stages[stage].rung + 1 : 0;
}

int aq_sweep_known(const aq_sweep_study *study, uint32_t **ret_stages, size_t *ret_count)
{
    uint32_t *last = aq_alloc(study->spec->trials, sizeof(*last)); /* behind the stage; 0: none */
    uint32_t *stages = aq_alloc(study->spec->trials, sizeof(*stages));
    size_t count = 0;
    int rc = last != NULL && stages != NULL ? 0 : AQ_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < study->stage_count; i++) {
        if (study->stages[i].kind == AQ_SWEEP_TUNE && aq_sweep_stage_is_over(study, i)) {
            last[study->stages[i].trial] = i + 1;
        }
    }
    for (size_t level = study->spec->rung_count + 1; rc == 0 && level-- > 0;) {
        const size_t first = count;
        for (uint32_t trial = 0; trial < study->spec->trials; trial++) {
            if (last[trial] > 0 && level_of(study, last[trial] - 1) == level) {
                stages[count++] = last[trial] - 1;
            }
        }
        rc = aq_sweep_sort(study, stages + first, count - first);
    }
    aq_free(last);
    if (rc != 0) {
        aq_free(stages);
        return rc;
    }
    *ret_stages = stages;
    *ret_count = count;
    return 0;
}

static bool failed_later(const aq_sweep_study *study, uint32_t stage)
{
    const uint32_t last = aq_sweep_trial_last(study, study->stages[stage].trial);
    return aq_sweep_stage_is_over(study, last) && level_of(study, last) == 0;
}

static uint32_t best_stage(const aq_sweep_study *study, bool takes_failed)
{
    uint32_t winner = AQ_SWEEP_NONE;
    ranked best = {0};
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        if (stage->kind != AQ_SWEEP_TUNE || !aq_sweep_stage_is_over(study, i) ||
            !isfinite(score_of(study, i))) {
            continue;
        }
        const ranked its = {i, 0, score_of(study, i), cost_of(study, i)};
        const uint32_t rung = winner != AQ_SWEEP_NONE ? study->stages[winner].rung : 0;
        const bool is_better = winner == AQ_SWEEP_NONE || stage->rung > rung ||
                               (stage->rung == rung && by_score(&its, &best) < 0);
        if (is_better && (takes_failed || !failed_later(study, i))) {
            winner = i;
            best = its;
        }
    }
    return winner;
}

uint32_t aq_sweep_winner(const aq_sweep_study *study)
{
    const uint32_t winner = best_stage(study, false);
    return winner != AQ_SWEEP_NONE ? winner : best_stage(study, true);
}
