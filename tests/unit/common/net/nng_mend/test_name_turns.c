/*
 * A name with several addresses is dialled at each of them, by every kind of socket, and what came
 * of it is said. The names are made up here: no name server is asked, nor /etc/hosts.
 */
#include "common/net/nng_mend/name_turns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/net/address/dial_tries.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tcp_patience.h"
#include "common/net/sockets/pubsub.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"
#include "tests/unit/common/net/secure_kit.h"

enum { CALL_MS = NET_KIT_PATIENCE_MS, SHORT_MS = 400 };

/* ---- a resolver without names ---------------------------------------------------------------- */

/* What "learner.test" stands for; nobody writes it while somebody dials, but `hosts`. */
static const char *_Atomic hosts;                        /* "127.0.0.2 127.0.0.1" */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* whoever holds it stops all lookups */

static int resolve(const char *name, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret_found)
{
    struct addrinfo *found = NULL;
    struct addrinfo **end = &found;
    char list[256];
    char *rest = list;
    assert_int_equal(hints->ai_flags & AI_ADDRCONFIG, 0);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    if (strcmp(name, "nobody.test") == 0 || strcmp(name, "slow.test") == 0) {
        return EAI_NONAME;
    }
    (void)snprintf(list, sizeof(list), "%s",
                   strcmp(name, "learner.test") == 0 ? atomic_load(&hosts) : name);
    for (char *host = strtok_r(rest, " ", &rest); host != NULL; host = strtok_r(NULL, " ", &rest)) {
        *end = net_kit_address(host, (uint16_t)atoi(service));
        end = &(*end)->ai_next;
    }
    *ret_found = found;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    aq_name_turns_resolve_with(resolve);
    aq_mend_for_all(true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    aq_name_turns_resolve_with(NULL);
    aq_mend_for_all(false);
    return 0;
}

TEST_GROUP(begin, end);

/* "tcp://learner.test:PORT", with the url's port. */
static void by_name(const char *url, char *ret_url)
{
    (void)snprintf(ret_url, AQ_URL_MAX, "tcp://learner.test%s", strrchr(url, ':'));
}

static void call_by_name(net_pair *pair)
{
    char url[AQ_URL_MAX];
    by_name(pair->url, url);
    net_pair_dial(pair, url);
    assert_int_equal(net_pair_wait(pair, net_pair_fetch(pair, 10))->code, AQ_RPC_OK);
}

/* ---- whose turn it is ------------------------------------------------------------------------ */

/* The address that the next dial of the url's port takes, as a text. */
static void next_address(const char *url, char ret_host[INET6_ADDRSTRLEN])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    assert_int_equal(getaddrinfo("learner.test", strrchr(url, ':') + 1, &hints, &found), 0);
    assert_int_equal(getnameinfo(found->ai_addr, found->ai_addrlen, ret_host, INET6_ADDRSTRLEN,
                                 NULL, 0, NI_NUMERICHOST),
                     0);
    freeaddrinfo(found);
}

/* NNG tells of a connection a moment after it has used it. */
static bool is_known(void *user)
{
    char host[INET6_ADDRSTRLEN];
    next_address(((const net_pair *)user)->url, host);
    return strcmp(host, "127.0.0.1") == 0;
}

/* The first of all tests here: of no port is anything known yet. */
TEST(an_address_that_answered_is_the_first_from_then_on)
{
    char host[INET6_ADDRSTRLEN];
    atomic_store(&hosts, "127.0.0.2 127.0.0.3 127.0.0.1");
    net_pair *pair = net_pair_serve(NULL, NULL, CALL_MS);
    next_address(pair->url, host);
    assert_string_equal(host, "127.0.0.2"); /* as the resolver has it */
    call_by_name(pair);
    net_kit_run_until(&pair->loop, is_known, pair);
}

TEST(a_learner_that_moves_to_another_address_is_found_there)
{
    atomic_store(&hosts, "127.0.0.1 127.0.0.2 127.0.0.3");
    net_pair *pair = net_pair_serve(NULL, NULL, CALL_MS);
    call_by_name(pair);
    net_pair_stop_server(pair);
    memcpy(strstr(pair->url, "127.0.0.1"), "127.0.0.3", strlen("127.0.0.3"));
    net_pair_restart_server(pair);
    assert_int_equal(net_pair_wait(pair, net_pair_fetch(pair, 10))->code, AQ_RPC_OK);
}

enum { TRY = 1 << 30 }; /* a descriptor that nobody has */

TEST(of_more_addresses_than_are_known_the_first_are_dialled_in_turn)
{
    atomic_store(&hosts, "127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 127.0.0.6 127.0.0.7 "
                         "127.0.0.8 127.0.0.9 127.0.0.10");
    for (int i = 0; i <= AQ_DIAL_TRIES_MAX; i++) {
        char host[INET6_ADDRSTRLEN], expected[INET6_ADDRSTRLEN];
        (void)snprintf(expected, sizeof(expected), "127.0.0.%d", i % AQ_DIAL_TRIES_MAX + 1);
        next_address("tcp://learner.test:4", host);
        assert_string_equal(host, expected);
        struct addrinfo *dialled = net_kit_address(host, 4);
        (void)aq_name_turns_begin(TRY, dialled->ai_addr);
        freeaddrinfo(dialled);
    }
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

/* Takes the connection and says goodbye. */
static void on_stranger(uv_stream_t *listener, int status)
{
    uv_tcp_t *peer = calloc(1, sizeof(*peer));
    assert_int_equal(status, 0);
    assert_non_null(peer);
    assert_int_equal(uv_tcp_init(listener->loop, peer), 0);
    assert_int_equal(uv_accept(listener, (uv_stream_t *)peer), 0);
    uv_close((uv_handle_t *)peer, free_handle);
}

TEST(who_does_not_answer_as_actorq_is_passed_by)
{
    struct sockaddr_in address;
    uv_tcp_t stranger;
    net_pair *pair = net_pair_serve(NULL, NULL, CALL_MS);
    assert_int_equal(uv_ip4_addr("127.0.0.2", atoi(strrchr(pair->url, ':') + 1), &address), 0);
    assert_int_equal(uv_tcp_init(&pair->loop, &stranger), 0);
    assert_int_equal(uv_tcp_bind(&stranger, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&stranger, 8, on_stranger), 0);
    atomic_store(&hosts, "127.0.0.2 127.0.0.1");
    call_by_name(pair);
    uv_close((uv_handle_t *)&stranger, NULL);
    net_pair_close(pair);
}

TEST(of_several_addresses_none_takes_long)
{
    static const char *const some[] = {"127.0.0.1", "127.0.0.1 127.0.0.2"};
    for (int i = 0; i < 2; i++) {
        const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int patience_ms = 0;
        socklen_t size = sizeof(patience_ms);
        atomic_store(&hosts, some[i]);
        assert_int_equal(getaddrinfo("learner.test", "2", &hints, &found), 0);
        (void)connect(fd, found->ai_addr, found->ai_addrlen);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, &size), 0);
        assert_int_equal(patience_ms, i == 0 ? AQ_TCP_DIAL_MS : AQ_TCP_DIAL_MS / 2);
        freeaddrinfo(found);
        (void)close(fd);
    }
}

/* ---- every kind of socket -------------------------------------------------------------------- */

static const char *const lists[] = {
    "127.0.0.1",
    "127.0.0.2 127.0.0.1",
    "::1 127.0.0.1",
    "127.0.0.1 ::1",
    "127.0.0.4 ::1 127.0.0.3 127.0.0.2 127.0.0.1",
};

TEST(calls_find_the_address_where_somebody_listens)
{
    EACH_ROW(i, lists) {
        atomic_store(&hosts, lists[i]);
        net_pair *pair = net_pair_serve(NULL, NULL, CALL_MS);
        call_by_name(pair);
        net_pair_close(pair);
    }
}

TEST(calls_under_tls_find_it_too)
{
    const char *certs = file_folder();
    secure_kit_certs(certs);
    atomic_store(&hosts, lists[1]);
    net_pair *pair = net_pair_serve(secure_kit_load(certs, AQ_ACCESS_LEARNER),
                                    secure_kit_load(certs, AQ_ACCESS_ACTOR), CALL_MS);
    call_by_name(pair);
}

TEST(the_broadcast_is_found)
{
    EACH_ROW(i, lists) {
        aq_publisher *publisher;
        aq_subscriber *subscriber;
        char url[AQ_URL_MAX];
        int rc = AQ_E_TIMEOUT;
        atomic_store(&hosts, lists[i]);
        aq_buffer *heard = buffer_up_to(NET_KIT_MESSAGE_MAX);
        assert_int_equal(
            aq_publisher_create("tcp://127.0.0.1:0", &net_kit_limits, &publisher, NULL), 0);
        by_name(aq_publisher_url(publisher), url);
        assert_int_equal(aq_subscriber_create(url, &net_kit_limits, &subscriber, NULL), 0);
        for (int tries = 0; tries < CALL_MS / 10 && rc == AQ_E_TIMEOUT; tries++) {
            assert_int_equal(aq_publisher_send(publisher, "news", 4), 0);
            rc = aq_subscriber_receive(subscriber, 10, heard);
        }
        assert_int_equal(rc, 0);
        aq_subscriber_destroy(subscriber);
        aq_publisher_close(publisher);
    }
}

TEST(experience_finds_its_shard)
{
    EACH_ROW(i, lists) {
        atomic_store(&hosts, lists[i]);
        net_kit_deliver(&net_kit_limits, &net_kit_limits, by_name, 1);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct hope {
    char url[AQ_URL_MAX];
    const char *words;
} hope;

static bool is_said(void *user)
{
    const hope *hoped = user;
    char words[AQ_DIAL_WORDS_MAX];
    aq_name_turns_words(hoped->url, words, sizeof(words));
    return strcmp(words, hoped->words) == 0;
}

/* Who calls that host, where nobody listens, learns this; the loop runs meanwhile. */
static void expect_words(const char *host, bool is_slow, const char *words)
{
    hope hoped = {.words = words};
    net_pair *pair = net_pair_serve(NULL, NULL, CALL_MS);
    net_pair_stop_server(pair);
    (void)snprintf(hoped.url, sizeof(hoped.url), "tcp://%s%s", host, strrchr(pair->url, ':'));
    if (is_slow) {
        pthread_mutex_lock(&gate);
    }
    net_pair_dial(pair, hoped.url);
    (void)net_pair_fetch(pair, 10);
    net_kit_run_until(&pair->loop, is_said, &hoped);
    if (is_slow) {
        pthread_mutex_unlock(&gate);
    }
}

TEST(what_came_of_each_address_is_said)
{
    /* At 127.0.0.1 others may listen by then. */
    atomic_store(&hosts, "127.0.0.2 127.0.0.3");
    expect_words("learner.test", false,
                 "learner.test is 127.0.0.2, 127.0.0.3; 127.0.0.2: refused; 127.0.0.3: refused");
    atomic_store(&hosts, "127.0.0.3");
    expect_words("Learner.Test", false, "learner.test is 127.0.0.3: refused"); /* NNG's spelling */
    expect_words("127.0.0.2", false, "refused");
    expect_words("nobody.test", false, "nobody.test: Name or service not known");
    expect_words("slow.test", true, "slow.test: the name is being looked up");
}

TEST(the_last_failure_is_said_while_a_new_try_goes_on)
{
    static const char url[] = "tcp://learner.test:3";
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char words[AQ_DIAL_WORDS_MAX];
    struct addrinfo *found = NULL;
    atomic_store(&hosts, "127.0.0.2");
    assert_int_equal(getaddrinfo("learner.test", "3", &hints, &found), 0);
    (void)aq_name_turns_begin(TRY, found->ai_addr);
    aq_name_turns_words(url, words, sizeof(words));
    assert_string_equal(words, "learner.test is 127.0.0.2: no answer yet");
    aq_name_turns_end(TRY, ECONNREFUSED);
    (void)aq_name_turns_begin(TRY, found->ai_addr);
    aq_name_turns_words(url, words, sizeof(words));
    assert_string_equal(words, "learner.test is 127.0.0.2: refused");
    freeaddrinfo(found);
}

TEST(of_other_urls_nothing_is_known)
{
    static const char *const urls[] = {"ipc:///tmp/x", "tcp://never.test:5550"};
    for (size_t i = 0; i < 2; i++) {
        char words[AQ_DIAL_WORDS_MAX] = "something";
        aq_name_turns_words(urls[i], words, sizeof(words));
        assert_string_equal(words, "");
    }
}

TEST(a_call_that_reached_nobody_says_it)
{
    hope hoped = {.words = "refused"};
    net_pair *pair = net_pair_open("tcp", SHORT_MS);
    net_pair_wait(pair, net_pair_fetch(pair, 10));
    net_pair_stop_server(pair);
    memcpy(hoped.url, pair->url, sizeof(hoped.url));
    net_kit_run_until(&pair->loop, is_said, &hoped); /* not each dial is as short as the call */
    const rpc_result *result = net_pair_wait(pair, net_pair_fetch(pair, 10));
    assert_int_equal(result->code, AQ_RPC_DEADLINE_EXCEEDED);
    assert_says(result->message, "no answer within 400 ms: ");
}
