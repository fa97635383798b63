/*
 * Training: what each thread does of it, in the order of the picture in training.h.
 */
#include "learner/daemon/training.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/explore.h"
#include "common/config/pacing.h"
#include "common/sys/cpu.h"
#include "common/sys/log.h"
#include "common/sys/mailbox.h"
#include "learner/algorithms/agent_ranks.h"
#include "learner/daemon/learner_parts.h"
#include "learner/daemon/publish_log.h"
#include "learner/daemon/shard_feed.h"

enum { REPORTS_MAX = 256, CHECKPOINTS_MAX = 16, DIVERGED_STEPS = 100 };

struct aq_training {
    aq_learner_parts *parts;
    uint64_t first_step;
    aq_run_plan begun; /* task, schema and algorithm, which other threads read */
    aq_shard_places places;
    aq_shard_feed *feed;
    aq_quantizer_stage *stage;
    aq_draw_audit *audit; /* NULL: nothing is audited */
    aq_trainer *trainer;
    aq_mailbox *groups;       /* trainer -> loop: groups to fill again */
    aq_mailbox *reports;      /* stage -> loop */
    _Atomic uint32_t waiting; /* reports for the loop */
    bool is_over;
    uint64_t newest_version;  /* that is out */
    double newest_changed;    /* aq_publication.changed of it */
    _Atomic uint64_t settled; /* offers that the stage took, and of which no more will come */
    aq_publish_log publish_log;
    char checkpoint_trouble[AQ_ERROR_TEXT_MAX]; /* or "" */
    const aq_named_arrays *last;                /* what the last checkpoint is of; NULL: not yet */
};

/* What the stage's thread tells the loop. */
enum report_kind { REPORT_PUBLICATION, REPORT_CHECKPOINT, REPORT_TROUBLE };

typedef struct report {
    enum report_kind kind;
    aq_publication publication;       /* PUBLICATION */
    aq_checkpoint_outcome checkpoint; /* CHECKPOINT */
    aq_error error;                   /* TROUBLE */
    bool settles;                     /* an offer is out, or will never be */
} report;

static void drop_report(void *user, void *item)
{
    aq_training *training = user;
    report *dropped = item;
    training->waiting--;
    training->settled += dropped->settles;
    aq_publication_fini(&dropped->publication);
    aq_free(dropped);
}

/* The stage's thread: hands it over, or drops it when the loop is too far behind. A caller may wait
 * for a checkpoint, so what else is told takes none of its places. */
static void post(aq_training *training, report *posted)
{
    const bool has_place = training->waiting < REPORTS_MAX || posted->kind == REPORT_CHECKPOINT;
    training->waiting++;
    if (!has_place || aq_mailbox_post(training->reports, posted) != 0) {
        drop_report(training, posted);
    }
}

/* ---- on the trainer's thread ---------------------------------------------------------------- */

static void on_group_done(void *user, aq_batch *group)
{
    aq_training *training = user;
    /* The mailbox has room for every group; once it is closed, the prefetcher frees them all. */
    int rc = aq_mailbox_post(training->groups, group);
    (void)rc;
}

/* ---- on the stage's thread ------------------------------------------------------------------ */

static int stage_next_version(void *user, uint64_t *ret_version, aq_error *error)
{
    aq_training *training = user;
    return aq_publish_log_take_version(&training->parts->versions, ret_version, error);
}

static void tell_trouble(aq_training *training, const aq_error *error, bool settles)
{
    report *made = aq_alloc(1, sizeof(*made));
    if (made == NULL) {
        training->settled += settles;
        return;
    }
    *made = (report){.kind = REPORT_TROUBLE, .error = *error, .settles = settles};
    post(training, made);
}

static void stage_trouble(void *user, const aq_error *error)
{
    tell_trouble(user, error, true);
}

static void stage_publish(void *user, aq_publication *publication)
{
    aq_training *training = user;
    const aq_buffer *frame = aq_publication_broadcast(publication);
    aq_draw_audit_published(training->audit, publication->snapshot);
    int rc = aq_publisher_send(training->parts->ports.publisher, frame->data, frame->size);
    if (rc != 0) {
        aq_error error = {0};
        (void)aq_fail(&error, rc, "policy version %" PRIu64 " could not be sent: %s",
                      publication->snapshot->version, aq_error_text(rc));
        tell_trouble(training, &error, false);
    }
    report *made = aq_alloc(1, sizeof(*made));
    if (made == NULL) {
        training->settled++;
        aq_publication_fini(publication);
        return;
    }
    *made = (report){.kind = REPORT_PUBLICATION, .publication = *publication, .settles = true};
    post(training, made);
}

static void stage_checkpoint(void *user, const aq_named_arrays *arrays, uint64_t step)
{
    aq_training *training = user;
    report made = {.kind = REPORT_CHECKPOINT};
    aq_checkpointer_write(training->parts->checkpointer, arrays, step, &made.checkpoint);
    report *posted = aq_alloc(1, sizeof(*posted));
    if (posted != NULL) {
        *posted = made;
        post(training, posted);
    }
}

/* ---- on the loop's thread ------------------------------------------------------------------- */

static void tell_ranks(aq_training *training)
{
    const aq_rank_news news = {
        .places = training->places,
        .log_level = training->parts->live.now.config.log.level,
    };
    aq_ranks_tell_news(&training->parts->ranks, &news);
}

/* Follows the shards, and asks them for what may be asked for now. */
static void feed(aq_training *training, int64_t now_ns)
{
    const aq_trainer_versions versions = {.newest = training->newest_version,
                                          .settled = training->settled,
                                          .changed = training->newest_changed};
    const uint64_t coming = aq_trainer_offered(training->trainer) - versions.settled;
    if (aq_shard_places_take(training->parts->coordinator, &training->places)) {
        tell_ranks(training);
    }
    aq_trainer_tell_versions(training->trainer, &versions);
    aq_prefetch_tell_versions(aq_shard_feed_prefetch(training->feed), versions.newest, coming);
    aq_shard_feed_tick(training->feed, now_ns);
}

static void on_group(void *user, void *item)
{
    aq_training *training = user;
    aq_prefetch_give_back(aq_shard_feed_prefetch(training->feed), item);
    if (!training->is_over) {
        feed(training, aq_clock_monotonic_ns());
    }
}

static void on_published(aq_training *training, aq_publication *publication)
{
    aq_publish_log_out(&training->publish_log, publication);
    aq_log(AQ_LOG_DEBUG, "policy_published", "",
           "version=%" PRIu64 " step=%" PRIu64 " as=%s bytes=%zu", publication->snapshot->version,
           publication->snapshot->learner_step, publication->delta.size > 0 ? "delta" : "full",
           aq_publication_broadcast(publication)->size);
    training->newest_version = publication->snapshot->version;
    training->newest_changed = publication->changed;
    aq_policy_shelf_put(training->parts->shelf, publication);
}

static void on_checkpointed(aq_training *training, const aq_checkpoint_outcome *outcome)
{
    aq_best_policy *best = &training->parts->best;
    const bool has_failed = outcome->path[0] == '\0';
    (void)snprintf(training->checkpoint_trouble, sizeof(training->checkpoint_trouble), "%s",
                   has_failed ? outcome->error.text : "");
    aq_checkpointer_settle(training->parts->checkpointer, outcome);
    if (outcome->wrote_policy && best->snapshot != NULL &&
        best->snapshot->version == outcome->policy_version) {
        best->is_unwritten = false;
    }
    aq_learner_service_checkpointed(training->parts->service, has_failed ? NULL : outcome->path,
                                    outcome->step, outcome->error.text);
}

static void on_report(void *user, void *item)
{
    aq_training *training = user;
    report *came = item;
    training->waiting--;
    if (came->kind == REPORT_PUBLICATION) {
        on_published(training, &came->publication);
    } else if (came->kind == REPORT_CHECKPOINT) {
        on_checkpointed(training, &came->checkpoint);
    } else {
        aq_publish_log_failed(&training->publish_log, &came->error);
    }
    training->settled += came->settles;
    if (came->settles && !training->is_over) {
        feed(training, aq_clock_monotonic_ns());
    }
    aq_free(came);
}

static void on_ready(void *user, aq_batch *group)
{
    aq_training *training = user;
    if (training->is_over || aq_trainer_give(training->trainer, group) != 0) {
        aq_prefetch_give_back(aq_shard_feed_prefetch(training->feed), group);
    }
}

/* A bad row costs a step. When nothing gives a finite step any more, going on would only burn
 * energy; parameters and checkpoint are of the last good step. Returns may be infinite, too. */
static void end_if_diverged(aq_training *training)
{
    const uint64_t failed = aq_trainer_failed_in_row(training->trainer);
    const uint64_t unusable =
        aq_prefetch_counts_of(aq_shard_feed_prefetch(training->feed)).unusable_in_row;
    if (failed >= DIVERGED_STEPS || unusable >= DIVERGED_STEPS) {
        aq_log(AQ_LOG_ERROR, "diverged",
               "nothing is finite any more; the run ends with its last good parameters",
               "failed_in_row=%" PRIu64 " unusable_in_row=%" PRIu64 " step=%" PRIu64, failed,
               unusable, aq_training_step(training));
        aq_coordinator_diverge(training->parts->coordinator);
    }
}

static void configure_trainer(aq_training *training)
{
    const aq_run_config *config = &training->parts->live.now.config;
    const double share = aq_explore_share(config, aq_training_step(training));
    const aq_trainer_settings trainer = {
        .config = *config,
        .env_steps = aq_coordinator_env_steps(training->parts->coordinator),
        .exploration_entropy =
            aq_explore_entropy(config, share, &training->begun.settings.schema.action),
        .epsilon = aq_explore_mean_rate(config),
    };
    aq_trainer_configure(training->trainer, &trainer);
}

void aq_training_tick(aq_training *training, int64_t now_ns)
{
    feed(training, now_ns);
    if (aq_checkpointer_is_due(training->parts->checkpointer, now_ns, aq_training_step(training))) {
        aq_training_checkpoint(training);
    }
    const aq_run_config *config = &training->parts->live.now.config;
    if (config->actor.explore_end < 1 || config->learner.learning_rate_end < 1 ||
        config->learner.importance_end > 0) {
        configure_trainer(training);
    }
    end_if_diverged(training);
}

void aq_training_tell_mass(aq_training *training, uint64_t shard_incarnation, double mass)
{
    aq_prefetch_tell_mass(aq_shard_feed_prefetch(training->feed), shard_incarnation, mass);
}

void aq_training_configure(aq_training *training)
{
    const aq_run_config *config = &training->parts->live.now.config;
    configure_trainer(training);
    tell_ranks(training);
    aq_quantizer_stage_configure(training->stage, (uint32_t)config->quantizer.full_period,
                                 config->quantizer.error_budget);
    aq_checkpointer_hurry(training->parts->checkpointer, aq_clock_monotonic_ns());
}

void aq_training_checkpoint(aq_training *training)
{
    aq_checkpointer_begin(training->parts->checkpointer);
    aq_trainer_request_checkpoint(training->trainer);
}

/* ---- assembly ------------------------------------------------------------------------------- */

static int create_stage(aq_training *training, const aq_publication_config *publication)
{
    aq_named_arrays arrays;
    aq_agent_whole(training->parts->agent, &arrays);
    const aq_stage_config stage = {
        .publication = *publication,
        .meta = {.run_id = training->parts->folder.run_id,
                 .task = training->begun.settings.task,
                 .schema = &training->begun.settings.schema,
                 .head = training->begun.head},
        .spec = aq_agent_spec(training->parts->agent),
        .arrays = &arrays,
    };
    const aq_stage_owner owner = {
        .user = training,
        .next_version = stage_next_version,
        .publish = stage_publish,
        .write_checkpoint = stage_checkpoint,
        .trouble = stage_trouble,
    };
    aq_memory_keep(aq_publication_room_bytes(stage.spec));
    return aq_quantizer_stage_create(&stage, &owner, &training->stage);
}

static int create_trainer(aq_training *training)
{
    const aq_run_config *config = &training->begun.config;
    const aq_trainer_config trainer = {
        .core = {.publish_period = config->quantizer.publish_period,
                 .first_step = training->first_step,
                 .error_rows = (uint32_t)config->quantizer.error_rows,
                 .versions_max = aq_pacing_lag(config),
                 .gradients =
                     aq_gradient_rules_of(config, training->begun.settings.gradient_values),
                 .exchange = training->parts->ranks.exchange,
                 .audit = training->audit},
        .agent = training->parts->agent,
        .stage = training->stage,
        .meeting = training->parts->ranks.meeting,
        .groups_max = config->learner.prefetch * 2,
        .is_paced = training->begun.settings.versions_max > 0,
        .group_done = on_group_done,
        .user = training,
    };
    return aq_trainer_create(&trainer, &training->trainer);
}

static int create_parts(aq_training *training, const aq_publication_config *publication)
{
    uv_loop_t *loop = training->parts->loop;
    const aq_run_plan *plan = &training->begun;
    const size_t group_count = plan->config.learner.prefetch * 2;
    const aq_feed_config feed = {
        .loop = loop,
        .run_id = training->parts->folder.run_id,
        .plan = plan,
        .security = training->parts->options->security->security,
        .places = &training->places,
        .coordinator = training->parts->coordinator,
        .ready = on_ready,
        .user = training,
    };
    int rc = aq_mailbox_create(loop, group_count, on_group, NULL, training, &training->groups);
    if (rc == 0) {
        rc = aq_mailbox_create(loop, REPORTS_MAX + CHECKPOINTS_MAX, on_report, drop_report,
                               training, &training->reports);
    }
    rc = rc == 0 ? aq_shard_feed_create(&feed, &training->feed) : rc;
    if (rc == 0) {
        rc = aq_draw_audit_create(plan->config.learner.audit_rows, &plan->settings.schema,
                                  &plan->layout, &training->audit);
    }
    rc = rc == 0 ? create_stage(training, publication) : rc;
    return rc == 0 ? create_trainer(training) : rc;
}

int aq_training_create(aq_learner_parts *parts, uint64_t first_step, aq_training **ret_training,
                       aq_error *error)
{
    const aq_run_plan *plan = &parts->live.now;
    aq_publication_config publication;
    int rc = aq_publication_plan(&plan->config, aq_agent_spec(parts->agent), aq_cpu_flags(),
                                 &publication, error);
    if (rc != 0) {
        return rc;
    }
    aq_training *training = aq_alloc(1, sizeof(*training));
    if (training == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    *ret_training = training; /* also half made: the loop has handles of it by then */
    training->parts = parts;
    training->first_step = first_step;
    training->begun = *plan;
    training->newest_changed = NAN;
    rc = create_parts(training, &publication);
    return rc == 0 ? 0 : aq_fail(error, rc, "the trainer could not be made: %s", aq_error_text(rc));
}

int aq_training_start(aq_training *training, aq_error *error)
{
    int rc = aq_quantizer_stage_start(training->stage);
    configure_trainer(training);
    if (rc == 0) {
        rc = aq_trainer_start(training->trainer);
    }
    return rc == 0 ? 0 : aq_fail(error, rc, "a thread could not be started: %s", aq_error_text(rc));
}

/* The trainer ends first, so that the stage has all that was trained. */
void aq_training_stop(aq_training *training)
{
    training->is_over = true;
    aq_ranks_hurry(&training->parts->ranks);
    if (training->trainer != NULL) {
        aq_trainer_stop(training->trainer);
    }
    if (training->stage != NULL) {
        aq_quantizer_stage_stop(training->stage);
    }
}

int aq_training_checkpoint_last(aq_training *training, bool again, aq_error *error)
{
    aq_error ignored;
    aq_checkpoint_outcome outcome;
    aq_learner_parts *parts = training->parts;
    if (training->last == NULL) { /* what ranks have of it, they bring once */
        training->last = aq_quantizer_stage_checkpoint_place(training->stage);
        AQ_ASSERT(training->last != NULL); /* nothing is under way */
        const bool in_order = aq_training_state(training, &ignored) == AQ_TRAINER_ENDED;
        if (aq_ranks_keep(&parts->ranks, parts->agent, in_order, training->last) != 0) {
            return aq_fail(error, AQ_E_PEER, "a rank that shared the networks is lost");
        }
    }
    aq_checkpointer_begin(parts->checkpointer);
    aq_checkpointer_write(parts->checkpointer, training->last, aq_training_step(training),
                          &outcome);
    outcome.is_last = !again;
    on_checkpointed(training, &outcome);
    return outcome.path[0] != '\0' ? 0 : aq_fail(error, AQ_E_IO, "%s", outcome.error.text);
}

void aq_training_close(aq_training *training)
{
    if (training == NULL) {
        return;
    }
    aq_training_stop(training);
    aq_trainer_destroy(training->trainer);
    aq_quantizer_stage_destroy(training->stage);
    aq_draw_audit_destroy(training->audit);
    training->trainer = NULL;
    training->stage = NULL;
    aq_shard_feed_close(training->feed);
    aq_mailbox_close(training->groups);
    aq_mailbox_close(training->reports);
}

void aq_training_destroy(aq_training *training)
{
    if (training == NULL) {
        return;
    }
    aq_shard_feed_destroy(training->feed);
    aq_free(training);
}

const char *aq_training_trouble(const aq_training *training)
{
    const char *publishing = training->publish_log.trouble;
    return publishing[0] != '\0' ? publishing : training->checkpoint_trouble;
}

enum aq_trainer_state aq_training_state(const aq_training *training, aq_error *ret_error)
{
    return aq_trainer_state_of(training->trainer, ret_error);
}

uint64_t aq_training_step(const aq_training *training)
{
    return aq_trainer_step(training->trainer);
}

void aq_training_look(aq_training *training, aq_trainer_progress *ret_progress)
{
    aq_trainer_look(training->trainer, ret_progress);
}

void aq_training_figures_of(const aq_training *training, aq_training_figures *ret_figures)
{
    *ret_figures = (aq_training_figures){
        .times = aq_trainer_spent(training->trainer),
        .quantizing_ns = aq_quantizer_stage_busy_ns(training->stage),
        .sampling = aq_prefetch_counts_of(aq_shard_feed_prefetch(training->feed))};
}
