/*
 * Sweep population: see sweep_population.h.
 */
#include "cli/sweep/study/sweep_population.h"

#include <math.h>
#include <string.h>

#include "cli/sweep/study/sweep_order.h"
#include "common/base/parse.h"

/* How many of the worst go on from as many of the best. Of a small population one does, or it would
 * never change; what is short of a whole number by its rounding alone is that number. */
static size_t replaced_of(const aq_sweep_population *population, size_t count)
{
    const size_t few = (size_t)(population->replace * (double)count + 1e-9);
    return few == 0 && population->replace > 0 ? 1 : few;
}

/* A number goes up or down by a factor; near 1 its distance from 1 does. A whole one moves by one
 * at least: rounded, a small one would be the same again for ever. */
static double mutated(const aq_sweep_dim *dim, double value, double factor, aq_rng *rng)
{
    const bool is_up = aq_rng_below(rng, 2) == 1;
    const double most = dim->scale == AQ_SWEEP_POW2 ? 2 : aq_rng_range(rng, 1, factor);
    const double by = is_up ? most : 1 / most;
    const double next = dim->scale == AQ_SWEEP_LOGIT ? 1 - (1 - value) / by : value * by;
    return dim->is_whole && dim->scale != AQ_SWEEP_POW2 && fabs(next - value) < 1
               ? value + (is_up ? 1 : -1)
               : next;
}

static void mutate_value(const aq_sweep_dim *dim, double factor, const char *value, aq_rng *rng,
                         char out[AQ_SWEEP_VALUE_MAX])
{
    double number = dim->low;
    if (dim->scale == AQ_SWEEP_CHOICE) {
        aq_sweep_dim_value(dim, aq_rng_uniform(rng), out);
        return;
    }
    if (aq_parse_f64(value, &number) != 0) {
        number = dim->low;
    }
    aq_sweep_dim_number(dim, mutated(dim, number, factor, rng), out);
}

void aq_sweep_mutate(const aq_sweep_space *space, const aq_sweep_population *population,
                     const aq_sweep_point *parent, aq_rng *rng, aq_sweep_point *ret_point)
{
    aq_sweep_point point = {0};
    for (size_t i = 0; i < space->count; i++) {
        const aq_sweep_dim *dim = &space->dims[i];
        const char *before = parent->values[i];
        if (!aq_sweep_counts(space, i, &point)) {
            continue;
        }
        if (before[0] == '\0') { /* it counts now, and did not */
            aq_sweep_dim_value(dim, aq_rng_uniform(rng), point.values[i]);
        } else if (aq_rng_uniform(rng) < population->mutate) {
            mutate_value(dim, population->factor, before, rng, point.values[i]);
        } else {
            memcpy(point.values[i], before, AQ_SWEEP_VALUE_MAX);
        }
    }
    *ret_point = point;
}

/* Whether a member lies so far behind another that it is worth to give it up. */
static bool is_behind(const aq_sweep_study *study, const uint32_t *ranked, size_t count,
                      uint32_t stage, uint32_t parent)
{
    const double best = aq_sweep_stage_score(study, ranked[0]);
    double worst = best;
    for (size_t i = 0; i < count; i++) {
        const double score = aq_sweep_stage_score(study, ranked[i]);
        worst = isfinite(score) ? fmin(worst, score) : worst;
    }
    const double its = aq_sweep_stage_score(study, stage);
    return !isfinite(its) ||
           aq_sweep_stage_score(study, parent) - its > study->spec->population.gap * (best - worst);
}

static bool has_solved(const aq_sweep_study *study, uint32_t stage)
{
    const aq_sweep_stage *its = &study->stages[stage];
    for (size_t i = 0; i < its->run_count; i++) {
        if (study->runs[its->first_run + i].outcome.is_solved) {
            return true;
        }
    }
    return false;
}

static aq_sweep_stage next_of(const aq_sweep_study *study, const uint32_t *ranked, size_t count,
                              size_t rank)
{
    const aq_sweep_spec *spec = study->spec;
    const uint32_t own = ranked[rank];
    const aq_sweep_stage *stage = &study->stages[own];
    const size_t few = replaced_of(&spec->population, count);
    aq_sweep_stage next = {.kind = AQ_SWEEP_TUNE,
                           .trial = stage->trial,
                           .rung = stage->rung + 1,
                           .from = own,
                           .point = stage->point};
    aq_rng rng;
    aq_rng_init(&rng, spec->seed, 1 + (uint64_t)next.rung * spec->trials + next.trial);
    size_t alive = 0; /* among the best, those that there is something to take from */
    while (alive < (few > 0 ? few : 1) && isfinite(aq_sweep_stage_score(study, ranked[alive]))) {
        alive++;
    }
    const uint32_t parent = ranked[aq_rng_below(&rng, alive)];
    const bool is_last = rank + few >= count || !isfinite(aq_sweep_stage_score(study, own));
    if (is_last && is_behind(study, ranked, count, own, parent)) {
        next.from = parent;
        next.point = study->stages[parent].point;
        if (!has_solved(study, parent)) { /* else nothing would be trained by other settings */
            aq_sweep_mutate(&spec->space, &spec->population, &study->stages[parent].point, &rng,
                            &next.point);
        }
    }
    return next;
}

int aq_sweep_population_next(const aq_sweep_study *study, aq_sweep_stage *stages, size_t *ret_count)
{
    uint32_t ranked[AQ_SWEEP_ROUND_MAX];
    const size_t members = study->spec->trials;
    const size_t first = study->stage_count - members; /* of the last round: one for each */
    for (size_t i = 0; i < members; i++) {
        ranked[i] = (uint32_t)(first + i);
    }
    int rc = aq_sweep_sort(study, ranked, members);
    if (rc != 0) {
        return rc;
    }
    *ret_count = 0;
    if (study->stages[first].rung + 1 == study->spec->rung_count ||
        !isfinite(aq_sweep_stage_score(study, ranked[0]))) {
        return 0;
    }
    for (size_t i = 0; i < members; i++) {
        const aq_sweep_stage next = next_of(study, ranked, members, i);
        stages[next.trial] = next;
    }
    *ret_count = members;
    return 0;
}
