/*
 * Coordinator: see coordinator.h. How far the run is, and when it ends; its members are in
 * coordinator_members.c.
 */
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/solved.h"
#include "common/policy/format.h"
#include "learner/run/coordinator_priv.h"

int aq_coordinator_create(const aq_coordinator_config *config, int64_t now_ns,
                          aq_coordinator **ret_coordinator)
{
    AQ_ASSERT(config->member_timeout_ns > 0);

    aq_coordinator *coordinator = aq_alloc(1, sizeof(*coordinator));
    if (!coordinator) {
        return AQ_E_NOMEM;
    }
    coordinator->config = *config;
    coordinator->started_ns = now_ns;
    coordinator->state = AQ_RUN_RUNNING;
    coordinator->next_member = 1;
    *ret_coordinator = coordinator;
    return 0;
}

void aq_coordinator_destroy(aq_coordinator *coordinator)
{
    if (!coordinator) {
        return;
    }
    aq_free(coordinator->members);
    aq_free(coordinator);
}

void aq_coordinator_configure(aq_coordinator *coordinator, const aq_coordinator_config *config)
{
    AQ_ASSERT(config->member_timeout_ns > 0);
    coordinator->config = *config;
}

void aq_coordinator_progress(aq_coordinator *coordinator, uint64_t shard_incarnation,
                             uint64_t inserted)
{
    aq_store_ledger_told(&coordinator->stores, shard_incarnation, inserted);
}

static uint64_t row_steps(const aq_coordinator *coordinator)
{
    return coordinator->config.row_steps > 0 ? coordinator->config.row_steps : 1;
}

uint64_t aq_coordinator_env_steps(const aq_coordinator *coordinator)
{
    return aq_store_ledger_total(&coordinator->stores) * row_steps(coordinator);
}

uint64_t aq_coordinator_env_steps_found(const aq_coordinator *coordinator)
{
    return aq_store_ledger_found(&coordinator->stores) * row_steps(coordinator);
}

size_t aq_coordinator_shard_counts(const aq_coordinator *coordinator, aq_shard_count *counts,
                                   uint64_t *ret_base)
{
    return aq_store_ledger_counts(&coordinator->stores, counts, ret_base);
}

void aq_coordinator_restore_counts(aq_coordinator *coordinator, const aq_shard_count *counts,
                                   size_t count, uint64_t base)
{
    AQ_ASSERT(coordinator->count == 0);
    aq_store_ledger_restore(&coordinator->stores, counts, count, base);
}

void aq_coordinator_restore_wall(aq_coordinator *coordinator, double wall_before_s)
{
    coordinator->wall_before_s = wall_before_s;
}

void aq_coordinator_restore_best(aq_coordinator *coordinator, const aq_evaluation_result *best)
{
    coordinator->best = *best;
    coordinator->is_best_left = !best->confirmed;
}

/* Fresh episodes rank before a screening; but of one that a run's end left, and that lay far above
 * all others, there will be none. */
static bool ranks(const aq_coordinator *coordinator, const aq_evaluation_result *result,
                  bool solves)
{
    const aq_evaluation_result *best = &coordinator->best;
    return solves || !coordinator->is_best_left || result->version == best->version ||
           result->return_mean > best->return_mean;
}

/* A version that is good in one form alone is good by the luck of its rounding, and nobody knows of
 * one that was played in one form alone. */
static bool lies_above(const aq_coordinator *coordinator, const aq_evaluation_result *result)
{
    const double threshold = coordinator->config.threshold;
    const bool fp32_lies_above = result->in_both ? aq_is_solved(result->fp32_mean, result->fp32_std,
                                                                result->episodes, threshold)
                                                 : result->format == AQ_FORMAT_F32;
    return fp32_lies_above &&
           aq_is_solved(result->return_mean, result->return_std, result->episodes, threshold);
}

bool aq_coordinator_evaluated(aq_coordinator *coordinator, const aq_evaluation_result *result,
                              bool held)
{
    if (!aq_coordinator_evaluates(coordinator)) {
        return false;
    }
    if (!result->ranks_only) {
        coordinator->latest = *result;
        coordinator->evaluations++;
    }
    if (!held) {
        return false;
    }
    const bool solves = result->confirmed && !result->ranks_only && lies_above(coordinator, result);
    if (solves) {
        coordinator->state = AQ_RUN_SOLVED;
    }
    aq_evaluation_result *leading = &coordinator->leading;
    if (!result->confirmed && aq_ranking_leads(&coordinator->best, result)) {
        if (leading->version == 0 || leading->version == result->version ||
            result->return_mean > leading->return_mean) {
            *leading = *result;
        }
    } else if (result->version == leading->version) {
        leading->version = 0; /* it was played afresh */
    }
    const bool is_new =
        ranks(coordinator, result, solves) && aq_ranking_take(&coordinator->best, result, solves);
    coordinator->is_best_left = coordinator->is_best_left && !is_new;
    return is_new;
}

void aq_coordinator_end_evaluations(aq_coordinator *coordinator)
{
    coordinator->evaluations_ended = true;
}

bool aq_coordinator_evaluates(const aq_coordinator *coordinator)
{
    return coordinator->state == AQ_RUN_RUNNING && !coordinator->evaluations_ended;
}

uint64_t aq_coordinator_leader(const aq_coordinator *coordinator,
                               const aq_evaluation_result *result, bool held)
{
    return held && !result->confirmed && aq_ranking_leads(&coordinator->best, result)
               ? result->version
               : coordinator->best.version;
}

const aq_evaluation_result *aq_coordinator_heir(const aq_coordinator *coordinator)
{
    const aq_evaluation_result *leading = &coordinator->leading, *best = &coordinator->best;
    return coordinator->state != AQ_RUN_SOLVED && leading->version != 0 &&
                   leading->version != best->version &&
                   aq_is_solved(leading->return_mean, leading->return_std, leading->episodes,
                                best->return_mean)
               ? leading
               : NULL;
}

const aq_evaluation_result *aq_coordinator_latest(const aq_coordinator *coordinator)
{
    return coordinator->evaluations ? &coordinator->latest : NULL;
}

const aq_evaluation_result *aq_coordinator_best(const aq_coordinator *coordinator)
{
    return coordinator->best.version != 0 ? &coordinator->best : NULL;
}

uint64_t aq_coordinator_evaluations(const aq_coordinator *coordinator)
{
    return coordinator->evaluations;
}

void aq_coordinator_trained(aq_coordinator *coordinator, uint64_t learner_steps)
{
    coordinator->learner_steps = learner_steps;
}

enum aq_run_state aq_coordinator_tick(aq_coordinator *coordinator, int64_t now_ns)
{
    if (coordinator->state != AQ_RUN_RUNNING) {
        return coordinator->state;
    }
    double wall_limit_s = coordinator->config.wall_limit_s;
    bool out_of_steps =
        coordinator->config.env_steps_limit > 0 &&
        aq_coordinator_env_steps(coordinator) >= coordinator->config.env_steps_limit;
    bool out_of_training = coordinator->config.learner_steps_limit > 0 &&
                           coordinator->learner_steps >= coordinator->config.learner_steps_limit;
    bool out_of_time =
        wall_limit_s > 0 && aq_coordinator_wall_s(coordinator, now_ns) >= wall_limit_s;
    if (out_of_steps || out_of_training || out_of_time) {
        coordinator->state = AQ_RUN_BUDGET;
    }
    return coordinator->state;
}

void aq_coordinator_stop(aq_coordinator *coordinator)
{
    if (coordinator->state == AQ_RUN_RUNNING) {
        coordinator->state = AQ_RUN_STOPPED;
    }
}

void aq_coordinator_diverge(aq_coordinator *coordinator)
{
    if (coordinator->state == AQ_RUN_RUNNING) {
        coordinator->state = AQ_RUN_DIVERGED;
    }
}

enum aq_run_state aq_coordinator_state(const aq_coordinator *coordinator)
{
    return coordinator->state;
}

double aq_coordinator_wall_s(const aq_coordinator *coordinator, int64_t now_ns)
{
    return coordinator->wall_before_s + aq_ns_to_s(now_ns - coordinator->started_ns);
}

uint64_t aq_coordinator_joined_total(const aq_coordinator *coordinator)
{
    return coordinator->joined_total;
}

uint64_t aq_coordinator_lost_total(const aq_coordinator *coordinator)
{
    return coordinator->lost_total;
}
