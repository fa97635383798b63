/*
 * Trainer: see trainer.h.
 *
 * The core belongs to the thread alone. What the loop wants to know is added up under a lock once a
 * group, so that neither ever waits for a gradient step of the other's.
 */
#include "learner/train/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/base/queue.h"
#include "learner/algorithms/agent_ranks.h"

/* How often a trainer that can't train looks whether a checkpoint is wanted, and meets others. */
#define IDLE_MS 50

struct aq_trainer {
    aq_trainer_config config;
    aq_trainer_core *core;
    aq_queue *groups;
    pthread_t thread;
    bool has_thread;
    atomic_bool checkpoint_wanted;
    _Atomic uint64_t offered;  /* to the stage, and taken */
    _Atomic uint64_t promised; /* see aq_trainer_promised */
    uint64_t newest_version;   /* as all ranks know it; the thread's */
    int64_t publishing_ns;     /* of the group at hand; likewise */
    pthread_mutex_t lock;      /* of what follows */
    aq_trainer_progress progress;
    aq_trainer_times times;
    uint64_t failed_in_row;
    aq_trainer_versions versions;
    aq_trainer_settings settings; /* to go by from the next group on */
    bool is_configured;           /* they are not taken yet */
    enum aq_trainer_state state;
    aq_error trouble;     /* LOST */
    atomic_bool is_asked; /* to end */
    aq_rank_turn ranks;   /* the thread's */
};

/* Where it is paced it will be waited for. */
static bool has_place(void *user)
{
    const aq_trainer *trainer = user;
    return trainer->config.stage == NULL || trainer->config.is_paced ||
           aq_quantizer_stage_await_place(trainer->config.stage, 0);
}

static bool policy_due(void *user, const aq_params *params, uint64_t step, const float *obs,
                       size_t rows)
{
    aq_trainer *trainer = user;
    int64_t begun_ns = aq_clock_monotonic_ns();
    if (trainer->config.stage == NULL) {
        trainer->promised += trainer->promised > 0; /* rank 0 offers it */
        return true;
    }
    if (trainer->config.is_paced) { /* a group that makes several versions may lack one */
        (void)aq_quantizer_stage_await_place(trainer->config.stage, -1);
    }
    trainer->offered++; /* first: no more may be settled than were offered */
    bool taken = aq_quantizer_stage_offer_policy(trainer->config.stage, params, step, obs, rows);
    trainer->offered -= !taken;
    trainer->publishing_ns += aq_clock_monotonic_ns() - begun_ns;
    return taken;
}

int aq_trainer_create(const aq_trainer_config *config, aq_trainer **ret_trainer)
{
    aq_trainer *trainer = aq_alloc(1, sizeof(*trainer));
    if (!trainer) {
        return AQ_E_NOMEM;
    }
    trainer->config = *config;
    trainer->config.core.has_place = has_place;
    atomic_init(&trainer->checkpoint_wanted, false);
    trainer->versions.changed = NAN;
    atomic_init(&trainer->offered, 0);
    atomic_init(&trainer->promised, 0);
    atomic_init(&trainer->is_asked, false);
    pthread_mutex_init(&trainer->lock, NULL);
    int rc = aq_queue_create(config->groups_max, &trainer->groups);
    if (rc == 0) {
        rc = aq_trainer_core_create(&trainer->config.core, config->agent, policy_due, trainer,
                                    &trainer->core);
    }
    if (rc != 0) {
        aq_trainer_destroy(trainer);
        return rc;
    }
    aq_rank_turn_init(&trainer->ranks, config->meeting, trainer->core, config->agent);
    trainer->progress.step = config->core.first_step;
    *ret_trainer = trainer;
    return 0;
}

/* `busy_ns` is training and what was published meanwhile. */
static void add_progress(aq_trainer *trainer, int64_t waited_ns, int64_t busy_ns)
{
    aq_trainer_sums sums = aq_trainer_core_take_sums(trainer->core);
    aq_mutex_lock(&trainer->lock);
    aq_trainer_progress *progress = &trainer->progress;
    progress->sums.steps += sums.steps;
    aq_metric_sums_merge(aq_agent_metrics(trainer->config.agent), &progress->sums.metrics,
                         &sums.metrics);
    progress->sums.behind_sum += sums.behind_sum;
    progress->sums.version_rows += sums.version_rows;
    progress->sums.failed += sums.failed;
    aq_audit_add(&progress->sums.audit, &sums.audit);
    progress->sums.outdated += sums.outdated;
    trainer->failed_in_row = sums.steps > 0 ? 0 : trainer->failed_in_row + sums.failed;
    for (size_t i = 0; i < AQ_STALENESS_BINS; i++) {
        progress->sums.staleness[i] += sums.staleness[i];
    }
    progress->step = aq_trainer_core_step(trainer->core);
    progress->waited_ns += waited_ns;
    trainer->times.waiting_ns += waited_ns;
    trainer->times.training_ns += busy_ns - trainer->publishing_ns - sums.exchange_ns;
    trainer->times.publishing_ns += trainer->publishing_ns;
    trainer->times.exchange_ns += sums.exchange_ns;
    aq_mutex_unlock(&trainer->lock);
    trainer->publishing_ns = 0;
}

static void serve_checkpoint(aq_trainer *trainer)
{
    /* Taken back first: a request that comes while this one is served is another one. */
    const bool is_wanted = atomic_exchange(&trainer->checkpoint_wanted, false);
    const aq_named_arrays *place =
        is_wanted ? aq_quantizer_stage_checkpoint_place(trainer->config.stage) : NULL;
    if (is_wanted && place == NULL) {
        atomic_store(&trainer->checkpoint_wanted, true);
    }
    const int64_t begun_ns = aq_clock_monotonic_ns();
    const bool is_due = aq_model_group_says(aq_agent_model(trainer->config.agent), place != NULL);
    int rc = is_due ? aq_agent_keep(trainer->config.agent, place) : AQ_E_PEER;
    if (place == NULL) {
        return;
    }
    if (!aq_quantizer_stage_offer_checkpoint(trainer->config.stage,
                                             aq_trainer_core_step(trainer->core), rc == 0)) {
        atomic_store(&trainer->checkpoint_wanted, true);
    }
    int64_t served_ns = aq_clock_monotonic_ns() - begun_ns;
    aq_mutex_lock(&trainer->lock);
    trainer->times.publishing_ns += served_ns;
    aq_mutex_unlock(&trainer->lock);
}

static void take_settings(aq_trainer *trainer)
{
    aq_mutex_lock(&trainer->lock);
    bool is_configured = trainer->is_configured;
    aq_trainer_settings settings = trainer->settings;
    trainer->is_configured = false;
    aq_mutex_unlock(&trainer->lock);
    if (is_configured) {
        aq_trainer_core_configure(trainer->core, &settings);
    }
}

/* ---- other ranks ---------------------------------------------------------------------------- */

enum turn { TURN_TRAIN, TURN_PASS_OVER, TURN_WAIT, TURN_END };

static void end_as(aq_trainer *trainer, enum aq_trainer_state state, const aq_error *trouble)
{
    aq_mutex_lock(&trainer->lock);
    trainer->state = state;
    trainer->trouble = *trouble;
    aq_mutex_unlock(&trainer->lock);
}

static aq_trainer_versions versions_of(aq_trainer *trainer)
{
    aq_mutex_lock(&trainer->lock);
    const aq_trainer_versions versions = trainer->versions;
    aq_mutex_unlock(&trainer->lock);
    return versions;
}

static void follow(aq_trainer *trainer, const aq_rank_orders *orders)
{
    trainer->newest_version = orders->newest_version;
    trainer->promised =
        orders->newest_version > 0 ? orders->newest_version + orders->coming_versions : 0;
}

/* What this rank would do is what all do, or they wait for each other. */
static enum turn agree(aq_trainer *trainer, enum turn wanted, const aq_batch *group)
{
    aq_rank_outcome outcome = {0};
    aq_error trouble = {0};
    const aq_trainer_versions versions = versions_of(trainer);
    if (trainer->config.meeting == NULL) {
        trainer->newest_version = versions.newest;
        return wanted;
    }
    const aq_turn_wish wish = {.group = wanted == TURN_TRAIN ? group : NULL,
                               .ends = wanted == TURN_END,
                               .newest_version = versions.newest,
                               .coming_versions = trainer->offered - versions.settled};
    int rc = aq_rank_turn_take(&trainer->ranks, &wish, &outcome, &trouble);
    if (rc == 0 && outcome.ends) {
        (void)aq_fail(&trouble, AQ_E_CLOSED, "rank %" PRIu32 " has ended", outcome.ender);
    }
    if (rc != 0 || outcome.ends) {
        end_as(trainer, rc != 0 ? AQ_TRAINER_LOST : AQ_TRAINER_ENDED, &trouble);
        return TURN_END;
    }
    follow(trainer, &outcome.orders);
    return outcome.is_ready ? TURN_TRAIN : outcome.is_outdated ? TURN_PASS_OVER : TURN_WAIT;
}

enum aq_trainer_state aq_trainer_state_of(aq_trainer *trainer, aq_error *ret_error)
{
    aq_mutex_lock(&trainer->lock);
    const enum aq_trainer_state state = trainer->state;
    *ret_error = trainer->trouble;
    aq_mutex_unlock(&trainer->lock);
    return state;
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* Where no version is left out, a group waits until there is a place for its own. Other ranks meet
 * meanwhile: in the middle of an update they would take this one for lost, as a checkpoint before
 * it in the stage may take longer than they wait. */
static bool await_place(aq_trainer *trainer)
{
    if (trainer->config.stage == NULL || !trainer->config.is_paced) {
        return true;
    }
    const int64_t begun_ns = aq_clock_monotonic_ns();
    const bool has_come = aq_quantizer_stage_await_place(trainer->config.stage, IDLE_MS);
    trainer->publishing_ns += aq_clock_monotonic_ns() - begun_ns;
    return has_come;
}

/* A group that others are not ready for is kept. One that is outdated is the trainer core's to pass
 * over and count, as if it were alone. */
static enum turn next_turn(aq_trainer *trainer, void **group)
{
    int rc = *group != NULL ? 0 : aq_queue_pop(trainer->groups, IDLE_MS, group);
    const bool is_ready = *group != NULL && await_place(trainer);
    const bool is_over = rc == AQ_E_CLOSED || atomic_load(&trainer->is_asked);
    take_settings(trainer);
    return agree(trainer, is_over ? TURN_END : is_ready ? TURN_TRAIN : TURN_WAIT, *group);
}

static void train(aq_trainer *trainer, aq_batch *group)
{
    aq_trainer_core_tell_changed(trainer->core, versions_of(trainer).changed);
    aq_trainer_core_train(trainer->core, group, trainer->newest_version);
}

/* A full disk may have had no number for the first version, and where steps or gradients are made
 * with it alone, there is nothing to train on until it is out. Ranks that share networks would have
 * to bring theirs together, and learn from steps of any version. */
static void offer_first_again(aq_trainer *trainer)
{
    const aq_trainer_versions versions = versions_of(trainer);
    if (trainer->config.stage != NULL && aq_agent_model(trainer->config.agent) == NULL &&
        versions.newest == 0 && trainer->offered == versions.settled) {
        aq_trainer_core_offer_first(trainer->core);
    }
}

static void *run(void *user)
{
    aq_trainer *trainer = user;
    void *group = NULL;
    aq_trainer_core_offer_first(trainer->core);
    add_progress(trainer, 0, trainer->publishing_ns);
    for (;;) {
        const int64_t asked_ns = aq_clock_monotonic_ns();
        const enum turn turn = next_turn(trainer, &group);
        const int64_t waited_ns = aq_clock_monotonic_ns() - asked_ns - trainer->publishing_ns;
        if (turn == TURN_END) {
            return NULL;
        }
        if (turn == TURN_TRAIN || turn == TURN_PASS_OVER) {
            train(trainer, group);
            trainer->config.group_done(trainer->config.user, group);
            group = NULL;
        } else {
            offer_first_again(trainer);
        }
        add_progress(trainer, waited_ns, aq_clock_monotonic_ns() - asked_ns - waited_ns);
        serve_checkpoint(trainer);
    }
}

int aq_trainer_start(aq_trainer *trainer)
{
    AQ_ASSERT(!trainer->has_thread);
    int problem = pthread_create(&trainer->thread, NULL, run, trainer);
    if (problem) {
        return aq_error_from_errno(problem);
    }
    trainer->has_thread = true;
    return 0;
}

void aq_trainer_stop(aq_trainer *trainer)
{
    void *dropped = NULL;
    atomic_store(&trainer->is_asked, true);
    while (aq_queue_pop(trainer->groups, 0, &dropped) == 0) {
    }
    aq_queue_close(trainer->groups);
    if (trainer->has_thread) {
        pthread_join(trainer->thread, NULL);
        trainer->has_thread = false;
    }
}

void aq_trainer_destroy(aq_trainer *trainer)
{
    if (!trainer) {
        return;
    }
    AQ_ASSERT(!trainer->has_thread);
    aq_trainer_core_destroy(trainer->core);
    aq_queue_destroy(trainer->groups);
    pthread_mutex_destroy(&trainer->lock);
    aq_free(trainer);
}

int aq_trainer_give(aq_trainer *trainer, aq_batch *group)
{
    return aq_queue_push(trainer->groups, group);
}

void aq_trainer_configure(aq_trainer *trainer, const aq_trainer_settings *settings)
{
    aq_mutex_lock(&trainer->lock);
    trainer->settings = *settings;
    trainer->is_configured = true;
    aq_mutex_unlock(&trainer->lock);
}

void aq_trainer_request_checkpoint(aq_trainer *trainer)
{
    atomic_store(&trainer->checkpoint_wanted, true);
}

uint64_t aq_trainer_step(aq_trainer *trainer)
{
    aq_mutex_lock(&trainer->lock);
    uint64_t step = trainer->progress.step;
    aq_mutex_unlock(&trainer->lock);
    return step;
}

uint64_t aq_trainer_offered(const aq_trainer *trainer)
{
    return trainer->offered;
}

uint64_t aq_trainer_promised(const aq_trainer *trainer)
{
    return trainer->promised;
}

void aq_trainer_tell_versions(aq_trainer *trainer, const aq_trainer_versions *versions)
{
    aq_mutex_lock(&trainer->lock);
    trainer->versions = *versions;
    aq_mutex_unlock(&trainer->lock);
}

void aq_trainer_look(aq_trainer *trainer, aq_trainer_progress *ret_progress)
{
    aq_mutex_lock(&trainer->lock);
    *ret_progress = trainer->progress;
    trainer->progress.sums = (aq_trainer_sums){0};
    trainer->progress.waited_ns = 0;
    aq_mutex_unlock(&trainer->lock);
}

aq_trainer_times aq_trainer_spent(aq_trainer *trainer)
{
    aq_mutex_lock(&trainer->lock);
    aq_trainer_times times = trainer->times;
    aq_mutex_unlock(&trainer->lock);
    return times;
}

uint64_t aq_trainer_failed_in_row(aq_trainer *trainer)
{
    aq_mutex_lock(&trainer->lock);
    uint64_t failed = trainer->failed_in_row;
    aq_mutex_unlock(&trainer->lock);
    return failed;
}
