/*
 * PULL on the loop: order, who it came from, back-pressure, and peers that send too much.
 */
#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <stdatomic.h>

#include "common/net/sockets/endpoint.h"
#include "common/net/sockets/pull.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { SENDERS = 4, MESSAGES = 200, KEPT_MAX = 10 };

typedef struct fixture {
    uv_loop_t loop;
    aq_pull *pull;
    unsigned count;
    size_t bytes;
    unsigned goal;
    uint32_t next[SENDERS]; /* the number that each sender's next message must have */
    char peer[AQ_PEER_TEXT_MAX];
    bool close_at_once;
    aq_lease *kept[KEPT_MAX];
    unsigned keep, kept_count;
    bool is_closed;
} fixture;

/* A message is its sender and its number. */
static void on_message(void *user, aq_lease *message, const char *peer)
{
    fixture *f = user;
    uint32_t words[2];
    assert_true(message->size >= sizeof(words));
    memcpy(words, message->bytes, sizeof(words));
    assert_true(words[0] < SENDERS);
    assert_int_equal(words[1], f->next[words[0]]);
    f->next[words[0]]++;
    f->count++;
    f->bytes += message->size;
    if (f->kept_count < f->keep) {
        f->kept[f->kept_count++] = aq_lease_ref(message);
    }
    snprintf(f->peer, sizeof(f->peer), "%s", peer);
    if (f->close_at_once) {
        aq_pull_close(f->pull);
        f->pull = NULL;
    }
}

static void close_fixture(fixture *f)
{
    if (!f->is_closed) {
        f->is_closed = true;
        aq_pull_close(f->pull);
        net_kit_finish_loop(&f->loop);
    }
}

static void end_fixture(void *f)
{
    close_fixture(f);
    free(f);
}

static fixture *open_fixture(const char *transport)
{
    char url[AQ_URL_MAX];
    fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    at_end(end_fixture, f);
    assert_int_equal(aq_pull_create(&f->loop, net_kit_url(transport, url), &net_kit_limits,
                                    on_message, f, &f->pull, NULL),
                     0);
    return f;
}

static bool goal_is_reached(void *user)
{
    const fixture *f = user;
    return f->count >= f->goal;
}

static void run_until_count(fixture *f, unsigned goal)
{
    f->goal = goal;
    net_kit_run_until(&f->loop, goal_is_reached, f);
}

/* NNG's own PUSH, for one connection: a second one of the same socket touches freed memory (the
 * top comment of push.c says how), and a socket whose peer went dials by itself. */
typedef struct bare_push {
    nng_socket socket;
    atomic_bool has_connected;
    bool is_closed;
} bare_push;

static void refuse_second_pipe(nng_pipe pipe, nng_pipe_ev event, void *user)
{
    bare_push *sender = user;
    (void)event;
    if (atomic_exchange(&sender->has_connected, true)) {
        nng_pipe_close(pipe);
    }
}

static void close_sender(bare_push *sender)
{
    if (!sender->is_closed) {
        sender->is_closed = true;
        net_kit_close_socket(sender->socket);
    }
}

static void end_sender(void *sender)
{
    close_sender(sender);
    free(sender);
}

static bare_push *open_sender(const fixture *f)
{
    bare_push *sender = calloc(1, sizeof(*sender));
    assert_non_null(sender);
    atomic_init(&sender->has_connected, false);
    assert_int_equal(nng_push0_open(&sender->socket), 0);
    at_end(end_sender, sender);
    assert_int_equal(
        nng_pipe_notify(sender->socket, NNG_PIPE_EV_ADD_PRE, refuse_second_pipe, sender), 0);
    assert_int_equal(nng_dial(sender->socket, aq_pull_url(f->pull), NULL, 0), 0);
    return sender;
}

/* NNG's code. */
static int send_number(const bare_push *from, uint32_t sender, uint32_t number, size_t size,
                       int flags)
{
    static uint8_t bytes[NET_KIT_MESSAGE_MAX + 1];
    uint32_t words[2] = {sender, number};
    memcpy(bytes, words, sizeof(words));
    return nng_send(from->socket, bytes, size, flags);
}

TEST(messages_of_each_connection_come_in_order)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    for (int i = 0; i < 3; i++) {
        uint32_t sent[SENDERS] = {0};
        bare_push *senders[SENDERS];
        fixture *f = open_fixture(transports[i]);
        for (int k = 0; k < SENDERS; k++) {
            senders[k] = open_sender(f);
        }
        while (f->count < SENDERS * MESSAGES) {
            for (uint32_t k = 0; k < SENDERS; k++) {
                if (sent[k] < MESSAGES && send_number(senders[k], k, sent[k], 10 + 300 * sent[k],
                                                      NNG_FLAG_NONBLOCK) == 0) {
                    sent[k]++;
                }
            }
            uv_run(&f->loop, UV_RUN_NOWAIT);
        }
        assert_ptr_equal(strstr(f->peer, transports[i]), f->peer);
    }
}

TEST(a_loop_that_is_behind_holds_the_senders_back)
{
    enum { SIZE = 100000, PLENTY = 2000 };
    uint32_t sent = 0;
    fixture *f = open_fixture("ipc");
    bare_push *sender = open_sender(f);
    /* The loop does not run. A sender that found no room for a while is held back. */
    assert_int_equal(nng_socket_set_ms(sender->socket, NNG_OPT_SENDTIMEO, 200), 0);
    while (sent < PLENTY && send_number(sender, 0, sent, SIZE, 0) == 0) {
        sent++;
    }
    assert_true(sent < PLENTY);
    run_until_count(f, sent);
    assert_int_equal(f->bytes, (size_t)sent * SIZE);
}

TEST(a_message_past_the_limit_ends_its_connection_only)
{
    fixture *f = open_fixture("tcp");
    bare_push *bad = open_sender(f);
    bare_push *good = open_sender(f);
    assert_int_equal(send_number(bad, 1, 0, NET_KIT_MESSAGE_MAX + 1, 0), 0);
    assert_int_equal(send_number(good, 0, 0, NET_KIT_MESSAGE_MAX, 0), 0);
    run_until_count(f, 1);
    net_kit_run_for(&f->loop, 50);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->next[0], 1);
}

TEST(within_the_process_the_limit_holds_as_well)
{
    fixture *f = open_fixture("inproc");
    bare_push *sender = open_sender(f);
    assert_int_equal(send_number(sender, 0, 7, NET_KIT_MESSAGE_MAX + 1, 0), 0);
    net_kit_run_for(&f->loop, 30);
    assert_int_equal(f->count, 0);
    assert_int_equal(send_number(sender, 0, 0, 100, 0), 0);
    run_until_count(f, 1);
}

TEST(a_message_that_is_kept_outlives_its_socket)
{
    fixture *f = open_fixture("ipc");
    bare_push *sender = open_sender(f);
    f->keep = KEPT_MAX;
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        assert_int_equal(send_number(sender, 0, i, 5000, 0), 0);
    }
    run_until_count(f, KEPT_MAX);
    close_sender(sender);
    close_fixture(f);
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        uint32_t words[2];
        assert_int_equal(f->kept[i]->size, 5000);
        memcpy(words, f->kept[i]->bytes, sizeof(words));
        assert_int_equal(words[1], i);
        aq_lease_unref(f->kept[i]);
    }
}

/* The sender has it until it is acknowledged: the next ones come all the same. */
TEST(a_message_without_memory_is_dropped)
{
    fixture *f = open_fixture("inproc");
    bare_push *sender = open_sender(f);
    uint64_t before = aq_memory_allocation_count();
    aq_memory_fail_at(1, 0);
    assert_int_equal(send_number(sender, 0, 7, 100, 0), 0);
    while (aq_memory_allocation_count() == before) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    aq_memory_fail_at(0, 0);
    assert_int_equal(f->count, 0);
    assert_int_equal(send_number(sender, 0, 0, 100, 0), 0);
    run_until_count(f, 1);
}

static bool is_pull_closed(void *user)
{
    return ((const fixture *)user)->pull == NULL;
}

TEST(receiving_may_close)
{
    fixture *f = open_fixture("tcp");
    bare_push *sender = open_sender(f);
    f->close_at_once = true;
    for (uint32_t i = 0; i < 20; i++) {
        (void)send_number(sender, 0, i, 100, NNG_FLAG_NONBLOCK);
    }
    net_kit_run_until(&f->loop, is_pull_closed, f);
    assert_int_equal(f->count, 1);
}

TEST(an_address_in_use_is_named)
{
    aq_pull *second = NULL;
    fixture *f = open_fixture("tcp");
    assert_refused(aq_pull_create(&f->loop, aq_pull_url(f->pull), &net_kit_limits, on_message, f,
                                  &second, &refusal),
                   AQ_E_IN_USE, aq_pull_url(f->pull));
    assert_null(second);
    aq_pull_close(NULL);
}

TEST(creating_without_memory_leaves_nothing_behind)
{
    aq_pull *pull = NULL;
    assert_fails_without_memory(aq_pull_create(net_kit_loop(), "tcp://127.0.0.1:0", &net_kit_limits,
                                               on_message, NULL, &pull, &refusal));
    assert_null(pull);
}
