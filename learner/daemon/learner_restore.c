/*
 * The learner daemon: what goes into a checkpoint, and taking up a run from one.
 *
 * The loop knows the run (steps, totals, the best policy), the trainer knows the arrays. A request
 * copies the first under a lock; the trainer adds the second when it next has a moment; the stage's
 * thread writes the file, so that neither the loop nor a train step waits for the disk.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/wire/wire_policy.h"
#include "learner/daemon/learner_net_priv.h"

void aq_learner_checkpoint_context_fini(aq_checkpoint_context *context)
{
    aq_snapshot_unref(context->best_snapshot);
    aq_snapshot_unref(context->best_twin);
    aq_energy_file_text_free(context->energy_text);
    aq_free(context->config_text);
    *context = (aq_checkpoint_context){0};
}

/* On the loop. Takes references, so that the loop may move on. */
static void fill_context(aq_learner *learner, aq_checkpoint_context *ret_context)
{
    aq_checkpoint_context context = {
        .env_steps = aq_coordinator_env_steps(learner->coordinator),
        .totals = aq_policy_shelf_totals(learner->shelf),
        .gap = *aq_learner_service_gap(learner->service),
        .wall_s = aq_coordinator_wall_s(learner->coordinator, aq_clock_monotonic_ns()),
        .best_return = NAN,
        .energy_text = aq_learner_energy_text(learner),
        .config_text = aq_text_copy(learner->config_text),
    };
    context.shard_count =
        aq_coordinator_shard_counts(learner->coordinator, context.shards, &context.env_steps_base);
    if (learner->best.snapshot) {
        context.best_snapshot = aq_snapshot_ref(learner->best.snapshot);
        context.best_twin = learner->best.twin ? aq_snapshot_ref(learner->best.twin) : NULL;
        context.best_return = learner->best.result.return_mean;
        context.best_confirmed = learner->best.result.confirmed;
        context.write_policy = learner->best.unwritten;
    }
    *ret_context = context;
}

void aq_learner_checkpoint_gather(aq_learner *learner)
{
    aq_checkpoint_context context;
    fill_context(learner, &context);
    pthread_mutex_lock(&learner->checkpoint_lock);
    aq_checkpoint_context old = learner->checkpoint_context;
    learner->checkpoint_context = context;
    pthread_mutex_unlock(&learner->checkpoint_lock);
    aq_learner_checkpoint_context_fini(&old);
}

void aq_learner_checkpoint_request(aq_learner *learner)
{
    aq_learner_checkpoint_gather(learner);
    atomic_store(&learner->checkpoint_running, true);
    aq_trainer_request_checkpoint(learner->trainer);
}

static void fill_checkpoint(const aq_learner *learner, const aq_checkpoint_context *context,
                            const aq_algorithm_state *state, uint64_t step,
                            aq_checkpoint *ret_checkpoint)
{
    aq_checkpoint checkpoint = {
        .run_id = learner->folder.run_id,
        .schema = learner->begun.settings.schema,
        .spec = *learner->begun.algorithm_class->spec(learner->algorithm),
        .learner_step = step,
        .env_steps = context->env_steps,
        .env_steps_base = context->env_steps_base,
        .policy_version = learner->next_version ? learner->next_version - 1 : 0,
        .policy_versions = context->totals.versions,
        .policy_deltas = context->totals.deltas,
        .broadcast_bytes = context->totals.bytes,
        .broadcast_bytes_fp32 = context->totals.bytes_fp32,
        .parameter_count = state->count,
        .parameters = state->parameters,
        .target = state->target,
        .adam_m = state->adam_m,
        .adam_v = state->adam_v,
        .adam_step = state->adam_step,
        .statistics_count = state->statistics_count,
        .statistics = state->statistics,
        .gap_versions = context->gap.versions,
        .gap_episodes = context->gap.episodes,
        .gap_mean = context->gap.mean,
        .gap_squares = context->gap.squares,
        .wall_s = context->wall_s,
        .best_policy = context->best_snapshot,
        .best_return = context->best_return,
        .best_confirmed = context->best_confirmed,
        .config = context->config_text ? context->config_text : "",
        .shard_count = (uint32_t)context->shard_count,
    };
    /* Whole texts of our own, shorter than the places. */
    (void)snprintf(checkpoint.task, sizeof(checkpoint.task), "%s", learner->begun.settings.task);
    (void)snprintf(checkpoint.algorithm, sizeof(checkpoint.algorithm), "%s",
                   learner->begun.algorithm_class->name);
    for (size_t i = 0; i < context->shard_count; i++) {
        checkpoint.shards[i] = (aq_checkpoint_shard){
            .store = context->shards[i].store,
            .inserted = context->shards[i].inserted,
            .slot = context->shards[i].slot,
        };
    }
    *ret_checkpoint = checkpoint;
}

/* The checkpoint, then the best policy if it is new; `outcome` says what became of it. */
static void write_files(aq_learner *learner, const aq_checkpoint_context *context,
                        const aq_algorithm_state *state, aq_report *outcome)
{
    aq_checkpoint checkpoint;
    const char *path = NULL;
    fill_checkpoint(learner, context, state, outcome->step, &checkpoint);
    int rc = aq_checkpoint_store_write(learner->store, &checkpoint, &path, &outcome->error);
    if (rc) {
        return;
    }
    (void)snprintf(outcome->path, sizeof(outcome->path), "%s", path);
    if (!context->write_policy) {
        return;
    }
    aq_publication best = {.snapshot = context->best_snapshot, .twin = context->best_twin};
    outcome->policy_version = context->best_snapshot->version;
    if (aq_run_folder_write_policy(&learner->folder, &best, &outcome->error)) {
        outcome->path[0] = '\0';
    } else {
        outcome->wrote_policy = true;
    }
}

void aq_learner_checkpoint_write(aq_learner *learner, const aq_algorithm_state *state,
                                 uint64_t step)
{
    aq_report outcome = {.kind = AQ_REPORT_CHECKPOINT, .step = step};
    pthread_mutex_lock(&learner->checkpoint_lock);
    aq_checkpoint_context context = learner->checkpoint_context;
    learner->checkpoint_context = (aq_checkpoint_context){0};
    pthread_mutex_unlock(&learner->checkpoint_lock);

    write_files(learner, &context, state, &outcome);
    aq_learner_energy_write(learner, context.energy_text);
    aq_learner_checkpoint_context_fini(&context);
    atomic_store(&learner->checkpoint_running, false);
    aq_report *report = aq_alloc(1, sizeof(*report));
    if (report) {
        *report = outcome;
        aq_learner_report(learner, report);
    }
}

/* ---- taking up a run ------------------------------------------------------------------------ */

static void on_skipped(void *user, const char *path, const aq_error *error)
{
    (void)user;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    char quoted_path[2 * AQ_ERROR_TEXT_MAX];
    aq_log(AQ_LOG_WARN, "checkpoint_skipped", "an older one is tried", "path=%s error=%s",
           aq_log_quote(quoted_path, sizeof(quoted_path), path),
           aq_log_quote(quoted, sizeof(quoted), error->text));
}

static int check_same_run(const aq_learner *learner, const aq_checkpoint *checkpoint,
                          const aq_algorithm_state *state, aq_error *error)
{
    const aq_net_spec *spec = learner->plan.algorithm_class->spec(learner->algorithm);
    if (checkpoint->run_id != learner->folder.run_id) {
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint is of the run %016" PRIx64 ", the folder of %016" PRIx64,
                       checkpoint->run_id, learner->folder.run_id);
    }
    if (strcmp(checkpoint->task, learner->plan.settings.task) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the checkpoint is of the task %s, not of %s",
                       checkpoint->task, learner->plan.settings.task);
    }
    if (strcmp(checkpoint->algorithm, learner->plan.algorithm_class->name) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the checkpoint is of the algorithm %s, not of %s",
                       checkpoint->algorithm, learner->plan.algorithm_class->name);
    }
    if (aq_net_spec_hash(&checkpoint->spec) == aq_net_spec_hash(spec) &&
        checkpoint->parameter_count != state->count) {
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint is of networks of %zu parameters, the configuration's have "
                       "%zu: its critic is another one",
                       checkpoint->parameter_count, state->count);
    }
    if (checkpoint->statistics_count != state->statistics_count) {
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint was trained with learner.normalize_obs %s, the "
                       "configuration says otherwise",
                       checkpoint->statistics_count > 0 ? "true" : "false");
    }
    if (aq_net_spec_hash(&checkpoint->spec) != aq_net_spec_hash(spec)) {
        char theirs[128];
        char ours[128];
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint is of the network %s, the configuration makes %s",
                       aq_net_spec_text(&checkpoint->spec, theirs, sizeof(theirs)),
                       aq_net_spec_text(spec, ours, sizeof(ours)));
    }
    return 0;
}

/* The fp32 form of the best policy, if its file is there and of the same version; else NULL. */
static aq_snapshot *read_twin(const aq_learner *learner, uint64_t version)
{
    char path[AQ_PATH_MAX + 32];
    aq_snapshot *twin = NULL;
    aq_error error;
    (void)snprintf(path, sizeof(path), "%s/policy.fp32.aq", learner->folder.path);
    if (aq_policy_file_read(path, &twin, &error)) {
        return NULL;
    }
    if (twin->version != version) {
        aq_snapshot_unref(twin);
        return NULL;
    }
    return twin;
}

static void restore_best(aq_learner *learner, const aq_checkpoint *checkpoint)
{
    if (!checkpoint->best_policy) {
        return;
    }
    aq_evaluation_result result = {
        .version = checkpoint->best_policy->version,
        .return_mean = checkpoint->best_return,
        .confirmed = checkpoint->best_confirmed,
    };
    learner->best = (aq_best_policy){
        .snapshot = aq_snapshot_ref(checkpoint->best_policy),
        .twin = read_twin(learner, checkpoint->best_policy->version),
        .result = result,
    };
    if (isfinite(checkpoint->best_return)) {
        aq_coordinator_restore_best(learner->coordinator, &result);
    }
}

static void restore_run(aq_learner *learner, const aq_checkpoint *checkpoint)
{
    aq_shard_count counts[AQ_SHARDS_MAX];
    for (uint32_t i = 0; i < checkpoint->shard_count; i++) {
        counts[i] = (aq_shard_count){.store = checkpoint->shards[i].store,
                                     .inserted = checkpoint->shards[i].inserted,
                                     .slot = checkpoint->shards[i].slot};
    }
    aq_coordinator_restore_counts(learner->coordinator, counts, checkpoint->shard_count,
                                  checkpoint->env_steps_base);
    aq_coordinator_restore_wall(learner->coordinator, checkpoint->wall_s);
    /* Those of earlier processes are no steps of the first second. */
    learner->window.env_steps = aq_coordinator_env_steps(learner->coordinator);
    restore_best(learner, checkpoint);
    aq_shelf_totals totals = {
        .versions = checkpoint->policy_versions,
        .deltas = checkpoint->policy_deltas,
        .bytes = checkpoint->broadcast_bytes,
        .bytes_fp32 = checkpoint->broadcast_bytes_fp32,
    };
    aq_policy_shelf_restore_totals(learner->shelf, &totals);
    learner->gap_before = (aq_precision_gap){
        .versions = checkpoint->gap_versions,
        .episodes = checkpoint->gap_episodes,
        .mean = checkpoint->gap_mean,
        .squares = checkpoint->gap_squares,
    };
    learner->first_step = checkpoint->learner_step;
    learner->checkpoint_step = checkpoint->learner_step;
    learner->next_version = checkpoint->policy_version + 1;
    learner->reserved_end = learner->next_version; /* a fresh block is reserved before use */
}

int aq_learner_restore(aq_learner *learner, aq_error *error)
{
    learner->next_version = 1;
    learner->reserved_end = 1;
    if (!learner->folder.resumed) {
        return 0;
    }
    aq_checkpoint checkpoint;
    int rc = aq_checkpoint_store_read_newest(learner->store, NULL, on_skipped, learner, &checkpoint,
                                             error);
    if (rc == AQ_E_NOT_FOUND) {
        aq_log(AQ_LOG_WARN, "resumed", "there is no checkpoint yet: training starts from nothing",
               "step=0");
        return 0;
    }
    if (rc) {
        return rc;
    }
    aq_algorithm_state state;
    learner->plan.algorithm_class->state(learner->algorithm, &state);
    rc = check_same_run(learner, &checkpoint, &state, error);
    if (rc) {
        aq_checkpoint_fini(&checkpoint);
        return aq_fail_context(error, rc, "%s", learner->folder.path);
    }
    size_t bytes = state.count * sizeof(float);
    memcpy(state.parameters, checkpoint.parameters, bytes);
    memcpy(state.target, checkpoint.target, bytes);
    memcpy(state.adam_m, checkpoint.adam_m, bytes);
    memcpy(state.adam_v, checkpoint.adam_v, bytes);
    if (state.statistics_count > 0) {
        memcpy(state.statistics, checkpoint.statistics, state.statistics_count * sizeof(double));
    }
    learner->plan.algorithm_class->restored(learner->algorithm, checkpoint.adam_step);
    restore_run(learner, &checkpoint);
    aq_log(AQ_LOG_INFO, "resumed", "", "step=%" PRIu64 " env_steps=%" PRIu64 " wall_s=%.1f",
           checkpoint.learner_step, checkpoint.env_steps, checkpoint.wall_s);
    aq_checkpoint_fini(&checkpoint);
    return 0;
}
