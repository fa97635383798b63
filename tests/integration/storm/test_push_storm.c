/*
 * The kill storm of the guarded PUSH: pullers that are killed under load, that are slow, and that
 * end the connection themselves since a message is too large for them. What the guard is for shows
 * under AddressSanitizer with an NNG that is built with it, and as a crash now and then without.
 */
#include "common/net/address/url.h"
#include "common/net/sockets/pull.h"
#include "common/net/sockets/push.h"
#include "tests/integration/storm/storm.h"
#include "tests/support/test.h"

enum { NARROW_BYTES = 30000, SLOW_US = 300, SENDS_PER_TURN = 8 };

/* ---- the puller ---------------------------------------------------------------------------- */

static void on_message(void *user, aq_lease *message, const char *peer)
{
    const bool *is_slow = user;
    int64_t end_ns = aq_clock_monotonic_ns() + SLOW_US * AQ_NS_PER_US;
    (void)message;
    (void)peer;
    while (*is_slow && aq_clock_monotonic_ns() < end_ns) {
    }
}

static int pull(const char *url, const char *manner)
{
    bool is_slow = strcmp(manner, "slow") == 0;
    aq_net_limits limits = storm_limits;
    aq_pull *puller = NULL;
    uv_loop_t loop;
    if (strcmp(manner, "narrow") == 0) {
        limits.message_bytes_max = NARROW_BYTES;
    }
    storm_child_loop(&loop);
    if (aq_pull_create(&loop, url, &limits, on_message, &is_slow, &puller, NULL) < 0) {
        return 1;
    }
    return uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- the pusher ---------------------------------------------------------------------------- */

typedef struct pusher {
    uv_loop_t loop;
    uv_idle_t pump; /* runs while there is room */
    aq_push *push;
    aq_rng rng;
    const char *manner;
    pid_t puller;
    char url[AQ_URL_MAX];
    unsigned connected, disconnected;
    unsigned known; /* of those connected, to pullers that were killed since */
    uint64_t sent;  /* over the present connection */
    uint64_t sent_goal;
    unsigned disconnected_goal;
} pusher;

static void on_pump(uv_idle_t *idle)
{
    static uint8_t bytes[STORM_MESSAGE_MAX];
    pusher *p = idle->data;
    for (int i = 0; i < SENDS_PER_TURN; i++) {
        size_t size =
            1 + aq_rng_below(&p->rng, aq_rng_below(&p->rng, 4) == 0 ? sizeof(bytes) : 2000);
        if (aq_push_send(p->push, bytes, size) < 0) {
            uv_idle_stop(idle);
            return;
        }
        p->sent++;
    }
}

static void on_room(void *user)
{
    pusher *p = user;
    uv_idle_start(&p->pump, on_pump);
}

static void on_connected(void *user)
{
    pusher *p = user;
    p->connected++;
    p->sent = 0;
    on_room(p);
}

static void on_disconnected(void *user)
{
    ((pusher *)user)->disconnected++;
}

static void open_pusher(pusher *p, const char *transport, const char *manner)
{
    const aq_push_events events = {on_connected, on_disconnected, on_room, p};
    *p = (pusher){.manner = manner};
    storm_seed(&p->rng);
    storm_url(&p->rng, transport, p->url);
    assert_int_equal(uv_loop_init(&p->loop), 0);
    assert_int_equal(uv_idle_init(&p->loop, &p->pump), 0);
    p->pump.data = p;
    p->puller = storm_start("pull", p->url, manner);
    assert_int_equal(aq_push_create(&p->loop, p->url, &storm_limits, &events, &p->push, NULL), 0);
}

static void close_pusher(pusher *p)
{
    storm_kill(p->puller);
    aq_push_close(p->push);
    uv_close((uv_handle_t *)&p->pump, NULL);
    storm_finish_loop(&p->loop);
    storm_wait_closed();
}

/* A puller that has ended by itself could not listen yet. */
static void revive(pusher *p)
{
    if (storm_has_ended(p->puller)) {
        p->puller = storm_start("pull", p->url, p->manner);
    }
}

static bool is_loaded(void *user)
{
    pusher *p = user;
    revive(p);
    return aq_push_connected(p->push) && p->connected > p->known && p->sent >= p->sent_goal;
}

static void kill_pullers(const char *transport, const char *manner, unsigned rounds)
{
    pusher p;
    open_pusher(&p, transport, manner);
    for (unsigned i = 0; i < rounds; i++) {
        p.sent_goal = 1 + aq_rng_below(&p.rng, 200);
        storm_run_until(&p.loop, is_loaded, &p);
        p.known = p.connected;
        storm_kill(p.puller);
        storm_run_for(&p.loop, aq_rng_below(&p.rng, 5));
        p.puller = storm_start("pull", p.url, manner);
        p.sent = 0;
    }
    storm_run_until(&p.loop, is_loaded, &p);
    close_pusher(&p);
}

TEST(killed_pullers_do_the_pusher_no_harm)
{
    kill_pullers("tcp", "fast", storm_rounds() / 4);
    kill_pullers("ipc", "fast", storm_rounds() / 4);
}

TEST(killed_slow_pullers_do_the_pusher_no_harm)
{
    kill_pullers("tcp", "slow", storm_rounds() / 4);
    kill_pullers("ipc", "slow", storm_rounds() / 8);
}

static bool was_thrown_out(void *user)
{
    pusher *p = user;
    revive(p);
    return p->disconnected >= p->disconnected_goal;
}

TEST(peers_that_end_the_connection_do_the_pusher_no_harm)
{
    pusher p;
    open_pusher(&p, "tcp", "narrow");
    for (unsigned i = 0; i < storm_rounds() / 8; i++) {
        p.disconnected_goal = p.disconnected + 1 + (unsigned)aq_rng_below(&p.rng, 6);
        storm_run_until(&p.loop, was_thrown_out, &p);
        storm_kill(p.puller);
        p.puller = storm_start("pull", p.url, "narrow");
    }
    close_pusher(&p);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        return pull(argv[2], argv[3]);
    }
    return aq_test_run(NULL);
}
