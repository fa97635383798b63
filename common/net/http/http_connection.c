/*
 * See http_connection.h.
 */
#include "common/net/http/http_connection.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/address/peer_network.h"
#include "common/net/http/http_request.h"

enum {
    REQUEST_BYTES_MAX = 8192,
    BODY_BYTES_MAX = 16 << 20,
    LINGER_BYTES_MAX = 65536,
};

#define REQUEST_NS_MAX (5 * AQ_NS_PER_S)  /* from its first byte, or from connecting, to its end */
#define IDLE_NS_MAX    (65 * AQ_NS_PER_S) /* between requests: longer than a scrape's period */
#define WRITE_NS_MAX   (30 * AQ_NS_PER_S)
#define STALL_NS_MAX   (5 * AQ_NS_PER_S) /* of an answer: nothing more of it is taken */
#define STALL_NS_LONG  (AQ_NS_PER_S / 2) /* while others wait for a place */
#define LINGER_NS_MAX  (2 * AQ_NS_PER_S)

static void read_on(aq_http_connection *connection);

/* ---- the end of a connection ---------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    aq_http_connection *connection = handle->data;
    aq_http_site *site = connection->site;

    aq_free(connection->input);
    aq_buffer_fini(&connection->body);
    memset(connection, 0, sizeof(*connection));
    site->left(site->user);
}

void aq_http_connection_close(aq_http_connection *connection)
{
    if (connection->state != AQ_HTTP_CLOSING) {
        connection->state = AQ_HTTP_CLOSING;
        uv_close((uv_handle_t *)&connection->stream, on_closed);
    }
}

static void refuse_connection(aq_http_connection *connection)
{
    connection->site->counters.refused++;
    aq_http_connection_close(connection);
}

static void on_shut_down(uv_shutdown_t *operation, int status)
{
    (void)operation;
    (void)status; /* the peer closes, or its time is up */
}

/* Bytes that are unread when a socket is closed throw away the answer on its other side, so they
 * are read for a while. */
static void linger(aq_http_connection *connection)
{
    connection->state = AQ_HTTP_LINGERING;
    connection->deadline_ns = aq_clock_monotonic_ns() + LINGER_NS_MAX;
    connection->input_size = 0;
    if (uv_shutdown(&connection->operation.shutdown, (uv_stream_t *)&connection->stream,
                    on_shut_down) != 0) {
        aq_http_connection_close(connection);
        return;
    }
    read_on(connection);
}

/* ---- answers -------------------------------------------------------------------------------- */

static const char *reason_of(unsigned status)
{
    static const struct {
        unsigned status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {421, "Misdirected Request: this name is not known here; see ACTORQ_HTTP_NAMES"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Other";
}

static void next_request(aq_http_connection *connection);

static void on_written(uv_write_t *operation, int status)
{
    aq_http_connection *connection = operation->data;
    bool ends = !connection->keep_alive;

    if (connection->state == AQ_HTTP_CLOSING) {
        return;
    }
    if (status != 0) {
        aq_http_connection_close(connection);
        return;
    }
    aq_buffer_fini(&connection->body);
    connection->input_size -= connection->request_size;
    memmove(connection->input, connection->input + connection->request_size,
            connection->input_size);
    if (ends) {
        linger(connection);
        return;
    }
    next_request(connection);
}

/* Sends `reply`, whose body may be left out. What is announced about it stays true all the same. */
static void send_reply(aq_http_connection *connection, const aq_http_reply *reply, bool with_body)
{
    const char *type = reply->content_type;
    uv_buf_t parts[2];

    int size = snprintf(
        connection->head, sizeof(connection->head),
        "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'; "
        "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' "
        "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        "\r\n%s%s\r\n",
        reply->status, reason_of(reply->status), type, connection->body.size,
        reply->status == 405 ? "Allow: GET, HEAD\r\n" : "",
        connection->keep_alive ? "" : "Connection: close\r\n");
    AQ_ASSERT(size > 0 && (size_t)size < sizeof(connection->head));
    parts[0] = uv_buf_init(connection->head, (unsigned)size);
    parts[1] = uv_buf_init((char *)connection->body.data, (unsigned)connection->body.size);
    connection->state = AQ_HTTP_WRITING;
    connection->waiting_since_ns = aq_clock_monotonic_ns();
    connection->deadline_ns = connection->waiting_since_ns + WRITE_NS_MAX;
    connection->unsent_bytes = SIZE_MAX;
    connection->operation.write.data = connection;
    uv_read_stop((uv_stream_t *)&connection->stream);
    if (uv_write(&connection->operation.write, (uv_stream_t *)&connection->stream, parts,
                 with_body && connection->body.size > 0 ? 2 : 1, on_written) != 0) {
        aq_http_connection_close(connection);
    }
}

/* A status, and one line that says it. */
static void send_status(aq_http_connection *connection, unsigned status, bool with_body)
{
    const aq_http_reply reply = {
        .status = status,
        .content_type = "text/plain; charset=utf-8",
    };
    const char *reason = reason_of(status);

    aq_buffer_clear(&connection->body);
    if (aq_buffer_append(&connection->body, reason, strlen(reason)) < 0 ||
        aq_buffer_append(&connection->body, "\n", 1) < 0) {
        aq_buffer_clear(&connection->body); /* the status says it as well */
    }
    send_reply(connection, &reply, with_body);
}

static void refuse_request(aq_http_connection *connection, unsigned status)
{
    connection->site->counters.refused++;
    connection->keep_alive = false;
    connection->request_size = connection->input_size;
    send_status(connection, status, true);
}

static const aq_http_route *find_route(const aq_http_site *site, const aq_http_request *request)
{
    for (size_t i = 0; i < site->route_count; i++) {
        const aq_http_route *route = &site->routes[i];

        if (strlen(route->path) == request->path_size &&
            memcmp(route->path, request->path, request->path_size) == 0) {
            return route;
        }
    }
    return NULL;
}

static void answer(aq_http_connection *connection, const aq_http_request *request)
{
    const aq_http_route *route = find_route(connection->site, request);
    bool with_body = request->method != AQ_HTTP_HEAD;
    aq_http_reply reply = {
        .status = 200,
        .content_type = "text/plain; charset=utf-8",
        .body = &connection->body,
    };

    connection->site->counters.requests++;
    connection->request_size = request->size;
    connection->asked = true;
    /* A body that nobody asked for is not looked at: where it ends does not matter then. */
    connection->keep_alive = request->keep_alive && !request->has_body;
    if (request->host_size > 0 &&
        !aq_http_host_is_known(request->host, request->host_size, connection->site->names)) {
        send_status(connection, 421, with_body);
        return;
    }
    if (route == NULL || request->method == AQ_HTTP_OTHER) {
        send_status(connection, route == NULL ? 404 : 405, with_body);
        return;
    }
    const aq_http_site *site = connection->site;
    if (!route->is_vital && !site->has_room(site->user, &connection->network)) {
        connection->site->counters.refused++;
        connection->keep_alive = false;
        send_status(connection, 503, with_body);
        return;
    }
    int rc = route->get(route->user, &reply);
    if (connection->state == AQ_HTTP_CLOSING) {
        return; /* it has closed the server */
    }
    if (rc < 0) {
        send_status(connection, 500, with_body);
    } else {
        send_reply(connection, &reply, with_body);
    }
}

/* ---- requests ------------------------------------------------------------------------------- */

/* True while the request is not there yet. */
static bool look_at_input(aq_http_connection *connection)
{
    aq_http_request request;
    int rc = aq_http_request_read(connection->input, connection->input_size, &request);

    if (rc == AQ_E_AGAIN && connection->input_size < REQUEST_BYTES_MAX) {
        return true;
    }
    if (rc == 0) {
        answer(connection, &request);
    } else {
        refuse_request(connection, rc == AQ_E_AGAIN ? 431 : rc == AQ_E_VERSION ? 505 : 400);
    }
    return false;
}

static void wait_for_request(aq_http_connection *connection, int64_t wait_ns)
{
    connection->state = AQ_HTTP_READING;
    connection->waiting_since_ns = aq_clock_monotonic_ns();
    connection->deadline_ns = connection->waiting_since_ns + wait_ns;
}

/* What the peer sent without waiting is answered at once. libuv calls on_written from the loop and
 * never from within uv_write, so that this does not recurse, and others have their turn. */
static void next_request(aq_http_connection *connection)
{
    if (connection->input_size == 0) {
        wait_for_request(connection, IDLE_NS_MAX);
        read_on(connection);
        return;
    }
    wait_for_request(connection, REQUEST_NS_MAX);
    if (look_at_input(connection)) {
        read_on(connection);
    }
}

static void on_space_wanted(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_space)
{
    aq_http_connection *connection = handle->data;

    (void)suggested;
    *ret_space = uv_buf_init(NULL, 0);
    if (connection->input == NULL) {
        connection->input = aq_alloc_unset(1, REQUEST_BYTES_MAX);
    }
    if (connection->input != NULL) {
        *ret_space = uv_buf_init(connection->input + connection->input_size,
                                 (unsigned)(REQUEST_BYTES_MAX - connection->input_size));
    }
}

static void throw_away(aq_http_connection *connection, size_t size)
{
    connection->lingered_bytes += size;
    if (connection->lingered_bytes > LINGER_BYTES_MAX) {
        aq_http_connection_close(connection);
    }
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *space)
{
    aq_http_connection *connection = stream->data;

    (void)space;
    if (connection->state == AQ_HTTP_CLOSING || size == 0) {
        return;
    }
    if (size < 0) { /* gone, or no memory for what it says */
        aq_http_connection_close(connection);
    } else if (connection->state == AQ_HTTP_LINGERING) {
        throw_away(connection, (size_t)size);
    } else {
        if (connection->input_size == 0 && connection->asked) {
            wait_for_request(connection, REQUEST_NS_MAX);
        }
        connection->input_size += (size_t)size;
        (void)look_at_input(connection);
    }
}

static void read_on(aq_http_connection *connection)
{
    int rc = uv_read_start((uv_stream_t *)&connection->stream, on_space_wanted, on_read);

    if (rc != 0 && rc != UV_EALREADY) {
        aq_http_connection_close(connection);
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

/* A peer that asked for nothing since its last answer has done nothing wrong. */
static bool is_idle(const aq_http_connection *connection)
{
    return connection->state == AQ_HTTP_READING && connection->asked && connection->input_size == 0;
}

/* How long nothing more of the answer was taken. */
static int64_t stall_of(const aq_http_connection *connection, int64_t now_ns)
{
    return connection->state == AQ_HTTP_WRITING ? now_ns - connection->waiting_since_ns : 0;
}

static size_t unsent_of(const aq_http_connection *connection)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&connection->stream);
}

bool aq_http_connection_owes(const aq_http_connection *connection)
{
    return connection->state == AQ_HTTP_WRITING && unsent_of(connection) > 0;
}

static void look_at_answer(aq_http_connection *connection, int64_t now_ns)
{
    const size_t unsent = unsent_of(connection);
    if (unsent < connection->unsent_bytes) {
        connection->unsent_bytes = unsent;
        connection->waiting_since_ns = now_ns;
    }
}

bool aq_http_connection_can_go(const aq_http_connection *connection, int64_t now_ns)
{
    return connection->state == AQ_HTTP_READING || connection->state == AQ_HTTP_LINGERING ||
           stall_of(connection, now_ns) > STALL_NS_LONG;
}

void aq_http_connection_tick(aq_http_connection *connection, int64_t now_ns)
{
    if (connection->state == AQ_HTTP_FREE || connection->state == AQ_HTTP_CLOSING) {
        return;
    }
    if (connection->state == AQ_HTTP_WRITING) {
        look_at_answer(connection, now_ns);
    }
    if (now_ns < connection->deadline_ns && stall_of(connection, now_ns) < STALL_NS_MAX) {
        return;
    }
    if (connection->state == AQ_HTTP_READING && connection->input_size > 0) {
        refuse_request(connection, 408);
    } else {
        aq_http_connection_evict(connection);
    }
}

void aq_http_connection_evict(aq_http_connection *connection)
{
    if (is_idle(connection) || connection->state == AQ_HTTP_LINGERING) {
        aq_http_connection_close(connection);
    } else {
        refuse_connection(connection);
    }
}

void aq_http_connection_open(aq_http_connection *connection, uv_tcp_t *listener, aq_http_site *site)
{
    struct sockaddr_storage peer = {0};
    int peer_size = sizeof(peer);
    int rc = uv_tcp_init(listener->loop, &connection->stream);

    AQ_ASSERT(rc == 0); /* there is no socket yet that could fail */
    AQ_ASSERT(connection->state == AQ_HTTP_FREE);
    connection->site = site;
    connection->stream.data = connection;
    aq_buffer_init(&connection->body, BODY_BYTES_MAX);
    wait_for_request(connection, REQUEST_NS_MAX);
    rc = uv_accept((uv_stream_t *)listener, (uv_stream_t *)&connection->stream);
    if (rc != 0) {
        aq_http_connection_close(connection);
        return;
    }
    if (uv_tcp_getpeername(&connection->stream, (struct sockaddr *)&peer, &peer_size) == 0) {
        (void)aq_peer_network((const struct sockaddr *)&peer, &connection->network);
    }
    read_on(connection);
}
