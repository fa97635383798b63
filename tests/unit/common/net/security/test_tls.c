/*
 * Sockets under TLS: who gets in, and who doesn't. Over TCP on this host.
 */
#include <time.h>

#include "common/net/address/dial_tries.h"
#include "common/net/nng_mend/name_turns.h"
#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/tcp_door.h"
#include "common/net/security/certs_folder.h"
#include "common/net/sockets/pubsub.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"
#include "tests/unit/common/net/secure_kit.h"

#define SECRET "correct horse battery staple"

#define DAY_S ((int64_t)86400)

enum { TIMEOUT_MS = 120000, REFUSED_MS = 700, BIG_BYTES = 900000 };

/* One run's certificates and another's. */
static char *certs, *foreign_certs;

static int make_certs(void **state)
{
    (void)state;
    certs = file_folder_make();
    foreign_certs = file_folder_make();
    secure_kit_certs(certs);
    secure_kit_certs(foreign_certs);
    return 0;
}

static int remove_certs(void **state)
{
    (void)state;
    file_folder_remove(certs);
    file_folder_remove(foreign_certs);
    return 0;
}

static net_pair *open_secured(const aq_security *own, const aq_security *callers,
                              uint32_t timeout_ms)
{
    net_pair *pair = net_pair_serve(own, callers, timeout_ms);
    net_pair_dial(pair, pair->url);
    return pair;
}

/* The learner, and an actor of its run. */
static net_pair *open_members(void)
{
    return open_secured(secure_kit_load(certs, AQ_ACCESS_LEARNER),
                        secure_kit_load(certs, AQ_ACCESS_ACTOR), TIMEOUT_MS);
}

static const rpc_result *fetch(net_pair *pair, uint32_t bytes)
{
    return net_pair_wait(pair, net_pair_fetch(pair, bytes));
}

static const rpc_result *stop(net_pair *pair)
{
    return net_pair_wait(pair, net_pair_stop(pair, "enough"));
}

TEST(a_member_of_the_run_is_served)
{
    net_pair *pair = open_members();
    const rpc_result *result = fetch(pair, BIG_BYTES);
    assert_true(result->ok);
    assert_int_equal(result->bytes, BIG_BYTES);
    assert_true(strncmp(pair->kit.peer, "tcp://127.0.0.1:", 16) == 0 || pair->kit.peer[0] == '\0');
    assert_int_equal(strncmp(aq_rpc_server_url(pair->server), "tcp://127.0.0.1:", 16), 0);
    assert_int_equal(aq_rpc_server_foreign_peers(pair->server), 0);
}

TEST(an_operator_is_known_by_its_address)
{
    net_pair *pair = open_secured(secure_kit_load(certs, AQ_ACCESS_LEARNER),
                                  secure_kit_load(certs, AQ_ACCESS_OPERATOR), TIMEOUT_MS);
    assert_true(stop(pair)->ok);
    assert_int_equal(strncmp(pair->kit.peer, "tcp://127.0.0.1:", 16), 0);
}

TEST(an_actor_cannot_stop_the_run)
{
    net_pair *pair = open_members();
    assert_int_equal(stop(pair)->code, AQ_RPC_PERMISSION_DENIED);
    assert_int_equal(pair->kit.carried_out, 0);
}

static bool is_counted(void *user)
{
    return aq_rpc_server_foreign_peers(((const net_pair *)user)->server) > 0;
}

typedef struct words_of_dial {
    const char *url;
    const char *words;
} words_of_dial;

static bool is_told(void *user)
{
    const words_of_dial *wanted = user;
    char text[AQ_DIAL_WORDS_MAX];
    aq_name_turns_words(wanted->url, text, sizeof(text));
    return strstr(text, "connected, but") != NULL && strstr(text, wanted->words) != NULL;
}

/* Who was refused says why, as soon as a handshake has come to its end. */
static void expect_told(uv_loop_t *loop, const char *url, const char *words)
{
    words_of_dial wanted = {url, words};
    net_kit_run_until(loop, is_told, &wanted);
}

/* Nothing gets through, the daemon counts who tried, and the caller says why. */
static void expect_refused(const aq_security *own, const aq_security *callers, bool counted,
                           const char *words)
{
    net_pair *pair = open_secured(own, callers, REFUSED_MS);
    assert_int_equal(fetch(pair, 10)->code, AQ_RPC_DEADLINE_EXCEEDED);
    assert_int_equal(pair->kit.carried_out, 0);
    assert_false(aq_rpc_client_connected(pair->client));
    expect_told(&pair->loop, pair->url, words);
    if (counted) {
        net_kit_run_until(&pair->loop, is_counted, pair);
    }
}

TEST(a_foreign_certificate_is_refused_and_counted)
{
    expect_refused(secure_kit_load(certs, AQ_ACCESS_LEARNER),
                   secure_kit_load(foreign_certs, AQ_ACCESS_ACTOR), true,
                   "; TLS: its certificate is of another authority than ours");
}

TEST(a_caller_is_told_that_its_certificate_is_refused)
{
    net_pair *pair = net_pair_serve(secure_kit_load(certs, AQ_ACCESS_LEARNER), NULL, REFUSED_MS);
    nng_socket socket;
    secure_kit_dial_as(foreign_certs, certs, AQ_TLS_SERVER_NAME, pair->url, &socket);
    expect_told(&pair->loop, pair->url,
                "TLS: it refuses our certificate, which is of another authority");
    nng_close(socket);
}

TEST(a_certificate_that_has_expired_is_named_on_either_side)
{
    const char *run = file_folder(), *expired = file_folder();
    char copy[128], url[AQ_URL_MAX];
    nng_socket daemon, callers[2];
    const int64_t now_s = (int64_t)time(NULL);
    assert_int_equal(aq_certs_folder_make(run, now_s - 8 * DAY_S, 7, NULL), 0);
    (void)snprintf(copy, sizeof(copy), "cp -r %s/. %s", run, expired);
    assert_int_equal(system(copy), 0);
    assert_int_equal(aq_certs_folder_renew(run, now_s, 7, NULL), 0);

    secure_kit_listen_as(expired, "learner", &daemon, url); /* a daemon of ours would not start */
    secure_kit_dial_as(run, run, AQ_TLS_SERVER_NAME, url, &callers[0]);
    expect_told(net_kit_loop(), url,
                "TLS: its certificate has expired; 'actorq certs DIR --renew'");
    net_pair *pair = net_pair_serve(secure_kit_load(run, AQ_ACCESS_LEARNER), NULL, REFUSED_MS);
    secure_kit_dial_as(expired, run, AQ_TLS_SERVER_NAME, pair->url, &callers[1]);
    expect_told(&pair->loop, pair->url, "TLS: it refuses our certificate, which has expired; ");
    nng_close(callers[0]);
    nng_close(callers[1]);
    nng_close(daemon);
}

TEST(a_certificate_that_is_made_out_to_another_name_is_named)
{
    nng_socket socket;
    net_pair *pair = net_pair_serve(secure_kit_load(certs, AQ_ACCESS_LEARNER), NULL, REFUSED_MS);
    secure_kit_dial_as(certs, certs, "another", pair->url, &socket);
    expect_told(&pair->loop, pair->url, "TLS: its certificate is not one of a learner or a shard");
    nng_close(socket);
}

TEST(a_plain_caller_is_refused_and_counted)
{
    expect_refused(secure_kit_load(certs, AQ_ACCESS_LEARNER), NULL, true,
                   "--certs on one side alone");
}

TEST(a_daemon_in_plain_is_not_called)
{
    expect_refused(NULL, secure_kit_load(certs, AQ_ACCESS_ACTOR), true,
                   "; TLS: it does not speak TLS: another program, or started without --certs");
}

TEST(an_actors_certificate_cannot_pose_as_the_learner)
{
    aq_net_limits limits = net_kit_secured(secure_kit_load(certs, AQ_ACCESS_OPERATOR));
    char url[AQ_URL_MAX];
    nng_socket socket;
    aq_rpc_client *client;
    uv_loop_t *loop = net_kit_loop();
    secure_kit_listen_as(certs, "actor", &socket, url);
    assert_int_equal(aq_rpc_client_create(loop, url, &limits, 1, &client, NULL), 0);
    for (int i = 0; i < 10; i++) {
        net_kit_run_for(loop, 50);
        assert_false(aq_rpc_client_connected(client));
    }
    /* mbedTLS will not serve with it. */
    expect_told(loop, url, "; TLS: it refuses the handshake");
    aq_rpc_client_close(client);
    nng_close(socket);
}

TEST(a_daemon_without_tls_is_called_with_a_token_alone)
{
    net_pair *pair = open_secured(secure_kit_shared(SECRET, AQ_ACCESS_LEARNER),
                                  secure_kit_shared(SECRET, AQ_ACCESS_ACTOR), TIMEOUT_MS);
    assert_true(stop(pair)->ok);
    net_pair *other =
        open_secured(secure_kit_shared(SECRET, AQ_ACCESS_LEARNER),
                     secure_kit_shared("another secret, as long", AQ_ACCESS_ACTOR), TIMEOUT_MS);
    assert_int_equal(stop(other)->code, AQ_RPC_UNAUTHENTICATED);
    assert_int_equal(other->kit.carried_out, 0);
}

TEST(a_daemon_serves_on_after_strangers)
{
    aq_net_limits plain = net_kit_limits;
    net_pair *pair = open_members();
    for (int i = 0; i < 3; i++) {
        aq_rpc_client *stranger;
        assert_int_equal(aq_rpc_client_create(&pair->loop, aq_rpc_server_url(pair->server), &plain,
                                              1, &stranger, NULL),
                         0);
        assert_true(fetch(pair, 1000)->ok);
        aq_rpc_client_close(stranger);
    }
}

static bool are_all_counted(void *user)
{
    const uint64_t *wanted = user;
    const aq_net_peers peers = aq_net_peer_counters();
    return peers.accepted + peers.refused_connections >= *wanted;
}

/* Each takes some 70 kB, and nobody needs a certificate to come so far. */
TEST(strangers_that_do_not_shake_hands_are_few)
{
    enum { STRANGERS = 300, MOST = 256 };
    const aq_tcp_limits limits = {.connections_max = 1000,
                                  .connections_per_address_max = 1000,
                                  .message_ms = 3600 * 1000,
                                  .message_bytes_per_s = 1 << 16,
                                  .held_bytes_max = 1 << 24,
                                  .held_bytes_per_address_max = 1 << 24};
    int strangers[STRANGERS];
    aq_tcp_door_set(&limits);
    net_pair *pair = open_members();
    assert_true(fetch(pair, 100)->ok);
    const aq_net_peers before = aq_net_peer_counters();
    uint64_t all = before.accepted + before.refused_connections + STRANGERS;
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i] = net_kit_connect(aq_rpc_server_url(pair->server));
    }
    net_kit_run_until(&pair->loop, are_all_counted, &all);
    const aq_net_peers after = aq_net_peer_counters();
    assert_true(after.refused_connections + after.cut_slow >=
                before.refused_connections + before.cut_slow + STRANGERS - MOST);
    assert_true(fetch(pair, 100)->ok);
    for (int i = 0; i < STRANGERS; i++) {
        close(strangers[i]);
    }
}

/* What has the time of a greeting is the handshake, and not what comes after it. */
TEST(a_member_may_be_silent)
{
    enum { SILENT_MS = 1200 };
    aq_tcp_limits limits = {.connections_max = 100,
                            .connections_per_address_max = 100,
                            .message_ms = SILENT_MS / 2,
                            .message_bytes_per_s = 1 << 16,
                            .held_bytes_max = 1 << 24,
                            .held_bytes_per_address_max = 1 << 24};
    uint64_t cut_before = aq_net_peer_counters().cut_slow;
    net_pair *pair = open_members();
    fetch(pair, 100);
    aq_tcp_door_set(&limits);
    net_kit_run_for(&pair->loop, SILENT_MS);
    assert_true(fetch(pair, 100)->ok);
    assert_int_equal(aq_net_peer_counters().cut_slow, cut_before);
}

/* Lengths are known behind the encryption only. */
TEST(a_member_may_not_hold_more_than_others)
{
    enum { REASON_BYTES = 5000 };
    static char reason[REASON_BYTES];
    const aq_tcp_limits limits = {.connections_max = 100,
                                  .connections_per_address_max = 100,
                                  .message_ms = 3600 * 1000,
                                  .message_bytes_per_s = 1 << 16,
                                  .held_bytes_max = REASON_BYTES - 1000,
                                  .held_bytes_per_address_max = REASON_BYTES - 1000};
    uint64_t cut_before = aq_net_peer_counters().cut_full;
    net_pair *pair = open_members();
    assert_true(fetch(pair, 100)->ok);
    pair->operations.timeout_ms = REFUSED_MS;
    aq_tcp_door_set(&limits);
    memset(reason, 'x', sizeof(reason) - 1);
    do { /* one that a busy host did not send in time, nobody has cut */
        assert_int_equal(net_pair_wait(pair, net_pair_stop(pair, reason))->code,
                         AQ_RPC_DEADLINE_EXCEEDED);
    } while (aq_net_peer_counters().cut_full == cut_before);
    assert_true(fetch(pair, 100)->ok);
}

/* Many first handshakes at once use the same keys. */
TEST(many_connect_at_once)
{
    enum { CLIENTS = 24 };
    aq_rpc_client *clients[CLIENTS];
    rpc_result results[CLIENTS];
    aq_rpc_stub stubs[CLIENTS];
    net_pair *pair = open_members();
    for (int i = 0; i < CLIENTS; i++) {
        Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
        aq_net_limits limits = net_kit_secured(pair->callers);
        assert_int_equal(aq_rpc_client_create(&pair->loop, aq_rpc_server_url(pair->server), &limits,
                                              1, &clients[i], NULL),
                         0);
        aq_rpc_stub_init(&stubs[i], aq_rpc_client_channel(clients[i]),
                         &actorq__v1__policy__descriptor, TIMEOUT_MS);
        results[i] = (rpc_result){.stub = &stubs[i]};
        request.format = 100;
        actorq__v1__policy__fetch(&stubs[i].base, &request, rpc_on_fetched, &results[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(net_pair_wait(pair, &results[i])->ok);
        aq_rpc_client_close(clients[i]);
    }
}

/* ---- the broadcast ------------------------------------------------------------------------- */

TEST(only_members_hear_the_broadcast)
{
    aq_security *own = secure_kit_load(certs, AQ_ACCESS_LEARNER);
    aq_security *members = secure_kit_load(certs, AQ_ACCESS_ACTOR);
    aq_security *strangers = secure_kit_load(foreign_certs, AQ_ACCESS_ACTOR);
    aq_net_limits limits = net_kit_secured(own);
    aq_publisher *publisher;
    aq_subscriber *listeners[3];
    int rc = AQ_E_TIMEOUT;
    aq_buffer *heard = buffer_up_to(NET_KIT_MESSAGE_MAX);
    assert_int_equal(aq_publisher_create("tcp://127.0.0.1:0", &limits, &publisher, NULL), 0);
    for (int i = 0; i < 3; i++) {
        const aq_security *of[] = {members, strangers, NULL};
        limits = net_kit_secured(of[i]);
        assert_int_equal(
            aq_subscriber_create(aq_publisher_url(publisher), &limits, &listeners[i], NULL), 0);
    }
    for (int i = 0; i < 6000 && rc == AQ_E_TIMEOUT; i++) { /* until it is connected */
        assert_int_equal(aq_publisher_send(publisher, "a policy", 8), 0);
        rc = aq_subscriber_receive(listeners[0], 20, heard);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(heard->size, 8);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(aq_publisher_send(publisher, "a policy", 8), 0);
        assert_int_equal(aq_subscriber_receive(listeners[i], 100, heard), AQ_E_TIMEOUT);
    }
    for (int i = 0; i < 3; i++) {
        aq_subscriber_destroy(listeners[i]);
    }
    aq_publisher_close(publisher);
}

TEST(experience_comes_whole_and_in_order)
{
    const aq_net_limits own = net_kit_secured(secure_kit_load(certs, AQ_ACCESS_REPLAY));
    const aq_net_limits actor = net_kit_secured(secure_kit_load(certs, AQ_ACCESS_ACTOR));
    net_kit_deliver(&own, &actor, NULL, 40);
}

TEST_GROUP(make_certs, remove_certs);
