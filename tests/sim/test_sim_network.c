/*
 * The simulated world itself: a test that fails to lose messages would prove nothing.
 */
#include "tests/sim/sim_agenda.h"
#include "tests/sim/sim_broadcast.h"
#include "tests/sim/sim_push.h"
#include "tests/support/test.h"

enum { HERE = 0, THERE = 1, MESSAGES = 2000 };

#define URL "tcp://10.0.0.2:5561"

typedef struct town {
    sim_world world;
    sim_network network;
    sim_push push;
    sim_broadcast broadcast;
    uint32_t arrived[MESSAGES]; /* which came, in order */
    size_t arrived_count;
    size_t lost_count;
    int connected, disconnected, writable;
} town;

static town *open_town(void)
{
    town *at = aq_alloc(1, sizeof(*at));
    assert_non_null(at);
    sim_world_init(&at->world, 7);
    sim_network_init(&at->network, &at->world);
    sim_push_init(&at->push, &at->network);
    sim_broadcast_init(&at->broadcast, &at->network, THERE);
    sim_push_place(&at->push, URL, THERE);
    sim_host_start(&at->network, HERE);
    sim_host_start(&at->network, THERE);
    return at;
}

static void close_town(town *at)
{
    sim_broadcast_fini(&at->broadcast);
    sim_push_fini(&at->push);
    sim_network_fini(&at->network);
    sim_world_fini(&at->world);
    aq_free(at);
}

#define TEST_IN_TOWN(name) TEST_OF(name, town *at, open_town(), close_town)

static void pass(town *at, int64_t ms)
{
    int64_t until_ns = sim_now_ns(&at->world) + ms * AQ_NS_PER_MS;
    while (sim_agenda_step(at->world.agenda, until_ns)) {
    }
}

static void note(town *at, const uint8_t *frame, size_t size)
{
    assert_int_equal(size, sizeof(uint32_t));
    assert_true(at->arrived_count < MESSAGES);
    memcpy(&at->arrived[at->arrived_count++], frame, size);
}

/* ---- the agenda ----------------------------------------------------------------------------- */

static void on_event(void *user, uint64_t tag)
{
    town *at = user;
    at->arrived[at->arrived_count++] = (uint32_t)tag;
}

TEST_IN_TOWN(events_run_in_the_order_of_their_times_then_of_asking)
{
    static const int64_t times_ns[] = {50, 10, 30, 10, 40, 20, 10};
    static const uint32_t order[] = {1, 3, 6, 5, 2, 4, 0};
    for (uint32_t i = 0; i < 7; i++) {
        sim_agenda_at(at->world.agenda, times_ns[i], on_event, at, i);
    }
    assert_true(sim_agenda_step(at->world.agenda, 10));
    assert_int_equal(sim_now_ns(&at->world), 10);
    pass(at, 1);
    assert_memory_equal(at->arrived, order, sizeof(order));
    assert_int_equal(sim_now_ns(&at->world), 10 + AQ_NS_PER_MS);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void on_arrival(void *user, uint64_t tag, const uint8_t *frame, size_t size)
{
    town *at = user;
    (void)tag;
    if (frame == NULL) {
        at->lost_count++;
    } else {
        note(at, frame, size);
    }
}

static void carry(town *at, uint32_t count)
{
    const sim_route route = {.from = HERE, .to = THERE, .arrival = on_arrival, .user = at};
    for (uint32_t i = 0; i < count; i++) {
        (void)sim_network_carry(&at->network, &route, (const uint8_t *)&i, sizeof(i));
    }
}

static size_t overtaken(const town *at)
{
    size_t count = 0;
    for (size_t i = 1; i < at->arrived_count; i++) {
        count += at->arrived[i] < at->arrived[i - 1];
    }
    return count;
}

TEST_IN_TOWN(on_a_calm_day_everything_arrives)
{
    carry(at, 500);
    pass(at, 1);
    assert_int_equal(at->arrived_count, 500);
    assert_true(overtaken(at) > 0);
    assert_null(at->network.messages);
}

TEST_IN_TOWN(the_weather_loses_and_doubles_its_share)
{
    at->network.weather.loss_share = 0.25;
    at->network.weather.twice_share = 0.1;
    carry(at, 1000);
    pass(at, 1);
    assert_in_range(at->lost_count, 200, 300);
    assert_in_range(at->arrived_count, 760, 890);
}

TEST_IN_TOWN(between_hosts_that_are_cut_nothing_arrives_one_way)
{
    at->network.cut[HERE][THERE] = true;
    carry(at, 10);
    pass(at, 1);
    assert_int_equal(at->lost_count, 10);
    at->network.cut[HERE][THERE] = false;
    at->network.cut[THERE][HERE] = true;
    carry(at, 10);
    pass(at, 1);
    assert_int_equal(at->arrived_count, 10);
}

TEST_IN_TOWN(who_is_down_gets_nothing)
{
    carry(at, 10);
    sim_host_stop(&at->network, THERE);
    pass(at, 1);
    assert_int_equal(at->lost_count, 10);
}

TEST_IN_TOWN(who_stands_still_gets_it_later)
{
    sim_host_stand_still(&at->network, THERE, 5 * AQ_NS_PER_MS);
    carry(at, 10);
    pass(at, 4);
    assert_int_equal(at->arrived_count, 0);
    pass(at, 2);
    assert_int_equal(at->arrived_count, 10);
}

/* ---- connections ---------------------------------------------------------------------------- */

static void on_pulled(void *user, const uint8_t *frame, size_t size, const char *peer)
{
    (void)peer;
    note(user, frame, size);
}

static void on_connected(void *user)
{
    ((town *)user)->connected++;
}

static void on_disconnected(void *user)
{
    ((town *)user)->disconnected++;
}

static void on_writable(void *user)
{
    ((town *)user)->writable++;
}

static sim_sender *open_sender(town *at)
{
    const aq_net_limits limits = {
        .message_bytes_max = 100, .reconnect_min_ms = 10, .reconnect_max_ms = 100};
    const sim_sender_events events = {.user = at,
                                      .connected = on_connected,
                                      .disconnected = on_disconnected,
                                      .writable = on_writable};
    sim_sender *sender = sim_sender_open(&at->push, HERE, URL, &limits, &events);
    sim_push_listen(&at->push, URL, on_pulled, at);
    pass(at, 10);
    assert_int_equal(at->connected, 1);
    return sender;
}

static uint32_t send_until_refused(sim_sender *sender, uint32_t first)
{
    while (sim_sender_send(sender, (const uint8_t *)&first, sizeof(first)) == 0) {
        first++;
    }
    return first;
}

TEST_IN_TOWN(a_connection_keeps_order_and_is_bounded)
{
    sim_sender *sender = open_sender(at);
    uint32_t sent = 0;
    for (int round = 0; round < 20; round++) {
        sent = send_until_refused(sender, sent);
        pass(at, 1);
    }
    assert_int_equal(at->arrived_count, sent);
    assert_true(at->writable >= 20);
    for (uint32_t i = 0; i < sent; i++) {
        assert_int_equal(at->arrived[i], i);
    }
    uint8_t large[101] = {0};
    assert_int_equal(sim_sender_send(sender, large, sizeof(large)), AQ_E_TOO_BIG);
    sim_sender_close(sender);
}

TEST_IN_TOWN(a_connection_that_breaks_is_told_and_made_again)
{
    sim_sender *sender = open_sender(at);
    sim_push_break(&at->push, THERE);
    assert_false(sim_push_is_whole(&at->push));
    pass(at, 200 * 1000);
    assert_true(sim_push_is_whole(&at->push));
    assert_int_equal(at->disconnected, 1);
    assert_int_equal(at->connected, 2);
    sim_sender_close(sender);
}

TEST_IN_TOWN(a_restarted_process_gets_nothing_of_an_earlier_connection)
{
    sim_sender *sender = open_sender(at);
    (void)send_until_refused(sender, 0);
    sim_push_close(&at->push, URL);
    sim_push_listen(&at->push, URL, on_pulled, at);
    pass(at, 5);
    assert_int_equal(at->arrived_count, 0);
    sim_sender_close(sender);
}

/* ---- the broadcast -------------------------------------------------------------------------- */

static void on_heard(void *user, const uint8_t *frame, size_t size)
{
    note(user, frame, size);
}

TEST_IN_TOWN(who_is_not_connected_yet_does_not_hear_the_broadcast)
{
    uint32_t word = 5;
    sim_broadcast_open(&at->broadcast);
    sim_subscriber *subscriber = sim_subscribe(&at->broadcast, HERE, on_heard, at);
    sim_broadcast_send(&at->broadcast, (const uint8_t *)&word, sizeof(word));
    pass(at, 500);
    assert_int_equal(at->arrived_count, 0);
    sim_broadcast_send(&at->broadcast, (const uint8_t *)&word, sizeof(word));
    pass(at, 1);
    assert_int_equal(at->arrived_count, 1);
    sim_unsubscribe(subscriber);
}

TEST_IN_TOWN(a_publisher_that_was_restarted_is_heard_after_a_while)
{
    uint32_t word = 5;
    sim_broadcast_open(&at->broadcast);
    sim_subscriber *subscriber = sim_subscribe(&at->broadcast, HERE, on_heard, at);
    pass(at, 500);
    sim_host_stop(&at->network, THERE);
    sim_broadcast_close(&at->broadcast);
    sim_host_start(&at->network, THERE);
    sim_broadcast_open(&at->broadcast);
    sim_broadcast_send(&at->broadcast, (const uint8_t *)&word, sizeof(word));
    pass(at, 500);
    assert_int_equal(at->arrived_count, 0);
    sim_broadcast_send(&at->broadcast, (const uint8_t *)&word, sizeof(word));
    pass(at, 1);
    assert_int_equal(at->arrived_count, 1);
    sim_unsubscribe(subscriber);
}
