/*
 * Dashboard statistics: see dashboard_stats.h.
 */
#include "learner/web/dashboard_stats.h"

#include <math.h>
#include <stdio.h>

#define LATELY_S 60.0

/* A change of less than this share of all that was seen is no trend. */
#define TREND_SHARE 0.05

/* No task returns as much: who asks for it wants a run to go on. */
#define OUT_OF_REACH 1e15

enum { TREND_ROWS_MIN = 8, SILENT_BEATS = 3 };

/* ---- what the history says ------------------------------------------------------------------ */

static double mean_of(const aq_history_series *series, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        sum += aq_history_series_at(series, i, AQ_EVALUATION_RETURN);
    }
    return sum / (double)(end - first);
}

static double range_of(const aq_history_series *series, size_t rows)
{
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        const double value = aq_history_series_at(series, i, AQ_EVALUATION_RETURN);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most - least;
}

enum aq_return_trend aq_dashboard_trend(const aq_history_series *screened)
{
    const size_t rows = aq_history_series_rows(screened);
    if (rows < TREND_ROWS_MIN) {
        return AQ_TREND_UNKNOWN;
    }
    const size_t quarter = rows / 4;
    const double change = mean_of(screened, rows - quarter, rows) -
                          mean_of(screened, rows - 2 * quarter, rows - quarter);
    const double least_change = TREND_SHARE * range_of(screened, rows);
    if (!isfinite(change)) {
        return AQ_TREND_UNKNOWN;
    }
    return change > least_change    ? AQ_TREND_RISING
           : change < -least_change ? AQ_TREND_FALLING
                                    : AQ_TREND_LEVEL;
}

/* The first row whose rise over the one before lies within the last minute. */
static size_t first_lately(const aq_history_series *progress)
{
    const size_t rows = aq_history_series_rows(progress);
    const double since_s = rows ? aq_history_series_at(progress, rows - 1, 0) - LATELY_S : 0;
    size_t first = rows;
    while (first > 1 && aq_history_series_at(progress, first - 1, 0) > since_s) {
        first--;
    }
    return first;
}

static double rise_at(const aq_history_series *progress, size_t row, size_t column)
{
    return aq_history_series_at(progress, row, column) -
           aq_history_series_at(progress, row - 1, column);
}

/* How much of their time actors waited lately. Sums of the learner's life: they begin anew with it,
 * and such a second is passed over. */
static double actors_wait(const aq_history_series *progress)
{
    double waited_s = 0;
    double ran_s = 0;
    for (size_t i = first_lately(progress); i < aq_history_series_rows(progress); i++) {
        const double ran = rise_at(progress, i, AQ_PROGRESS_ACTORS_RAN);
        const double waited = rise_at(progress, i, AQ_PROGRESS_ACTORS_WAITED);
        if (ran > 0 && waited >= 0 && waited <= ran) {
            ran_s += ran;
            waited_s += waited;
        }
    }
    return ran_s > 0 ? waited_s / ran_s : (double)NAN;
}

/* What the learner mostly waited for lately. Its sums begin anew with each process. */
static enum aq_verdict_wait waits_for(const aq_history_series *progress)
{
    double answers_s = 0;
    double actors_s = 0;
    for (size_t i = first_lately(progress); i < aq_history_series_rows(progress); i++) {
        answers_s += fmax(0, rise_at(progress, i, AQ_PROGRESS_WAITED_FOR_ANSWERS));
        actors_s += fmax(0, rise_at(progress, i, AQ_PROGRESS_WAITED_FOR_ACTORS));
    }
    return answers_s > actors_s ? AQ_VERDICT_WAITS_FOR_ANSWERS : AQ_VERDICT_WAITS_FOR_ACTORS;
}

double aq_dashboard_threshold(const aq_run_plan *plan)
{
    return fabs(plan->threshold) < OUT_OF_REACH ? plan->threshold : (double)NAN;
}

/* ---- what the members say ------------------------------------------------------------------- */

static void count_member(const Actorq__V1__MemberStatus *member, uint64_t silent_ms,
                         aq_run_facts *facts)
{
    switch (member->role) {
    case ACTORQ__V1__ROLE__ROLE_ACTOR:
        facts->actors++;
        break;
    case ACTORQ__V1__ROLE__ROLE_EVALUATOR:
        facts->evaluators++;
        break;
    case ACTORQ__V1__ROLE__ROLE_REPLAY:
        facts->shards++;
        break;
    default:
        break;
    }
    facts->silent += member->heartbeat_ms > silent_ms;
    if (member->replay) {
        facts->stored += member->replay->stored;
        facts->stuck += member->replay->stuck[0] != '\0';
    }
}

static void take_learner(const Actorq__V1__LearnerStatus *learner, aq_run_facts *facts)
{
    facts->wall_s = learner->wall_s;
    facts->env_steps = learner->env_steps;
    facts->learner_steps = learner->learner_steps;
    facts->trouble = learner->trouble[0] != '\0' ? learner->trouble : NULL;
    facts->return_now = learner->return_mean;
    facts->return_best = learner->return_best;
    facts->best_is_fresh = learner->return_best_confirmed;
}

static void take_findings(const Actorq__V1__LearnerStatus *learner, aq_findings *findings)
{
    for (size_t i = 0; i < learner->n_findings && i < AQ_FINDINGS_MAX; i++) {
        aq_finding *finding = &findings->rows[findings->count++];
        const Actorq__V1__FindingStatus *said = learner->findings[i];
        (void)snprintf(finding->words, sizeof(finding->words), "%s", said->words);
        (void)snprintf(finding->setting, sizeof(finding->setting), "%s", said->setting);
    }
}

void aq_dashboard_facts(const Actorq__V1__StatusReply *status, const aq_run_plan *plan,
                        const aq_run_history *history, aq_run_facts *ret_facts)
{
    const aq_run_config *config = &plan->config;
    const aq_table_spec *table = &plan->table;
    const aq_history_series *lately =
        aq_run_history_series(history, AQ_SPAN_MINUTES, AQ_HISTORY_PROGRESS);
    aq_run_facts facts = {
        .state = (enum aq_run_state)status->state,
        .uptime_s = status->uptime_s,
        /* Nothing then keeps it from drawing what is stored for ever. */
        .offline = table->samples_per_insert <= 0 && table->selector != AQ_SELECTOR_QUEUE,
        .wall_limit_s = config->limits.wall_s,
        .env_steps_limit = config->limits.env_steps,
        .learner_steps_limit = config->limits.learner_steps,
        .env_steps_per_s = aq_history_series_recent(lately, AQ_PROGRESS_ENV_RATE, LATELY_S),
        .learner_steps_per_s = aq_history_series_recent(lately, AQ_PROGRESS_LEARNER_RATE, LATELY_S),
        .needed = table->min_size * config->replay.shards,
        .shards_wanted = (uint32_t)config->replay.shards,
        .learner_waits = aq_history_series_recent(lately, AQ_PROGRESS_LEARNER_WAITS, LATELY_S),
        .actors_wait = actors_wait(lately),
        .queue = table->selector == AQ_SELECTOR_QUEUE,
        .waits_for = waits_for(lately),
        .threshold = aq_dashboard_threshold(plan),
        .trend =
            aq_dashboard_trend(aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_SCREENED)),
    };
    take_learner(status->learner, &facts);
    take_findings(status->learner, &facts.findings);
    for (size_t i = 0; i < status->n_members; i++) {
        count_member(status->members[i], SILENT_BEATS * config->net.heartbeat_ms, &facts);
    }
    *ret_facts = facts;
}
