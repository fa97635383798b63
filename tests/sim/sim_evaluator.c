/*
 * A turn of the loop is a tick and one batched step.
 */
#include "tests/sim/sim_evaluator.h"

#include <stdlib.h>

#include "common/base/assert.h"
#include "tests/support/must.h"

enum { CALLS_MAX = 8 };

static void on_woken(void *user)
{
    sim_evaluator *evaluator = user;
    sim_pump_wake(&evaluator->pump);
}

static int64_t on_turn(void *user, int64_t now_ns)
{
    sim_evaluator *evaluator = user;
    aq_evaluator_session_tick(evaluator->session, now_ns);
    const aq_participant *participant = aq_evaluator_session_participant(evaluator->session);
    if (aq_participant_phase_of(participant) == AQ_PARTICIPANT_DONE) {
        if (aq_participant_exit_code(participant) != EXIT_SUCCESS) {
            sim_broken(&evaluator->site->world, SIM_REFUSED, "an evaluator fails");
        }
        sim_evaluator_kill(evaluator);
        return INT64_MAX;
    }
    uint32_t steps = aq_evaluator_session_work(evaluator->session, now_ns);
    return steps > 0 ? now_ns + evaluator->site->scenario.evaluator_step_ns
                     : aq_evaluator_session_next_ns(evaluator->session);
}

void sim_evaluator_init(sim_evaluator *evaluator, sim_site *site, uint32_t index)
{
    *evaluator = (sim_evaluator){.site = site, .host = SIM_HOST_EVALUATOR + index};
    evaluator->pump = (sim_pump){
        .network = &site->network, .host = evaluator->host, .turn = on_turn, .user = evaluator};
    evaluator->ear = (sim_ear){.site = site, .host = evaluator->host, .pump = &evaluator->pump};
}

void sim_evaluator_start(sim_evaluator *evaluator)
{
    sim_site *site = evaluator->site;
    AQ_ASSERT(evaluator->session == NULL);
    sim_host_start(&site->network, evaluator->host);
    evaluator->incarnation = sim_draw_incarnation(&site->world);
    evaluator->learner = sim_client_open(&site->rpc, evaluator->host, SIM_LEARNER_URL, CALLS_MAX,
                                         on_woken, evaluator);
    const aq_session_config config = {
        .identity = {.role = AQ_ROLE_EVALUATOR, .incarnation = evaluator->incarnation},
        .listener = sim_ear_listener(&evaluator->ear),
        .cpu_flags = site->cpu_flags,
        .start_ns = sim_now_ns(&site->world),
        .seed = evaluator->incarnation,
    };
    must(aq_evaluator_session_create(sim_client_channel(evaluator->learner), &config,
                                     &evaluator->session));
    sim_pump_start(&evaluator->pump);
}

void sim_evaluator_kill(sim_evaluator *evaluator)
{
    sim_host_stop(&evaluator->site->network, evaluator->host);
    sim_pump_stop(&evaluator->pump);
    sim_client_close(evaluator->learner);
    aq_evaluator_session_destroy(evaluator->session);
    evaluator->session = NULL;
}
