/*
 * The kill storm of the broadcast: publishers that are killed in mid-message, and subscribers that
 * are killed while they are sent to.
 */
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/sockets/pubsub.h"
#include "tests/integration/storm/storm.h"
#include "tests/support/test.h"

enum { MESSAGE_BYTES = 100000, SUBSCRIBERS = 4, PUBLISH_MS = 1, PATIENCE_MS = 240000 };

/* ---- children ------------------------------------------------------------------------------ */

typedef struct publishing {
    aq_publisher *publisher;
    uv_timer_t timer;
    uint64_t number; /* of the publisher's life, in each message */
} publishing;

static void on_publish(uv_timer_t *timer)
{
    static uint8_t bytes[MESSAGE_BYTES];
    publishing *p = timer->data;
    memcpy(bytes, &p->number, sizeof(p->number));
    if (aq_publisher_send(p->publisher, bytes, sizeof(bytes)) < 0) {
        uv_stop(timer->loop);
    }
}

static int start_publishing(publishing *p, uv_loop_t *loop, const char *url)
{
    int rc = aq_publisher_create(url, &storm_limits, &p->publisher, NULL);
    if (rc == 0) {
        rc = uv_timer_init(loop, &p->timer);
    }
    p->timer.data = p;
    return rc < 0 ? rc : uv_timer_start(&p->timer, on_publish, 0, PUBLISH_MS);
}

static int publish(const char *url, const char *number)
{
    publishing p;
    uv_loop_t loop;
    storm_child_loop(&loop);
    if (aq_parse_u64(number, &p.number) < 0 || start_publishing(&p, &loop, url) < 0) {
        return 1;
    }
    return uv_run(&loop, UV_RUN_DEFAULT);
}

static int subscribe(const char *url)
{
    aq_subscriber *subscriber = NULL;
    pid_t parent = getppid();
    aq_buffer out;
    aq_buffer_init(&out, STORM_MESSAGE_MAX);
    int rc = aq_subscriber_create(url, &storm_limits, &subscriber, NULL);
    while ((rc == 0 || rc == AQ_E_TIMEOUT) && getppid() == parent) {
        rc = aq_subscriber_receive(subscriber, 500, &out);
    }
    return 1;
}

/* ---- publishers that are killed ------------------------------------------------------------ */

/* Receives until a message of this life of the publisher comes. */
static void receive_number(aq_subscriber *subscriber, const char *url, const char *text,
                           uint64_t number, pid_t *publisher)
{
    int64_t end_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    uint64_t received = 0;
    aq_buffer *out = buffer_up_to(STORM_MESSAGE_MAX);
    while (received != number) {
        int rc = aq_subscriber_receive(subscriber, 100, out);
        assert_true(rc == 0 || rc == AQ_E_TIMEOUT);
        assert_true(aq_clock_monotonic_ns() < end_ns);
        if (rc == 0) {
            assert_int_equal(out->size, MESSAGE_BYTES); /* whole, or not at all */
            memcpy(&received, out->data, sizeof(received));
            assert_true(received <= number);
        } else if (storm_has_ended(*publisher)) { /* it could not listen yet */
            *publisher = storm_start("publish", url, text);
        }
    }
}

static void kill_publishers(const char *transport, unsigned rounds)
{
    aq_subscriber *subscriber = NULL;
    char url[AQ_URL_MAX], text[24];
    aq_rng rng;
    storm_seed(&rng);
    storm_url(&rng, transport, url);
    assert_int_equal(aq_subscriber_create(url, &storm_limits, &subscriber, NULL), 0);
    for (unsigned i = 1; i <= rounds; i++) {
        snprintf(text, sizeof(text), "%u", i);
        pid_t publisher = storm_start("publish", url, text);
        for (uint64_t more = aq_rng_below(&rng, 5) + 1; more > 0; more--) {
            receive_number(subscriber, url, text, i, &publisher);
        }
        storm_kill(publisher);
    }
    aq_subscriber_destroy(subscriber);
    storm_wait_closed();
}

TEST(killed_publishers_do_the_subscriber_no_harm)
{
    kill_publishers("tcp", storm_rounds() / 4);
    kill_publishers("ipc", storm_rounds() / 4);
}

/* ---- subscribers that are killed ----------------------------------------------------------- */

static void kill_subscribers(const char *transport, unsigned rounds)
{
    publishing p = {.number = 1};
    aq_subscriber *witness = NULL;
    pid_t children[SUBSCRIBERS];
    char url[AQ_URL_MAX];
    uv_loop_t loop;
    aq_buffer *out = buffer_up_to(STORM_MESSAGE_MAX);
    aq_rng rng;
    int rc = AQ_E_TIMEOUT;
    storm_seed(&rng);
    storm_url(&rng, transport, url);
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(start_publishing(&p, &loop, url), 0);
    for (int i = 0; i < SUBSCRIBERS; i++) {
        children[i] = storm_start("subscribe", url, NULL);
    }
    for (unsigned i = 0; i < rounds; i++) {
        size_t victim = aq_rng_below(&rng, SUBSCRIBERS);
        storm_run_for(&loop, 5 + aq_rng_below(&rng, 40));
        storm_kill(children[victim]);
        children[victim] = storm_start("subscribe", url, NULL);
    }
    assert_int_equal(aq_subscriber_create(url, &storm_limits, &witness, NULL), 0);
    const int64_t end_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    while (rc == AQ_E_TIMEOUT && aq_clock_monotonic_ns() < end_ns) {
        storm_run_for(&loop, 5);
        rc = aq_subscriber_receive(witness, 5, out);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(out->size, MESSAGE_BYTES);
    for (int i = 0; i < SUBSCRIBERS; i++) {
        storm_kill(children[i]);
    }
    uv_close((uv_handle_t *)&p.timer, NULL);
    storm_finish_loop(&loop);
    aq_subscriber_destroy(witness);
    aq_publisher_close(p.publisher);
    storm_wait_closed();
}

TEST(killed_subscribers_do_the_publisher_no_harm)
{
    kill_subscribers("tcp", storm_rounds() / 4);
    kill_subscribers("ipc", storm_rounds() / 4);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        return publish(argv[2], argv[3]);
    }
    if (argc == 3) {
        return subscribe(argv[2]);
    }
    return aq_test_run(NULL);
}
