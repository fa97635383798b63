/*
 * Run report: the window of the last second, and the lines.
 */
#include "learner/daemon/run_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/reflect.h"
#include "common/sys/log.h"
#include "common/wire/wire_frame.h"
#include "learner/daemon/learner_parts.h"
#include "learner/metrics/line_pace.h"
#include "learner/nn/products.h"
#include "learner/run/run_findings.h"

/* More than anybody drops, and still a whole number: a peer may say anything. */
#define OUTDATED_MAX 1e18

/* Rates and means over the last second. */
typedef struct report_window {
    int64_t begun_ns;
    uint64_t env_steps;
    uint64_t env_steps_made; /* of these, not those that shards came with */
    uint64_t learner_steps;
    double env_steps_per_s;
    double learner_steps_per_s;
    double metrics[AQ_METRICS_MAX]; /* of the algorithm */
    double staleness;
    double wait_share;
    aq_prefetch_counts sampling; /* at its end */
    double answer_ms;            /* NaN: none */
} report_window;

struct aq_run_report {
    const aq_learner_parts *parts;
    report_window window;
    uint64_t staleness[AQ_STALENESS_BINS]; /* of what this process trained on */
    uint64_t outdated;                     /* steps that it did not, as they were too old */
    uint64_t env_steps_before;             /* of earlier processes */
    bool has_told;                         /* of progress */
    Actorq__V1__MetricStatus shown[AQ_METRICS_MAX]; /* by the status */
    Actorq__V1__MetricStatus *shown_pointers[AQ_METRICS_MAX];
    aq_learning_facts facts;
    aq_findings findings;
    Actorq__V1__FindingStatus shown_findings[AQ_FINDINGS_MAX];
    Actorq__V1__FindingStatus *finding_pointers[AQ_FINDINGS_MAX];
    aq_line_pace screenings, rankings; /* that change nothing */
    aq_log_limit train_limit, audit_limit, metrics_limit;
};

static void move_metrics(aq_run_report *report, const aq_metric_sums *sums)
{
    const aq_metric_list *metrics = aq_agent_metrics(report->parts->agent);
    for (size_t i = 0; i < metrics->count; i++) {
        report->window.metrics[i] = aq_metric_value(metrics, sums, i);
    }
}

static uint64_t env_steps_made(const aq_coordinator *coordinator)
{
    return aq_coordinator_env_steps(coordinator) - aq_coordinator_env_steps_found(coordinator);
}

int aq_run_report_create(const aq_learner_parts *parts, aq_run_report **ret_report)
{
    aq_run_report *report = aq_alloc(1, sizeof(*report));
    if (report == NULL) {
        return AQ_E_NOMEM;
    }
    report->parts = parts;
    report->env_steps_before = aq_coordinator_env_steps(parts->coordinator);
    report->window = (report_window){
        .begun_ns = aq_clock_monotonic_ns(),
        /* Those of earlier processes are no steps of the first second. */
        .env_steps = report->env_steps_before,
        .env_steps_made = env_steps_made(parts->coordinator),
        .staleness = NAN,
        .answer_ms = NAN,
    };
    move_metrics(report, &(aq_metric_sums){0});
    aq_learning_facts_init(&report->facts, &parts->live.now.config);
    *ret_report = report;
    return 0;
}

void aq_run_report_destroy(aq_run_report *report)
{
    aq_free(report);
}

static double wall_s(const aq_run_report *report)
{
    return aq_coordinator_wall_s(report->parts->coordinator, aq_clock_monotonic_ns());
}

/* A line that could not be written is lost; the run goes on. */
static void say_unless_written(aq_run_report *report, int rc)
{
    if (rc != 0) {
        aq_log_limited(&report->metrics_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN,
                       "metrics_failed", "training goes on without this line", "error=%s",
                       AQ_LOG_QUOTED(aq_metrics_trouble(report->parts->metrics)));
    }
}

/* ---- once a second -------------------------------------------------------------------------- */

static double mean_of(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : (double)NAN;
}

static void move_sampling(aq_run_report *report, const aq_trainer_sums *sums)
{
    report_window *window = &report->window;
    aq_training_figures figures;
    aq_training_figures_of(report->parts->training, &figures);
    const aq_prefetch_counts *now = &figures.sampling;
    const double took_ms = aq_ns_to_s(now->answers_ns - window->sampling.answers_ns) * 1e3;
    window->answer_ms = mean_of(took_ms, now->answers - window->sampling.answers);
    window->sampling = *now;
    for (size_t i = 0; i < AQ_STALENESS_BINS; i++) {
        report->staleness[i] += sums->staleness[i];
    }
    report->outdated += sums->outdated;
}

static void move_window(aq_run_report *report, int64_t now_ns)
{
    report_window *window = &report->window;
    const double passed_s = aq_ns_to_s(now_ns - window->begun_ns);
    if (passed_s <= 0) {
        return;
    }
    aq_trainer_progress progress;
    aq_training_look(report->parts->training, &progress);
    const aq_trainer_sums *sums = &progress.sums;
    const uint64_t made = env_steps_made(report->parts->coordinator);
    window->env_steps_per_s = (double)(made - window->env_steps_made) / passed_s;
    window->learner_steps_per_s = (double)sums->steps / passed_s;
    move_metrics(report, &sums->metrics);
    window->staleness = mean_of(sums->behind_sum, sums->version_rows);
    window->wait_share = fmin(1, aq_ns_to_s(progress.waited_ns) / passed_s);
    window->env_steps = aq_coordinator_env_steps(report->parts->coordinator);
    window->env_steps_made = made;
    window->learner_steps = progress.step;
    window->begun_ns = now_ns;
    move_sampling(report, sums);

    if (sums->failed > 0) {
        aq_log_limited(&report->train_limit, now_ns, AQ_LOG_ERROR, "train_step_failed",
                       "loss or gradient was not finite; the parameters are as they were",
                       "steps=%" PRIu64, sums->failed);
    }
    if (sums->audit.different > 0) {
        aq_log_limited(
            &report->audit_limit, now_ns, AQ_LOG_ERROR, "draws_differ",
            "actors drew actions with other probabilities than the versions give that they name",
            "rows=%" PRIu64 " audited=%" PRIu64, sums->audit.different, sums->audit.audited);
    }
}

/* What is wrong, from the last window and what stands. */
static void find(aq_run_report *report, int64_t now_ns)
{
    const aq_policy_totals totals = aq_policy_shelf_totals(report->parts->shelf);
    aq_learning_facts *facts = &report->facts;
    aq_learning_facts_take(facts, aq_agent_metrics(report->parts->agent), report->window.metrics);
    facts->state = aq_coordinator_state(report->parts->coordinator);
    facts->env_steps = aq_coordinator_env_steps(report->parts->coordinator);
    facts->own_steps = env_steps_made(report->parts->coordinator) - report->env_steps_before;
    facts->learner_steps = aq_training_step(report->parts->training);
    facts->wall_s = aq_coordinator_wall_s(report->parts->coordinator, now_ns);
    facts->versions = totals.versions;
    facts->fallbacks = totals.fallbacks;
    aq_findings_of(facts, &report->findings);
}

static void fill_replay_use(aq_run_report *report, Actorq__V1__ReplayUseStatus *use)
{
    aq_training_figures figures;
    aq_training_figures_of(report->parts->training, &figures);
    const aq_prefetch_counts *now = &figures.sampling;
    const aq_spent shards = aq_learner_service_spent(report->parts->service, AQ_ROLE_REPLAY);
    use->outdated = report->outdated + aq_ranks_outdated(&report->parts->ranks) +
                    (uint64_t)fmin(shards.of[AQ_SPENT_OUTDATED], OUTDATED_MAX);
    use->answers = now->answers;
    use->answer_ms_mean = report->window.answer_ms;
    use->not_yet = now->not_yet;
    use->failures = now->failures;
    use->n_staleness = AQ_STALENESS_BINS;
    use->staleness = (uint64_t *)(uintptr_t)report->staleness;
    use->waited_no_shard_s = aq_ns_to_s(now->waited_ns[AQ_WAIT_NO_SHARD]);
    use->waited_limiter_s = aq_ns_to_s(now->waited_ns[AQ_WAIT_LIMITER]);
    use->waited_trouble_s = aq_ns_to_s(now->waited_ns[AQ_WAIT_TROUBLE]);
    use->waited_answer_s = aq_ns_to_s(now->waited_ns[AQ_WAIT_ANSWER]);
    use->priorities_sent = now->priorities.sent;
    use->priorities_applied = now->priorities.applied;
    use->priorities_stale = now->priorities.stale;
    use->priorities_dropped = now->priorities.dropped;
}

/* New references, NULL without memory: the line is written without them. */
static void add_objects(aq_run_report *report, aq_metrics_sample *sample)
{
    aq_replay_said sum;
    Actorq__V1__ReplayUseStatus use = ACTORQ__V1__REPLAY_USE_STATUS__INIT;
    aq_learner_service_replay(report->parts->service, &sum);
    fill_replay_use(report, &use);
    /* What shards told before there were steps says nothing of these. */
    const bool is_told = sum.stats.inserted > 0 || sample->env_steps == 0;
    sample->replay = sample->shards > 0 && is_told ? aq_reflect_to_json(&sum.stats.base) : NULL;
    sample->replay_use = aq_reflect_to_json(&use.base);
    sample->time = aq_run_report_time(report);
    sample->energy = aq_energy_account_metrics(report->parts->energy);
}

static void write_progress(aq_run_report *report, int64_t now_ns)
{
    report->has_told = true;
    const report_window *window = &report->window;
    const aq_publication *newest = aq_policy_shelf_newest(report->parts->shelf);
    const aq_actors_summary summary = aq_learner_service_summary(report->parts->service);
    aq_metrics_sample sample = {
        .wall_s = aq_coordinator_wall_s(report->parts->coordinator, now_ns),
        .env_steps = window->env_steps,
        .learner_steps = window->learner_steps,
        .env_steps_per_s = window->env_steps_per_s,
        .learner_steps_per_s = window->learner_steps_per_s,
        .metrics = aq_agent_metrics(report->parts->agent),
        .metric_values = window->metrics,
        .staleness = window->staleness,
        .training_return = summary.return_mean,
        .policy_version = newest != NULL ? newest->snapshot->version : 0,
        .policies = aq_policy_shelf_totals(report->parts->shelf),
        .quantization_cost = aq_publication_cost(newest),
        .actors = summary.actors,
        .evaluators = summary.evaluators,
        .shards = summary.shards,
        .batch_wait_share = window->wait_share,
        .best = aq_coordinator_best(report->parts->coordinator),
    };
    add_objects(report, &sample);
    say_unless_written(report, aq_metrics_progress(report->parts->metrics, &sample));
    json_decref(sample.replay);
    json_decref(sample.replay_use);
    json_decref(sample.time);
    json_decref(sample.energy);
}

void aq_run_report_second(aq_run_report *report, int64_t now_ns)
{
    move_window(report, now_ns);
    find(report, now_ns);
    write_progress(report, now_ns);
}

/* ---- what happens --------------------------------------------------------------------------- */

/* A fast evaluator screens hundreds of versions a second, and ranks one of them as often: of those
 * that change nothing a few are enough for the files; the history has them all. */
void aq_run_report_evaluated(aq_run_report *report, const aq_evaluation_result *result,
                             bool is_best)
{
    const double now_s = wall_s(report);
    aq_line_pace *pace = result->ranks_only ? &report->rankings : &report->screenings;
    const bool is_news = is_best || (result->confirmed && !result->ranks_only);
    const bool is_kept = aq_line_pace_take(pace, now_s) || is_news;
    int rc = aq_metrics_evaluation(report->parts->metrics, now_s,
                                   aq_coordinator_env_steps(report->parts->coordinator), result,
                                   is_kept);
    say_unless_written(report, rc);
}

void aq_run_report_compared(aq_run_report *report, const aq_version_gap *gap)
{
    int rc = aq_metrics_gap(report->parts->metrics, wall_s(report),
                            aq_coordinator_env_steps(report->parts->coordinator), gap);
    say_unless_written(report, rc);
}

void aq_run_report_setting(aq_run_report *report, const char *key, const char *before,
                           const char *after)
{
    int rc = aq_metrics_setting(report->parts->metrics, wall_s(report),
                                aq_coordinator_env_steps(report->parts->coordinator),
                                aq_training_step(report->parts->training), key, before, after);
    say_unless_written(report, rc);
}

void aq_run_report_ended(aq_run_report *report)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    move_window(report, now_ns);
    find(report, now_ns);
    if (!report->has_told) { /* it took less than a second */
        write_progress(report, now_ns);
    }
    const aq_coordinator *coordinator = report->parts->coordinator;
    const aq_evaluation_result *best = aq_coordinator_best(coordinator);
    const aq_metrics_outcome outcome = {
        .state = aq_run_state_name(aq_coordinator_state(coordinator)),
        .wall_s = wall_s(report),
        .env_steps = aq_coordinator_env_steps(coordinator),
        .learner_steps = aq_training_step(report->parts->training),
        .policies = aq_policy_shelf_totals(report->parts->shelf),
        .gap = *aq_learner_service_gap(report->parts->service),
        .energy = aq_energy_account_metrics(report->parts->energy),
        .time = aq_run_report_time(report),
        .findings = report->findings,
        .products = aq_products_format(&report->parts->live.now.config),
        .best = best,
    };
    aq_log(AQ_LOG_INFO, "run_ended", "members are told at their next heartbeat",
           "state=%s env_steps=%" PRIu64 " learner_steps=%" PRIu64 " wall_s=%.2f return_best=%.2f",
           outcome.state, outcome.env_steps, outcome.learner_steps, outcome.wall_s,
           best != NULL ? best->return_mean : (double)NAN);
    say_unless_written(report, aq_metrics_end(report->parts->metrics, &outcome));
    json_decref(outcome.energy);
    json_decref(outcome.time);
}

/* ---- the status ----------------------------------------------------------------------------- */

static void fill_metrics(aq_run_report *report, Actorq__V1__LearnerStatus *status)
{
    const aq_metric_list *metrics = aq_agent_metrics(report->parts->agent);
    for (size_t i = 0; i < metrics->count; i++) {
        const aq_metric *row = &metrics->rows[i];
        Actorq__V1__MetricStatus *shown = &report->shown[i];
        actorq__v1__metric_status__init(shown);
        shown->name = aq_wire_text(row->name);
        shown->title = aq_wire_text(row->title);
        shown->unit = aq_wire_text(row->unit);
        shown->meaning = aq_wire_text(row->meaning);
        shown->is_logarithmic = row->is_logarithmic;
        shown->value = report->window.metrics[i];
        report->shown_pointers[i] = shown;
    }
    status->n_metrics = metrics->count;
    status->metrics = report->shown_pointers;
}

static void fill_findings(aq_run_report *report, Actorq__V1__LearnerStatus *status)
{
    for (size_t i = 0; i < report->findings.count; i++) {
        Actorq__V1__FindingStatus *shown = &report->shown_findings[i];
        actorq__v1__finding_status__init(shown);
        shown->words = report->findings.rows[i].words;
        shown->setting = report->findings.rows[i].setting;
        report->finding_pointers[i] = shown;
    }
    status->n_findings = report->findings.count;
    status->findings = report->finding_pointers;
}

void aq_run_report_status(aq_run_report *report, Actorq__V1__LearnerStatus *status)
{
    const report_window *window = &report->window;
    status->learner_steps = aq_training_step(report->parts->training);
    status->batch_wait_share = window->wait_share;
    status->learner_steps_per_s = window->learner_steps_per_s;
    status->env_steps_per_s = window->env_steps_per_s;
    fill_metrics(report, status);
    fill_findings(report, status);
    status->staleness_mean = window->staleness;
    fill_replay_use(report, status->replay_use);
    const char *trouble = aq_metrics_trouble(report->parts->metrics);
    status->trouble =
        aq_wire_text(trouble[0] != '\0' ? trouble : aq_training_trouble(report->parts->training));
    status->energy = aq_energy_account_status(report->parts->energy);
    status->products = aq_wire_text(aq_products_format(&report->parts->live.now.config));
}

/* ---- where the time of each role went ------------------------------------------------------- */

/* Of this learner's life. Actors and shards tell theirs by heartbeat, so it is half a second old.
 * Each role's times are of the same stretch, so their shares are right. */

static json_t *actors_time(const aq_learner_service *service)
{
    const aq_spent spent = aq_learner_service_spent(service, AQ_ROLE_ACTOR);
    const double inference_s = spent.of[AQ_SPENT_INFERENCE_S];
    const double environment_s = spent.of[AQ_SPENT_ENVIRONMENT_S];
    const double waiting_s = spent.of[AQ_SPENT_WAITED_S];
    const double running_s = spent.of[AQ_SPENT_RUNNING_S];
    if (!(spent.of[AQ_SPENT_STEPS] > 0)) { /* else it would be of before the first step */
        return json_null();
    }
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f}", "env_steps", spent.of[AQ_SPENT_STEPS], "inference_s",
        inference_s, "environment_s", environment_s, "waiting_s", waiting_s, "other_s",
        fmax(0, running_s - inference_s - environment_s - waiting_s), "running_s", running_s);
}

static json_t *trainer_time(const aq_trainer_times *times)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "training_s", aq_ns_to_s(times->training_ns),
                     "exchange_s", aq_ns_to_s(times->exchange_ns), "waiting_s",
                     aq_ns_to_s(times->waiting_ns), "publishing_s",
                     aq_ns_to_s(times->publishing_ns));
}

/* The first rank's, and of the others what they told last. */
static json_t *learner_time(const aq_training_figures *figures, const aq_ranks *ranks)
{
    json_t *own = trainer_time(&figures->times);
    (void)json_object_set_new(own, "quantizing_s", json_real(aq_ns_to_s(figures->quantizing_ns)));
    json_t *others = ranks->count > 1 ? json_array() : NULL;
    for (uint32_t rank = 1; rank < ranks->count; rank++) {
        (void)json_array_append_new(others, trainer_time(&ranks->accounts[rank].times));
    }
    if (others != NULL) {
        (void)json_object_set_new(own, "other_ranks", others); /* short of memory: left out */
    }
    return own;
}

static json_t *replay_time(const aq_learner_service *service)
{
    const aq_spent spent = aq_learner_service_spent(service, AQ_ROLE_REPLAY);
    const double inserting_s = spent.of[AQ_SPENT_INSERTING_S];
    const double sampling_s = spent.of[AQ_SPENT_SAMPLING_S];
    if (!(inserting_s + sampling_s > 0)) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f}", "inserting_s", inserting_s, "sampling_s", sampling_s,
                     "running_s", spent.of[AQ_SPENT_RUNNING_S]);
}

json_t *aq_run_report_time(const aq_run_report *report)
{
    aq_training_figures figures;
    aq_training_figures_of(report->parts->training, &figures);
    return json_pack("{s:o, s:o, s:o}", "actors", actors_time(report->parts->service), "learner",
                     learner_time(&figures, &report->parts->ranks), "replay",
                     replay_time(report->parts->service));
}
