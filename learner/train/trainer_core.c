/*
 * Trainer core: see trainer_core.h.
 */
#include "learner/train/trainer_core.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/config/annealing.h"
#include "common/config/explore.h"
#include "common/config/gradient_rows.h"
#include "learner/algorithms/learning_rate.h"
#include "learner/gradients/gradient_codes.h"
#include "learner/train/measured_obs.h"

_Static_assert((int)AQ_GRADIENT_FIGURES == (int)AQ_METRICS_MAX, "a gradient tells all metrics");

struct aq_trainer_core {
    aq_trainer_core_config config;
    aq_trainer_settings settings;
    bool is_configured;
    aq_schedules held; /* by rank 0, where there are several */
    bool is_held;
    aq_agent *agent;
    aq_policy_due_fn policy_due;
    void *user;
    uint64_t step;
    uint64_t publish_at; /* the step from which a version is due */
    aq_trainer_sums sums;
    aq_audit_counts audit; /* in all */
    double changed;        /* of the newest version */
    aq_measured_obs measured;
    uint64_t first_version;            /* of this process; 0: none was heard of yet */
    uint64_t last_before;              /* of those before it, as far as rows tell; 0: none */
    float *gradient;                   /* that is followed; NULL: groups are of rows */
    uint64_t damped, dropped, refused; /* gradients, in all */
};

aq_gradient_rules aq_gradient_rules_of(const aq_run_config *config, size_t values)
{
    return (aq_gradient_rules){.values = values,
                               .format = (enum aq_gradient_format)config->learner.gradient_format,
                               .steps = aq_gradient_steps_of_row(config),
                               .actors = config->actor.count,
                               .is_damped = config->learner.lag_damping};
}

/* Steps from version to version; 0: each update makes one. */
static uint64_t period_of(const aq_trainer_core *core)
{
    const bool by_period = aq_agent_class(core->agent)->needs.update == AQ_UPDATES_BY_BATCH;
    return by_period                ? core->config.publish_period
           : core->gradient != NULL ? core->config.gradients.actors
                                    : 0;
}

int aq_trainer_core_create(const aq_trainer_core_config *config, aq_agent *agent,
                           aq_policy_due_fn policy_due, void *user, aq_trainer_core **ret_core)
{
    AQ_ASSERT(config->publish_period > 0);

    aq_trainer_core *core = aq_alloc(1, sizeof(*core));
    if (!core) {
        return AQ_E_NOMEM;
    }
    *core = (aq_trainer_core){
        .config = *config,
        .agent = agent,
        .policy_due = policy_due,
        .user = user,
        .changed = NAN,
        .step = config->first_step,
    };
    if (config->gradients.values > 0) {
        core->gradient = aq_alloc_large(config->gradients.values, sizeof(float));
        if (core->gradient == NULL) {
            aq_free(core);
            return AQ_E_NOMEM;
        }
    }
    core->publish_at = config->first_step + period_of(core);
    /* A gradient comes without observations. */
    int rc = aq_measured_obs_init(&core->measured, aq_agent_spec(agent),
                                  core->gradient != NULL ? 0 : config->error_rows);
    if (rc != 0) {
        aq_trainer_core_destroy(core);
        return rc;
    }
    *ret_core = core;
    return 0;
}

void aq_trainer_core_destroy(aq_trainer_core *core)
{
    if (core != NULL) {
        aq_measured_obs_fini(&core->measured);
        aq_free(core->gradient);
        aq_free(core);
    }
}

static bool offer(aq_trainer_core *core, const aq_batch *batch)
{
    const aq_params *params = aq_agent_policy(core->agent);
    size_t rows = 0;
    const float *obs = batch != NULL ? aq_measured_obs_of(&core->measured, batch, &rows) : NULL;
    return params != NULL && core->policy_due(core->user, params, core->step, obs, rows);
}

void aq_trainer_core_offer_first(aq_trainer_core *core)
{
    (void)offer(core, NULL);
}

size_t aq_staleness_bin(uint64_t behind)
{
    size_t bin = 0;
    for (; behind > 0 && bin < AQ_STALENESS_BINS - 1; behind /= 2) {
        bin++;
    }
    return bin;
}

/* A learner that goes on skips numbers of versions, which nobody was ever behind. */
static void note_versions(aq_trainer_core *core, const aq_batch *group, uint64_t newest_version)
{
    if (core->first_version == 0) {
        core->first_version = newest_version;
    }
    for (size_t i = 0; core->first_version > 0 && i < (size_t)group->rows * group->steps; i++) {
        const uint64_t version = group->version[i];
        if (version < core->first_version && version > core->last_before) {
            core->last_before = version;
        }
    }
}

/* How many versions came after this one. */
static uint64_t behind(const aq_trainer_core *core, uint64_t version, uint64_t newest_version)
{
    if (newest_version <= version) {
        return 0;
    }
    return version < core->first_version && version <= core->last_before
               ? newest_version - core->first_version + 1 + core->last_before - version
               : newest_version - version;
}

/* Those of a policy; rows that were acted at random, and what follows a sequence, have none. */
static void count_versions(aq_trainer_core *core, const aq_batch *group, uint64_t newest_version)
{
    size_t steps = (size_t)group->rows * group->steps;
    for (size_t i = 0; i < steps; i++) {
        uint64_t version = group->version[i];
        if (version > 0) {
            const uint64_t versions = behind(core, version, newest_version);
            core->sums.behind_sum += (double)versions;
            core->sums.version_rows++;
            core->sums.staleness[aq_staleness_bin(versions)]++;
        }
    }
}

static void count_steps(aq_trainer_core *core, const aq_update_report *report)
{
    core->step += report->steps;
    core->sums.steps += report->steps;
}

/* False when it failed. */
static bool count_update(aq_trainer_core *core, int rc, const aq_update_report *report)
{
    count_steps(core, report);
    if (rc != 0) {
        core->sums.failed++;
        return false;
    }
    aq_metric_sums_add(aq_agent_metrics(core->agent), &core->sums.metrics, report->metrics);
    return true;
}

void aq_trainer_core_tell_changed(aq_trainer_core *core, double changed)
{
    core->changed = changed;
}

/* Both of gradients and within networks that ranks share. */
static aq_exchange_figures exchange_figures(const aq_trainer_core *core)
{
    aq_exchange_figures all = aq_gradient_exchange_figures(core->config.exchange);
    const aq_exchange_figures within = aq_model_group_figures(aq_agent_model(core->agent));
    all.sent_bytes += within.sent_bytes;
    all.spent_ns += within.spent_ns;
    return all;
}

/* What each gradient step of an update took of the exchange with other ranks since `before`, which
 * becomes now, and what that tells of its gradients. */
static void tell_exchange(aq_trainer_core *core, aq_exchange_figures *before,
                          const aq_update_report *report, double *own)
{
    const aq_gradient_exchange *exchange = core->config.exchange;
    const aq_exchange_figures now = exchange_figures(core);
    const aq_noise_figures noise = aq_gradient_exchange_noise(exchange);
    const uint32_t ranks =
        aq_gradient_exchange_ranks(exchange) * aq_model_group_ranks(aq_agent_model(core->agent));
    const double known = ranks > 1 ? 1.0 : (double)NAN;
    const double share = report->steps > 0 ? known / (double)report->steps : (double)NAN;
    core->sums.exchange_ns += now.spent_ns - before->spent_ns;
    own[AQ_AGENT_NOISE_SCALE] = noise.scale;
    own[AQ_AGENT_GRADIENT_COSINE] = noise.cosine;
    own[AQ_AGENT_RANKS] = known * ranks;
    own[AQ_AGENT_EXCHANGE_BYTES] = share * (double)(now.sent_bytes - before->sent_bytes);
    own[AQ_AGENT_EXCHANGE_MS] = share * 1e-6 * (double)(now.spent_ns - before->spent_ns);
    *before = now;
}

/* What the agent does not know itself. The audit's are totals of this process. */
static void tell(const aq_trainer_core *core, double *metrics)
{
    double *own = metrics + aq_agent_class(core->agent)->metrics.count;
    const bool has_audit = core->config.audit != NULL;
    own[AQ_AGENT_AUDITED] = has_audit ? (double)core->audit.audited : (double)NAN;
    own[AQ_AGENT_AUDIT_DIFFERENT] = has_audit ? (double)core->audit.different : (double)NAN;
    own[AQ_AGENT_LEVELS_CHANGED] = core->changed;
    if (core->gradient != NULL) { /* the actor tells what it began with */
        own[AQ_AGENT_EXPLORATION] = core->settings.exploration_entropy;
    }
    const double known = core->gradient != NULL ? 1.0 : (double)NAN;
    own[AQ_AGENT_GRADIENTS_DAMPED] = known * (double)core->damped;
    own[AQ_AGENT_GRADIENTS_DROPPED] = known * (double)core->dropped;
    own[AQ_AGENT_GRADIENTS_REFUSED] = known * (double)core->refused;
}

static void audit(aq_trainer_core *core, const aq_batch *group)
{
    aq_audit_counts *sums = &core->sums.audit, found = {0};
    aq_draw_audit_look(core->config.audit, group, &found);
    aq_audit_add(sums, &found);
    aq_audit_add(&core->audit, &found);
}

static bool is_version_due(const aq_trainer_core *core)
{
    return core->step >= core->publish_at &&
           (core->config.has_place == NULL || core->config.has_place(core->user));
}

uint64_t aq_trainer_core_fresh_from(const aq_trainer_core *core, uint64_t newest_version)
{
    const uint64_t versions_max = core->config.versions_max;
    return versions_max > 0 && newest_version >= versions_max ? newest_version - versions_max + 1
                                                              : 0;
}

/* Of a row's steps the first is the oldest. */
uint64_t aq_trainer_core_oldest_version(const aq_batch *group)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t row = 0; row < group->rows; row++) {
        const uint64_t version = group->version[(size_t)row * group->steps];
        oldest = version < oldest ? version : oldest;
    }
    return oldest;
}

static bool is_outdated(const aq_trainer_core *core, const aq_batch *group, uint64_t newest_version)
{
    const uint64_t fresh_from = aq_trainer_core_fresh_from(core, newest_version);
    return fresh_from > 0 && aq_trainer_core_oldest_version(group) < fresh_from;
}

static uint64_t steps_of(const aq_batch *group)
{
    uint64_t steps = group->rows;
    for (uint32_t row = 0; aq_batch_has_sequences(group) && row < group->rows; row++) {
        steps += group->length[row] - 1;
    }
    return steps;
}

/* What falls with each step is a function of it, so that a run that is resumed goes on as it would
 * have. */
aq_schedules aq_trainer_core_schedules(const aq_trainer_core *core)
{
    const aq_run_config *config = &core->settings.config;
    if (!core->is_configured) {
        return (aq_schedules){NAN, NAN, NAN, 1};
    }
    const double share = aq_learning_rate_share(config, core->settings.env_steps, core->step) *
                         aq_rank_rate(config, aq_gradient_exchange_ranks(core->config.exchange));
    return (aq_schedules){.learning_rate = share * config->learner.learning_rate,
                          .critic_learning_rate = share * config->learner.critic_learning_rate,
                          .epsilon = aq_explore_share(config, core->step) * core->settings.epsilon,
                          .importance =
                              aq_importance_share(config, core->settings.env_steps, core->step)};
}

void aq_trainer_core_hold_schedules(aq_trainer_core *core, const aq_schedules *schedules)
{
    core->held = *schedules;
    core->is_held = true;
}

static aq_schedules schedules_of_now(const aq_trainer_core *core)
{
    return core->is_held ? core->held : aq_trainer_core_schedules(core);
}

static void follow_schedules(aq_trainer_core *core, double share)
{
    const aq_schedules now = schedules_of_now(core);
    if (!isnan(now.learning_rate)) {
        aq_agent_set_rates(core->agent, share * now.learning_rate,
                           share * now.critic_learning_rate);
        aq_agent_set_exploration(core->agent, core->settings.exploration_entropy, now.epsilon);
    }
}

/* ---- gradients of actors -------------------------------------------------------------------- */

/* A version may be out, and gradients of it here, before the trainer hears of it. Until the first
 * of a learner that was started again, gradients are of versions that the one before had out. */
enum { VERSIONS_UNHEARD = 64 };

/* What the actor told of the update that gave it. */
static void take_told(const aq_batch *row, aq_update_report *report)
{
    const float *told =
        (const float *)(const void *)row->columns[AQ_BATCH_RECORDED + 2 * AQ_GRADIENT_TOLD].bytes;
    for (uint32_t i = 0; i < AQ_METRICS_MAX; i++) {
        report->metrics[i] = isfinite(told[i]) ? (double)told[i] : (double)NAN;
    }
}

static bool is_possible(const aq_trainer_core *core, const aq_batch *row, uint64_t newest_version)
{
    const aq_gradient_rules *rules = &core->config.gradients;
    const uint8_t *packed = row->columns[AQ_BATCH_RECORDED + 2 * AQ_GRADIENT_PACKED].bytes;
    const bool is_known =
        newest_version == 0 || row->version[0] <= newest_version + VERSIONS_UNHEARD;
    return row->version[0] > 0 && is_known &&
           aq_gradient_unpack(rules->format, packed, rules->values, core->gradient) == 0;
}

/* Follows one gradient; false: it is passed over. */
static bool follow(aq_trainer_core *core, const aq_batch *row, uint64_t newest_version, int *ret_rc,
                   aq_update_report *ret_report)
{
    if (!is_possible(core, row, newest_version)) {
        core->refused++;
        return false;
    }
    note_versions(core, row, newest_version);
    const uint64_t versions = behind(core, row->version[0], newest_version);
    if (core->config.versions_max > 0 && versions >= core->config.versions_max) {
        core->sums.outdated += core->config.gradients.steps;
        core->dropped++;
        return false;
    }
    count_versions(core, row, newest_version);
    const bool is_damped = core->config.gradients.is_damped && versions > 0;
    core->damped += is_damped;
    follow_schedules(core, is_damped ? 1.0 / (1.0 + (double)versions) : 1.0);
    take_told(row, ret_report);
    *ret_rc = row->reward[0] == AQ_GRADIENT_GOOD
                  ? aq_agent_follow(core->agent, core->gradient, ret_report)
                  : AQ_E_CORRUPT;
    return true;
}

/* ---- both ----------------------------------------------------------------------------------- */

/* Rows come with the weights of the greatest exponent that the run comes to. */
static void ease_weights(const aq_trainer_core *core, const aq_batch *rows)
{
    const double power = schedules_of_now(core).importance;
    for (uint32_t i = 0; power < 1 && i < rows->rows; i++) {
        rows->weight[i] = (float)pow((double)rows->weight[i], power);
    }
}

/* One update; false: there was none, or a rank is lost. */
static bool update(aq_trainer_core *core, const aq_batch *rows, uint64_t newest_version,
                   int *ret_rc, aq_update_report *ret_report)
{
    if (core->gradient != NULL) {
        return follow(core, rows, newest_version, ret_rc, ret_report);
    }
    follow_schedules(core, 1.0);
    ease_weights(core, rows);
    *ret_rc = aq_agent_train(core->agent, rows, ret_report);
    return *ret_rc != AQ_E_PEER;
}

void aq_trainer_core_train(aq_trainer_core *core, aq_batch *group, uint64_t newest_version)
{
    uint32_t update_rows = 1;                            /* of gradients */
    aq_exchange_figures before = exchange_figures(core); /* the first update's is the rows', too */
    if (aq_model_group_share_rows(aq_agent_model(core->agent), group) != 0) {
        return; /* they are lost with a rank, which the next meeting finds, too */
    }
    if (core->gradient == NULL) {
        update_rows = aq_agent_update_rows(core->agent, group->rows);
        AQ_ASSERT(update_rows > 0 && group->rows % update_rows == 0);
        if (is_outdated(core, group, newest_version)) {
            core->sums.outdated += steps_of(group);
            return;
        }
        note_versions(core, group, newest_version);
        count_versions(core, group, newest_version);
        audit(core, group);
    }
    for (uint32_t first = 0; first < group->rows; first += update_rows) {
        const aq_batch rows = aq_batch_slice(group, first, update_rows);
        aq_update_report report = {.steps = 0};
        int rc = 0;
        if (!update(core, &rows, newest_version, &rc, &report)) {
            if (rc != 0) { /* which the next meeting finds, too; what was learned before stays */
                count_steps(core, &report);
                return;
            }
            continue;
        }
        tell(core, report.metrics);
        tell_exchange(core, &before, &report,
                      report.metrics + aq_agent_class(core->agent)->metrics.count);
        if (!count_update(core, rc, &report)) {
            continue;
        }
        if (aq_model_group_says(aq_agent_model(core->agent), is_version_due(core)) &&
            offer(core, group)) {
            core->publish_at = core->step + period_of(core);
        }
    }
}

/* The next version is due that long after the last one. */
void aq_trainer_core_set_publish_period(aq_trainer_core *core, uint64_t period)
{
    AQ_ASSERT(period > 0);
    core->publish_at -= period_of(core);
    core->config.publish_period = period;
    core->publish_at += period_of(core);
}

uint64_t aq_trainer_core_publish_period(const aq_trainer_core *core)
{
    return core->config.publish_period;
}

void aq_trainer_core_configure(aq_trainer_core *core, const aq_trainer_settings *settings)
{
    core->settings = *settings;
    core->is_configured = true;
    aq_trainer_core_set_publish_period(core, settings->config.quantizer.publish_period);
}

uint64_t aq_trainer_core_step(const aq_trainer_core *core)
{
    return core->step;
}

aq_trainer_sums aq_trainer_core_take_sums(aq_trainer_core *core)
{
    aq_trainer_sums sums = core->sums;
    core->sums = (aq_trainer_sums){0};
    return sums;
}
