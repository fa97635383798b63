/*
 * The learner daemon: assembly and lifecycle. See learner_net.h.
 *
 *   STARTING -> serving and training -> ENDED (solved, budget, stopped) -> exit when all have left
 *                                   \-> signal: checkpoint, exit; the run can be resumed
 *
 * A last checkpoint that cannot be written is tried again for a while, before anybody is told that
 * the run has ended; without it the learner fails, so that whoever starts it again goes on.
 */
#include "learner/daemon/learner_net.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/daemon/daemon_peers.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/cpus.h"
#include "common/sys/loop.h"
#include "common/sys/notify.h"
#include "learner/daemon/learner_parts.h"
#include "learner/metrics/energy_file.h"
#include "learner/nn/blas.h"
#include "learner/nn/products.h"

enum { TICK_MS = 5 };

/* From one tick to the next, no more counts as a member's silence. */
#define SILENCE_PER_TICK_NS (50 * AQ_NS_PER_MS)

/* How long an ended run is served, unless all have left before, so that members hear of the end at
 * one of their next heartbeats, also on a machine that is short of time, and in spite of a first
 * signal. Who misses it waits for another learner. */
#define FAREWELL_NS_MIN (10 * AQ_NS_PER_S)
#define FAREWELL_BEATS  3

/* How long room is waited for, for the last checkpoint, and how often it is tried. `actorq train`
 * kills a learner a minute after it has asked it to end: until then all has to be said. */
#define LAST_CHECKPOINT_NS (50 * AQ_NS_PER_S)
enum { LAST_CHECKPOINT_PAUSE_MS = 1000 };

typedef struct learner {
    aq_learner_parts parts;
    uv_loop_t loop;
    uv_timer_t tick_timer;
    uv_timer_t second_timer;
    uv_timer_t pause_timer;
    aq_end_signals signals;
    aq_notify *notify; /* the service manager; NULL: none */
    aq_daemon_peers peers;
    aq_log_limit lost_limit;
    int64_t ticked_ns;
    int64_t farewell_ns; /* when members began to be waited for; 0: not yet */
    bool signalled;
    bool is_keeping;        /* the last checkpoint is tried again, until then or a second signal */
    bool is_cut_short;      /* that came */
    bool is_lost;           /* the last checkpoint could not be written */
    bool stuck;             /* the transport; see aq_net_is_stuck */
    aq_error ranks_trouble; /* another rank is lost, or differs */
    bool ended;             /* the run has: solved, out of budget, or stopped by a call */
} learner;

/* ---- timers and signals --------------------------------------------------------------------- */

/* Where the loop was kept from its work, what members sent meanwhile is not read yet, and those of
 * the same machine may not have run either: so silence is counted by the loop's turns as well. */
static void excuse_members(learner *self, int64_t now_ns)
{
    const int64_t deaf_ns = now_ns - self->ticked_ns - SILENCE_PER_TICK_NS;
    self->ticked_ns = now_ns;
    if (deaf_ns > 0) {
        aq_coordinator_was_deaf(self->parts.coordinator, now_ns, deaf_ns);
        self->farewell_ns += self->farewell_ns != 0 ? deaf_ns : 0;
    }
}

static void expire_members(learner *self, int64_t now_ns)
{
    aq_member_record lost;
    while (aq_coordinator_expire(self->parts.coordinator, now_ns, &lost)) {
        aq_learner_service_forget(self->parts.service, &lost);
        aq_log_limited(&self->lost_limit, now_ns, AQ_LOG_WARN, "member_lost",
                       "its place is free; it may join again",
                       "member=%" PRIu64 " slot=%" PRIu32 " address=%s silent_ms=%" PRId64,
                       lost.member, lost.slot, lost.address,
                       (now_ns - lost.heard_ns) / AQ_NS_PER_MS);
    }
}

/* The checkpoint is written as for a signal; whoever starts it again resumes the run. */
static void end_if_stuck(learner *self)
{
    if (!self->stuck && aq_net_is_stuck()) {
        self->stuck = true;
        self->signalled = true;
        aq_log(AQ_LOG_ERROR, "net_stuck",
               "a connection could not be closed, and none can be made anew; this process ends and "
               "should be started again with --resume",
               "");
    }
}

/* No step is taken without all ranks. One that was stopped ends the learner as a signal does; when
 * one is lost, whoever started the ranks starts them again. */
static void end_with_ranks(learner *self)
{
    aq_error trouble;
    const enum aq_trainer_state state = aq_training_state(self->parts.training, &trouble);
    if (state == AQ_TRAINER_RUNS) {
        return;
    }
    self->signalled = true;
    if (state == AQ_TRAINER_LOST) {
        self->ranks_trouble = trouble;
    }
    const bool has_all = state != AQ_TRAINER_LOST || aq_agent_model(self->parts.agent) == NULL;
    aq_log(state == AQ_TRAINER_LOST ? AQ_LOG_ERROR : AQ_LOG_INFO, "ranks_ended",
           has_all ? "a checkpoint is written; the run can be resumed"
                   : "the run can be resumed from its newest checkpoint",
           "error=%s step=%" PRIu64, AQ_LOG_QUOTED(trouble.text),
           aq_training_step(self->parts.training));
}

static void tick_training(learner *self, int64_t now_ns)
{
    aq_training_tick(self->parts.training, now_ns);
    aq_coordinator_trained(self->parts.coordinator, aq_training_step(self->parts.training));
    self->ended = aq_coordinator_tick(self->parts.coordinator, now_ns) != AQ_RUN_RUNNING;
}

/* Members of an earlier life look for this one, which may be over before they have found it. */
static bool is_looked_for(const learner *self, int64_t now_ns)
{
    return self->parts.folder.resumed && !self->signalled &&
           now_ns - self->parts.started_ns < FAREWELL_NS_MIN;
}

static bool farewell_is_over(const learner *self, int64_t now_ns)
{
    int64_t farewell_ns =
        (int64_t)self->parts.live.now.config.net.heartbeat_ms * FAREWELL_BEATS * AQ_NS_PER_MS;
    if (farewell_ns < FAREWELL_NS_MIN) {
        farewell_ns = FAREWELL_NS_MIN;
    }
    return (aq_coordinator_member_count(self->parts.coordinator) == 0 &&
            !is_looked_for(self, now_ns)) ||
           now_ns - self->farewell_ns > farewell_ns;
}

static void on_tick(uv_timer_t *timer)
{
    learner *self = timer->data;
    const int64_t now_ns = aq_clock_monotonic_ns();
    if (self->is_keeping) {
        excuse_members(self, now_ns);
        return;
    }
    end_if_stuck(self);
    if (!self->ended && !self->signalled) {
        end_with_ranks(self);
    }
    if (self->signalled && !self->ended) {
        uv_stop(&self->loop);
        return;
    }
    excuse_members(self, now_ns);
    expire_members(self, now_ns);
    if (!self->ended) {
        tick_training(self, now_ns);
        if (self->ended) {
            uv_stop(&self->loop);
        }
    } else if (self->farewell_ns != 0 && farewell_is_over(self, now_ns)) {
        uv_stop(&self->loop);
    }
}

static void hear_ranks(learner *self)
{
    aq_rank_account account;
    for (uint32_t rank = 1; rank < self->parts.ranks.count; rank++) {
        if (aq_ranks_hear_account(&self->parts.ranks, rank, &account)) {
            aq_energy_account_told_rank(self->parts.energy, rank, &account.energy);
        }
    }
}

static void on_second(uv_timer_t *timer)
{
    learner *self = timer->data;
    const int64_t now_ns = aq_clock_monotonic_ns();
    if (self->ended || self->is_keeping) {
        return;
    }
    hear_ranks(self);
    aq_run_report_second(self->parts.report, now_ns);
    aq_daemon_peers_watch(&self->peers, self->parts.ports.server, now_ns);
}

static void on_signal(uv_signal_t *signal_handle, int number)
{
    learner *self = signal_handle->data;
    aq_notify_stopping(self->notify);
    aq_log(AQ_LOG_INFO, "stopping",
           self->ended ? "once members know that the run has ended" : "the run can be resumed",
           "signal=%d", number);
    self->is_cut_short = (self->is_keeping || self->ended) && self->signalled;
    self->signalled = true;
    if (!(self->is_keeping || self->ended) || self->is_cut_short) {
        uv_stop(&self->loop);
    }
}

static void on_pause_over(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static int start_timers(learner *self, aq_error *error)
{
    uv_timer_init(&self->loop, &self->tick_timer);
    uv_timer_init(&self->loop, &self->second_timer);
    uv_timer_init(&self->loop, &self->pause_timer);
    self->tick_timer.data = self;
    self->second_timer.data = self;
    uv_timer_start(&self->tick_timer, on_tick, TICK_MS, TICK_MS);
    uv_timer_start(&self->second_timer, on_second, 1000, 1000);
    return aq_loop_watch_signals(&self->loop, &self->signals, on_signal, self, error);
}

/* ---- a life --------------------------------------------------------------------------------- */

/* Which layers are split shows in a rank's own network. */
static void say_what_is_shared(const learner *self)
{
    aq_agent *agent = self->parts.agent;
    const aq_named_array parameters = {.name = "parameters", .type = AQ_ARRAY_F32};
    const aq_slices slices = aq_agent_slices(agent, &parameters);
    char policy[128], critic[128] = "-";
    size_t all, own;
    if (slices.count == 0) {
        return;
    }
    aq_agent_count(agent, &all, &own);
    if (slices.count > 1) {
        (void)aq_net_spec_text(&slices.nets[1]->slice, critic, sizeof(critic));
    }
    aq_log(AQ_LOG_INFO, "networks_shared", "each rank has a slice of wide layers",
           "model_ranks=%" PRIu32 " ranks=%" PRIu32 " parameters=%zu of=%zu policy=%s critic=%s",
           aq_model_group_ranks(aq_agent_model(agent)), self->parts.ranks.count, own, all,
           aq_net_spec_text(&slices.nets[0]->slice, policy, sizeof(policy)), critic);
}

static void say_products(const aq_run_config *config)
{
    const char *format = aq_products_format(config);
    if (config->learner.products == AQ_PRODUCTS_BF16 && !aq_products_has_bf16()) {
        aq_log(AQ_LOG_WARN, "products_fp32",
               "learner.products=bf16: this processor is no AMD with AVX512-BF16 and no Intel with "
               "AMX, or this build does not use them, so matrix products are in fp32",
               "format=%s", format);
    } else {
        aq_log(AQ_LOG_INFO, "products", "", "format=%s", format);
    }
}

static void say_what_runs(const learner *self)
{
    char problem[1024];
    char network[128];
    char cpus[AQ_CPUS_TEXT_MAX];
    aq_cpus allowed;
    const aq_run_plan *plan = &self->parts.live.now;
    aq_cpus_allowed(&allowed);
    aq_cpus_text(&allowed, cpus, sizeof(cpus));
    aq_log(AQ_LOG_INFO, "blas", "", "core=%s threads=%" PRIu64 " cpus=%s", aq_blas_core(),
           plan->config.learner.threads, cpus);
    if (aq_blas_problem(problem, sizeof(problem))) {
        aq_log(AQ_LOG_WARN, "blas_slow", problem, "core=%s", aq_blas_core());
    }
    say_products(&plan->config);
    aq_energy_account_say(self->parts.energy);
    aq_daemon_security_say(self->parts.options->security,
                           aq_rpc_server_url(self->parts.ports.server));
    aq_log(AQ_LOG_INFO, "ready", "",
           "run=%s run_id=%016" PRIx64 " task=%s seed=%" PRIu64 " url=%s policy_url=%s network=%s",
           AQ_LOG_QUOTED(self->parts.folder.path), self->parts.folder.run_id, plan->settings.task,
           plan->config.seed, aq_rpc_server_url(self->parts.ports.server),
           self->parts.ports.policy_url,
           aq_net_spec_text(aq_agent_spec(self->parts.agent), network, sizeof(network)));
    say_what_is_shared(self);
}

/* What there is without the last checkpoint. */
static int fail_without_last(const learner *self, const char *reason, aq_error *error)
{
    const uint64_t kept = aq_checkpointer_step(self->parts.checkpointer);
    if (kept == 0) {
        return aq_fail(error, AQ_E_IO,
                       "the last checkpoint could not be written, and as there is no other, all "
                       "that was learned is lost: %s",
                       reason);
    }
    if (kept == aq_training_step(self->parts.training)) {
        return aq_fail(error, AQ_E_IO,
                       "the last checkpoint or the policy beside it could not be written; that of "
                       "step %" PRIu64 " has all that was learned, and --resume goes on from "
                       "there: %s",
                       kept, reason);
    }
    return aq_fail(error, AQ_E_IO,
                   "the last checkpoint could not be written, so what was learned after step "
                   "%" PRIu64 " is lost, and --resume goes on from there: %s",
                   kept, reason);
}

/* Who fills a disk often makes room, too. Meanwhile calls are answered as ever. */
static int keep_trying(learner *self, const aq_error *first, aq_error *error)
{
    aq_error why = *first;
    const int64_t until_ns = aq_clock_monotonic_ns() + LAST_CHECKPOINT_NS;
    int rc = AQ_E_IO;
    bool again = true;
    self->is_keeping = true;
    while (rc != 0 && again) {
        uv_timer_start(&self->pause_timer, on_pause_over, LAST_CHECKPOINT_PAUSE_MS, 0);
        uv_run(&self->loop, UV_RUN_DEFAULT);
        if (self->is_cut_short) {
            break;
        }
        again = aq_clock_monotonic_ns() < until_ns;
        rc = aq_training_checkpoint_last(self->parts.training, again, &why);
    }
    uv_timer_stop(&self->pause_timer);
    self->is_keeping = false;
    self->is_lost = rc != 0;
    return rc == 0 ? 0 : fail_without_last(self, why.text, error);
}

/* Ends training and puts the last state on the disk. Both threads are gone before the loop's own
 * knowledge is gathered, so that nothing is under way that could change it. */
static int finish_training(learner *self, aq_error *error)
{
    aq_error ignored, failure;
    aq_notify_stopping(self->notify); /* the loop stands while the last checkpoint is written */
    self->parts.events.is_over = true;
    aq_coordinator_end_evaluations(self->parts.coordinator);
    aq_learner_pages_end(self->parts.pages);
    aq_training_stop(self->parts.training);
    hear_ranks(self); /* what came since the last second, and with the meeting that ended it */
    (void)uv_run(&self->loop, UV_RUN_NOWAIT); /* what the stage still reported */
    aq_best_policy_settle(&self->parts.best, self->parts.shelf, self->parts.coordinator);
    int rc = aq_training_checkpoint_last(self->parts.training, true, &failure);
    aq_ranks_part(&self->parts.ranks,
                  aq_training_state(self->parts.training, &ignored) == AQ_TRAINER_ENDED);
    (void)uv_run(&self->loop, UV_RUN_NOWAIT); /* what came of it */
    if (rc == AQ_E_PEER) { /* also where the run has ended: that has to be reached again */
        self->ranks_trouble = self->ranks_trouble.code != 0 ? self->ranks_trouble : failure;
        return rc;
    }
    return rc == 0 ? 0 : keep_trying(self, &failure, error);
}

/* Who was told that the run is stopped is right, also where that came after a signal: then members
 * are told, too, before it is followed. */
static void hear_late_stop(learner *self)
{
    if (!self->ended && aq_coordinator_state(self->parts.coordinator) != AQ_RUN_RUNNING) {
        self->ended = true;
        self->signalled = false;
    }
}

static void say_goodbye(learner *self)
{
    aq_run_report_ended(self->parts.report);
    aq_learner_service_hold_end(self->parts.service, false);
    self->farewell_ns = aq_clock_monotonic_ns();
    if (!self->is_cut_short) { /* by signals that came while the last checkpoint was written */
        uv_run(&self->loop, UV_RUN_DEFAULT);
    }
}

static void write_energy(learner *self)
{
    char *text =
        aq_energy_account_text(self->parts.energy, aq_coordinator_wall_s(self->parts.coordinator,
                                                                         aq_clock_monotonic_ns()));
    aq_energy_account_write(self->parts.energy, text);
    aq_energy_file_text_free(text);
}

static int start(learner *self, aq_error *error)
{
    int rc = start_timers(self, error);
    if (rc == 0) {
        rc = aq_training_start(self->parts.training, error);
    }
    return rc == 0 ? aq_notify_create(&self->loop, &self->notify, error) : rc;
}

static int live(learner *self, aq_error *error)
{
    aq_log_set_run_level(self->parts.live.now.config.log.level);
    say_what_runs(self);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    int rc = finish_training(self, error);
    hear_late_stop(self);
    if (self->ended && rc == 0) {
        say_goodbye(self);
    }
    write_energy(self);
    aq_log(AQ_LOG_INFO, "exit", "", "state=%s",
           aq_run_state_name(aq_coordinator_state(self->parts.coordinator)));
    if (self->ranks_trouble.code != 0) {
        return rc == AQ_E_IO
                   ? aq_fail(error, AQ_E_PEER, "%s; %s", self->ranks_trouble.text, error->text)
                   : aq_fail(error, AQ_E_PEER, "%s", self->ranks_trouble.text);
    }
    return rc == 0 && self->stuck && !self->ended
               ? aq_fail(error, AQ_E_PEER, "a connection could not be closed")
               : rc;
}

static void destroy(learner *self)
{
    aq_learner_parts_close(&self->parts);
    aq_notify_close(self->notify);
    (void)aq_loop_close_last(&self->loop);
    aq_learner_parts_fini(&self->parts);
    aq_free(self);
}

int aq_learner_run(const aq_run_config *config, const aq_learner_options *options,
                   bool *ret_is_lost, aq_error *error)
{
    learner *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    self->lost_limit = AQ_LOG_LIMIT_OF_MEMBERS;
    self->parts.options = options;
    self->parts.loop = &self->loop;
    self->parts.started_ns = self->ticked_ns = aq_clock_monotonic_ns();
    if (uv_loop_init(&self->loop) != 0) {
        aq_free(self);
        return aq_fail(error, AQ_E_NOMEM, "the event loop could not be made");
    }
    int rc = aq_learner_parts_make(&self->parts, config, error);
    if (rc == 0) {
        rc = start(self, error);
    }
    if (rc == 0) {
        rc = live(self, error);
        *ret_is_lost = self->is_lost;
    }
    destroy(self);
    return rc;
}
