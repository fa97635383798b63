/*
 * The learner daemon: where the time of each role went, in seconds, for the metrics. Actors and
 * shards tell theirs by heartbeat, so that it is half a second old; of members that have left
 * nothing is known any more. Each role's times are of the same stretch, so their shares are right.
 */
#include <jansson.h>
#include <math.h>

#include "common/base/clock.h"
#include "learner/daemon/learner_net_priv.h"

static double seconds(int64_t ns)
{
    return (double)ns / (double)AQ_NS_PER_S;
}

static json_t *actors_time(const aq_learner *learner)
{
    aq_actors_summary sum = aq_learner_service_summary(learner->service);
    double told_s = sum.inference_s + sum.environment_s + sum.waited_s;
    if (sum.timed == 0) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "env_steps", sum.timed_steps, "inference_s",
                     sum.inference_s, "environment_s", sum.environment_s, "waiting_s", sum.waited_s,
                     "other_s", fmax(0, sum.running_s - told_s), "running_s", sum.running_s);
}

static json_t *learner_time(const aq_learner *learner)
{
    aq_trainer_times times = aq_trainer_spent(learner->trainer);
    return json_pack("{s:f, s:f, s:f, s:f}", "training_s", seconds(times.training_ns), "waiting_s",
                     seconds(times.waiting_ns), "publishing_s", seconds(times.publishing_ns),
                     "quantizing_s", seconds(aq_quantizer_stage_busy_ns(learner->stage)));
}

static json_t *replay_time(const aq_learner *learner)
{
    aq_replay_said sum;
    aq_learner_service_replay(learner->service, &sum);
    const Actorq__V1__ReplayStats *stats = &sum.stats;
    if (!(stats->running_s > 0)) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f}", "inserting_s", stats->inserting_s, "sampling_s",
                     stats->sampling_s, "running_s", stats->running_s);
}

json_t *aq_learner_time_metrics(const aq_learner *learner)
{
    return json_pack("{s:o, s:o, s:o}", "actors", actors_time(learner), "learner",
                     learner_time(learner), "replay", replay_time(learner));
}
