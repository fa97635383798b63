/*
 * Role times: see role_times.h. Each role's times are of the same stretch, so their shares are
 * right.
 */
#include "learner/daemon/role_times.h"

#include <jansson.h>
#include <math.h>

#include "common/base/clock.h"

static json_t *actors_time(const aq_learner_service *service)
{
    aq_actors_summary sum = aq_learner_service_summary(service);
    double told_s = sum.inference_s + sum.environment_s + sum.waited_s;
    if (sum.timed == 0) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "env_steps", sum.timed_steps, "inference_s",
                     sum.inference_s, "environment_s", sum.environment_s, "waiting_s", sum.waited_s,
                     "other_s", fmax(0, sum.running_s - told_s), "running_s", sum.running_s);
}

static json_t *trainer_time(const aq_trainer_times *times)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "training_s", aq_ns_to_s(times->training_ns),
                     "exchange_s", aq_ns_to_s(times->exchange_ns), "waiting_s",
                     aq_ns_to_s(times->waiting_ns), "publishing_s",
                     aq_ns_to_s(times->publishing_ns));
}

/* The first rank's, and of the others what they told last. */
static json_t *learner_time(const aq_training_figures *figures)
{
    const uint32_t ranks = aq_ranks_count(figures->ranks);
    json_t *own = trainer_time(&figures->times);
    (void)json_object_set_new(own, "quantizing_s", json_real(aq_ns_to_s(figures->quantizing_ns)));
    json_t *others = ranks > 1 ? json_array() : NULL;
    for (uint32_t rank = 1; rank < ranks; rank++) {
        (void)json_array_append_new(others, trainer_time(&figures->ranks->times[rank]));
    }
    if (others != NULL) {
        (void)json_object_set_new(own, "other_ranks", others); /* short of memory: left out */
    }
    return own;
}

static json_t *replay_time(const aq_learner_service *service)
{
    aq_replay_said sum;
    aq_learner_service_replay(service, &sum);
    const Actorq__V1__ReplayStats *stats = &sum.stats;
    if (!(stats->running_s > 0)) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f}", "inserting_s", stats->inserting_s, "sampling_s",
                     stats->sampling_s, "running_s", stats->running_s);
}

json_t *aq_role_times(const aq_learner_service *service, const aq_training_figures *figures)
{
    return json_pack("{s:o, s:o, s:o}", "actors", actors_time(service), "learner",
                     learner_time(figures), "replay", replay_time(service));
}
