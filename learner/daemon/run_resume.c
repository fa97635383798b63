/*
 * Run resume: a run is taken up from its newest checkpoint that can be read.
 */
#include "learner/daemon/run_resume.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/config/gradient_rows.h"
#include "common/settings/settings.h"
#include "common/sys/file.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"
#include "learner/run/live_settings.h"

static void on_skipped(void *user, const char *path, const aq_error *error)
{
    (void)user;
    aq_log(AQ_LOG_WARN, "checkpoint_skipped", "an older one is tried", "path=%s error=%s",
           AQ_LOG_QUOTED(path), AQ_LOG_QUOTED(error->text));
}

static int check_same_run(const aq_resume_into *into, const aq_checkpoint *checkpoint,
                          aq_error *error)
{
    const aq_net_spec *spec = aq_agent_spec(into->agent);
    if (checkpoint->run_id != into->folder->run_id) {
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint is of the run %016" PRIx64 ", the folder of %016" PRIx64,
                       checkpoint->run_id, into->folder->run_id);
    }
    if (strcmp(checkpoint->task, into->plan->settings.task) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the checkpoint is of the task %s, not of %s",
                       checkpoint->task, into->plan->settings.task);
    }
    if (strcmp(checkpoint->algorithm, aq_agent_class(into->agent)->name) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the checkpoint is of the algorithm %s, not of %s",
                       checkpoint->algorithm, aq_agent_class(into->agent)->name);
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

typedef struct kept_check {
    const aq_run_config *ours;
    aq_error *error;
} kept_check;

/* Texts may be other words for the same, and "auto" for an algorithm; what they make has been
 * compared, and arrays will be. */
static int on_difference(void *user, const aq_setting *row, const char *before, const char *after)
{
    const kept_check *check = user;
    (void)after;
    if (row->type == AQ_SETTING_TEXT || row->type == AQ_SETTING_LIST ||
        strcmp(row->key, "learner.algorithm") == 0 || !aq_setting_is_kept(check->ours, row)) {
        return 0;
    }
    return aq_fail(check->error, AQ_E_INVALID,
                   "%s is %s in this run, and cannot be changed when it is resumed", row->key,
                   before);
}

/* Until a version of our format is ranked above it, or for ever where none is. */
static void tell_format(const aq_run_config *ours, const aq_run_config *theirs)
{
    const enum aq_format format = aq_run_config_format(theirs);
    if (format != aq_run_config_format(ours)) {
        aq_log(
            AQ_LOG_WARN, "best_policy_kept",
            "the best policy so far is of the format of before, and stays the run's result until "
            "another version is better",
            "format=%s", aq_format_name(format));
    }
}

/* Settings that this build does not know are not compared: arrays and stores refuse what does not
 * fit. Stores hold rows of before, and count the run's steps by them. */
static int check_same_settings(const aq_run_config *ours, const aq_checkpoint *checkpoint,
                               aq_error *error)
{
    kept_check check = {.ours = ours, .error = error};
    const size_t size = strlen(checkpoint->config);
    aq_run_config theirs;
    if (size == 0) {
        return 0;
    }
    aq_settings_init(aq_run_config_table(), &theirs);
    int rc = aq_settings_read_foreign(aq_run_config_table(), "settings of the checkpoint",
                                      checkpoint->config, size, &theirs, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_settings_compare(aq_run_config_table(), &theirs, ours, on_difference, &check);
    if (rc != 0) {
        return rc == AQ_E_INVALID ? rc : aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    if (aq_gradient_steps_of_row(&theirs) != aq_gradient_steps_of_row(ours)) {
        return aq_fail(error, AQ_E_INVALID,
                       "gradients of this run are of %" PRIu64 " steps, not of %" PRIu64
                       ": what makes that number cannot be changed when it is resumed "
                       "(learner.batch_size; with sequences learner.group_steps, "
                       "replay.sequence_length and actor.envs)",
                       aq_gradient_steps_of_row(&theirs), aq_gradient_steps_of_row(ours));
    }
    /* A stand-in, which nobody has played, makes way for the first version that is judged. */
    if (checkpoint->best_policy != NULL && isfinite(checkpoint->best_return)) {
        tell_format(ours, &theirs);
    }
    return 0;
}

/* What a policy file of the folder holds, if it is there and of this version; else NULL. */
static aq_snapshot *read_policy(const aq_run_folder *folder, const char *name, uint64_t version)
{
    char path[PATH_MAX];
    aq_snapshot *policy = NULL;
    aq_error error;
    if (aq_path_in(path, sizeof(path), folder->path, name, &error) != 0 ||
        aq_policy_file_read(path, &policy, &error) != 0) {
        return NULL;
    }
    if (policy->version != version) {
        aq_snapshot_unref(policy);
        return NULL;
    }
    return policy;
}

/* An end between the checkpoint and policy.aq left that behind, so it is written now; where it
 * can't be, the next checkpoint brings it. */
static void write_best(const aq_run_folder *folder, aq_best_policy *best)
{
    aq_snapshot *written = read_policy(folder, "policy.aq", best->result.version);
    aq_error ignored;
    best->is_unwritten = written == NULL && aq_run_folder_write_policy(folder, best->snapshot,
                                                                       best->twin, &ignored) != 0;
    aq_snapshot_unref(written);
}

static void resume_best(const aq_resume_into *into, const aq_checkpoint *checkpoint)
{
    if (checkpoint->best_policy == NULL) {
        return;
    }
    const aq_evaluation_result result = {
        .version = checkpoint->best_policy->version,
        .return_mean = checkpoint->best_return,
        .return_std = checkpoint->best_std,
        .episodes = checkpoint->best_episodes,
        .confirmed = checkpoint->best_confirmed,
    };
    aq_snapshot *twin = read_policy(into->folder, "policy.fp32.aq", result.version);
    aq_best_policy_set(into->best, checkpoint->best_policy, twin, &result, false);
    aq_snapshot_unref(twin);
    write_best(into->folder, into->best);
    if (isfinite(checkpoint->best_return)) {
        aq_coordinator_restore_best(into->coordinator, &result);
    }
}

static void resume_counts(const aq_resume_into *into, const aq_checkpoint *checkpoint)
{
    aq_coordinator_restore_counts(into->coordinator, checkpoint->shards, checkpoint->shard_count,
                                  checkpoint->env_steps_base);
    aq_coordinator_restore_wall(into->coordinator, checkpoint->wall_s);
    aq_policy_shelf_restore_totals(into->shelf, &checkpoint->policies);
}

static int resume_from(const aq_resume_into *into, const aq_checkpoint *checkpoint,
                       aq_resumed *ret_resumed, aq_error *error)
{
    int rc = check_same_run(into, checkpoint, error);
    if (rc == 0) {
        rc = check_same_settings(&into->plan->config, checkpoint, error);
    }
    if (rc == 0) {
        rc = aq_agent_restore(into->agent, &checkpoint->arrays, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", into->folder->path);
    }
    resume_counts(into, checkpoint);
    resume_best(into, checkpoint);
    *ret_resumed = (aq_resumed){
        .step = checkpoint->learner_step,
        .last_version = checkpoint->policy_version,
        .gap = {.versions = checkpoint->gap_versions,
                .episodes = checkpoint->gap_episodes,
                .mean = checkpoint->gap_mean,
                .squares = checkpoint->gap_squares},
    };
    aq_log(AQ_LOG_INFO, "resumed", "", "step=%" PRIu64 " env_steps=%" PRIu64 " wall_s=%.1f",
           checkpoint->learner_step, checkpoint->env_steps, checkpoint->wall_s);
    return 0;
}

int aq_run_resume(const aq_resume_into *into, aq_checkpoint_store *store, aq_resumed *ret_resumed,
                  aq_error *error)
{
    aq_checkpoint checkpoint;
    int rc = aq_checkpoint_store_read_newest(store, on_skipped, NULL, &checkpoint, error);
    if (rc == AQ_E_NOT_FOUND) {
        aq_log(AQ_LOG_WARN, "resumed", "there is no checkpoint yet: training starts from nothing",
               "step=0");
        *ret_resumed = (aq_resumed){0};
        return 0;
    }
    if (rc != 0) {
        return rc;
    }
    rc = resume_from(into, &checkpoint, ret_resumed, error);
    if (rc == 0 && aq_agent_model(into->agent) != NULL) {
        ret_resumed->read = checkpoint;
        return 0;
    }
    aq_checkpoint_fini(&checkpoint);
    return rc;
}
