/*
 * What TLS and tokens cost: bytes a second of experience (PUSH to PULL) by size of message, and the
 * time of a call, between two processes of this host, in plain and protected, in turn.
 *
 *     build/bench/tls_bench [SECONDS]
 *
 * Each way has a process that takes, which waits idle until it is its turn.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/certs_folder.h"
#include "common/net/security/security.h"
#include "common/net/sockets/pull.h"
#include "common/net/sockets/push.h"
#include "common/sys/file.h"
#include "common/sys/process.h"
#include "proto/policy.pb-c.h"

enum {
    MESSAGE_MAX = 4 << 20,
    WARM_UP_MS = 200,
    CALLS_MS = 1000,
    PATIENCE_MS = 20000,
    PATH_ROOM = 128,
    RUNS = 5,
    PORT_MIN = 20000,
    PORT_COUNT = 10000,
};

static const aq_net_limits quick = {
    .message_bytes_max = MESSAGE_MAX, .reconnect_min_ms = 10, .reconnect_max_ms = 50};

static const struct mode {
    const char *name;
    bool certs;
    bool token;
} modes[] = {{"plain", false, false},
             {"token", false, true},
             {"tls", true, false},
             {"tls+token", true, true}};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static const size_t sizes[] = {4096, 65536, 262144, 1 << 20};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

typedef struct taker {
    uv_process_t process;
    char push_url[AQ_URL_MAX];
    char rpc_url[AQ_URL_MAX];
} taker;

static int listen_urls(int port, char *ret_push_url, char *ret_rpc_url)
{
    int rc = aq_text_format(ret_push_url, AQ_URL_MAX, "tcp://127.0.0.1:%d", port);
    return rc != 0 ? rc : aq_text_format(ret_rpc_url, AQ_URL_MAX, "tcp://127.0.0.1:%d", port + 1);
}

/* What a process of `mode` proves itself with. */
static int load(const char *folder, const struct mode *mode, const char *role,
                enum aq_access_role own, aq_security **ret_security, aq_error *error)
{
    char path[PATH_ROOM];
    char token[PATH_ROOM + 16];
    (void)snprintf(path, sizeof(path), "%.60s/%s/%s", folder, mode->name, role);
    (void)snprintf(token, sizeof(token), "%s/token", path);
    const aq_daemon_options options = {.certs_dir = mode->certs ? path : NULL,
                                       .token_file = mode->token ? token : NULL};
    return aq_security_load(&options, own, ret_security, error);
}

/* ---- the process that takes ------------------------------------------------------------------ */

static void drop(void *user, aq_lease *message, const char *peer)
{
    (void)user;
    (void)message;
    (void)peer;
}

static void policy_fetch(Actorq__V1__Policy_Service *service,
                         const Actorq__V1__FetchPolicyRequest *request,
                         Actorq__V1__FetchPolicyReply_Closure closure, void *call)
{
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    (void)service;
    (void)request;
    closure(&reply, call);
}

static int take(const char *folder, const struct mode *mode, int port, aq_error *error)
{
    static Actorq__V1__Policy_Service service = ACTORQ__V1__POLICY__INIT(policy_);
    uv_loop_t loop;
    aq_pull *pull;
    aq_rpc_server *server;
    aq_rpc_dispatcher *dispatcher;
    aq_security *security;
    char push_url[AQ_URL_MAX], rpc_url[AQ_URL_MAX];
    int rc = aq_process_follow_parent(getppid(), error);
    if (rc == 0) {
        rc = load(folder, mode, "learner", AQ_ACCESS_LEARNER, &security, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_net_limits limits = quick;
    limits.security = security;
    rc = uv_loop_init(&loop) ? AQ_E_NOMEM : listen_urls(port, push_url, rpc_url);
    if (rc == 0) {
        rc = aq_rpc_dispatcher_create(8, MESSAGE_MAX, 1 << 16, &dispatcher);
    }
    if (rc == 0) {
        aq_rpc_dispatcher_name(dispatcher, AQ_ACCESS_LEARNER, 0);
        rc = aq_rpc_dispatcher_add(dispatcher, &service.base);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    rc = aq_pull_create(&loop, push_url, &limits, drop, NULL, &pull, error);
    if (rc == 0) {
        rc = aq_rpc_server_create(&loop, rpc_url, &limits, dispatcher, &server, error);
    }
    if (rc == 0) {
        (void)uv_run(&loop, UV_RUN_DEFAULT); /* until it is killed */
    }
    return rc;
}

static int start_taker(uv_loop_t *loop, const char *folder, int index, taker *to, aq_error *error)
{
    char number[8], port[8];
    char take_word[] = "take", program[] = "/proc/self/exe", own_folder[PATH_ROOM];
    char *args[] = {program, take_word, own_folder, number, port, NULL};
    uv_process_options_t options = {.file = program, .args = args};
    int first = PORT_MIN + (int)(getpid() % PORT_COUNT) + 2 * index;
    (void)snprintf(number, sizeof(number), "%d", index);
    (void)snprintf(port, sizeof(port), "%d", first);
    (void)snprintf(own_folder, sizeof(own_folder), "%s", folder);
    int rc = listen_urls(first, to->push_url, to->rpc_url);
    return rc == 0 && !uv_spawn(loop, &to->process, &options)
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED, "no process can be started");
}

/* ---- the process that measures --------------------------------------------------------------- */

typedef struct pump {
    aq_push *push;
    uint8_t *message;
    size_t size;
    uint64_t bytes;
} pump;

static void send_more(void *user)
{
    pump *all = user;
    while (aq_push_send(all->push, all->message, all->size) == 0) {
        all->bytes += all->size;
    }
}

static void ignore(void *user)
{
    (void)user;
}

static void on_alarm(uv_timer_t *timer)
{
    (void)timer;
}

static void run_for(uv_loop_t *loop, int64_t time_ms)
{
    int64_t end_ns = aq_clock_monotonic_ns() + time_ms * AQ_NS_PER_MS;
    while (aq_clock_monotonic_ns() < end_ns) {
        (void)uv_run(loop, UV_RUN_ONCE);
    }
}

static int measure_bulk(uv_loop_t *loop, const taker *to, const aq_security *security, size_t size,
                        int64_t time_ms, double *ret_rate, aq_error *error)
{
    pump all = {.size = size, .message = aq_alloc(1, size)};
    const aq_push_events events = {
        .connected = send_more, .disconnected = ignore, .writable = send_more, .user = &all};
    aq_net_limits limits = quick;
    limits.security = security;
    AQ_ASSERT(all.message != NULL);
    int rc = aq_push_create(loop, to->push_url, &limits, &events, &all.push, error);
    if (rc == 0) {
        for (int waited = 0; all.bytes == 0 && waited < PATIENCE_MS; waited += WARM_UP_MS) {
            run_for(loop, WARM_UP_MS);
        }
        if (all.bytes == 0) {
            rc = aq_fail(error, AQ_E_TIMEOUT, "nobody takes messages at %s", to->push_url);
        } else {
            run_for(loop, WARM_UP_MS);
            uint64_t before = all.bytes;
            int64_t began_ns = aq_clock_monotonic_ns();
            run_for(loop, time_ms);
            double seconds = aq_ns_to_s(aq_clock_monotonic_ns() - began_ns);
            *ret_rate = (double)(all.bytes - before) / seconds / 1e6;
        }
        aq_push_close(all.push);
    }
    aq_free(all.message);
    return rc;
}

typedef struct caller {
    aq_rpc_stub stub;
    uint64_t calls;
    bool closing;
} caller;

static void call(caller *all);

static void on_reply(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    caller *all = user;
    if (!all->closing) {
        AQ_ASSERT(reply != NULL);
        all->calls++;
        call(all);
    }
}

static void call(caller *all)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    actorq__v1__policy__fetch(&all->stub.base, &request, on_reply, all);
}

static int measure_calls(uv_loop_t *loop, const taker *to, const aq_security *security,
                         double *ret_us, aq_error *error)
{
    caller all = {0};
    aq_net_limits limits = quick;
    aq_rpc_client *client;
    limits.security = security;
    int rc = aq_rpc_client_create(loop, to->rpc_url, &limits, 1, &client, error);
    if (rc != 0) {
        return rc;
    }
    aq_rpc_stub_init(&all.stub, aq_rpc_client_channel(client), &actorq__v1__policy__descriptor,
                     PATIENCE_MS);
    call(&all);
    run_for(loop, WARM_UP_MS);
    uint64_t before = all.calls;
    int64_t began_ns = aq_clock_monotonic_ns();
    run_for(loop, CALLS_MS);
    *ret_us = (double)(aq_clock_monotonic_ns() - began_ns) / 1e3 / (double)(all.calls - before);
    all.closing = true;
    aq_rpc_client_close(client);
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* All of a row in turn, so that whatever else runs here meets all alike. A token signs no
 * experience. */
static int measure_all(uv_loop_t *loop, const taker *takers, aq_security *const *own,
                       int64_t time_ms, aq_error *error)
{
    double values[MODES][RUNS];
    int rc = 0;
    (void)printf("%-12s %12s %10s %7s\n", "message", "plain", "tls", "ratio");
    for (size_t s = 0; s < SIZES; s++) {
        for (int i = 0; rc == 0 && i < RUNS * MODES; i += 2) {
            int m = i % MODES;
            rc = measure_bulk(loop, &takers[m], own[m], sizes[s], time_ms / RUNS,
                              &values[m][i / MODES], error);
        }
        if (rc != 0) {
            return rc;
        }
        double plain = aq_median(values[0], RUNS), tls = aq_median(values[2], RUNS);
        (void)printf("%9zu kB %7.0f MB/s %5.0f MB/s %7.1f\n", sizes[s] / 1024, plain, tls,
                     plain / tls);
    }
    for (int i = 0; rc == 0 && i < RUNS * MODES; i++) {
        int m = i % MODES;
        rc = measure_calls(loop, &takers[m], own[m], &values[m][i / MODES], error);
    }
    for (int m = 0; rc == 0 && m < MODES; m++) {
        (void)printf("a call, %-10s %6.0f us\n", modes[m].name, aq_median(values[m], RUNS));
    }
    return rc;
}

/* Certificates and tokens of each way, and who takes; then what is asked for. */
static int run(const char *folder, int64_t time_ms, aq_error *error)
{
    static taker takers[MODES];
    aq_security *own[MODES] = {0};
    uv_loop_t loop;
    uv_timer_t alarm;
    int started = 0;
    int rc = uv_loop_init(&loop);
    AQ_ASSERT(rc == 0);
    (void)uv_timer_init(&loop, &alarm);
    (void)uv_timer_start(&alarm, on_alarm, 10, 10);
    for (int m = 0; rc == 0 && m < MODES; m++) {
        char path[PATH_ROOM];
        char token[PATH_ROOM + 32];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, modes[m].name);
        rc = aq_certs_folder_make(path, aq_clock_wall_ns() / AQ_NS_PER_S, 1, error);
        for (int role = 0; rc == 0 && role < 2 && !modes[m].token; role++) {
            (void)snprintf(token, sizeof(token), "%s/%s/token", path,
                           role == 0 ? "learner" : "operator");
            (void)unlink(token); /* else it is taken from there */
        }
        if (rc == 0) {
            rc = load(folder, &modes[m], "operator", AQ_ACCESS_NONE, &own[m], error);
        }
        if (rc == 0) {
            rc = start_taker(&loop, folder, m, &takers[m], error);
            started += rc == 0;
        }
    }
    if (rc == 0) {
        rc = measure_all(&loop, takers, own, time_ms, error);
    }
    for (int m = 0; m < started; m++) {
        (void)uv_process_kill(&takers[m].process, SIGKILL);
        uv_close((uv_handle_t *)&takers[m].process, NULL);
    }
    uv_close((uv_handle_t *)&alarm, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    for (int m = 0; m < MODES; m++) {
        aq_security_destroy(own[m]);
    }
    return rc;
}

static int measure(double seconds, aq_error *error)
{
    char folder[] = "/tmp/tls-bench-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: %s", folder, strerror(errno));
    }
    int rc = run(folder, (int64_t)(seconds * 1000), error);
    (void)aq_dir_remove(folder);
    return rc;
}

int main(int argc, char **argv)
{
    double seconds = 2;
    aq_error error = {0};
    int rc;
    if (argc == 5 && strcmp(argv[1], "take") == 0) {
        int64_t mode = 0, port = 0;
        rc = aq_parse_i64(argv[3], &mode) != 0 || aq_parse_i64(argv[4], &port) != 0 || mode < 0 ||
                     mode >= MODES
                 ? aq_fail(&error, AQ_E_INVALID, "this is for tls_bench itself")
                 : take(argv[2], &modes[mode], (int)port, &error);
    } else if (argc > 2 || (argc == 2 && (aq_parse_f64(argv[1], &seconds) != 0 || seconds <= 0))) {
        rc = aq_fail(&error, AQ_E_INVALID, "usage: tls_bench [SECONDS]");
    } else {
        rc = measure(seconds, &error);
    }
    if (rc != 0) {
        (void)fprintf(stderr, "tls_bench: %s\n", error.text);
    }
    return rc != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
