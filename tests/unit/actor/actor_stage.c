/*
 * The stage of the actor session's tests.
 */
#include "tests/unit/actor/actor_stage.h"

#include "common/base/assert.h"
#include "common/sys/log.h"
#include "tests/support/must.h"
#include "tests/unit/actor/feed_give.h"

/* ---- transport ------------------------------------------------------------------------------ */

static int shard_of_url(const char *url)
{
    const char *number = strrchr(url, '-');
    AQ_ASSERT(number != NULL);
    int index = atoi(number + 1) - STAGE_SHARD;
    AQ_ASSERT(index >= 0 && index < STAGE_SHARDS);
    return index;
}

static int open_transport(void *user, uint32_t lane, const char *rpc_url, const char *push_url,
                          const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error)
{
    actor_stage *stage = user;
    stage_link *link = &stage->links[lane];
    AQ_ASSERT(!link->is_open);
    AQ_ASSERT(limits->message_bytes_max == stage->learner.settings.config.net.message_bytes);
    AQ_ASSERT(shard_of_url(rpc_url) == shard_of_url(push_url));
    link->shard = shard_of_url(push_url);
    stage->ways[link->shard].opens++;
    if (stage->ways[link->shard].cannot_open) {
        return aq_fail(error, AQ_E_IO, "no way there");
    }
    link->is_open = true;
    loopback_init(&link->flow_wire, stage->shards[link->shard].dispatcher);
    *ret_flow = &link->flow_wire.channel;
    return 0;
}

static void close_transport(void *user, uint32_t lane)
{
    actor_stage *stage = user;
    stage_link *link = &stage->links[lane];
    AQ_ASSERT(link->is_open);
    stage->ways[link->shard].closes++;
    loopback_close(&link->flow_wire);
    link->is_open = false;
    link->is_connected = false;
}

static int send_frame(void *user, uint32_t lane, const uint8_t *frame, size_t size)
{
    actor_stage *stage = user;
    const stage_link *link = &stage->links[lane];
    stage_way *way = &stage->ways[link->shard];
    if (!link->is_connected || way->is_slow) {
        way->refused_sends++;
        return AQ_E_AGAIN;
    }
    if (!way->is_lossy) {
        fake_shard_take(&stage->shards[link->shard], frame, size);
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
    (void)feed_give(stage->feed, stage->now_ns, frame, size);
}

void stage_hear(actor_stage *stage, const aq_buffer *frame)
{
    AQ_ASSERT(stage->feed != NULL);
    (void)feed_give(stage->feed, stage->now_ns, frame->data, frame->size);
}

void stage_hear_policy(actor_stage *stage, uint64_t version)
{
    fake_learner_set_policy(&stage->learner, version, 1);
    stage_hear(stage, &stage->learner.policy_frame);
}

/* ---- life and time -------------------------------------------------------------------------- */

actor_stage *stage_open(void)
{
    aq_log_set_level(AQ_LOG_OFF);
    actor_stage *stage = must_alloc(1, sizeof(*stage));
    fake_learner_init(&stage->learner);
    for (int i = 0; i < STAGE_SHARDS; i++) {
        fake_shard_init(&stage->shards[i]);
        stage->shards[i].store = (uint64_t)(STAGE_SHARD + i);
        stage->learner.shards[i] = (uint64_t)(STAGE_SHARD + i);
    }
    stage->learner.shard_count = 1;
    loopback_init(&stage->learner_wire, stage->learner.dispatcher);
    const aq_actor_session_config config = {
        .common =
            {
                .identity = {.role = AQ_ROLE_ACTOR,
                             .incarnation = STAGE_INCARNATION,
                             .host = "stage"},
                .listener =
                    {.user = stage, .listen = listen_to, .unlisten = unlisten, .pass = pass},
                .seed = 1,
            },
        .transport =
            {
                .user = stage,
                .open = open_transport,
                .close = close_transport,
                .send = send_frame,
            },
    };
    assert_int_equal(
        aq_actor_session_create(&stage->learner_wire.channel, &config, &stage->session), 0);
    return stage;
}

void stage_close(actor_stage *stage)
{
    loopback_close(&stage->learner_wire);
    aq_actor_session_destroy(stage->session);
    for (int i = 0; i < STAGE_SHARDS; i++) {
        fake_shard_fini(&stage->shards[i]);
    }
    fake_learner_fini(&stage->learner);
    aq_free(stage);
}

static void connect_if_possible(actor_stage *stage)
{
    for (uint32_t lane = 0; lane < AQ_SPREAD_SHARDS_MAX; lane++) {
        stage_link *link = &stage->links[lane];
        if (link->is_open && !link->is_connected && !stage->ways[link->shard].is_severed) {
            link->is_connected = true;
            aq_shard_session_connected(aq_actor_session_shards(stage->session), lane,
                                       stage->now_ns);
        }
    }
}

void stage_break(actor_stage *stage, int shard)
{
    for (uint32_t lane = 0; lane < AQ_SPREAD_SHARDS_MAX; lane++) {
        stage_link *link = &stage->links[lane];
        if (link->is_connected && link->shard == shard) {
            link->is_connected = false;
            aq_shard_session_disconnected(aq_actor_session_shards(stage->session), lane);
        }
    }
}

void stage_sever(actor_stage *stage, int shard)
{
    stage->ways[shard].is_severed = true;
    stage_break(stage, shard);
}

void stage_kill_shard(actor_stage *stage, int shard)
{
    stage_break(stage, shard);
    fake_shard_restart(&stage->shards[shard]);
    for (uint32_t i = 0; i < stage->learner.shard_count; i++) {
        if (stage->learner.shards[i] == (uint64_t)(STAGE_SHARD + shard)) {
            stage->learner.stores[i] = stage->shards[shard].store;
        }
    }
}

int stage_links_to(const actor_stage *stage, int shard)
{
    int links = 0;
    for (uint32_t lane = 0; lane < AQ_SPREAD_SHARDS_MAX; lane++) {
        links += stage->links[lane].is_open && stage->links[lane].shard == shard;
    }
    return links;
}

static void deliver(actor_stage *stage)
{
    for (uint32_t lane = 0; lane < AQ_SPREAD_SHARDS_MAX; lane++) {
        if (stage->links[lane].is_open) {
            loopback_pump(&stage->links[lane].flow_wire);
        }
    }
}

void stage_pass(actor_stage *stage, int64_t ms)
{
    for (int64_t i = 0; i < ms; i++) {
        stage->now_ns += AQ_NS_PER_MS;
        connect_if_possible(stage);
        for (int shard = 0; shard < STAGE_SHARDS; shard++) {
            fake_shard_answer(&stage->shards[shard], false);
        }
        loopback_pump(&stage->learner_wire);
        deliver(stage);
        aq_actor_session_tick(stage->session, stage->now_ns);
        for (int step = 0; step < STAGE_STEPS_MAX; step++) {
            if (aq_actor_session_work(stage->session, stage->now_ns) == 0) {
                break;
            }
        }
    }
}

void stage_act(actor_stage *stage, uint64_t granted, int64_t ms)
{
    stage->shards[0].granted = granted;
    stage_pass(stage, ms);
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
