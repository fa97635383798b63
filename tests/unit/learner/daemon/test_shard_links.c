/*
 * Links follow the members of the run, over real sockets within this process.
 */
#include <uv.h>

#include "common/base/clock.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_sample.h"
#include "learner/daemon/shard_links.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 4, IN_FLIGHT = 2, HELD_MAX = 64, PATIENCE_MS = 120000 };

/* A daemon that says that it is there, and answers Sample or holds its answers back. */
typedef struct link_shard {
    Actorq__V1__Sampling_Service service; /* first */
    uint64_t incarnation;
    const aq_batch *batch;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    bool hold;
    void *held[HELD_MAX];
    size_t held_count;
    unsigned asked;
} link_shard;

typedef struct links_desk {
    learner_kit kit;
    uv_loop_t loop;
    uv_timer_t tick;
    uv_timer_t watchdog;
    bool out_of_patience;
    aq_batch *batch;
    aq_coordinator *coordinator;
    aq_prefetch *prefetch;
    aq_shard_places places;
    aq_shard_links *links;
    link_shard shards[2];
    unsigned ready, link_troubles, reached, lost;
    uint64_t last_reached;
    aq_error trouble;
} links_desk;

static void follow(links_desk *desk)
{
    (void)aq_shard_places_take(desk->coordinator, &desk->places);
    aq_shard_links_follow(desk->links, &desk->places);
}

static void on_sample(Actorq__V1__Sampling_Service *service,
                      const Actorq__V1__SampleRequest *request,
                      Actorq__V1__SampleReply_Closure closure, void *call)
{
    link_shard *shard = (link_shard *)(void *)service;
    Actorq__V1__SampleReply reply;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    (void)request;
    shard->asked++;
    if (shard->hold) {
        assert_true(shard->held_count < HELD_MAX);
        shard->held[shard->held_count++] = call;
        return;
    }
    aq_wire_sample_view(shard->batch, 1, recorded, &reply);
    reply.items = 100;
    reply.mass = 100;
    closure(&reply, call);
}

static void on_prioritize(Actorq__V1__Sampling_Service *service,
                          const Actorq__V1__PrioritizeRequest *request,
                          Actorq__V1__PrioritizeReply_Closure closure, void *call)
{
    const link_shard *shard = (const link_shard *)(const void *)service;
    Actorq__V1__PrioritizeReply reply = ACTORQ__V1__PRIORITIZE_REPLY__INIT;
    assert_int_equal(request->item.len, 0);
    if (request->run_id == KIT_RUN_ID &&
        request->shard_incarnation == aq_incarnation_name(shard->incarnation)) {
        closure(&reply, call);
    } else {
        aq_rpc_fail(call, AQ_RPC_FAILED_PRECONDITION, "another start of this shard");
    }
}

static void on_ready(void *user, aq_batch *group)
{
    links_desk *desk = user;
    desk->ready++;
    aq_prefetch_give_back(desk->prefetch, group);
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    (void)user;
    (void)shard_incarnation;
    (void)inserted;
}

static void on_call_trouble(void *user, const char *shard, const char *reason)
{
    (void)user;
    (void)shard;
    (void)reason;
}

static int64_t desk_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static void on_link_trouble(void *user, const char *url, const aq_error *error)
{
    links_desk *desk = user;
    assert_non_null(url);
    desk->link_troubles++;
    desk->trouble = *error;
}

static void on_reached(void *user, uint64_t incarnation, bool is_reached)
{
    links_desk *desk = user;
    desk->reached += is_reached;
    desk->lost += !is_reached;
    desk->last_reached = incarnation;
    aq_coordinator_reached(desk->coordinator, incarnation, is_reached);
}

static void on_tick(uv_timer_t *timer)
{
    links_desk *desk = timer->data;
    follow(desk);
    aq_prefetch_tick(desk->prefetch, aq_clock_monotonic_ns());
}

static void on_watchdog(uv_timer_t *timer)
{
    links_desk *desk = timer->data;
    desk->out_of_patience = true;
}

static const aq_net_limits limits = {
    .message_bytes_max = 1 << 20, .reconnect_min_ms = 1, .reconnect_max_ms = 20};

static int create_links(links_desk *desk, uint32_t in_flight, aq_shard_links **ret_links)
{
    const aq_shard_links_config config = {.loop = &desk->loop,
                                          .prefetch = desk->prefetch,
                                          .run_id = KIT_RUN_ID,
                                          .limits = limits,
                                          .calls_max = in_flight,
                                          .timeout_ms = 60000};
    const aq_shard_links_owner owner = {
        .user = desk, .reached = on_reached, .trouble = on_link_trouble};
    return aq_shard_links_create(&config, &owner, ret_links);
}

static void create_prefetch(links_desk *desk, uint32_t in_flight)
{
    aq_prefetch_config config = {.run_id = KIT_RUN_ID,
                                 .batch_rows = ROWS,
                                 .batch_count = 1,
                                 .in_flight = in_flight,
                                 .wait_ms = 1000,
                                 .timeout_ms = 60000};
    aq_prefetch_owner owner = {.user = desk,
                               .ready = on_ready,
                               .progress = on_progress,
                               .trouble = on_call_trouble,
                               .now_ns = desk_now_ns};
    assert_int_equal(aq_prefetch_create(&config, &desk->kit.layout, &owner, &desk->prefetch), 0);
    assert_succeeds(create_links(desk, in_flight, &desk->links));
}

static void links_desk_setup(links_desk *desk)
{
    aq_coordinator_config config = {.member_timeout_ns = INT64_MAX, .env_steps_limit = 1000};
    learner_kit_init(&desk->kit, 6);
    desk->batch = learner_kit_group(&desk->kit, ROWS);
    assert_int_equal(uv_loop_init(&desk->loop), 0);
    uv_timer_init(&desk->loop, &desk->tick);
    uv_timer_init(&desk->loop, &desk->watchdog);
    desk->tick.data = desk->watchdog.data = desk;
    uv_timer_start(&desk->tick, on_tick, 0, 1);
    uv_timer_start(&desk->watchdog, on_watchdog, PATIENCE_MS, 0);
    assert_int_equal(aq_coordinator_create(&config, 0, &desk->coordinator), 0);
    create_prefetch(desk, IN_FLIGHT);
}

static void stop_shard(link_shard *shard)
{
    for (size_t i = 0; i < shard->held_count; i++) {
        aq_rpc_fail(shard->held[i], AQ_RPC_UNAVAILABLE, "not yet");
    }
    shard->held_count = 0;
    aq_rpc_server_close(shard->server);
    shard->server = NULL;
}

static void links_desk_teardown(links_desk *desk)
{
    aq_shard_links_destroy(desk->links); /* with calls in flight */
    for (int i = 0; i < 2; i++) {
        stop_shard(&desk->shards[i]);
    }
    uv_close((uv_handle_t *)&desk->tick, NULL);
    uv_close((uv_handle_t *)&desk->watchdog, NULL);
    assert_int_equal(uv_run(&desk->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    for (int i = 0; i < 2; i++) {
        aq_rpc_dispatcher_destroy(desk->shards[i].dispatcher);
    }
    aq_prefetch_destroy(desk->prefetch);
    aq_coordinator_destroy(desk->coordinator);
    aq_batch_destroy(desk->batch);
    learner_kit_fini(&desk->kit);
}

/* The process `incarnation` of a shard, at `url`. */
static void start_shard(links_desk *desk, int index, uint64_t incarnation, const char *url,
                        bool hold)
{
    link_shard *shard = &desk->shards[index];
    actorq__v1__sampling__init(&shard->service, NULL);
    shard->service.sample = on_sample;
    shard->service.prioritize = on_prioritize;
    shard->incarnation = incarnation;
    shard->batch = desk->batch;
    shard->hold = hold;
    assert_int_equal(aq_rpc_dispatcher_create(64, 65536, 0, &shard->dispatcher), 0);
    assert_int_equal(aq_rpc_dispatcher_add(shard->dispatcher, &shard->service.base), 0);
    assert_succeeds(
        aq_rpc_server_create(&desk->loop, url, &limits, shard->dispatcher, &shard->server, NULL));
}

static uint64_t join(links_desk *desk, uint64_t incarnation, const char *url)
{
    aq_member_record record = {
        .role = AQ_ROLE_REPLAY, .incarnation = incarnation, .store = incarnation};
    const aq_member_record *joined = NULL;
    uint64_t replaced[AQ_REPLACED_MAX];
    snprintf(record.rpc_url, sizeof(record.rpc_url), "%s", url);
    assert_succeeds(aq_coordinator_join(desk->coordinator, 0, &record, &joined, replaced, NULL));
    return joined->member;
}

/* Runs the loop until the number is there; fails the test when it does not come. */
static void run_until(links_desk *desk, const unsigned *number, unsigned at_least)
{
    while (*number < at_least && !desk->out_of_patience) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_true(*number >= at_least);
}

TEST_IN(links_desk, desk, a_shard_that_joined_is_sampled_from)
{
    start_shard(desk, 0, 1, "inproc://links-joined", false);
    join(desk, 1, "inproc://links-joined");
    run_until(desk, &desk->ready, 20);
    assert_int_equal(desk->link_troubles, 0);
}

TEST_IN(links_desk, desk, a_shard_that_is_not_there_yet_is_sampled_from_when_it_is)
{
    join(desk, 1, "inproc://links-late");
    for (int i = 0; i < 10; i++) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_int_equal(desk->ready, 0);
    start_shard(desk, 0, 1, "inproc://links-late", false);
    run_until(desk, &desk->ready, 5);
    assert_int_equal(desk->link_troubles, 0);
}

TEST_IN(links_desk, desk, the_calls_to_a_shard_that_left_are_over)
{
    start_shard(desk, 0, 1, "inproc://links-left-1", true);
    start_shard(desk, 1, 2, "inproc://links-left-2", false);
    uint64_t member = join(desk, 1, "inproc://links-left-1");
    run_until(desk, &desk->shards[0].asked, IN_FLIGHT); /* every request is with it */
    assert_true(aq_coordinator_leave(desk->coordinator, member, 1));
    join(desk, 2, "inproc://links-left-2");
    run_until(desk, &desk->ready, 20);
    assert_int_equal(desk->shards[0].asked, IN_FLIGHT);
}

TEST_IN(links_desk, desk, a_shard_that_moved_is_sampled_from_where_it_is)
{
    start_shard(desk, 0, 1, "inproc://links-moved-1", true);
    start_shard(desk, 1, 1, "inproc://links-moved-2", false);
    join(desk, 1, "inproc://links-moved-1");
    run_until(desk, &desk->shards[0].asked, IN_FLIGHT);
    join(desk, 1, "inproc://links-moved-2");
    run_until(desk, &desk->ready, 20);
    assert_int_equal(desk->shards[0].asked, IN_FLIGHT);
}

/* 64 shards, and one of them starts again: the new link needs the place of the old one. */
TEST_IN(links_desk, desk, a_restarted_shard_is_linked_when_all_places_are_taken)
{
    char url[64];
    aq_shard_links_destroy(desk->links);
    aq_prefetch_destroy(desk->prefetch);
    create_prefetch(desk, AQ_SHARDS_MAX); /* a request to each, answered or not */
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        snprintf(url, sizeof(url), "inproc://links-many-%u", (unsigned)i);
        join(desk, i, url);
    }
    follow(desk);
    assert_int_equal(desk->link_troubles, 0);

    start_shard(desk, 0, 1000, "inproc://links-many-64", false);
    join(desk, 1000, "inproc://links-many-64");
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), AQ_SHARDS_MAX);
    run_until(desk, &desk->ready, 10); /* the others do not keep it waiting */
    assert_int_equal(desk->link_troubles, 0);
}

/* It said that it is where another one is, or the other one has started again since. */
TEST_IN(links_desk, desk, who_does_not_answer_as_the_process_that_joined_is_not_sampled_from)
{
    start_shard(desk, 0, 2, "inproc://links-other", false);
    join(desk, 1, "inproc://links-other");
    run_until(desk, &desk->link_troubles, 1);
    assert_non_null(strstr(desk->trouble.text, "another start"));
    assert_int_equal(desk->shards[0].asked, 0);
    assert_int_equal(desk->reached, 0);
    join(desk, 2, "inproc://links-other"); /* takes the place of the first, which is not there */
    run_until(desk, &desk->ready, 5);
    assert_int_equal(desk->last_reached, 2);
    assert_int_equal(desk->reached, 1);
}

TEST_IN(links_desk, desk, a_connection_that_is_lost_is_told_and_so_is_who_comes_back)
{
    start_shard(desk, 0, 1, "inproc://links-lost", false);
    join(desk, 1, "inproc://links-lost");
    run_until(desk, &desk->ready, 1);
    assert_int_equal(desk->reached, 1);
    stop_shard(&desk->shards[0]);
    run_until(desk, &desk->lost, 1);
    aq_rpc_dispatcher_destroy(desk->shards[0].dispatcher);
    start_shard(desk, 0, 1, "inproc://links-lost", false);
    run_until(desk, &desk->reached, 2);
    run_until(desk, &desk->ready, desk->ready + 5);
}

TEST_IN(links_desk, desk, a_link_that_could_not_be_opened_is_tried_again)
{
    start_shard(desk, 0, 1, "inproc://links-again", false);
    join(desk, 1, "inproc://links-again");
    aq_memory_fail_at(1, 0);
    follow(desk);
    aq_memory_fail_at(0, 0);
    assert_int_equal(desk->link_troubles, 1);
    assert_int_equal(desk->trouble.code, AQ_E_NOMEM);
    follow(desk); /* but not at once */
    assert_int_equal(desk->link_troubles, 1);
    run_until(desk, &desk->ready, 1);
    assert_int_equal(desk->link_troubles, 1);
}

TEST_IN(links_desk, desk, a_link_that_can_never_be_opened_is_trouble_and_no_more)
{
    start_shard(desk, 0, 2, "inproc://links-good", false);
    join(desk, 1, "nonsense://x");
    join(desk, 2, "inproc://links-good");
    run_until(desk, &desk->ready, 5);
    assert_int_equal(desk->link_troubles, 1);
}

TEST_IN(links_desk, desk, only_shards_are_linked)
{
    aq_member_record record = {.role = AQ_ROLE_ACTOR, .incarnation = 9};
    const aq_member_record *joined = NULL;
    uint64_t replaced[AQ_REPLACED_MAX];
    strcpy(record.rpc_url, "nonsense://x");
    assert_succeeds(aq_coordinator_join(desk->coordinator, 0, &record, &joined, replaced, NULL));
    join(desk, 2, "inproc://links-alone"); /* a change that makes it look at all members */
    follow(desk);
    assert_int_equal(desk->link_troubles, 0);
}

TEST_IN(links_desk, desk, create_survives_a_failed_allocation)
{
    aq_shard_links *links = desk->links;
    assert_fails_without_memory(create_links(desk, 1, &links));
    assert_ptr_equal(links, desk->links); /* untouched */
    aq_shard_links_destroy(NULL);
}
