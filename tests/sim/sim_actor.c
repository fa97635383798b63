/*
 * A turn of the loop is a tick, one batched step, and what there is to send.
 */
#include "tests/sim/sim_actor.h"

#include <stdlib.h>

#include "common/base/assert.h"
#include "gradients/gradient_module.h"
#include "tests/sim/sim_plant.h"
#include "tests/support/must.h"

enum { CALLS_MAX = 8 };

static int64_t on_turn(void *user, int64_t now_ns);

void sim_actor_init(sim_actor *actor, sim_site *site, uint32_t index)
{
    *actor = (sim_actor){.site = site, .host = SIM_HOST_ACTOR + index, .exit_code = -1};
    actor->pump =
        (sim_pump){.network = &site->network, .host = actor->host, .turn = on_turn, .user = actor};
    actor->ear = (sim_ear){.site = site, .host = actor->host, .pump = &actor->pump};
}

/* ---- the transport -------------------------------------------------------------------------- */

static void on_woken(void *user)
{
    sim_actor *actor = user;
    sim_pump_wake(&actor->pump);
}

static void on_connected(void *user)
{
    const sim_shard_link *link = user;
    aq_shard_session_connected(aq_actor_session_shards(link->actor->session), link->lane,
                               sim_now_ns(&link->actor->site->world));
    sim_pump_wake(&link->actor->pump);
}

static void on_disconnected(void *user)
{
    const sim_shard_link *link = user;
    aq_shard_session_disconnected(aq_actor_session_shards(link->actor->session), link->lane);
    sim_pump_wake(&link->actor->pump);
}

static void on_writable(void *user)
{
    const sim_shard_link *link = user;
    aq_shard_session_writable(aq_actor_session_shards(link->actor->session), link->lane);
    sim_pump_wake(&link->actor->pump);
}

static int transport_open(void *user, uint32_t lane, const char *rpc_url, const char *push_url,
                          const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error)
{
    sim_actor *actor = user;
    sim_shard_link *link = &actor->links[lane];
    const sim_sender_events events = {
        .user = link,
        .connected = on_connected,
        .disconnected = on_disconnected,
        .writable = on_writable,
    };
    (void)error;
    AQ_ASSERT(link->flow == NULL);
    link->actor = actor;
    link->lane = lane;
    link->flow =
        sim_client_open(&actor->site->rpc, actor->host, rpc_url, CALLS_MAX, on_woken, actor);
    link->sender = sim_sender_open(&actor->site->push, actor->host, push_url, limits, &events);
    *ret_flow = sim_client_channel(link->flow);
    return 0;
}

static void transport_close(void *user, uint32_t lane)
{
    sim_actor *actor = user;
    sim_shard_link *link = &actor->links[lane];
    sim_client_close(link->flow);
    sim_sender_close(link->sender);
    link->flow = NULL;
    link->sender = NULL;
}

/* The planted fault: once, a chunk is lost on the way from the environment to the message. */
static int send_faulty(sim_actor *actor, uint32_t lane, const uint8_t *frame, size_t size)
{
    aq_buffer planted;
    int rc = AQ_E_AGAIN;
    aq_buffer_init(&planted, 2 * size + 4096);
    if (sim_plant_frame(SIM_PLANT_LOSS, &actor->site->ledger, frame, size, &planted)) {
        rc = sim_sender_send(actor->links[lane].sender, planted.data, planted.size);
    }
    if (rc == 0) {
        actor->has_plant = true;
        sim_ledger_sent(&actor->site->ledger, lane, planted.data, planted.size);
    }
    aq_buffer_fini(&planted);
    return rc;
}

static int transport_send(void *user, uint32_t lane, const uint8_t *frame, size_t size)
{
    sim_actor *actor = user;
    if (actor->site->scenario.plant == SIM_PLANT_STREAM && !actor->has_plant &&
        send_faulty(actor, lane, frame, size) == 0) {
        return 0;
    }
    int rc = sim_sender_send(actor->links[lane].sender, frame, size);
    if (rc == 0) {
        sim_ledger_sent(&actor->site->ledger, lane, frame, size);
    }
    return rc;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void end_process(sim_actor *actor)
{
    sim_host_stop(&actor->site->network, actor->host);
    sim_pump_stop(&actor->pump);
    sim_client_close(actor->learner);
    aq_actor_session_destroy(actor->session);
    actor->session = NULL;
}

static void check_version(sim_actor *actor)
{
    const aq_actor_core *core = aq_actor_session_core(actor->session);
    uint64_t version = core != NULL ? aq_actor_core_counters(core).policy_version : 0;
    if (version > 0) {
        sim_ledger_acts(&actor->site->ledger, actor->incarnation, version);
    }
}

static int64_t on_turn(void *user, int64_t now_ns)
{
    sim_actor *actor = user;
    aq_actor_session_tick(actor->session, now_ns);
    const aq_participant *participant = aq_actor_session_participant(actor->session);
    if (aq_participant_phase_of(participant) == AQ_PARTICIPANT_DONE) {
        actor->exit_code = aq_participant_exit_code(participant);
        if (actor->exit_code != EXIT_SUCCESS) {
            sim_broken(&actor->site->world, SIM_REFUSED, "the actor on host %u fails", actor->host);
        }
        end_process(actor);
        return INT64_MAX;
    }
    uint32_t steps = aq_actor_session_work(actor->session, now_ns);
    check_version(actor);
    if (actor->site->scenario.plant == SIM_PLANT_IDLE && steps == 0) {
        return now_ns;
    }
    return steps > 0 ? now_ns + actor->site->scenario.actor_step_ns
                     : aq_actor_session_next_ns(actor->session);
}

void sim_actor_start(sim_actor *actor)
{
    sim_site *site = actor->site;
    AQ_ASSERT(actor->session == NULL);
    sim_host_start(&site->network, actor->host);
    actor->incarnation = sim_draw_incarnation(&site->world);
    actor->exit_code = -1;
    actor->learner =
        sim_client_open(&site->rpc, actor->host, SIM_LEARNER_URL, CALLS_MAX, on_woken, actor);
    const aq_actor_session_config config = {
        .common = {.identity = {.role = AQ_ROLE_ACTOR, .incarnation = actor->incarnation},
                   .listener = sim_ear_listener(&actor->ear),
                   .cpu_flags = site->cpu_flags,
                   .start_ns = sim_now_ns(&site->world),
                   .seed = actor->incarnation},
        .transport = {.user = actor,
                      .open = transport_open,
                      .close = transport_close,
                      .send = transport_send},
        .gradients = site->plan.settings.gradient_values > 0 ? aq_gradient_maker_open : NULL,
    };
    must(aq_actor_session_create(sim_client_channel(actor->learner), &config, &actor->session));
    sim_pump_start(&actor->pump);
}

void sim_actor_kill(sim_actor *actor)
{
    end_process(actor);
}

void sim_actor_stop(sim_actor *actor)
{
    aq_participant_stop(aq_actor_session_participant(actor->session), "terminated");
    sim_pump_wake(&actor->pump);
}

bool sim_actor_takes_part(const sim_actor *actor)
{
    return actor->session != NULL &&
           aq_participant_phase_of(aq_actor_session_participant(actor->session)) ==
               AQ_PARTICIPANT_TAKING_PART;
}
