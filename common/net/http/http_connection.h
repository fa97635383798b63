/*
 * One connection of an HTTP server: reads a request, answers it, reads the next. Private to http;
 * the loop's thread.
 *
 *   FREE -> READING <-> WRITING -> LINGERING -> CLOSING -> FREE
 *
 * It is read from only while no answer is under way, so what a peer can make us hold is one request
 * and one answer. Every state has a deadline, and an answer of which nothing is taken has a short
 * one.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_CONNECTION_H
#define AQ_COMMON_NET_HTTP_HTTP_CONNECTION_H

#include <stdbool.h>
#include <uv.h>

#include "common/net/http/http_site.h"

enum { AQ_HTTP_HEAD_BYTES_MAX = 1024 }; /* of an answer */

enum aq_http_state {
    AQ_HTTP_FREE,
    AQ_HTTP_READING,
    AQ_HTTP_WRITING,
    AQ_HTTP_LINGERING, /* all is said; what still comes is thrown away until the peer closes */
    AQ_HTTP_CLOSING,
};

typedef struct aq_http_connection {
    aq_http_site *site;
    enum aq_http_state state;
    uv_tcp_t stream;
    union {
        uv_write_t write;
        uv_shutdown_t shutdown;
    } operation;
    char *input; /* NULL until something arrives */
    size_t input_size;
    size_t request_size; /* while WRITING: of the one that is answered */
    size_t unsent_bytes; /* while WRITING, when it was last looked at */
    size_t lingered_bytes;
    int64_t waiting_since_ns; /* for a request, or for more of the answer to be taken */
    int64_t deadline_ns;
    struct in6_addr network; /* whose it is; nobody's until it is known */
    bool asked;              /* a request has been answered: the time to the next is no fault */
    bool keep_alive;         /* while WRITING: another request may follow */
    char head[AQ_HTTP_HEAD_BYTES_MAX];
    aq_buffer body; /* while WRITING */
} aq_http_connection;

/* Takes the connection that waits at the listener in, at a free place, and reads from it. */
void aq_http_connection_open(aq_http_connection *connection, uv_tcp_t *listener,
                             aq_http_site *site);

/* Closes it if it is late, counted when that is the peer's fault. */
void aq_http_connection_tick(aq_http_connection *connection, int64_t now_ns);

/* Whether some of an answer has not been taken yet, not even by the kernel. */
bool aq_http_connection_owes(const aq_http_connection *connection);

/* Whether its peer keeps it waiting, so that somebody else may get its place. */
bool aq_http_connection_can_go(const aq_http_connection *connection, int64_t now_ns);

/* Somebody else gets its place. */
void aq_http_connection_evict(aq_http_connection *connection);

void aq_http_connection_close(aq_http_connection *connection);

#endif
