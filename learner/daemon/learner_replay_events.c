/*
 * The learner daemon: what replay shards tell, and how the learner gets on with them, for sampling,
 * status and metrics.
 */
#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/net/rpc/reflect.h"
#include "learner/daemon/learner_net_priv.h"

static double seconds(int64_t ns)
{
    return (double)ns / (double)AQ_NS_PER_S;
}

/* What the shard's table holds counts for the next samples. */
void aq_learner_replay_said(void *user, const aq_member_record *record,
                            const Actorq__V1__ReplayStats *stats)
{
    aq_learner *learner = user;
    for (size_t i = 0; i < stats->n_tables; i++) {
        if (strcmp(stats->tables[i]->name, learner->plan.table.name) == 0) {
            aq_prefetch_tell_mass(learner->prefetch, record->incarnation, stats->tables[i]->mass);
        }
    }
}

void aq_learner_replay_window(aq_learner *learner, const aq_trainer_sums *sums)
{
    aq_learner_window *window = &learner->window;
    aq_prefetch_counts now = aq_prefetch_counts_of(learner->prefetch);
    uint64_t answers = now.answers - window->sampling.answers;
    double took_ms = seconds(now.answers_ns - window->sampling.answers_ns) * 1e3;
    window->answer_ms = answers ? took_ms / (double)answers : (double)NAN;
    window->sampling = now;
    for (size_t i = 0; i < AQ_STALENESS_BINS; i++) {
        learner->staleness[i] += sums->staleness[i];
    }
}

void aq_learner_replay_status(aq_learner *learner, Actorq__V1__ReplayUseStatus *use)
{
    aq_prefetch_counts now = aq_prefetch_counts_of(learner->prefetch);
    use->answers = now.answers;
    use->answer_ms_mean = learner->window.answer_ms;
    use->not_yet = now.not_yet;
    use->failures = now.failures;
    use->n_staleness = AQ_STALENESS_BINS;
    use->staleness = learner->staleness;
    use->waited_no_shard_s = seconds(now.waited_ns[AQ_WAIT_NO_SHARD]);
    use->waited_limiter_s = seconds(now.waited_ns[AQ_WAIT_LIMITER]);
    use->waited_trouble_s = seconds(now.waited_ns[AQ_WAIT_TROUBLE]);
    use->waited_answer_s = seconds(now.waited_ns[AQ_WAIT_ANSWER]);
    use->priorities_sent = now.priorities.sent;
    use->priorities_applied = now.priorities.applied;
    use->priorities_stale = now.priorities.stale;
    use->priorities_dropped = now.priorities.dropped;
}

/* Two new references in `sample`, NULL without memory: the line is written without them. */
void aq_learner_replay_metrics(aq_learner *learner, aq_metrics_sample *sample)
{
    aq_replay_said sum;
    Actorq__V1__ReplayUseStatus use = ACTORQ__V1__REPLAY_USE_STATUS__INIT;
    aq_learner_service_replay(learner->service, &sum);
    aq_learner_replay_status(learner, &use);
    sample->replay = sample->shards > 0 ? aq_reflect_to_json(&sum.stats.base) : NULL;
    sample->replay_use = aq_reflect_to_json(&use.base);
}
