/*
 * A daemon's socket and its Operations on a thread and a loop of their own.
 */
#include "tests/unit/cli/fake_daemon.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_server.h"
#include "tests/unit/cli/status_fixture.h"

enum { CALLS_MAX = 16, BYTES_MAX = 1 << 20 };
#define PATIENCE_NS (120 * AQ_NS_PER_S)

struct fake_daemon {
    Actorq__V1__Operations_Service operations; /* first: the service is the daemon */
    uv_thread_t thread;
    uv_loop_t loop;
    uv_async_t stop;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    char url[AQ_URL_MAX];
    void *held; /* a call that is not answered */
    atomic_bool run_is_over, refuses;
    uv_mutex_t lock; /* of `asked` */
    uv_cond_t was_asked;
    unsigned asked;
};

static void operations_status(Actorq__V1__Operations_Service *service,
                              const Actorq__V1__StatusRequest *request,
                              Actorq__V1__StatusReply_Closure closure, void *call)
{
    fake_daemon *daemon = (fake_daemon *)(void *)service;
    status_fixture fixture;
    (void)request;
    if (atomic_load(&daemon->refuses)) {
        aq_rpc_fail(call, AQ_RPC_PERMISSION_DENIED, "not for you");
        return;
    }
    status_fixture_learner(&fixture);
    if (atomic_load(&daemon->run_is_over)) {
        fixture.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    }
    closure(&fixture.reply, call);
    uv_mutex_lock(&daemon->lock);
    daemon->asked++;
    uv_cond_broadcast(&daemon->was_asked);
    uv_mutex_unlock(&daemon->lock);
}

static void operations_stop(Actorq__V1__Operations_Service *service,
                            const Actorq__V1__StopRequest *request,
                            Actorq__V1__StopReply_Closure closure, void *call)
{
    fake_daemon *daemon = (fake_daemon *)(void *)service;
    if (strcmp(request->reason, "hold") == 0 && !daemon->held) {
        daemon->held = call;
        return;
    }
    Actorq__V1__StopReply reply = ACTORQ__V1__STOP_REPLY__INIT;
    closure(&reply, call);
}

static void operations_checkpoint(Actorq__V1__Operations_Service *service,
                                  const Actorq__V1__CheckpointRequest *request,
                                  Actorq__V1__CheckpointReply_Closure closure, void *call)
{
    (void)service;
    (void)request;
    (void)closure;
    aq_rpc_fail(call, AQ_RPC_UNIMPLEMENTED, "nothing to keep\033[2J");
}

static void operations_configure(Actorq__V1__Operations_Service *service,
                                 const Actorq__V1__ConfigureRequest *request,
                                 Actorq__V1__ConfigureReply_Closure closure, void *call)
{
    (void)service;
    (void)request;
    (void)closure;
    aq_rpc_fail(call, AQ_RPC_UNIMPLEMENTED, "nothing to set");
}

static void operations_drain(Actorq__V1__Operations_Service *service,
                             const Actorq__V1__DrainRequest *request,
                             Actorq__V1__DrainReply_Closure closure, void *call)
{
    (void)service;
    (void)request;
    (void)closure;
    aq_rpc_fail(call, AQ_RPC_UNIMPLEMENTED, "nobody to drain");
}

static void on_stop(uv_async_t *stop)
{
    fake_daemon *daemon = stop->data;
    if (daemon->held) {
        aq_rpc_fail(daemon->held, AQ_RPC_CANCELLED, "the daemon stops");
    }
    aq_rpc_server_close(daemon->server);
    uv_close((uv_handle_t *)stop, NULL);
}

static void run_loop(void *user)
{
    fake_daemon *daemon = user;
    (void)uv_run(&daemon->loop, UV_RUN_DEFAULT);
}

static void require(bool holds)
{
    AQ_ASSERT(holds);
}

fake_daemon *fake_daemon_start(const char *url)
{
    const aq_net_limits limits = {
        .message_bytes_max = BYTES_MAX, .reconnect_min_ms = 10, .reconnect_max_ms = 100};
    aq_error error = {0};
    fake_daemon *daemon = aq_alloc(1, sizeof(*daemon));
    require(daemon != NULL);
    daemon->operations = (Actorq__V1__Operations_Service)ACTORQ__V1__OPERATIONS__INIT(operations_);
    require(uv_mutex_init(&daemon->lock) == 0);
    require(uv_cond_init(&daemon->was_asked) == 0);
    require(uv_loop_init(&daemon->loop) == 0);
    require(uv_async_init(&daemon->loop, &daemon->stop, on_stop) == 0);
    daemon->stop.data = daemon;
    require(aq_rpc_dispatcher_create(CALLS_MAX, BYTES_MAX, BYTES_MAX, &daemon->dispatcher) == 0);
    require(aq_rpc_dispatcher_add(daemon->dispatcher, &daemon->operations.base) == 0);
    if (aq_rpc_server_create(&daemon->loop, url, &limits, daemon->dispatcher, &daemon->server,
                             &error) != 0) {
        (void)fprintf(stderr, "fake daemon: %s\n", error.text);
    }
    require(daemon->server != NULL);
    (void)snprintf(daemon->url, sizeof(daemon->url), "%s", aq_rpc_server_url(daemon->server));
    require(uv_thread_create(&daemon->thread, run_loop, daemon) == 0);
    return daemon;
}

const char *fake_daemon_url(const fake_daemon *daemon)
{
    return daemon->url;
}

void fake_daemon_end_run(fake_daemon *daemon)
{
    atomic_store(&daemon->run_is_over, true);
}

void fake_daemon_refuse(fake_daemon *daemon)
{
    atomic_store(&daemon->refuses, true);
}

void fake_daemon_wait_asked(fake_daemon *daemon, unsigned times)
{
    uv_mutex_lock(&daemon->lock);
    while (daemon->asked < times) {
        int rc = uv_cond_timedwait(&daemon->was_asked, &daemon->lock, (uint64_t)PATIENCE_NS);
        require(rc == 0);
    }
    uv_mutex_unlock(&daemon->lock);
}

void fake_daemon_stop(fake_daemon *daemon)
{
    (void)uv_async_send(&daemon->stop);
    (void)uv_thread_join(&daemon->thread);
    aq_rpc_dispatcher_destroy(daemon->dispatcher);
    require(uv_loop_close(&daemon->loop) == 0);
    uv_cond_destroy(&daemon->was_asked);
    uv_mutex_destroy(&daemon->lock);
    aq_free(daemon);
}
