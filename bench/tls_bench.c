/*
 * What TLS and tokens cost: bytes a second of experience (PUSH to PULL) by size of message, and the
 * time of a call, between two processes of this host, in plain and protected, in turn.
 *
 *     build/bench/tls_bench [SECONDS]
 *
 * The processes that take are forked before NNG has any thread, since it cannot be used after a
 * fork otherwise; each waits idle until it is its turn.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/certs_folder.h"
#include "common/net/pull.h"
#include "common/net/push.h"
#include "common/net/rpc_client.h"
#include "common/net/rpc_server.h"
#include "common/net/security.h"
#include "common/sys/process.h"
#include "proto/policy.pb-c.h"

enum { MESSAGE_MAX = 4 << 20, WARM_UP_MS = 200, CALLS_MS = 1000, PATH_ROOM = 128, RUNS = 5 };

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
    pid_t pid;
    char push_url[AQ_URL_MAX];
    char rpc_url[AQ_URL_MAX];
} taker;

static void die(const char *what, const aq_error *error)
{
    (void)fprintf(stderr, "tls_bench: %s: %s\n", what, error->text);
    exit(EXIT_FAILURE);
}

/* What a process of `mode` proves itself with: NULL, or a folder of the run's without its token or
 * without its certificates. */
static aq_security *credentials(const char *folder, const struct mode *mode, const char *role,
                                enum aq_security_use use)
{
    char path[PATH_ROOM];
    char token[PATH_ROOM + 16];
    aq_security *security = NULL;
    aq_error error = {0};
    if (!mode->certs && !mode->token) {
        return NULL;
    }
    (void)snprintf(path, sizeof(path), "%.60s/%s/%s", folder, mode->name, role);
    (void)snprintf(token, sizeof(token), "%s/token", path);
    const aq_daemon_options options = {.certs_dir = mode->certs ? path : NULL,
                                       .token_file = mode->token ? token : NULL};
    if (aq_security_load(&options, use, &security, &error)) {
        die("credentials", &error);
    }
    return security;
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

static void take(const char *folder, const struct mode *mode, int pipe_end)
{
    static Actorq__V1__Policy_Service service = ACTORQ__V1__POLICY__INIT(policy_);
    aq_error error = {0};
    uv_loop_t loop;
    aq_pull *pull;
    aq_rpc_server *server;
    aq_rpc_dispatcher *dispatcher;
    taker self = {.pid = getpid()};
    const aq_net_limits limits = {.message_bytes_max = MESSAGE_MAX,
                                  .reconnect_min_ms = 10,
                                  .reconnect_max_ms = 50,
                                  .security =
                                      credentials(folder, mode, "learner", AQ_SECURITY_LISTENS)};
    if (aq_process_follow_parent(getppid(), &error)) {
        die("following", &error);
    }
    if (uv_loop_init(&loop) || aq_rpc_dispatcher_create(8, MESSAGE_MAX, 1 << 16, &dispatcher) ||
        aq_rpc_dispatcher_add(dispatcher, &service.base)) {
        exit(EXIT_FAILURE);
    }
    if (aq_pull_create(&loop, "tcp://127.0.0.1:0", &limits, drop, NULL, &pull, &error) ||
        aq_rpc_server_create(&loop, "tcp://127.0.0.1:0", &limits, dispatcher, 8, &server, &error)) {
        die("listening", &error);
    }
    (void)snprintf(self.push_url, AQ_URL_MAX, "%s", aq_pull_url(pull));
    (void)snprintf(self.rpc_url, AQ_URL_MAX, "%s", aq_rpc_server_url(server));
    if (write(pipe_end, &self, sizeof(self)) != (ssize_t)sizeof(self)) {
        exit(EXIT_FAILURE);
    }
    (void)uv_run(&loop, UV_RUN_DEFAULT); /* until it is killed */
    exit(EXIT_SUCCESS);
}

static taker start_taker(const char *folder, const struct mode *mode)
{
    int ends[2];
    taker started = {0};
    AQ_ASSERT(pipe(ends) == 0);
    pid_t pid = fork();
    AQ_ASSERT(pid >= 0);
    if (pid == 0) {
        take(folder, mode, ends[1]);
    }
    (void)close(ends[1]);
    if (read(ends[0], &started, sizeof(started)) != (ssize_t)sizeof(started)) {
        exit(EXIT_FAILURE);
    }
    (void)close(ends[0]);
    return started;
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

static double measure_bulk(uv_loop_t *loop, const taker *to, const aq_security *security,
                           size_t size, int64_t time_ms)
{
    pump all = {.size = size, .message = aq_alloc(1, size)};
    const aq_push_events events = {
        .connected = send_more, .disconnected = ignore, .writable = send_more, .user = &all};
    const aq_net_limits limits = {.message_bytes_max = MESSAGE_MAX,
                                  .reconnect_min_ms = 10,
                                  .reconnect_max_ms = 50,
                                  .security = security};
    aq_error error = {0};
    AQ_ASSERT(all.message != NULL);
    if (aq_push_create(loop, to->push_url, &limits, &events, &all.push, &error)) {
        die("connecting", &error);
    }
    run_for(loop, WARM_UP_MS);
    uint64_t before = all.bytes;
    int64_t began_ns = aq_clock_monotonic_ns();
    run_for(loop, time_ms);
    double seconds = (double)(aq_clock_monotonic_ns() - began_ns) / (double)AQ_NS_PER_S;
    double rate = (double)(all.bytes - before) / seconds / 1e6;
    aq_push_close(all.push);
    aq_free(all.message);
    return rate;
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

static double measure_calls(uv_loop_t *loop, const taker *to, const aq_security *security)
{
    caller all = {0};
    const aq_net_limits limits = {.message_bytes_max = MESSAGE_MAX,
                                  .reconnect_min_ms = 10,
                                  .reconnect_max_ms = 50,
                                  .security = security};
    aq_rpc_client *client;
    aq_error error = {0};
    if (aq_rpc_client_create(loop, to->rpc_url, &limits, 1, &client, &error)) {
        die("connecting", &error);
    }
    aq_rpc_stub_init(&all.stub, aq_rpc_client_channel(client), &actorq__v1__policy__descriptor,
                     10000);
    call(&all);
    run_for(loop, WARM_UP_MS);
    uint64_t before = all.calls;
    int64_t began_ns = aq_clock_monotonic_ns();
    run_for(loop, CALLS_MS);
    double us = (double)(aq_clock_monotonic_ns() - began_ns) / 1e3 / (double)(all.calls - before);
    all.closing = true;
    aq_rpc_client_close(client);
    return us;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return a < b ? -1 : a > b;
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof(*values), by_size);
    return values[RUNS / 2];
}

/* All of a row in turn, so that whatever else runs here meets all alike. */
static void measure_all(uv_loop_t *loop, const taker *takers, aq_security *const *own,
                        int64_t time_ms)
{
    double values[MODES][RUNS];
    (void)printf("%-12s %10s %10s %8s\n", "message", "plain", "tls", "ratio");
    for (size_t s = 0; s < SIZES; s++) {
        for (int run = 0; run < RUNS; run++) {
            for (int m = 0; m < MODES; m += 2) { /* a token signs no experience */
                values[m][run] = measure_bulk(loop, &takers[m], own[m], sizes[s], time_ms / RUNS);
            }
        }
        double plain = median(values[0]), tls = median(values[2]);
        (void)printf("%9zu kB %7.0f MB/s %5.0f MB/s %7.1f\n", sizes[s] / 1024, plain, tls,
                     plain / tls);
    }
    for (int run = 0; run < RUNS; run++) {
        for (int m = 0; m < MODES; m++) {
            values[m][run] = measure_calls(loop, &takers[m], own[m]);
        }
    }
    for (int m = 0; m < MODES; m++) {
        (void)printf("a call, %-10s %6.0f us\n", modes[m].name, median(values[m]));
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tls-bench-XXXXXX";
    double seconds = 2;
    aq_error error = {0};
    aq_security *own[MODES];
    taker takers[MODES];
    uv_loop_t loop;
    uv_timer_t alarm;
    if (argc > 2 || (argc == 2 && (aq_parse_f64(argv[1], &seconds) || seconds <= 0))) {
        (void)fprintf(stderr, "usage: tls_bench [SECONDS]\n");
        return EXIT_FAILURE;
    }
    AQ_ASSERT(mkdtemp(folder) != NULL);
    for (int m = 0; m < MODES; m++) {
        char path[PATH_ROOM];
        char token[PATH_ROOM + 32];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, modes[m].name);
        if (aq_certs_folder_make(path, aq_clock_wall_ns() / AQ_NS_PER_S, 1, &error)) {
            die("certificates", &error);
        }
        for (int role = 0; role < 2 && !modes[m].token; role++) { /* else it is taken from there */
            (void)snprintf(token, sizeof(token), "%s/%s/token", path,
                           role == 0 ? "learner" : "operator");
            (void)unlink(token);
        }
        takers[m] = start_taker(folder, &modes[m]);
    }
    for (int m = 0; m < MODES; m++) {
        own[m] = credentials(folder, &modes[m], "operator", AQ_SECURITY_ASKS);
    }
    AQ_ASSERT(uv_loop_init(&loop) == 0);
    (void)uv_timer_init(&loop, &alarm);
    (void)uv_timer_start(&alarm, on_alarm, 10, 10);
    measure_all(&loop, takers, own, (int64_t)(seconds * 1000));
    for (int m = 0; m < MODES; m++) {
        (void)kill(takers[m].pid, SIGKILL);
        (void)waitpid(takers[m].pid, NULL, 0);
    }
    (void)fflush(stdout);
    (void)execlp("rm", "rm", "-rf", folder, (char *)NULL);
    return EXIT_FAILURE;
}
