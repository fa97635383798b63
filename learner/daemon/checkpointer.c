/*
 * Checkpointer: the run's facts wait under a lock until somebody comes with the arrays.
 */
#include "learner/daemon/checkpointer.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/sys/log.h"
#include "learner/daemon/learner_parts.h"
#include "learner/metrics/energy_file.h"

/* What the loop knows; it owns its texts and references. */
typedef struct run_facts {
    aq_checkpoint checkpoint; /* but for what the writer adds */
    aq_best_policy best;      /* to be written if it is unwritten */
    char *energy_text;        /* of energy.json; NULL: it stays as it is */
    char *config_text;        /* NULL: there was no memory for it */
} run_facts;

struct aq_checkpointer {
    const aq_learner_parts *parts;
    aq_run_plan begun;    /* as the run began: task, schema and algorithm never change */
    pthread_mutex_t lock; /* of facts */
    run_facts facts;
    int64_t due_ns;
    uint64_t step; /* of the newest on disk */
    aq_log_limit failed_limit;
    atomic_bool is_running; /* the stage's thread ends it, whatever becomes of its report */
};

static void facts_fini(run_facts *facts)
{
    aq_best_policy_fini(&facts->best);
    aq_energy_file_text_free(facts->energy_text);
    aq_free(facts->config_text);
    *facts = (run_facts){0};
}

static int64_t period_ns(const aq_checkpointer *checkpointer)
{
    const aq_run_config *config = &checkpointer->parts->live.now.config;
    return (int64_t)(config->learner.checkpoint_period_s * (double)AQ_NS_PER_S);
}

int aq_checkpointer_create(const aq_learner_parts *parts, uint64_t step,
                           aq_checkpointer **ret_checkpointer)
{
    aq_checkpointer *checkpointer = aq_alloc(1, sizeof(*checkpointer));
    if (checkpointer == NULL) {
        return AQ_E_NOMEM;
    }
    checkpointer->parts = parts;
    checkpointer->begun = parts->live.now;
    checkpointer->step = step;
    checkpointer->due_ns = aq_clock_monotonic_ns() + period_ns(checkpointer);
    atomic_init(&checkpointer->is_running, false);
    pthread_mutex_init(&checkpointer->lock, NULL);
    *ret_checkpointer = checkpointer;
    return 0;
}

void aq_checkpointer_destroy(aq_checkpointer *checkpointer)
{
    if (checkpointer == NULL) {
        return;
    }
    facts_fini(&checkpointer->facts);
    pthread_mutex_destroy(&checkpointer->lock);
    aq_free(checkpointer);
}

/* ---- on the loop ---------------------------------------------------------------------------- */

bool aq_checkpointer_is_due(aq_checkpointer *checkpointer, int64_t now_ns, uint64_t step)
{
    if (now_ns < checkpointer->due_ns || aq_checkpointer_is_busy(checkpointer)) {
        return false;
    }
    checkpointer->due_ns = now_ns + period_ns(checkpointer);
    return step != checkpointer->step;
}

void aq_checkpointer_hurry(aq_checkpointer *checkpointer, int64_t now_ns)
{
    const int64_t due_ns = now_ns + period_ns(checkpointer);
    if (due_ns < checkpointer->due_ns) {
        checkpointer->due_ns = due_ns;
    }
}

bool aq_checkpointer_is_busy(const aq_checkpointer *checkpointer)
{
    return atomic_load(&checkpointer->is_running);
}

uint64_t aq_checkpointer_step(const aq_checkpointer *checkpointer)
{
    return checkpointer->step;
}

/* What can be played is there from the first version on, in the checkpoint and in policy.aq. */
static void take_policy(const aq_learner_parts *parts, run_facts *facts)
{
    const aq_best_policy *best = &parts->best;
    aq_checkpoint *checkpoint = &facts->checkpoint;
    if (best->snapshot != NULL) {
        aq_best_policy_set(&facts->best, best->snapshot, best->twin, &best->result,
                           best->is_unwritten);
    }
    aq_best_policy_stand_in(&facts->best, parts->shelf);
    best = &facts->best;
    if (best->snapshot != NULL) {
        checkpoint->best_policy = best->snapshot;
        checkpoint->best_return = best->result.return_mean;
        checkpoint->best_std = best->result.return_std;
        checkpoint->best_episodes = best->result.episodes;
        checkpoint->best_confirmed = best->result.confirmed;
    }
}

/* References are taken, so that the loop may move on. */
static void fill_facts(const aq_learner_parts *parts, run_facts *facts)
{
    const aq_precision_gap *gap = aq_learner_service_gap(parts->service);
    aq_checkpoint *checkpoint = &facts->checkpoint;
    *checkpoint = (aq_checkpoint){
        .env_steps = aq_coordinator_env_steps(parts->coordinator),
        .policies = aq_policy_shelf_totals(parts->shelf),
        .gap_versions = gap->versions,
        .gap_episodes = gap->episodes,
        .gap_mean = gap->mean,
        .gap_squares = gap->squares,
        .wall_s = aq_coordinator_wall_s(parts->coordinator, aq_clock_monotonic_ns()),
        .best_return = NAN,
    };
    checkpoint->shard_count = (uint32_t)aq_coordinator_shard_counts(
        parts->coordinator, checkpoint->shards, &checkpoint->env_steps_base);
    facts->energy_text = aq_energy_account_text(parts->energy, checkpoint->wall_s);
    facts->config_text = aq_text_copy(parts->live.text);
    checkpoint->config = facts->config_text != NULL ? facts->config_text : "";
    take_policy(parts, facts);
}

/* Copies what the loop knows, for the next write. */
static void gather(aq_checkpointer *checkpointer)
{
    run_facts facts = {0};
    fill_facts(checkpointer->parts, &facts);
    aq_mutex_lock(&checkpointer->lock);
    run_facts old = checkpointer->facts;
    checkpointer->facts = facts;
    aq_mutex_unlock(&checkpointer->lock);
    facts_fini(&old);
}

void aq_checkpointer_begin(aq_checkpointer *checkpointer)
{
    gather(checkpointer);
    atomic_store(&checkpointer->is_running, true);
}

void aq_checkpointer_settle(aq_checkpointer *checkpointer, const aq_checkpoint_outcome *outcome)
{
    checkpointer->step = outcome->wrote_checkpoint ? outcome->step : checkpointer->step;
    if (outcome->path[0] == '\0' && !outcome->is_last) {
        aq_log_limited(&checkpointer->failed_limit, aq_clock_monotonic_ns(), AQ_LOG_ERROR,
                       "checkpoint_failed", "the older checkpoints are untouched; tried again",
                       "step=%" PRIu64 " error=%s", outcome->step,
                       AQ_LOG_QUOTED(outcome->error.text));
        return;
    }
    if (outcome->path[0] == '\0') {
        aq_log(AQ_LOG_ERROR, "checkpoint_failed", "the older checkpoints are untouched",
               "step=%" PRIu64 " error=%s", outcome->step, AQ_LOG_QUOTED(outcome->error.text));
        return;
    }
    aq_log(AQ_LOG_INFO, "checkpoint_written", "", "step=%" PRIu64 " path=%s", outcome->step,
           AQ_LOG_QUOTED(outcome->path));
}

/* ---- writing -------------------------------------------------------------------------------- */

static void complete(const aq_checkpointer *checkpointer, const aq_named_arrays *arrays,
                     uint64_t step, aq_checkpoint *checkpoint)
{
    checkpoint->run_id = checkpointer->parts->folder.run_id;
    checkpoint->schema = checkpointer->begun.settings.schema;
    checkpoint->spec = *aq_agent_spec(checkpointer->parts->agent);
    checkpoint->learner_step = step;
    checkpoint->policy_version = aq_version_numbers_last(&checkpointer->parts->versions);
    checkpoint->arrays = *arrays;
    /* Whole texts of our own, shorter than the places. */
    (void)snprintf(checkpoint->task, sizeof(checkpoint->task), "%s",
                   checkpointer->begun.settings.task);
    (void)snprintf(checkpoint->algorithm, sizeof(checkpoint->algorithm), "%s",
                   checkpointer->begun.algorithm_class->name);
}

/* The checkpoint, then the best policy if it is new. */
static void write_files(aq_checkpointer *checkpointer, const run_facts *facts,
                        aq_checkpoint_outcome *outcome)
{
    const char *path;
    int rc = aq_checkpoint_store_write(checkpointer->parts->store, &facts->checkpoint, &path,
                                       &outcome->error);
    if (rc != 0) {
        return;
    }
    outcome->wrote_checkpoint = true;
    if (facts->best.is_unwritten) {
        const aq_snapshot *best = facts->best.snapshot;
        rc = aq_run_folder_write_policy(&checkpointer->parts->folder, best, facts->best.twin,
                                        &outcome->error);
        if (rc != 0) {
            return;
        }
        outcome->policy_version = best->version;
        outcome->wrote_policy = true;
    }
    (void)snprintf(outcome->path, sizeof(outcome->path), "%s", path);
}

void aq_checkpointer_write(aq_checkpointer *checkpointer, const aq_named_arrays *arrays,
                           uint64_t step, aq_checkpoint_outcome *ret_outcome)
{
    aq_mutex_lock(&checkpointer->lock);
    run_facts facts = checkpointer->facts;
    checkpointer->facts = (run_facts){0};
    aq_mutex_unlock(&checkpointer->lock);

    *ret_outcome = (aq_checkpoint_outcome){.step = step};
    complete(checkpointer, arrays, step, &facts.checkpoint);
    write_files(checkpointer, &facts, ret_outcome);
    aq_energy_account_write(checkpointer->parts->energy, facts.energy_text);
    facts_fini(&facts);
    atomic_store(&checkpointer->is_running, false);
}
