/*
 * What an HTTP server answers, and what its connections have in common.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_SITE_H
#define AQ_COMMON_NET_HTTP_HTTP_SITE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"

enum { AQ_HTTP_ROUTES_MAX = 32 };

/* What a path answers. `body` comes empty, and is the server's. */
typedef struct aq_http_reply {
    unsigned status;          /* 200 unless set */
    const char *content_type; /* "text/plain; charset=utf-8" unless set; a constant */
    aq_buffer *body;
} aq_http_reply;

/* Writes the answer, on the loop's thread. A negative code becomes a 500. */
typedef int (*aq_http_get_fn)(void *user, aq_http_reply *reply);

typedef struct aq_http_route {
    const char *path; /* "/metrics"; a constant */
    aq_http_get_fn get;
    void *user;
    bool is_vital; /* short, and answered however many others are */
} aq_http_route;

typedef struct aq_http_counters {
    uint64_t requests; /* answered, whatever the status */
    uint64_t refused;  /* connections closed: too many, too slow, not HTTP, too large */
} aq_http_counters;

typedef struct aq_http_site {
    size_t route_count;
    aq_http_route routes[AQ_HTTP_ROUTES_MAX];
    aq_http_counters counters;
    const char *names; /* as aq_http_host_is_known takes them */
    /* A connection is closed, and its place is free. */
    void (*left)(void *user);
    /* Whether one more answer may be under way, to there. */
    bool (*has_room)(void *user, const struct in6_addr *network);
    void *user;
} aq_http_site;

#endif
