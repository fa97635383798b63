/*
 * A learner that is told anything by calls of its services, each of which is answered once. What
 * members say of their energy is read as the daemon reads it.
 */
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/settings/settings.h"
#include "common/wire/wire_energy.h"
#include "learner/run/run_plan.h"
#include "learner/service/learner_service.h"
#include "tests/fuzz/fuzz_desk.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"
#include "tests/unit/learner/learner_kit.h"

/* What no request changes: made once. */
typedef struct backdrop {
    learner_kit kit;
    aq_run_plan plan;
    aq_policy_shelf *shelf;
} backdrop;

static int64_t now_ns;

/* ---- the owner ------------------------------------------------------------------------------ */

static int64_t on_now(void *user)
{
    (void)user;
    return now_ns;
}

static void on_joined(void *user, const aq_member_record *record, bool again)
{
    (void)user;
    (void)again;
    AQ_ASSERT(record->member > 0);
    AQ_ASSERT(record->role == AQ_ROLE_ACTOR || record->role == AQ_ROLE_EVALUATOR ||
              record->role == AQ_ROLE_REPLAY);
}

static void on_left(void *user, const aq_member_record *record, const char *reason)
{
    (void)user;
    AQ_ASSERT(record->member > 0);
    AQ_ASSERT(reason != NULL);
}

static void on_energy_said(void *user, const aq_member_record *record,
                           const Actorq__V1__EnergyStats *stats)
{
    aq_energy_reading reading;
    (void)user;
    AQ_ASSERT(record->member > 0);
    if (aq_wire_energy_from(stats, &reading) == 0) {
        AQ_ASSERT(reading.cpu_s >= 0);
    }
}

static void on_evaluated(void *user, const aq_evaluation_result *result, bool best)
{
    (void)user;
    (void)best;
    AQ_ASSERT(result->episodes > 0);
}

static void on_stop_asked(void *user, const char *peer, const char *reason)
{
    (void)user;
    AQ_ASSERT(peer != NULL);
    AQ_ASSERT(reason != NULL);
}

static void on_checkpoint_asked(void *user)
{
    (void)user;
}

static void on_status(void *user, Actorq__V1__StatusReply *reply,
                      Actorq__V1__LearnerStatus *learner)
{
    static char run_dir[] = "/runs/one";
    (void)user;
    reply->run_dir = run_dir;
    learner->learner_steps = 1234;
}

/* ---- the learner ---------------------------------------------------------------------------- */

static const backdrop *look(void)
{
    static backdrop made;
    if (made.shelf == NULL) {
        aq_run_config config;
        aq_publication publication;
        learner_kit_init(&made.kit, 9);
        aq_settings_init(aq_run_config_table(), &config);
        config.seed = 321;
        must(aq_run_plan_make(&config, &made.plan, NULL));
        must(aq_policy_shelf_create(&made.shelf));
        learner_kit_publication(&made.kit, 1, AQ_FORMAT_INT8_CHANNEL, &publication);
        aq_policy_shelf_put(made.shelf, &publication);
    }
    return &made;
}

static aq_coordinator *begin(const backdrop *scene, fuzz_desk *desk,
                             aq_learner_service **ret_service)
{
    aq_coordinator_config config = {
        .member_timeout_ns = 3 * AQ_NS_PER_S, .env_steps_limit = 1000, .threshold = 475};
    aq_learner_identity identity = {.run_id = KIT_RUN_ID,
                                    .settings = &scene->plan.settings,
                                    .policy_url = "tcp://*:5551",
                                    .algorithm = "dqn",
                                    .precision = "int8"};
    aq_learner_service_owner owner = {.now_ns = on_now,
                                      .joined = on_joined,
                                      .left = on_left,
                                      .energy_said = on_energy_said,
                                      .evaluated = on_evaluated,
                                      .stop_asked = on_stop_asked,
                                      .checkpoint_asked = on_checkpoint_asked,
                                      .status = on_status};
    aq_coordinator *coordinator;
    aq_learner_service *service;
    now_ns = AQ_NS_PER_S;
    must(aq_coordinator_create(&config, now_ns, &coordinator));
    must(aq_learner_service_create(&identity, coordinator, scene->shelf, &owner, &service));
    must(aq_learner_service_offer(service, desk->dispatcher));
    *ret_service = service;
    return coordinator;
}

static void pass(aq_coordinator *coordinator, aq_learner_service *service, int64_t ms)
{
    aq_member_record lost;
    now_ns += ms * AQ_NS_PER_MS;
    while (aq_coordinator_expire(coordinator, now_ns, &lost)) {
        aq_learner_service_forget(service, &lost);
    }
    (void)aq_coordinator_tick(coordinator, now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_stream stream = {.bytes = data, .left = size};
    aq_replay_said said;
    fuzz_desk desk;
    fuzz_step step;
    aq_learner_service *service;
    fuzz_desk_init(&desk);
    aq_coordinator *coordinator = begin(look(), &desk, &service);
    while (fuzz_stream_next(&stream, &step)) {
        if (step.kind == FUZZ_STEP_REQUEST) {
            fuzz_desk_request(&desk, step.bytes, step.size);
        } else if (step.kind == FUZZ_STEP_TIME) {
            pass(coordinator, service, fuzz_step_ms(&step));
        } else {
            fuzz_desk_bytes(&desk, step.bytes, step.size);
        }
    }
    aq_actors_summary summary = aq_learner_service_summary(service);
    AQ_ASSERT(summary.actors + summary.evaluators + summary.shards <= FUZZ_STREAM_STEPS_MAX);
    aq_learner_service_replay(service, &said);
    aq_learner_service_checkpointed(service, NULL, 0, "the input is over");
    fuzz_desk_fini(&desk);
    aq_learner_service_destroy(service);
    aq_coordinator_destroy(coordinator);
    return 0;
}
