/*
 * The HTTP server's inside, which its tests look at.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_SERVER_PRIV_H
#define AQ_COMMON_NET_HTTP_HTTP_SERVER_PRIV_H

#include <stdbool.h>

#include "common/net/address/http_address.h"
#include "common/net/http/http_connection.h"
#include "common/net/http/http_server.h"

enum {
    AQ_HTTP_CONNECTIONS_MAX = 64,
    AQ_HTTP_ANSWERS_MAX = 32, /* under way, but for vital ones */
    AQ_HTTP_ANSWERS_EACH_MAX = 16,
};

struct aq_http_server {
    uv_tcp_t listener;
    uv_timer_t timer;
    unsigned open_handles; /* of these two */
    bool is_local;
    bool closed;
    bool somebody_waits; /* a connection is there that has no place yet */
    size_t connection_count;
    aq_http_site site;
    char url[AQ_HTTP_URL_MAX];
    aq_http_connection connections[AQ_HTTP_CONNECTIONS_MAX];
};

#endif
