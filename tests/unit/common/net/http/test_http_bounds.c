/*
 * The HTTP server and peers that would wear it down: what it bounds. Deadlines are moved rather
 * than waited for.
 */
#include <sys/socket.h>

#include "common/base/clock.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/http_kit.h"
#include "tests/unit/common/net/net_kit.h"

enum { PEERS_MAX = 300 };

/* All deadlines are over. */
static void let_time_pass(http_pair *pair)
{
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        pair->server->connections[i].deadline_ns = 0;
    }
}

static bool is_reading(void *user)
{
    http_pair *pair = user;
    return pair->server->connections[0].state == AQ_HTTP_READING;
}

static bool has_input(void *user)
{
    http_pair *pair = user;
    return pair->server->connections[0].input_size > 0;
}

/* ---- bounds --------------------------------------------------------------------------------- */

TEST(a_slow_request_is_ended)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, "GET /hello HTTP/1.1\r\nHost: x\r\nX-");
    net_kit_run_until(&pair->loop, has_input, pair);
    let_time_pass(pair);
    http_kit_wait_until_over(pair, peer);
    assert_says(peer->answer, "HTTP/1.1 408 Request Timeout\r\n");
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
}

TEST(bytes_that_trickle_in_gain_no_time)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, "GET /hello HTTP/1.1\r\n");
    net_kit_run_until(&pair->loop, has_input, pair);
    int64_t deadline_ns = pair->server->connections[0].deadline_ns;
    assert_true(deadline_ns - aq_clock_monotonic_ns() <= 5 * AQ_NS_PER_S);
    /* Later than any that would be set anew; and it does not pass meanwhile. */
    deadline_ns += 3600 * AQ_NS_PER_S;
    pair->server->connections[0].deadline_ns = deadline_ns;
    for (unsigned i = 0; i < 10; i++) {
        http_peer_tell(peer, "X: y\r\n");
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(pair->server->connections[0].deadline_ns, deadline_ns);
}

TEST(a_peer_that_says_nothing_is_refused)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    net_kit_run_until(&pair->loop, is_reading, pair);
    let_time_pass(pair);
    http_kit_wait_until_over(pair, peer);
    assert_int_equal(peer->size, 0);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
}

TEST(an_idle_connection_is_closed_and_nobody_is_to_blame)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    http_kit_wait_to_hear(pair, peer, "hello\n");
    net_kit_run_until(&pair->loop, is_reading, pair);
    let_time_pass(pair);
    http_kit_wait_until_over(pair, peer);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 0);
}

TEST(a_peer_that_takes_no_answer_is_refused)
{
    http_pair *pair = http_kit_open();
    (void)http_kit_ask_much(pair);
    let_time_pass(pair);
    net_kit_run_until(&pair->loop, http_kit_is_empty, pair);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
}

TEST(silent_connections_keep_nobody_out)
{
    http_pair *pair = http_kit_open();
    for (size_t i = 0; i < PEERS_MAX - 1; i++) {
        http_peer *peer = http_peer_connect(pair);
        if (i % 3 == 0) {
            http_peer_tell(peer, "GET /hel");
        }
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
        assert_true(pair->server->connection_count <= AQ_HTTP_CONNECTIONS_MAX);
    }
    assert_says(http_kit_ask(pair, "GET /hello HTTP/1.0\r\n\r\n")->answer, "hello\n");
    assert_true(aq_http_server_counters(pair->server).refused >=
                PEERS_MAX - 1 - AQ_HTTP_CONNECTIONS_MAX);
    http_kit_close(pair); /* with all that are still there */
}

/* All have waited for so long. */
static void let_them_wait(http_pair *pair, int64_t ns)
{
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        pair->server->connections[i].waiting_since_ns -= ns;
        pair->server->connections[i].unsent_bytes = 0;
    }
}

/* Of whom none has waited, however long this takes. */
static http_pair *open_with_slow_readers(size_t count)
{
    http_pair *pair = http_kit_open();
    for (size_t i = 0; i < count; i++) {
        (void)http_kit_ask_much(pair);
        for (size_t k = 0; k <= i; k++) {
            pair->server->connections[k].waiting_since_ns = INT64_MAX / 2;
            pair->server->connections[k].deadline_ns = INT64_MAX;
            pair->server->connections[k].unsent_bytes = 0;
        }
    }
    return pair;
}

TEST(slow_readers_get_some_answers_and_others_are_told)
{
    http_pair *pair = open_with_slow_readers(AQ_HTTP_ANSWERS_EACH_MAX);
    assert_says(http_kit_ask(pair, "GET /hello HTTP/1.0\r\n\r\n")->answer, "HTTP/1.1 503 ");
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
    assert_says(http_kit_ask(pair, "GET /readyz HTTP/1.0\r\n\r\n")->answer, "{}");
    http_kit_close(pair); /* with all that are still there */
}

TEST(an_answer_that_stalls_is_ended)
{
    http_pair *pair = open_with_slow_readers(1);
    aq_http_connection *connection = &pair->server->connections[0];
    aq_http_connection_tick(connection, connection->waiting_since_ns + 4900 * AQ_NS_PER_MS);
    assert_int_equal(connection->state, AQ_HTTP_WRITING);
    connection->waiting_since_ns = aq_clock_monotonic_ns() - 5 * AQ_NS_PER_S;
    net_kit_run_until(&pair->loop, http_kit_is_empty, pair);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
}

TEST(an_answer_that_stalls_gives_its_place_to_one_who_asks)
{
    http_pair *pair = open_with_slow_readers(1);
    for (size_t i = 1; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        (void)http_peer_connect(pair);
    }
    http_kit_wait_connected(pair, AQ_HTTP_CONNECTIONS_MAX);
    let_them_wait(pair, AQ_NS_PER_S);
    pair->server->connections[0].waiting_since_ns = 0;
    assert_says(http_kit_ask(pair, "GET /hello HTTP/1.0\r\n\r\n")->answer, "hello\n");
    assert_int_not_equal(pair->server->connections[0].state, AQ_HTTP_WRITING);
    http_kit_close(pair);
}

/* Asks for more than fits in between, so that some of an answer is always under way. */
static void pipeline(http_pair *pair)
{
    enum { REQUESTS = 1000 };
    aq_http_connection *connection = &pair->server->connections[pair->server->connection_count];
    http_peer *peer = http_peer_connect(pair);
    int room = 4096;
    assert_int_equal(setsockopt(peer->socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
    while (connection->state == AQ_HTTP_FREE) {
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_send_buffer_size((uv_handle_t *)&connection->stream, &room), 0);
    for (unsigned i = 0; i < REQUESTS; i++) {
        http_peer_tell(peer, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    }
}

/* No answer stalls, or takes too long: as if they were taken, a little at a time. */
TEST(peers_that_are_always_being_answered_keep_nobody_out)
{
    http_pair *pair = http_kit_open();
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        pipeline(pair);
    }
    net_kit_run_for(&pair->loop, 200); /* until nothing more fits */
    let_them_wait(pair, -3600 * AQ_NS_PER_S);
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        assert_int_equal(pair->server->connections[i].state, AQ_HTTP_WRITING);
        pair->server->connections[i].deadline_ns = INT64_MAX;
    }
    assert_says(http_kit_ask(pair, "GET /readyz HTTP/1.0\r\n\r\n")->answer, "{}");
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
    http_kit_close(pair);
}

TEST(peers_that_ask_at_once_are_all_answered)
{
    enum { ASKING = 40, ROUNDS = 5 };
    http_peer *peers[ASKING];
    http_pair *pair = http_kit_open();
    for (size_t i = 0; i < ASKING; i++) {
        peers[i] = http_peer_connect(pair);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ASKING; i++) {
            http_peer_tell(peers[i], "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        for (size_t i = 0; i < ASKING; i++) {
            http_kit_wait_to_hear(pair, peers[i], "hello\n");
        }
    }
    assert_int_equal(pair->answered, ASKING * ROUNDS);
}
