/*
 * Peers that ask, and take no answers: what waits for them is bounded.
 */
#define _DEFAULT_SOURCE /* htobe64 */

#include <endian.h>
#include <errno.h>
#include <sys/socket.h>

#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/tcp_door.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { TIMEOUT_MS = 120000 };

/* Asks the same over and over, and never reads. */
typedef struct deaf_peer {
    int descriptor;
    uint8_t request[1024]; /* as it goes over the wire */
    size_t size, sent;
} deaf_peer;

static bool is_cut(void *user)
{
    deaf_peer *peer = user;
    ssize_t sent = 0;
    while (sent >= 0) {
        sent = send(peer->descriptor, peer->request + peer->sent, peer->size - peer->sent,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
        peer->sent = sent < 0 ? peer->sent : (peer->sent + (size_t)sent) % peer->size;
    }
    return errno != EAGAIN;
}

static deaf_peer deaf_peer_with(const net_pair *pair, const void *frame, size_t size)
{
    static const uint8_t number[] = {0x80, 0, 0, 1}; /* of a request, as REQ writes it */
    deaf_peer peer = {.descriptor = net_kit_connect(pair->url)};
    assert_int_equal(send(peer.descriptor, "\0SP\0\0\x30\0\0", 8, MSG_NOSIGNAL), 8);
    const uint64_t length = htobe64(sizeof(number) + size);
    const int room = 256 << 10;
    assert_int_equal(setsockopt(peer.descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
    assert_true(size <= sizeof(peer.request) - sizeof(length) - sizeof(number));
    memcpy(peer.request, &length, sizeof(length));
    memcpy(peer.request + sizeof(length), number, sizeof(number));
    memcpy(peer.request + sizeof(length) + sizeof(number), frame, size);
    peer.size = sizeof(length) + sizeof(number) + size;
    return peer;
}

/* The door would cut peers for a request that stalls, on a busy host. */
static void be_patient(void)
{
    const aq_tcp_limits patient = {.connections_max = 1000,
                                   .connections_per_address_max = 1000,
                                   .message_ms = 3600 * 1000,
                                   .message_bytes_per_s = 1000,
                                   .held_bytes_max = 48 << 20,
                                   .held_bytes_per_address_max = 24 << 20};
    aq_tcp_door_set(&patient);
}

/* After so many calls of it. */
static unsigned expect_cut(net_pair *pair, deaf_peer *peer)
{
    be_patient();
    const uint64_t before = aq_net_peer_counters().cut_full;
    net_kit_run_until(&pair->loop, is_cut, peer);
    const unsigned calls = pair->kit.carried_out;
    assert_true(aq_net_peer_counters().cut_full > before);
    assert_true(net_pair_wait(pair, net_pair_fetch(pair, 1000))->ok);
    close(peer->descriptor);
    return calls;
}

TEST(a_peer_that_takes_no_answers_does_not_keep_the_slots)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    deaf_peer peer = deaf_peer_with(pair, "noise", 5);
    (void)expect_cut(pair, &peer);
}

/* Its answers may be larger than others', and are kept for nobody. */
static net_pair *open_for_large_answers(size_t ahead_bytes)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    net_pair_stop_server(pair);
    aq_rpc_dispatcher_destroy(pair->dispatcher);
    assert_int_equal(aq_rpc_dispatcher_create(NET_PAIR_CALLS_MAX, 64 * NET_KIT_MESSAGE_MAX, 0,
                                              &pair->dispatcher),
                     0);
    rpc_kit_add_to(&pair->kit, pair->dispatcher);
    net_pair_restart_server(pair);
    aq_rpc_server_allow(pair->server, NET_KIT_MESSAGE_MAX, ahead_bytes);
    return pair;
}

/* Asks for answers of so many bytes. */
static deaf_peer deaf_peer_for(const net_pair *pair, uint32_t size)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    rpc_wire wire;
    aq_rpc_stub stub;
    rpc_result result = {.stub = &stub};
    rpc_wire_init(&wire, NET_KIT_MESSAGE_MAX);
    aq_rpc_stub_init(&stub, &wire.channel, &actorq__v1__policy__descriptor, TIMEOUT_MS);
    request.format = size;
    actorq__v1__policy__fetch(&stub.base, &request, rpc_on_fetched, &result);
    const deaf_peer peer = deaf_peer_with(pair, wire.frame, wire.size);
    wire.answer(wire.user, AQ_E_CLOSED, NULL, 0);
    rpc_wire_fini(&wire);
    return peer;
}

/* Long before all slots are taken; what is under way and in the kernel comes on top. */
TEST(a_peer_that_takes_no_large_answers_does_not_fill_the_memory)
{
    enum { ANSWER = 2 << 20, BOUND = 48 << 20, AHEAD = 40 << 20, MORE = 10 };
    static const size_t ahead_bytes[] = {0, AHEAD};
    if (test_rounds(2) < 2) {
        skip(); /* under a sanitizer they take longer than the system waits for a silent peer */
    }
    for (size_t i = 0; i < 2; i++) {
        net_pair *pair = open_for_large_answers(ahead_bytes[i]);
        deaf_peer peer = deaf_peer_for(pair, ANSWER);
        const size_t fit = (BOUND + ahead_bytes[i]) / ANSWER;
        assert_in_range(expect_cut(pair, &peer), fit, fit + MORE);
        net_pair_close(pair);
    }
}

enum { PEERS = 12 };
static uint64_t cut_before;

static bool first_has_asked(void *user)
{
    return ((const net_pair *)user)->kit.carried_out == 1;
}

/* Or one was cut off before it could, where the transport stood still. */
static bool all_have_asked(void *user)
{
    return ((const net_pair *)user)->kit.carried_out == 2 * PEERS - 1 ||
           aq_net_peer_counters().cut_full > cut_before;
}

/* Of each an answer is on its way and one waits, but for the first, which takes its own late. */
TEST(peers_that_take_no_large_answer_do_not_fill_the_memory)
{
    enum { ANSWER = 6 << 20 };
    net_pair *pair = open_for_large_answers(0);
    deaf_peer peers[PEERS];
    static uint8_t taken[1 << 16];
    be_patient();
    cut_before = aq_net_peer_counters().cut_full;
    for (unsigned i = 0; i < PEERS; i++) {
        peers[i] = deaf_peer_for(pair, ANSWER);
        for (unsigned calls = 0; calls < (i == 0 ? 1 : 2); calls++) {
            assert_int_equal(send(peers[i].descriptor, peers[i].request, peers[i].size, 0),
                             peers[i].size);
        }
        if (i == 0) { /* its answer is on its way by then, also where NNG is late to say so */
            net_kit_run_until(&pair->loop, first_has_asked, pair);
            net_kit_run_for(&pair->loop, 300);
        }
    }
    net_kit_run_until(&pair->loop, all_have_asked, pair);
    net_kit_run_for(&pair->loop, 200);
    assert_true(net_pair_wait(pair, net_pair_fetch(pair, 1000))->ok);
    assert_true(aq_net_peer_counters().cut_full > cut_before);
    for (ssize_t count = 0, more; count < ANSWER; count += more) {
        more = recv(peers[0].descriptor, taken, sizeof(taken), 0);
        assert_true(more > 0);
    }
    for (unsigned i = 0; i < PEERS; i++) {
        close(peers[i].descriptor);
    }
    net_pair_close(pair);
}
