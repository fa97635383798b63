/*
 * The broadcast: the newest message wins, waiting ends when it should, and nobody is waited for.
 */
#include <pthread.h>

#include "common/net/sockets/pubsub.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { WAIT_MS = NET_KIT_PATIENCE_MS };

#define HELLO UINT32_C(0xffff0000) /* and above: says that the two are connected */

typedef struct fixture {
    aq_publisher *publisher;
    aq_subscriber *subscriber;
    aq_buffer out;
    char url[AQ_URL_MAX];
} fixture;

static uint8_t bytes[NET_KIT_MESSAGE_MAX + 1];

static void open_publisher(fixture *f, const char *url)
{
    assert_int_equal(aq_publisher_create(url, &net_kit_limits, &f->publisher, NULL), 0);
    memcpy(f->url, aq_publisher_url(f->publisher), strlen(aq_publisher_url(f->publisher)) + 1);
}

static void publish(fixture *f, uint32_t number, size_t size)
{
    memcpy(bytes, &number, sizeof(number));
    assert_int_equal(aq_publisher_send(f->publisher, bytes, size), 0);
}

static int receive_any(fixture *f, int timeout_ms, uint32_t *ret_number)
{
    int rc = aq_subscriber_receive(f->subscriber, timeout_ms, &f->out);
    if (rc == 0) {
        assert_true(f->out.size >= sizeof(*ret_number));
        memcpy(ret_number, f->out.data, sizeof(*ret_number));
    }
    return rc;
}

/* Passes over what is left of hellos, however late it comes. */
static int receive(fixture *f, int timeout_ms, uint32_t *ret_number)
{
    int rc;
    do {
        rc = receive_any(f, timeout_ms, ret_number);
    } while (rc == 0 && *ret_number >= HELLO);
    return rc;
}

/* Says a hello of its own until that comes through: then the two are connected. */
static void meet(fixture *f)
{
    static uint32_t hello = HELLO;
    uint32_t number = 0;
    hello++;
    for (int tries = 0; tries < WAIT_MS / 10; tries++) {
        publish(f, hello, 4);
        if (receive_any(f, 10, &number) == 0 && number == hello) {
            return;
        }
    }
    fail_msg("publisher and subscriber never met");
}

static void end_fixture(void *user)
{
    fixture *f = user;
    aq_subscriber_destroy(f->subscriber);
    aq_publisher_close(f->publisher);
    aq_buffer_fini(&f->out);
    free(f);
}

/* A publisher that nobody listens to yet. */
static fixture *open_alone(const char *transport)
{
    char url[AQ_URL_MAX];
    fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    at_end(end_fixture, f);
    aq_buffer_init(&f->out, NET_KIT_MESSAGE_MAX);
    open_publisher(f, net_kit_url(transport, url));
    return f;
}

static fixture *open_fixture(const char *transport)
{
    fixture *f = open_alone(transport);
    assert_int_equal(aq_subscriber_create(f->url, &net_kit_limits, &f->subscriber, NULL), 0);
    meet(f);
    return f;
}

TEST(a_message_is_received_whole)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    static const size_t sizes[] = {4, 1000, 70000, NET_KIT_MESSAGE_MAX};
    for (int i = 0; i < 3; i++) {
        fixture *f = open_fixture(transports[i]);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t number = 0;
            publish(f, k, sizes[k]);
            assert_int_equal(receive(f, WAIT_MS, &number), 0);
            assert_int_equal(number, k);
            assert_int_equal(f->out.size, sizes[k]);
        }
    }
}

/* All are published before the subscriber looks: it gets the newest, and perhaps some before. A
 * transport that is late may bring all of a round, so that rounds go on until one has a gap. */
TEST(a_slow_subscriber_gets_the_newest)
{
    enum { EACH = 100, ROUNDS_MIN = 20, ROUNDS_MAX = 2000 };
    uint32_t received = 0, published = 0;
    fixture *f = open_fixture("ipc");
    for (int round = 0; round < ROUNDS_MIN || received == published; round++) {
        uint32_t number = published, newest = published + EACH;
        assert_true(round < ROUNDS_MAX);
        while (published < newest) {
            publish(f, ++published, 1000);
        }
        while (number != newest) {
            uint32_t before = number;
            assert_int_equal(receive(f, WAIT_MS, &number), 0);
            assert_true(number > before);
            received++;
        }
    }
}

TEST(waiting_ends_at_its_timeout)
{
    uint32_t number;
    fixture *f = open_fixture("tcp");
    int64_t start_ns = aq_clock_monotonic_ns();
    assert_int_equal(receive(f, 100, &number), AQ_E_TIMEOUT);
    assert_in_range(aq_clock_monotonic_ns() - start_ns, 100 * AQ_NS_PER_MS, WAIT_MS * AQ_NS_PER_MS);
    assert_int_equal(receive(f, 0, &number), AQ_E_TIMEOUT);
    assert_int_equal(f->out.size, 0);
}

/* The moment at which NNG's own timeouts break. */
TEST(messages_that_come_just_at_the_timeout_do_no_harm)
{
    uint32_t number = 0, last = 0, received = 0;
    fixture *f = open_fixture("inproc");
    for (uint32_t i = 1; i <= 2000 || (received <= 100 && i <= 100000); i++) {
        publish(f, i, 100);
        if (receive(f, (int)(i % 2), &number) == 0) {
            assert_true(number > last);
            last = number;
            received++;
        }
    }
    assert_true(received > 100);
}

static void *receive_until_closed(void *user)
{
    fixture *f = user;
    uint32_t number;
    int rc = 0;
    while (rc == 0) {
        rc = receive(f, WAIT_MS, &number);
    }
    return rc == AQ_E_CLOSED ? f : NULL;
}

TEST(waking_ends_a_wait_and_nothing_else)
{
    const int64_t start_ns = aq_clock_monotonic_ns();
    uint32_t number;
    fixture *f = open_fixture("ipc");
    aq_subscriber_wake(f->subscriber);
    aq_subscriber_wake(f->subscriber);
    assert_int_equal(receive(f, WAIT_MS, &number), AQ_E_TIMEOUT);
    assert_true(aq_clock_monotonic_ns() - start_ns < WAIT_MS * AQ_NS_PER_MS);
    assert_int_equal(receive(f, 0, &number), AQ_E_TIMEOUT);
    publish(f, 7, 1000);
    assert_int_equal(receive(f, WAIT_MS, &number), 0);
    assert_int_equal(number, 7);
}

TEST(stopping_wakes_the_receiver)
{
    void *result = NULL;
    uint32_t number;
    pthread_t thread;
    fixture *f = open_fixture("tcp");
    assert_int_equal(pthread_create(&thread, NULL, receive_until_closed, f), 0);
    for (uint32_t i = 0; i < 50; i++) {
        publish(f, i, 1000);
    }
    aq_subscriber_stop(f->subscriber);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, f);
    assert_int_equal(receive(f, WAIT_MS, &number), AQ_E_CLOSED); /* for good */
}

static void *publish_many(void *user)
{
    fixture *f = user;
    uint8_t message[1000] = {1, 2, 3, 4};
    for (int i = 0; i < 500; i++) {
        if (aq_publisher_send(f->publisher, message, sizeof(message)) < 0) {
            return NULL;
        }
    }
    return f;
}

TEST(any_thread_may_publish)
{
    pthread_t threads[4];
    void *result;
    uint32_t number;
    fixture *f = open_fixture("ipc");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, publish_many, f), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, f);
    }
    assert_int_equal(receive(f, WAIT_MS, &number), 0);
    assert_int_equal(f->out.size, 1000);
}

TEST(publishing_to_nobody_is_fine)
{
    fixture *f = open_alone("tcp");
    for (uint32_t i = 0; i < 100; i++) {
        publish(f, i, 1000);
    }
}

TEST(a_message_past_the_limit_is_never_sent)
{
    uint32_t number = 0;
    fixture *f = open_fixture("tcp");
    assert_int_equal(aq_publisher_send(f->publisher, bytes, NET_KIT_MESSAGE_MAX + 1), AQ_E_TOO_BIG);
    publish(f, 5, 100);
    assert_int_equal(receive(f, WAIT_MS, &number), 0);
    assert_int_equal(number, 5);
}

TEST(a_message_larger_than_the_receivers_buffer_is_told)
{
    uint32_t number;
    fixture *f = open_fixture("tcp");
    aq_buffer_fini(&f->out);
    aq_buffer_init(&f->out, 100);
    publish(f, 5, 101);
    assert_int_equal(receive(f, WAIT_MS, &number), AQ_E_TOO_BIG);
}

TEST(a_publisher_that_restarts_is_found_again)
{
    static const char *const transports[] = {"tcp", "ipc"};
    for (int i = 0; i < 2; i++) {
        char url[AQ_URL_MAX];
        fixture *f = open_fixture(transports[i]);
        memcpy(url, f->url, sizeof(url));
        for (int round = 0; round < 3; round++) {
            aq_publisher_close(f->publisher);
            open_publisher(f, url);
            meet(f);
        }
    }
}

TEST(many_subscribers_get_the_same)
{
    enum { MORE = 8 };
    aq_subscriber *more[MORE];
    fixture *f = open_fixture("tcp");
    for (int i = 0; i < MORE; i++) {
        assert_int_equal(aq_subscriber_create(f->url, &net_kit_limits, &more[i], NULL), 0);
    }
    for (int i = 0; i < MORE; i++) {
        int rc;
        do { /* until it is connected */
            publish(f, 7, 5000);
            rc = aq_subscriber_receive(more[i], 20, &f->out);
        } while (rc == AQ_E_TIMEOUT);
        assert_int_equal(rc, 0);
        assert_int_equal(f->out.size, 5000);
    }
    for (int i = 0; i < MORE; i++) {
        aq_subscriber_destroy(more[i]);
    }
}

TEST(what_cannot_be_made_is_said)
{
    aq_subscriber *subscriber = NULL;
    aq_publisher *publisher = NULL;
    fixture *f = open_alone("tcp");
    assert_int_equal(aq_subscriber_create("tcp://learner", &net_kit_limits, &subscriber, &refusal),
                     AQ_E_INVALID);
    assert_refused(aq_publisher_create(f->url, &net_kit_limits, &publisher, &refusal), AQ_E_IN_USE,
                   f->url);
    assert_fails_without_memory(
        aq_publisher_create("tcp://127.0.0.1:0", &net_kit_limits, &publisher, NULL));
    assert_fails_without_memory(aq_subscriber_create(f->url, &net_kit_limits, &subscriber, NULL));
    assert_null(subscriber);
    assert_null(publisher);
    aq_publisher_close(NULL);
    aq_subscriber_destroy(NULL);
}
