/*
 * What the two files of the HTTP server share. See http_server.c.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_SERVER_PRIV_H
#define AQ_COMMON_NET_HTTP_HTTP_SERVER_PRIV_H

#include <stdbool.h>

#include "common/net/address/http_address.h"
#include "common/net/http/http_server.h"

enum {
    AQ_HTTP_CONNECTIONS_MAX = 64,
    AQ_HTTP_ROUTES_MAX = 32,
    AQ_HTTP_HEAD_BYTES_MAX = 1024, /* of an answer */
};

enum aq_http_state {
    AQ_HTTP_FREE,
    AQ_HTTP_READING,
    AQ_HTTP_WRITING,
    AQ_HTTP_LINGERING, /* all is said; what still comes is thrown away until the peer closes */
    AQ_HTTP_CLOSING,
};

typedef struct aq_http_connection {
    aq_http_server *server;
    enum aq_http_state state;
    uv_tcp_t stream;
    union {
        uv_write_t write;
        uv_shutdown_t shutdown;
    } operation;
    char *input; /* NULL until something arrives */
    size_t input_size;
    size_t request_size; /* while WRITING: of the one that is answered */
    size_t lingered_bytes;
    int64_t reading_since_ns;
    int64_t deadline_ns;
    bool asked;      /* a request has been answered: the time to the next is no fault */
    bool keep_alive; /* while WRITING: another request may follow */
    char head[AQ_HTTP_HEAD_BYTES_MAX];
    aq_buffer body; /* while WRITING */
} aq_http_connection;

struct aq_http_server {
    uv_loop_t *loop;
    uv_tcp_t listener;
    uv_timer_t timer;
    unsigned open_handles; /* of these two */
    bool is_local;
    bool closed;
    bool somebody_waits; /* a connection is there that has no place yet */
    size_t connection_count;
    size_t route_count;
    aq_http_route routes[AQ_HTTP_ROUTES_MAX];
    aq_http_counters counters;
    char url[AQ_HTTP_URL_MAX];
    aq_http_connection connections[AQ_HTTP_CONNECTIONS_MAX];
};

/* Takes the connection that waits at the listener in, at a free place, and reads from it. */
void aq_http_connection_open(aq_http_server *server, aq_http_connection *connection);

/* Closes it if it is late, counted when that is the peer's fault. */
void aq_http_connection_tick(aq_http_connection *connection, int64_t now_ns);

/* Somebody else gets its place. */
void aq_http_connection_evict(aq_http_connection *connection);

void aq_http_connection_close(aq_http_connection *connection);

/* A connection is closed, and its place is free. */
void aq_http_server_place_is_free(aq_http_server *server);

#endif
