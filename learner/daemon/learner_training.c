/*
 * The learner daemon: the trainer's and the stage's threads, and what they bring to the loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sys/cpu.h"
#include "learner/daemon/learner_net_priv.h"
#include "learner/publish/policy_versions.h"
#include "learner/publish/publication_plan.h"
#include "quantizer/engine/qerror.h"

enum { VERSIONS_RESERVED = 1024, REPORTS_MAX = 256, DIVERGED_STEPS = 100 };

/* ---- on the trainer's thread ---------------------------------------------------------------- */

static void on_group_done(void *user, aq_batch *group)
{
    aq_learner *learner = user;
    /* The mailbox has room for every group there is; it only refuses once it is closed, and then
     * the prefetcher frees the group with the others. */
    int rc = aq_mailbox_post(learner->groups, group);
    (void)rc;
}

/* ---- on the stage's thread ------------------------------------------------------------------ */

static int stage_next_version(void *user, uint64_t *ret_version, aq_error *error)
{
    aq_learner *learner = user;
    if (learner->next_version == learner->reserved_end) {
        uint64_t first = 0;
        int rc = aq_version_reserve(learner->folder.path, learner->next_version - 1,
                                    VERSIONS_RESERVED, &first, error);
        if (rc) {
            return rc;
        }
        learner->next_version = first;
        learner->reserved_end = first + VERSIONS_RESERVED;
    }
    *ret_version = learner->next_version++;
    return 0;
}

void aq_learner_report(aq_learner *learner, aq_report *report)
{
    if (aq_mailbox_post(learner->reports, report)) {
        aq_publication_fini(&report->publication);
        aq_free(report);
    }
}

static void stage_trouble(void *user, const aq_error *error)
{
    aq_report *report = aq_alloc(1, sizeof(*report));
    if (report) {
        report->kind = AQ_REPORT_TROUBLE;
        report->error = *error;
        aq_learner_report(user, report);
    }
}

static void stage_publish(void *user, aq_publication *publication)
{
    aq_learner *learner = user;
    const aq_buffer *frame = aq_publication_broadcast(publication);
    int rc = aq_publisher_send(learner->publisher, frame->data, frame->size);
    if (rc) {
        aq_error error = {0};
        (void)aq_fail(&error, rc, "policy version %" PRIu64 " could not be sent: %s",
                      publication->snapshot->version, aq_error_text(rc));
        stage_trouble(learner, &error);
    }
    aq_report *report = aq_alloc(1, sizeof(*report));
    if (!report) {
        aq_publication_fini(publication);
        return;
    }
    report->kind = AQ_REPORT_PUBLICATION;
    report->publication = *publication;
    aq_learner_report(learner, report);
}

static void stage_checkpoint(void *user, const aq_algorithm_state *state, uint64_t step)
{
    aq_learner_checkpoint_write(user, state, step);
}

/* ---- on the loop's thread ------------------------------------------------------------------- */

static void on_group(void *user, void *item)
{
    aq_learner *learner = user;
    aq_prefetch_give_back(learner->prefetch, item);
    if (!learner->ended && !learner->signalled) {
        aq_prefetch_tick(learner->prefetch, aq_clock_monotonic_ns());
    }
}

static void say_fallback(aq_learner *learner, const aq_publication *publication)
{
    uint64_t suppressed = 0;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    if (!publication->fell_back ||
        !aq_log_allowed(&learner->fallback_limit, aq_clock_monotonic_ns(), &suppressed)) {
        return;
    }
    const char *why =
        publication->fallback[0] != '\0'
            ? publication->fallback
            : "quantizing changes more of what the policy does than the budget allows";
    aq_log(AQ_LOG_WARN, "quantization_fallback", "this version went out in fp32",
           "version=%" PRIu64 " share=%.4f budget=%.4f reason=%s suppressed=%" PRIu64,
           publication->snapshot->version,
           (double)aq_quant_error_share(&publication->measured, publication->snapshot->act_rule),
           learner->plan.config.quantizer.error_budget, aq_log_quote(quoted, sizeof(quoted), why),
           suppressed);
}

static void on_published(aq_learner *learner, aq_publication *publication)
{
    say_fallback(learner, publication);
    aq_log(AQ_LOG_DEBUG, "policy_published", "",
           "version=%" PRIu64 " step=%" PRIu64 " as=%s bytes=%zu", publication->snapshot->version,
           publication->snapshot->learner_step, publication->delta.size > 0 ? "delta" : "full",
           aq_publication_broadcast(publication)->size);
    aq_trainer_published(learner->trainer, publication->snapshot->version);
    aq_policy_shelf_put(learner->shelf, publication);
}

static void on_checkpointed(aq_learner *learner, const aq_report *report)
{
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    if (report->path[0] == '\0') {
        aq_log(AQ_LOG_ERROR, "checkpoint_failed",
               "the older checkpoints are untouched; tried again", "step=%" PRIu64 " error=%s",
               report->step, aq_log_quote(quoted, sizeof(quoted), report->error.text));
        aq_learner_service_checkpointed(learner->service, NULL, 0, report->error.text);
        return;
    }
    learner->checkpoint_step = report->step;
    if (report->wrote_policy && learner->best.snapshot &&
        learner->best.snapshot->version == report->policy_version) {
        learner->best.unwritten = false;
    }
    aq_log(AQ_LOG_INFO, "checkpoint_written", "", "step=%" PRIu64 " path=%s", report->step,
           aq_log_quote(quoted, sizeof(quoted), report->path));
    aq_learner_service_checkpointed(learner->service, report->path, report->step, NULL);
}

static void on_report(void *user, void *item)
{
    aq_learner *learner = user;
    aq_report *report = item;
    uint64_t suppressed = 0;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    switch (report->kind) {
    case AQ_REPORT_PUBLICATION:
        on_published(learner, &report->publication);
        break;
    case AQ_REPORT_CHECKPOINT:
        on_checkpointed(learner, report);
        break;
    case AQ_REPORT_TROUBLE:
        if (aq_log_allowed(&learner->policy_limit, aq_clock_monotonic_ns(), &suppressed)) {
            aq_log(AQ_LOG_ERROR, "publish_failed", "actors keep the version that they have",
                   "error=%s suppressed=%" PRIu64,
                   aq_log_quote(quoted, sizeof(quoted), report->error.text), suppressed);
        }
        break;
    }
    aq_free(report);
}

static void drop_report(void *user, void *item)
{
    (void)user;
    aq_report *report = item;
    aq_publication_fini(&report->publication);
    aq_free(report);
}

static void on_ready(void *user, aq_batch *group)
{
    aq_learner *learner = user;
    if (learner->ended || learner->signalled || aq_trainer_give(learner->trainer, group)) {
        aq_prefetch_give_back(learner->prefetch, group);
    }
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    aq_learner *learner = user;
    aq_coordinator_progress(learner->coordinator, shard_incarnation, inserted);
}

static void on_shard_trouble(void *user, const char *shard, const char *reason)
{
    aq_learner *learner = user;
    uint64_t suppressed = 0;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    if (aq_log_allowed(&learner->shard_limit, aq_clock_monotonic_ns(), &suppressed)) {
        aq_log(AQ_LOG_WARN, "sampling_failed", "asked again in a moment",
               "shard=%s error=%s suppressed=%" PRIu64, shard,
               aq_log_quote(quoted, sizeof(quoted), reason), suppressed);
    }
}

static void on_link_trouble(void *user, const char *url, const aq_error *error)
{
    on_shard_trouble(user, url, error->text);
}

/* A bad row now and then costs a step. When nothing gives a finite step any more, going on would
 * only burn energy; the parameters are those of the last good step, and so is the checkpoint. So it
 * is when returns are not finite: rewards may be that large which are finite one by one. */
void aq_learner_end_if_diverged(aq_learner *learner)
{
    uint64_t failed = aq_trainer_failed_in_row(learner->trainer);
    uint64_t unusable = aq_prefetch_counts_of(learner->prefetch).unusable_in_row;
    if (failed >= DIVERGED_STEPS || unusable >= DIVERGED_STEPS) {
        aq_log(AQ_LOG_ERROR, "diverged",
               "nothing is finite any more; the run ends with its last good parameters",
               "failed_in_row=%" PRIu64 " unusable_in_row=%" PRIu64 " step=%" PRIu64, failed,
               unusable, aq_trainer_step(learner->trainer));
        aq_coordinator_diverge(learner->coordinator);
    }
}

/* ---- assembly ------------------------------------------------------------------------------- */

/* What one sampled row takes in an answer, and room for the message around it. */
static size_t answer_bytes_max(const aq_learner *learner)
{
    const aq_chunk_layout *layout = &learner->plan.layout;
    uint32_t sequence_length = learner->plan.table.sequence_length;
    size_t row_bytes = sequence_length > 0 ? aq_batch_sequence_bytes(layout, sequence_length)
                                           : aq_batch_row_bytes(layout);
    return (size_t)learner->plan.settings.sample_rows * row_bytes + 65536;
}

static int create_prefetch(aq_learner *learner)
{
    const aq_run_config *config = &learner->plan.config;
    aq_prefetch_config prefetch = {
        .run_id = learner->folder.run_id,
        .schema_hash = learner->plan.settings.schema_hash,
        .table = learner->plan.table,
        .importance_exponent = config->learner.importance_exponent,
        .batch_rows = (uint32_t)config->learner.batch_size,
        .batch_count = (uint32_t)config->learner.batches_per_request,
        .in_flight = (uint32_t)config->learner.prefetch,
        .discount = (float)config->learner.discount,
        .wait_ms = (uint32_t)config->net.rpc_timeout_ms / 2,
        .timeout_ms = (uint32_t)config->net.rpc_timeout_ms,
    };
    aq_prefetch_owner owner = {
        .user = learner,
        .ready = on_ready,
        .progress = on_progress,
        .trouble = on_shard_trouble,
    };
    int rc = aq_prefetch_create(&prefetch, &learner->plan.layout, &owner, &learner->prefetch);
    if (rc) {
        return rc;
    }
    aq_net_limits limits = {
        .message_bytes_max = answer_bytes_max(learner),
        .reconnect_min_ms = (uint32_t)config->net.reconnect_min_ms,
        .reconnect_max_ms = (uint32_t)config->net.reconnect_max_ms,
        .security = learner->security.security,
    };
    return aq_shard_links_create(&learner->loop, learner->prefetch, &limits,
                                 aq_prefetch_calls_max(prefetch.in_flight), on_link_trouble,
                                 learner, &learner->links);
}

static int create_stage(aq_learner *learner, const aq_publication_config *publication)
{
    const aq_algorithm_class *algorithm_class = learner->begun.algorithm_class;
    aq_algorithm_state state;
    algorithm_class->state(learner->algorithm, &state);
    aq_stage_config stage = {
        .publication = *publication,
        .meta = {.run_id = learner->folder.run_id,
                 .task = learner->begun.settings.task,
                 .schema = &learner->begun.settings.schema,
                 .act_rule = algorithm_class->act_rule},
        .spec = algorithm_class->spec(learner->algorithm),
        .state_count = state.count,
        .statistics_count = state.statistics_count,
    };
    aq_stage_owner owner = {
        .user = learner,
        .next_version = stage_next_version,
        .publish = stage_publish,
        .write_checkpoint = stage_checkpoint,
        .trouble = stage_trouble,
    };
    return aq_quantizer_stage_create(&stage, &owner, &learner->stage);
}

static int create_trainer(aq_learner *learner)
{
    const aq_run_config *config = &learner->plan.config;
    aq_trainer_config trainer = {
        .core = {.batch_rows = (uint32_t)config->learner.batch_size,
                 .publish_period = config->quantizer.publish_period,
                 .first_step = learner->first_step,
                 .obs_is_f32 = learner->plan.layout.obs_is_f32},
        .algorithm_class = learner->plan.algorithm_class,
        .algorithm = learner->algorithm,
        .stage = learner->stage,
        .groups_max = config->learner.prefetch * 2,
        .group_done = on_group_done,
        .user = learner,
    };
    return aq_trainer_create(&trainer, &learner->trainer);
}

int aq_learner_training_create(aq_learner *learner, aq_error *error)
{
    size_t group_count = learner->plan.config.learner.prefetch * 2;
    aq_publication_config publication;
    learner->begun = learner->plan;
    int rc = aq_publication_plan(&learner->plan.config,
                                 learner->plan.algorithm_class->spec(learner->algorithm),
                                 aq_cpu_flags(), &publication, error);
    if (rc) {
        return rc;
    }
    rc = aq_mailbox_create(&learner->loop, group_count, on_group, NULL, learner, &learner->groups);
    if (!rc) {
        rc = aq_mailbox_create(&learner->loop, REPORTS_MAX, on_report, drop_report, learner,
                               &learner->reports);
    }
    if (!rc) {
        rc = create_prefetch(learner);
    }
    if (!rc) {
        rc = create_stage(learner, &publication);
    }
    if (!rc) {
        rc = create_trainer(learner);
    }
    return rc ? aq_fail(error, rc, "the trainer could not be made: %s", aq_error_text(rc)) : 0;
}

int aq_learner_training_start(aq_learner *learner, aq_error *error)
{
    int rc = aq_quantizer_stage_start(learner->stage);
    /* The step sizes of a run that is resumed have fallen already. */
    aq_learner_configure_trainer(learner);
    if (!rc) {
        rc = aq_trainer_start(learner->trainer);
    }
    return rc ? aq_fail(error, rc, "a thread could not be started: %s", aq_error_text(rc)) : 0;
}

/* The trainer ends first, so that the last checkpoint holds all that was trained. */
void aq_learner_training_stop(aq_learner *learner)
{
    if (learner->trainer) {
        aq_trainer_stop(learner->trainer);
    }
}

void aq_learner_training_destroy(aq_learner *learner)
{
    if (learner->stage) {
        aq_quantizer_stage_stop(learner->stage);
    }
    aq_trainer_destroy(learner->trainer);
    aq_quantizer_stage_destroy(learner->stage);
    aq_shard_links_destroy(learner->links);
    aq_mailbox_close(learner->groups);
    aq_mailbox_close(learner->reports);
}
