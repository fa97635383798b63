/*
 * A listener lets in as many connections as it may, waits for a message that has begun only so
 * long, and holds only so much of what has not come whole.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/nng_mend.h"
#include "common/net/nng_mend/tcp_door.h"
#include "common/net/sockets/endpoint.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { PATIENCE_MS = 120000, TURN_MS = 20, PULL = 0x51, PUSH = 0x50, PEERS_MAX = 4 };

static const aq_tcp_limits wide = {.connections_max = 100,
                                   .connections_per_address_max = 100,
                                   .message_ms = 3600 * 1000,
                                   .message_bytes_per_s = 1000,
                                   .held_bytes_max = 1 << 30,
                                   .held_bytes_per_address_max = 1 << 30};

typedef struct stage {
    nng_socket socket;
    uint16_t port;
    aq_tcp_limits limits;
    aq_net_peers before;
    int peers[PEERS_MAX];
    size_t peer_count;
} stage;

static void wait_for_connections(uint64_t count)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        if (aq_net_peer_counters().connections == count) {
            return;
        }
        (void)poll(NULL, 0, 1);
    }
    fail_msg("%llu connections", (unsigned long long)aq_net_peer_counters().connections);
}

/* NNG closes what earlier tests have left behind, in its own time. */
static stage *open_stage(void)
{
    stage *s = calloc(1, sizeof(*s));
    nng_listener listener;
    char url[AQ_URL_MAX];
    assert_non_null(s);
    wait_for_connections(0);
    assert_int_equal(nng_pull0_open(&s->socket), 0);
    assert_int_equal(aq_endpoint_listen(s->socket, "tcp://127.0.0.1:0", &net_kit_limits, 0,
                                        &listener, url, NULL),
                     0);
    s->port = (uint16_t)atoi(strrchr(url, ':') + 1);
    s->limits = wide;
    aq_tcp_door_set(&s->limits);
    s->before = aq_net_peer_counters();
    return s;
}

/* All peers go. */
static void leave(stage *s)
{
    while (s->peer_count > 0) {
        close(s->peers[--s->peer_count]);
    }
    wait_for_connections(0);
}

static void close_stage(stage *s)
{
    leave(s);
    nng_close(s->socket);
    free(s);
}

#define TEST_OF_STAGE(name) TEST_OF(name, stage *s, open_stage(), close_stage)

/* ---- peers ---------------------------------------------------------------------------------- */

static int dial(stage *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(s->port)};
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(peer >= 0 && s->peer_count < PEERS_MAX);
    s->peers[s->peer_count++] = peer;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&address, sizeof(address)), 0);
    return peer;
}

static void say(int peer, const void *bytes, size_t size)
{
    assert_int_equal(send(peer, bytes, size, MSG_NOSIGNAL), size);
}

/* Dials, and greets as a member does. */
static int join(stage *s)
{
    static const uint8_t hello[8] = {0, 'S', 'P', 0, 0, PUSH, 0, 0};
    const int peer = dial(s);
    uint8_t answer[8];
    say(peer, hello, sizeof(hello));
    assert_int_equal(recv(peer, answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
    assert_int_equal(answer[5], PULL);
    return peer;
}

static void announce(int peer, uint32_t length)
{
    const uint32_t words[2] = {0, htonl(length)};
    say(peer, words, sizeof(words));
}

/* The end of the connection, however it comes; NNG's own greeting may come before. */
static bool is_over(int peer, int wait_ms)
{
    struct pollfd event = {.fd = peer, .events = POLLIN};
    uint8_t bytes[64];
    ssize_t size = 1;
    while (size > 0 && poll(&event, 1, wait_ms) == 1) {
        size = recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT);
    }
    return size == 0 || (size < 0 && errno == ECONNRESET);
}

/* Another peer says whole messages meanwhile, as members do; they are taken. */
static void wait_for_end(const stage *s, int peer, int other)
{
    for (int i = 0; i < PATIENCE_MS / TURN_MS; i++) {
        nng_msg *message;
        if (is_over(peer, TURN_MS)) {
            return;
        }
        say(other, "\0\0\0\0\0\0\0\3abc", 11); /* in one piece: it is never half a message */
        if (nng_recvmsg(s->socket, &message, 0) == 0) {
            nng_msg_free(message);
        }
    }
    fail_msg("the connection is still there");
}

/* ---- facts ---------------------------------------------------------------------------------- */

static void refuse_the_third(stage *s)
{
    aq_tcp_door_set(&s->limits);
    int first = join(s);
    (void)join(s);
    assert_true(is_over(dial(s), PATIENCE_MS));
    assert_int_equal(aq_net_peer_counters().refused_connections, s->before.refused_connections + 1);
    assert_false(is_over(first, 0));
    assert_int_equal(shutdown(first, SHUT_RDWR), 0);
    wait_for_connections(1);
    (void)join(s);
}

TEST_OF_STAGE(a_connection_beyond_the_most_is_reset_until_another_has_left)
{
    s->limits.connections_max = 2;
    refuse_the_third(s);
}

TEST_OF_STAGE(so_is_one_beyond_the_most_from_one_address)
{
    s->limits.connections_per_address_max = 2;
    refuse_the_third(s);
}

TEST_OF_STAGE(so_is_one_that_would_shake_hands_beside_too_many)
{
    const int member = join(s); /* before hands are counted: it may not have been heard yet */
    s->limits.handshakes_per_address_max = 2;
    aq_tcp_door_set(&s->limits);
    (void)dial(s);
    (void)dial(s);
    wait_for_connections(3);
    assert_true(is_over(dial(s), PATIENCE_MS));
    assert_int_equal(aq_net_peer_counters().refused_connections, s->before.refused_connections + 1);
    assert_false(is_over(member, 0));
}

static void be_impatient(stage *s)
{
    s->limits.message_ms = 1000;
    aq_tcp_door_set(&s->limits);
}

/* The peer says no more than this, and another talks meanwhile. */
static void say_and_be_cut(const stage *s, int stalls, const void *bytes, size_t size, int talks)
{
    say(stalls, bytes, size);
    wait_for_end(s, stalls, talks);
    assert_int_equal(aq_net_peer_counters().cut_slow, s->before.cut_slow + 1);
}

static void expect_cut(stage *s, int stalls, const void *bytes, size_t size)
{
    const int talks = join(s);
    be_impatient(s);
    say_and_be_cut(s, stalls, bytes, size, talks);
}

/* NNG would wait for ever for the rest of it, in a process with certificates. */
TEST_OF_STAGE(half_a_handshake_is_cut)
{
    const int talks = join(s);
    be_impatient(s);
    say_and_be_cut(s, dial(s), "\x16\3\1\0\xc8", 5, talks);
    leave(s);
    assert_int_equal(aq_net_peer_counters().strangers, s->before.strangers + 1);
}

TEST_OF_STAGE(a_message_that_stalls_is_cut_and_a_silent_peer_is_not)
{
    const int silent = join(s);
    expect_cut(s, join(s), "\0\0\0\0\0\0\0\x64half of it", 18);
    assert_false(is_over(silent, 0));
}

TEST_OF_STAGE(half_a_length_is_a_message_that_has_begun)
{
    expect_cut(s, join(s), "\0\0\0", 3);
}

/* Nothing of either message comes. */
TEST_OF_STAGE(room_for_messages_is_bounded_before_it_is_made)
{
    const int first = join(s), second = join(s);
    s->limits.held_bytes_max = 5000;
    aq_tcp_door_set(&s->limits);
    announce(first, 4200);
    assert_false(is_over(first, TURN_MS));
    announce(second, 3000);
    assert_true(is_over(first, PATIENCE_MS)); /* it holds more, by a power of two */
    assert_false(is_over(second, 0));
    announce(join(s), 6000);
    assert_true(is_over(s->peers[2], PATIENCE_MS));
    assert_int_equal(aq_net_peer_counters().cut_full, s->before.cut_full + 2);
}

TEST_OF_STAGE(what_came_whole_is_not_held_any_more)
{
    static uint8_t part[3000];
    const int peer = join(s);
    s->limits.held_bytes_max = 5000;
    aq_tcp_door_set(&s->limits);
    for (int i = 0; i < 5; i++) {
        nng_msg *message;
        announce(peer, sizeof(part));
        say(peer, part, sizeof(part));
        assert_int_equal(nng_recvmsg(s->socket, &message, 0), 0);
        assert_int_equal(nng_msg_len(message), sizeof(part));
        nng_msg_free(message);
    }
    assert_int_equal(aq_net_peer_counters().cut_full, s->before.cut_full);
}

TEST_OF_STAGE(a_stranger_is_left_to_nng)
{
    const int peer = dial(s);
    say(peer, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_true(is_over(peer, PATIENCE_MS));
    leave(s);
    assert_int_equal(aq_net_peer_counters().accepted, s->before.accepted + 1);
    assert_int_equal(aq_net_peer_counters().strangers, s->before.strangers + 1);
}

/* As MPI's are, which lives in the learner of several ranks. */
TEST_OF_STAGE(what_others_accept_in_this_process_is_no_concern_of_ours)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    s->port = ntohs(address.sin_port);
    (void)dial(s);
    const int guest = accept(listener, NULL, NULL);
    assert_true(guest >= 0);
    close(guest);
    close(listener);
    assert_int_equal(aq_net_peer_counters().accepted, s->before.accepted);
}

TEST(where_others_listen_is_their_own_choice)
{
    const struct sockaddr_in6 anywhere = {.sin6_family = AF_INET6};
    const int on = 1;
    int alone = 0;
    socklen_t size = sizeof(alone);
    const int listener = socket(AF_INET6, SOCK_STREAM, 0);
    if (listener < 0) {
        skip(); /* some containers have no IPv6 */
    }
    aq_nng_mend();
    assert_int_equal(setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)), 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&anywhere, sizeof(anywhere)), 0);
    assert_int_equal(getsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &alone, &size), 0);
    assert_int_equal(alone, 1);
    close(listener);
}

TEST_OF_STAGE(one_that_goes_without_a_word_is_a_stranger)
{
    (void)dial(s);
    wait_for_connections(1);
    leave(s);
    assert_int_equal(aq_net_peer_counters().strangers, s->before.strangers + 1);
    (void)join(s);
    leave(s);
    assert_int_equal(aq_net_peer_counters().strangers, s->before.strangers + 1);
}
