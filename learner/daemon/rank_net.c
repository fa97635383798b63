/*
 * The daemon of a rank that is not the first: see rank_net.h.
 *
 *   JOINING --rank 0 said what the run is--> training --a rank ended, or is lost--> exit
 */
#include "learner/daemon/rank_net.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/daemon/daemon_security.h"
#include "common/settings/settings.h"
#include "common/sys/log.h"
#include "common/sys/loop.h"
#include "common/sys/mailbox.h"
#include "envs/env_code.h"
#include "learner/daemon/ranks.h"
#include "learner/daemon/shard_feed.h"
#include "learner/run/run_plan.h"
#include "learner/train/trainer.h"

enum { TICK_MS = 5, ENERGY_MS = 200 };

typedef struct rank {
    aq_ranks ranks;
    aq_rank_birth birth;
    aq_run_plan plan;
    aq_agent *agent;
    aq_daemon_security security;
    aq_energy_meter *meter;
    aq_rank_news news; /* of rank 0 */
    uint64_t outdated; /* steps that were passed over */
    aq_shard_feed *feed;
    aq_mailbox *groups; /* trainer -> loop: groups to fill again */
    aq_batch *followed; /* the group of a rank that another one's rows come to; it has no feed */
    aq_trainer *trainer;
    aq_error trouble; /* why it ended */
    uv_loop_t loop;
    uv_timer_t tick_timer, energy_timer;
    aq_end_signals signals;
} rank;

/* ---- while it trains ------------------------------------------------------------------------ */

/* Of the version that rank 0 is about to publish, as if it were out: until it is, actors hold what
 * they are asked for. */
static void feed(rank *self)
{
    if (self->feed == NULL) {
        return;
    }
    aq_prefetch_tell_versions(aq_shard_feed_prefetch(self->feed),
                              aq_trainer_promised(self->trainer), 0);
    aq_shard_feed_tick(self->feed, aq_clock_monotonic_ns());
}

static void on_tick(uv_timer_t *timer)
{
    rank *self = timer->data;
    if (aq_ranks_hear_news(&self->ranks, &self->news)) {
        aq_log_set_run_level(self->news.log_level);
    }
    feed(self);
    if (aq_trainer_state_of(self->trainer, &self->trouble) != AQ_TRAINER_RUNS) {
        uv_stop(&self->loop);
    }
}

static void on_energy(uv_timer_t *timer)
{
    rank *self = timer->data;
    aq_trainer_progress progress;
    aq_trainer_look(self->trainer, &progress);
    self->outdated += progress.sums.outdated;
    aq_rank_account account = {.times = aq_trainer_spent(self->trainer),
                               .outdated = self->outdated};
    aq_energy_meter_read(self->meter, aq_clock_monotonic_ns(), &account.energy);
    aq_ranks_tell_account(&self->ranks, &account);
}

static void on_signal(uv_signal_t *signal_handle, int number)
{
    rank *self = signal_handle->data;
    aq_log(AQ_LOG_INFO, "stopping", "the other ranks end, too", "signal=%d", number);
    uv_stop(&self->loop);
}

/* On the trainer's thread. */
static void on_group_done(void *user, aq_batch *group)
{
    rank *self = user;
    /* It has room for every group; once it is closed, the feed frees them all. */
    int rc = aq_mailbox_post(self->groups, group);
    (void)rc;
}

static void on_ready(void *user, aq_batch *group)
{
    rank *self = user;
    if (aq_trainer_give(self->trainer, group) != 0 && self->feed != NULL) {
        aq_prefetch_give_back(aq_shard_feed_prefetch(self->feed), group);
    }
}

static void on_group(void *user, void *item)
{
    rank *self = user;
    if (self->feed == NULL) {
        on_ready(self, item);
        return;
    }
    aq_prefetch_give_back(aq_shard_feed_prefetch(self->feed), item);
    feed(self);
}

/* ---- what it is made of --------------------------------------------------------------------- */

/* As rank 0 was told, by the same user: its task may be code of his. */
static int make_plan(rank *self, aq_error *error)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    int rc = aq_settings_read_yaml(aq_run_config_table(), "rank 0", self->birth.config,
                                   strlen(self->birth.config), &config, error);
    if (rc == 0) {
        rc = aq_ranks_take_products(&self->birth, &config, error);
    }
    if (rc == 0) {
        aq_env_allow_code(config.task);
        rc = aq_run_plan_make(&config, &self->plan, error);
    }
    if (rc == 0) {
        aq_algorithm_set_blas_threads(self->plan.algorithm_class, &config);
    }
    return rc;
}

static int make_agent(rank *self, aq_rank_link *link, aq_error *error)
{
    int rc = make_plan(self, error);
    if (rc == 0) {
        rc = aq_ranks_make(link, &self->plan.config, &self->ranks, error);
    }
    const aq_algorithm_setup setup = {
        .config = &self->plan.config,
        .schema = &self->plan.settings.schema,
        .sequence_length = self->plan.sequence_length,
        .seed = self->plan.config.seed,
        .exchange = self->ranks.exchange,
        .model = self->ranks.model,
    };
    return rc == 0 ? aq_agent_create(self->plan.algorithm_class, &setup, &self->agent, error) : rc;
}

/* Rank 0 hears of it when this one can't take part. */
static int join(rank *self, aq_rank_link *link, aq_error *error)
{
    int rc = aq_ranks_hear_birth(link, &self->birth, error);
    if (rc != 0) {
        return rc;
    }
    rc = make_agent(self, link, error);
    self->ranks.link = link;
    return aq_ranks_begin(&self->ranks, self->agent, rc, NULL,
                          self->plan.config.net.rank_timeout_ms, error);
}

/* One group, always at hand, which the trainer fills with what the group's first rank drew. */
static int make_followed(rank *self)
{
    const aq_run_plan *plan = &self->plan;
    const uint64_t rows =
        plan->config.learner.batch_size * plan->config.learner.batches_per_request;
    return aq_batch_create(&plan->layout, plan->table.sequence_length, (uint32_t)rows,
                           &self->followed);
}

static int make_training(rank *self)
{
    const aq_run_config *config = &self->plan.config;
    const size_t groups_max = config->learner.prefetch * 2;
    const aq_feed_config feed = {
        .loop = &self->loop,
        .run_id = self->birth.run_id,
        .plan = &self->plan,
        .security = self->security.security,
        .places = &self->news.places,
        .ready = on_ready,
        .user = self,
    };
    const aq_trainer_config trainer = {
        .core = {.publish_period = config->quantizer.publish_period,
                 .first_step = self->birth.first_step,
                 .versions_max = self->plan.settings.versions_max,
                 .exchange = self->ranks.exchange},
        .agent = self->agent,
        .meeting = self->ranks.meeting,
        .groups_max = groups_max,
        .group_done = on_group_done,
        .user = self,
    };
    int rc = aq_mailbox_create(&self->loop, groups_max, on_group, NULL, self, &self->groups);
    if (rc == 0) {
        rc = aq_model_group_rank(self->ranks.model) > 0 ? make_followed(self)
                                                        : aq_shard_feed_create(&feed, &self->feed);
    }
    if (rc == 0) {
        rc = aq_trainer_create(&trainer, &self->trainer);
    }
    if (rc == 0 && self->followed != NULL) {
        rc = aq_trainer_give(self->trainer, self->followed);
    }
    return rc == 0 ? aq_trainer_start(self->trainer) : rc;
}

static int start_timers(rank *self, aq_error *error)
{
    uv_timer_init(&self->loop, &self->tick_timer);
    uv_timer_init(&self->loop, &self->energy_timer);
    self->tick_timer.data = self->energy_timer.data = self;
    uv_timer_start(&self->tick_timer, on_tick, TICK_MS, TICK_MS);
    uv_timer_start(&self->energy_timer, on_energy, 0, ENERGY_MS);
    return aq_loop_watch_signals(&self->loop, &self->signals, on_signal, self, error);
}

static int start(rank *self, aq_error *error)
{
    int rc = start_timers(self, error);
    if (rc == 0) {
        rc = aq_energy_meter_create(NULL, aq_clock_monotonic_ns(), &self->meter);
        rc = rc == 0 ? make_training(self) : rc;
        rc = rc == 0 ? 0 : aq_fail(error, rc, "this rank can't train: %s", aq_error_text(rc));
    }
    return rc;
}

/* ---- a life --------------------------------------------------------------------------------- */

/* How it ended; a lost rank is an end in words. */
static int settle(rank *self, aq_error *error)
{
    aq_ranks_hurry(&self->ranks);
    aq_trainer_stop(self->trainer);
    const enum aq_trainer_state state = aq_trainer_state_of(self->trainer, &self->trouble);
    int kept = aq_ranks_keep(&self->ranks, self->agent, state == AQ_TRAINER_ENDED, NULL);
    (void)kept; /* rank 0 says what became of it */
    aq_ranks_part(&self->ranks, state == AQ_TRAINER_ENDED);
    if (state == AQ_TRAINER_LOST) {
        *error = self->trouble;
        return AQ_E_PEER;
    }
    aq_log(AQ_LOG_INFO, "exit", self->trouble.text, "");
    return 0;
}

static void destroy(rank *self)
{
    if (self->trainer != NULL) {
        aq_trainer_stop(self->trainer);
    }
    aq_trainer_destroy(self->trainer);
    aq_shard_feed_close(self->feed);
    aq_mailbox_close(self->groups);
    (void)aq_loop_close_last(&self->loop);
    aq_shard_feed_destroy(self->feed);
    aq_batch_destroy(self->followed);
    aq_energy_meter_destroy(self->meter);
    aq_daemon_security_close(&self->security);
    aq_agent_destroy(self->agent);
    aq_ranks_fini(&self->ranks);
    aq_free(self->birth.config);
    aq_free(self);
}

int aq_rank_run(aq_rank_link *link, const aq_daemon_options *options, aq_error *error)
{
    rank *self = aq_alloc(1, sizeof(*self));
    if (self == NULL || uv_loop_init(&self->loop) != 0) {
        aq_free(self);
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = aq_daemon_security_open(&self->security, options, AQ_ACCESS_LEARNER, NULL, error);
    if (rc == 0) {
        rc = join(self, link, error);
    }
    if (rc == 0) {
        rc = start(self, error);
    }
    if (rc == 0) {
        aq_log_set_run_level(self->plan.config.log.level);
        aq_log(AQ_LOG_INFO, "joined", "as a rank of the learner",
               "run_id=%016" PRIx64 " rank=%" PRIu32 " ranks=%" PRIu32 " step=%" PRIu64,
               self->birth.run_id, link->rank, link->count, self->birth.first_step);
        uv_run(&self->loop, UV_RUN_DEFAULT);
        rc = settle(self, error);
    }
    destroy(self);
    return rc;
}
