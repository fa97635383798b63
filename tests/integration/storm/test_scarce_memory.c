/*
 * Memory that is short while a connection is made: whichever allocation of NNG's it is that fails,
 * the connection comes about later. The peer is no NNG, so that each of them is the dialler's.
 */
#include <nng/nng.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/net/address/url.h"
#include "common/net/nng_mend/dial_watch.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/sockets/pubsub.h"
#include "common/net/sockets/push.h"
#include "tests/integration/storm/storm.h"
#include "tests/support/test.h"

#define STAND_IN __attribute__((visibility("default")))

enum { PATIENCE_MS = 100, WAIT_MS = 20, GREETING_BYTES = 8, MESSAGE_BYTES = 18 };

/* ---- no memory ------------------------------------------------------------------------------ */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static _Atomic int fails_in; /* the allocation of NNG's threads that fails; 0 and below: none */
static _Thread_local bool has_plenty;

static bool fails(void)
{
    return !has_plenty && atomic_load(&fails_in) > 0 && atomic_fetch_sub(&fails_in, 1) == 1;
}

STAND_IN void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

STAND_IN void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

/* ---- the peer ------------------------------------------------------------------------------- */

typedef struct scarce_kit scarce_kit;

typedef struct dialler {
    uint8_t peer; /* SP's number */
    size_t says_bytes;
    int (*open)(scarce_kit *kit);
    storm_fn is_there;
    void (*close)(scarce_kit *kit);
} dialler;

struct scarce_kit {
    uv_loop_t loop;
    uv_thread_t thread;
    int listener;
    char url[AQ_URL_MAX];
    uint8_t says[MESSAGE_BYTES]; /* its greeting, and a message of one byte */
    size_t says_bytes;
    aq_rpc_client *client;
    aq_push *push;
    aq_subscriber *subscriber;
    bool has_heard;
    const dialler *open; /* NULL: none is */
};

/* Lets everybody in, and never goes. */
static void serve(void *user)
{
    scarce_kit *kit = user;
    has_plenty = true;
    for (;;) {
        int peer = accept(kit->listener, NULL, NULL);
        if (peer < 0) {
            return;
        }
        (void)send(peer, kit->says, kit->says_bytes, MSG_NOSIGNAL);
    }
}

static void listen_as(scarce_kit *kit, uint8_t protocol, size_t says_bytes)
{
    const uint8_t says[] = {0, 'S', 'P', 0, 0, protocol, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 'x'};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    aq_rng rng;
    storm_seed(&rng);
    storm_url(&rng, "ipc", kit->url);
    memcpy(kit->says, says, sizeof(says));
    kit->says_bytes = says_bytes;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", kit->url + strlen("ipc://"));
    kit->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(kit->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(kit->listener, 16), 0);
    assert_int_equal(uv_thread_create(&kit->thread, serve, kit), 0);
}

static void scarce_kit_setup(scarce_kit *kit)
{
    has_plenty = true;
    aq_dial_watch_patience(PATIENCE_MS);
    assert_int_equal(uv_loop_init(&kit->loop), 0);
}

static void close_dialler(scarce_kit *kit)
{
    atomic_store(&fails_in, 0);
    if (kit->open != NULL) {
        kit->open->close(kit);
        kit->open = NULL;
    }
}

static void scarce_kit_teardown(scarce_kit *kit)
{
    close_dialler(kit);
    storm_finish_loop(&kit->loop);
    (void)shutdown(kit->listener, SHUT_RDWR);
    assert_int_equal(uv_thread_join(&kit->thread), 0);
    close(kit->listener);
    (void)unlink(kit->url + strlen("ipc://"));
}

/* ---- who dials ------------------------------------------------------------------------------ */

static int open_client(scarce_kit *kit)
{
    return aq_rpc_client_create(&kit->loop, kit->url, &storm_limits, 1, &kit->client, NULL);
}

static bool client_is_there(void *user)
{
    return aq_rpc_client_connected(((scarce_kit *)user)->client);
}

static void close_client(scarce_kit *kit)
{
    aq_rpc_client_close(kit->client);
}

static int open_push(scarce_kit *kit)
{
    const aq_push_events none = {0};
    return aq_push_create(&kit->loop, kit->url, &storm_limits, &none, &kit->push, NULL);
}

static bool push_is_there(void *user)
{
    return aq_push_connected(((scarce_kit *)user)->push);
}

static void close_push(scarce_kit *kit)
{
    aq_push_close(kit->push);
}

static int open_subscriber(scarce_kit *kit)
{
    kit->has_heard = false;
    return aq_subscriber_create(kit->url, &storm_limits, &kit->subscriber, NULL);
}

static bool subscriber_is_there(void *user)
{
    scarce_kit *kit = user;
    aq_buffer heard;
    aq_buffer_init(&heard, STORM_MESSAGE_MAX);
    kit->has_heard = kit->has_heard || aq_subscriber_receive(kit->subscriber, WAIT_MS, &heard) == 0;
    aq_buffer_fini(&heard);
    return kit->has_heard;
}

static void close_subscriber(scarce_kit *kit)
{
    aq_subscriber_destroy(kit->subscriber);
}

/* Until all that a connection takes is there at once. */
static void dial_until_nothing_fails(scarce_kit *kit, const dialler *it)
{
    int nth = 0;
    bool has_failed;
    listen_as(kit, it->peer, it->says_bytes);
    do {
        atomic_store(&fails_in, ++nth);
        assert_int_equal(it->open(kit), 0);
        kit->open = it;
        storm_run_until(&kit->loop, it->is_there, kit);
        has_failed = atomic_load(&fails_in) <= 0;
        close_dialler(kit);
    } while (has_failed);
    assert_true(nth > 2);
}

TEST_IN(scarce_kit, kit, whatever_fails_once_calls_get_through_later)
{
    static const dialler it = {0x31, GREETING_BYTES, open_client, client_is_there, close_client};
    dial_until_nothing_fails(kit, &it);
}

TEST_IN(scarce_kit, kit, whatever_fails_once_experience_gets_through_later)
{
    static const dialler it = {0x51, GREETING_BYTES, open_push, push_is_there, close_push};
    dial_until_nothing_fails(kit, &it);
}

TEST_IN(scarce_kit, kit, whatever_fails_once_policies_get_through_later)
{
    static const dialler it = {0x20, MESSAGE_BYTES, open_subscriber, subscriber_is_there,
                               close_subscriber};
    dial_until_nothing_fails(kit, &it);
}
