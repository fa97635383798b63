/*
 * See storm.h.
 */
#include "tests/integration/storm/storm.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/net/address/url.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/sockets/pull.h"
#include "tests/support/test.h"

enum { ROUNDS_DEFAULT = 40, PATIENCE_MS = 240000, LOOK_UP_MS = 2, ORPHAN_CHECK_MS = 500 };
enum { PORT_MIN = 30000, PORT_COUNT = 2000 }; /* no dashboard's, and not the system's own */

extern char **environ;

static unsigned ipc_urls; /* given out by this process */

const aq_net_limits storm_limits = {
    .message_bytes_max = STORM_MESSAGE_MAX, .reconnect_min_ms = 2, .reconnect_max_ms = 20};

unsigned storm_rounds(void)
{
    return (unsigned)test_number("AQ_STORM", ROUNDS_DEFAULT);
}

void storm_seed(aq_rng *rng)
{
    aq_rng_init(rng, test_seed_or(aq_rng_system_seed()), 0);
}

/* ---- addresses ----------------------------------------------------------------------------- */

static void ignore(void *user, aq_lease *message, const char *peer)
{
    (void)user;
    (void)message;
    (void)peer;
}

void storm_finish_loop(uv_loop_t *loop)
{
    assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(loop), 0);
}

void storm_wait_closed(void)
{
    const int64_t late_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    while (aq_net_unclosed() > 0) {
        assert_true(aq_clock_monotonic_ns() < late_ns);
        (void)poll(NULL, 0, LOOK_UP_MS);
    }
}

/* Binds the port and does not listen at it, as the clusters of other tests do (cluster.c): who
 * listens sets SO_REUSEADDR and still can, they find it taken. It is given back by the end of the
 * process. */
static bool hold_port(unsigned port)
{
    static const int yes = 1;
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(held >= 0);
    if (bind(held, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(held);
        return false;
    }
    assert_int_equal(setsockopt(held, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
    return true;
}

/* True when one can listen there. */
static bool is_free(const char *url)
{
    aq_pull *pull = NULL;
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    int rc = aq_pull_create(&loop, url, &storm_limits, ignore, NULL, &pull, NULL);
    aq_pull_close(pull);
    storm_finish_loop(&loop);
    return rc == 0;
}

static void ipc_url(unsigned number, char *ret_url)
{
    snprintf(ret_url, AQ_URL_MAX, "ipc:///tmp/aq-storm-%ld-%u", (long)getpid(), number);
}

/* Who is killed leaves its socket's name behind. */
static void remove_ipc_names(void)
{
    char url[AQ_URL_MAX];
    for (unsigned i = 0; i < ipc_urls; i++) {
        ipc_url(i, url);
        (void)unlink(url + strlen("ipc://"));
    }
}

void storm_url(aq_rng *rng, const char *transport, char *ret_url)
{
    do {
        if (strcmp(transport, "tcp") == 0) {
            unsigned port;
            do {
                port = PORT_MIN + (unsigned)aq_rng_below(rng, PORT_COUNT);
            } while (!hold_port(port));
            snprintf(ret_url, AQ_URL_MAX, "tcp://127.0.0.1:%u", port);
        } else {
            if (ipc_urls == 0) {
                assert_int_equal(atexit(remove_ipc_names), 0);
            }
            ipc_url(ipc_urls++, ret_url);
        }
    } while (!is_free(ret_url));
}

/* ---- processes ----------------------------------------------------------------------------- */

pid_t storm_start(const char *role, const char *url, const char *argument)
{
    char *arguments[] = {(char *)(uintptr_t) "storm", (char *)(uintptr_t)role,
                         (char *)(uintptr_t)url, (char *)(uintptr_t)argument, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
    return child;
}

void storm_kill(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    while (waitpid(child, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
}

bool storm_has_ended(pid_t child)
{
    int status;
    return waitpid(child, &status, WNOHANG) == child;
}

static void on_orphan_check(uv_timer_t *timer)
{
    const pid_t *parent = timer->data;
    if (getppid() != *parent) {
        kill(getpid(), SIGKILL);
    }
}

void storm_child_loop(uv_loop_t *ret_loop)
{
    static uv_timer_t timer;
    static pid_t parent;
    parent = getppid();
    if (uv_loop_init(ret_loop) != 0 || uv_timer_init(ret_loop, &timer) != 0) {
        kill(getpid(), SIGKILL);
    }
    timer.data = &parent;
    uv_timer_start(&timer, on_orphan_check, ORPHAN_CHECK_MS, ORPHAN_CHECK_MS);
}

/* ---- loops --------------------------------------------------------------------------------- */

static void on_look_up(uv_timer_t *timer)
{
    (void)timer;
}

static void free_handle(uv_handle_t *handle)
{
    aq_free(handle);
}

static bool run(uv_loop_t *loop, storm_fn done, void *user, uint64_t time_ms)
{
    int64_t end_ns = aq_clock_monotonic_ns() + (int64_t)time_ms * AQ_NS_PER_MS;
    uv_timer_t *timer = aq_alloc(1, sizeof(*timer));
    assert_non_null(timer);
    assert_int_equal(uv_timer_init(loop, timer), 0);
    assert_int_equal(uv_timer_start(timer, on_look_up, 0, LOOK_UP_MS), 0);
    while (aq_clock_monotonic_ns() < end_ns && (done == NULL || !done(user))) {
        uv_run(loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)timer, free_handle);
    return done == NULL || done(user);
}

void storm_run_until(uv_loop_t *loop, storm_fn done, void *user)
{
    if (!run(loop, done, user, PATIENCE_MS)) {
        fail_msg("not done after %d ms%s", PATIENCE_MS,
                 aq_net_unclosed() > 0 ? ", and NNG has not closed a socket" : "");
    }
}

void storm_run_for(uv_loop_t *loop, uint64_t time_ms)
{
    (void)run(loop, NULL, NULL, time_ms);
}
