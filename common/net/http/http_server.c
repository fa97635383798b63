/*
 * See http_server.h. Written on libuv rather than on NNG's HTTP server, which bounds neither the
 * number of its connections nor the time of one (docs/decisions/0018-http.md): all is on the loop's
 * thread, so there is nothing to hand over, and an answer proves that the loop is alive.
 *
 * When all connections are taken, a new one takes the place of one whose peer keeps it waiting: of
 * the neighbour that has the most, the one that waits for longest. A neighbour that has more than
 * half of them gives one up in any case. So peers that hold connections and ask nothing, take no
 * answer, or ask without a pause, cannot keep out another that asks. Answers under way are bounded,
 * in all and to one neighbour, well below the number of connections; who asks for one more is told
 * so, but for whether the daemon is well. Whoever cannot be given a place waits in the kernel's
 * queue, whose length is bounded as well.
 */
#include "common/net/http/http_server.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/address/http_address.h"
#include "common/net/http/http_server_priv.h"

enum { BACKLOG = 128, TICK_MS = 250 };

/* ---- places for connections ----------------------------------------------------------------- */

static void free_if_over(aq_http_server *server)
{
    if (server->closed && server->open_handles == 0 && server->connection_count == 0) {
        aq_free(server);
    }
}

static aq_http_connection *find_free(aq_http_server *server)
{
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        if (server->connections[i].state == AQ_HTTP_FREE) {
            return &server->connections[i];
        }
    }
    return NULL;
}

static bool is_of(const aq_http_connection *connection, const struct in6_addr *network)
{
    return connection->state != AQ_HTTP_FREE &&
           memcmp(&connection->network, network, sizeof(*network)) == 0;
}

static size_t count_of(const aq_http_server *server, const struct in6_addr *network)
{
    size_t count = 0;

    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        count += is_of(&server->connections[i], network);
    }
    return count;
}

static bool has_room(void *user, const struct in6_addr *network)
{
    const aq_http_server *server = user;
    size_t answers = 0, theirs = 0;

    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        const bool is_answer = aq_http_connection_owes(&server->connections[i]);

        answers += is_answer;
        theirs += is_answer && is_of(&server->connections[i], network);
    }
    return answers < AQ_HTTP_ANSWERS_MAX && theirs < AQ_HTTP_ANSWERS_EACH_MAX;
}

/* One that may have to go. */
typedef struct candidate {
    aq_http_connection *connection;
    size_t beside; /* connections of its neighbour */
    bool can_go;
} candidate;

static bool goes_first(const candidate *one, const candidate *other)
{
    if (one->beside != other->beside) {
        return one->beside > other->beside;
    }
    if (one->can_go != other->can_go) {
        return one->can_go;
    }
    return one->connection->waiting_since_ns < other->connection->waiting_since_ns;
}

/* Closes a connection that can go, or one of too many, unless one is closing anyway. */
static void make_room(aq_http_server *server)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    candidate chosen = {0};

    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        aq_http_connection *connection = &server->connections[i];
        const candidate other = {connection, count_of(server, &connection->network),
                                 aq_http_connection_can_go(connection, now_ns)};

        if (connection->state == AQ_HTTP_CLOSING) {
            return;
        }
        if ((other.can_go || other.beside > AQ_HTTP_CONNECTIONS_MAX / 2) &&
            goes_first(&other, &chosen)) {
            chosen = other;
        }
    }
    if (chosen.connection != NULL) {
        aq_http_connection_evict(chosen.connection);
    }
}

static void on_tick(uv_timer_t *timer);

static void take_in(aq_http_server *server)
{
    aq_http_connection *place = find_free(server);

    server->somebody_waits = place == NULL;
    if (place == NULL) {
        make_room(server); /* the place is free when it is closed, and then taken */
        return;
    }
    if (server->connection_count++ == 0) {
        uv_timer_start(&server->timer, on_tick, TICK_MS, TICK_MS);
    }
    aq_http_connection_open(place, &server->listener, &server->site);
}

static void on_tick(uv_timer_t *timer)
{
    aq_http_server *server = timer->data;
    int64_t now_ns = aq_clock_monotonic_ns();

    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        aq_http_connection_tick(&server->connections[i], now_ns);
    }
    if (server->somebody_waits) {
        take_in(server);
    }
}

static void on_left(void *user)
{
    aq_http_server *server = user;

    server->connection_count--;
    if (server->closed) {
        free_if_over(server);
        return;
    }
    if (server->connection_count == 0) {
        uv_timer_stop(&server->timer);
    }
    if (server->somebody_waits) {
        take_in(server);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    aq_http_server *server = listener->data;

    if (status == 0 && !server->closed) {
        take_in(server);
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    aq_http_server *server = handle->data;

    server->open_handles--;
    free_if_over(server);
}

static int start_listening(aq_http_server *server, const char *listen,
                           const aq_http_address *address, aq_error *error)
{
    struct sockaddr_storage bound;
    int bound_size = sizeof(bound);
    int rc =
        uv_tcp_bind(&server->listener, (const struct sockaddr *)(const void *)&address->address, 0);

    if (rc == 0) {
        rc = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
    }
    if (rc == 0) {
        rc = uv_tcp_getsockname(&server->listener, (struct sockaddr *)(void *)&bound, &bound_size);
    }
    if (rc != 0) {
        return aq_fail(error, rc == UV_EADDRINUSE ? AQ_E_IN_USE : aq_error_from_errno(-rc),
                       "cannot serve HTTP at %s: %s", listen, uv_strerror(rc));
    }
    aq_http_address_url(address, &bound, server->url);
    return 0;
}

int aq_http_server_create(uv_loop_t *loop, const char *listen, const aq_http_route *routes,
                          size_t count, aq_http_server **ret_server, aq_error *error)
{
    aq_http_address address;

    AQ_ASSERT(count <= AQ_HTTP_ROUTES_MAX);
    int rc = aq_http_address_read(listen, &address, error);
    if (rc < 0) {
        return rc;
    }
    aq_http_server *server = aq_alloc(1, sizeof(*server));
    if (server == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    server->is_local = aq_http_address_is_local(&address);
    server->site =
        (aq_http_site){.route_count = count, .left = on_left, .has_room = has_room, .user = server};
    if (count > 0) {
        memcpy(server->site.routes, routes, count * sizeof(*routes));
    }
    rc = uv_tcp_init(loop, &server->listener);
    AQ_ASSERT(rc == 0); /* there is no socket yet that could fail */
    uv_timer_init(loop, &server->timer);
    server->listener.data = server;
    server->timer.data = server;
    server->open_handles = 2;
    rc = start_listening(server, listen, &address, error);
    if (rc < 0) {
        aq_http_server_close(server);
        return rc;
    }
    *ret_server = server;
    return 0;
}

void aq_http_server_close(aq_http_server *server)
{
    if (server == NULL) {
        return;
    }
    AQ_ASSERT(!server->closed);
    server->closed = true;
    for (size_t i = 0; i < AQ_HTTP_CONNECTIONS_MAX; i++) {
        if (server->connections[i].state != AQ_HTTP_FREE) {
            aq_http_connection_close(&server->connections[i]);
        }
    }
    uv_close((uv_handle_t *)&server->timer, on_handle_closed);
    uv_close((uv_handle_t *)&server->listener, on_handle_closed);
}

void aq_http_server_name(aq_http_server *server, const char *names)
{
    server->site.names = names;
}

const char *aq_http_server_url(const aq_http_server *server)
{
    return server->url;
}

bool aq_http_server_is_local(const aq_http_server *server)
{
    return server->is_local;
}

aq_http_counters aq_http_server_counters(const aq_http_server *server)
{
    return server->site.counters;
}
