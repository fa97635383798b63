/*
 * The stage of the actor session's tests.
 */
#include "tests/unit/actor/actor_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

/* ---- transport ------------------------------------------------------------------------------ */

static int shard_of_url(const char *url)
{
    const char *number = strrchr(url, '-');
    AQ_ASSERT(number != NULL);
    int index = atoi(number + 1) - STAGE_SHARD;
    AQ_ASSERT(index >= 0 && index < STAGE_SHARDS);
    return index;
}

static int open_transport(void *user, const char *rpc_url, const char *push_url,
                          const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error)
{
    actor_stage *stage = user;
    AQ_ASSERT(stage->open_shard < 0);
    AQ_ASSERT(limits->message_bytes_max == stage->learner.settings.message_bytes);
    AQ_ASSERT(shard_of_url(rpc_url) == shard_of_url(push_url));
    stage->opens++;
    if (stage->cannot_open) {
        return aq_fail(error, AQ_E_IO, "no way there");
    }
    stage->open_shard = shard_of_url(push_url);
    fake_wire_init(&stage->flow_wire, stage->shards[stage->open_shard].dispatcher);
    *ret_flow = &stage->flow_wire.channel;
    return 0;
}

static void close_transport(void *user)
{
    actor_stage *stage = user;
    AQ_ASSERT(stage->open_shard >= 0);
    stage->closes++;
    fake_wire_close(&stage->flow_wire);
    stage->open_shard = -1;
    stage->is_connected = false;
}

static int send_frame(void *user, const uint8_t *frame, size_t size)
{
    actor_stage *stage = user;
    if (!stage->is_connected || stage->is_slow) {
        stage->refused_sends++;
        return AQ_E_AGAIN;
    }
    if (!stage->is_lossy) {
        fake_shard_take(&stage->shards[stage->open_shard], frame, size);
    }
    return 0;
}

/* ---- listener ------------------------------------------------------------------------------- */

static int listen_to(void *user, const char *url, aq_policy_feed *feed, aq_error *error)
{
    actor_stage *stage = user;
    AQ_ASSERT(stage->feed == NULL);
    stage->listens++;
    if (stage->cannot_listen) {
        return aq_fail(error, AQ_E_IO, "deaf");
    }
    stage->feed = feed;
    snprintf(stage->policy_url, sizeof(stage->policy_url), "%s", url);
    return 0;
}

static void unlisten(void *user)
{
    actor_stage *stage = user;
    AQ_ASSERT(stage->feed != NULL);
    stage->unlistens++;
    stage->feed = NULL;
}

static void pass(void *user, const uint8_t *frame, size_t size)
{
    actor_stage *stage = user;
    AQ_ASSERT(stage->feed != NULL);
    stage->passes++;
    (void)aq_policy_feed_give(stage->feed, stage->now_ns, frame, size);
}

void stage_hear(actor_stage *stage, const aq_buffer *frame)
{
    AQ_ASSERT(stage->feed != NULL);
    (void)aq_policy_feed_give(stage->feed, stage->now_ns, frame->data, frame->size);
}

/* ---- life and time -------------------------------------------------------------------------- */

actor_stage *stage_open(void)
{
    actor_stage *stage = aq_alloc(1, sizeof(*stage));
    AQ_ASSERT(stage != NULL);
    stage->open_shard = -1;
    fake_learner_init(&stage->learner);
    for (int i = 0; i < STAGE_SHARDS; i++) {
        fake_shard_init(&stage->shards[i]);
        stage->learner.shards[i] = (uint64_t)(STAGE_SHARD + i);
    }
    stage->learner.shard_count = 1;
    fake_wire_init(&stage->learner_wire, stage->learner.dispatcher);
    const aq_actor_session_config config = {
        .identity = {.role = AQ_ROLE_ACTOR, .incarnation = STAGE_INCARNATION, .host = "stage"},
        .listener = {.user = stage, .listen = listen_to, .unlisten = unlisten, .pass = pass},
        .transport =
            {
                .user = stage,
                .open = open_transport,
                .close = close_transport,
                .send = send_frame,
            },
        .seed = 1,
    };
    int rc = aq_actor_session_create(&stage->learner_wire.channel, &config, &stage->session);
    AQ_ASSERT(rc == 0);
    return stage;
}

void stage_close(actor_stage *stage)
{
    fake_wire_close(&stage->learner_wire);
    aq_actor_session_destroy(stage->session);
    for (int i = 0; i < STAGE_SHARDS; i++) {
        fake_shard_fini(&stage->shards[i]);
    }
    fake_learner_fini(&stage->learner);
    aq_free(stage);
}

static void connect_if_possible(actor_stage *stage)
{
    if (stage->open_shard >= 0 && !stage->is_connected && !stage->is_severed) {
        stage->is_connected = true;
        aq_actor_session_connected(stage->session, stage->now_ns);
    }
}

void stage_break(actor_stage *stage)
{
    if (stage->is_connected) {
        stage->is_connected = false;
        aq_actor_session_disconnected(stage->session);
    }
}

void stage_kill_shard(actor_stage *stage, int index)
{
    if (stage->open_shard == index) {
        stage_break(stage);
    }
    fake_shard_restart(&stage->shards[index]);
}

void stage_pass(actor_stage *stage, int64_t ms)
{
    for (int64_t i = 0; i < ms; i++) {
        stage->now_ns += AQ_NS_PER_MS;
        connect_if_possible(stage);
        for (int shard = 0; shard < STAGE_SHARDS; shard++) {
            fake_shard_answer(&stage->shards[shard], false);
        }
        (void)fake_wire_deliver(&stage->learner_wire);
        if (stage->open_shard >= 0) {
            (void)fake_wire_deliver(&stage->flow_wire);
        }
        aq_actor_session_tick(stage->session, stage->now_ns);
        for (int step = 0; step < STAGE_STEPS_MAX; step++) {
            if (aq_actor_session_work(stage->session, stage->now_ns) == 0) {
                break;
            }
        }
    }
}

aq_actor_counters stage_counters(const actor_stage *stage)
{
    const aq_actor_core *core = aq_actor_session_core(stage->session);
    AQ_ASSERT(core != NULL);
    return aq_actor_core_counters(core);
}

enum aq_participant_phase stage_phase(const actor_stage *stage)
{
    return aq_participant_phase_of(aq_actor_session_participant(stage->session));
}
