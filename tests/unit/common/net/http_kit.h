/*
 * What the tests of the HTTP server share: a server with a few pages, and peers of it. Both are on
 * one thread.
 */
#ifndef AQ_TESTS_UNIT_COMMON_NET_HTTP_KIT_H
#define AQ_TESTS_UNIT_COMMON_NET_HTTP_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/net/http/http_server_priv.h"

/* Pages: /hello, /readyz (503), /fail (half a page, then get_rc), /much (4 MiB), /close (closes the
 * server). */
typedef struct http_pair {
    uv_loop_t loop;
    aq_http_server *server;
    int get_rc;
    unsigned answered; /* times that /hello was */
} http_pair;

void http_kit_open(http_pair *pair);
void http_kit_open_at(http_pair *pair, const char *listen);

/* Fails unless every handle of the loop gets closed. */
void http_kit_close(http_pair *pair);

typedef struct http_peer {
    int socket;
    bool over; /* the server has closed */
    size_t size;
    char *answer; /* terminated */
    const char *awaited;
} http_peer;

void http_peer_connect(const http_pair *pair, http_peer *peer);
void http_peer_tell(http_peer *peer, const char *text);
void http_peer_hear(http_peer *peer); /* what is there */
void http_peer_end(http_peer *peer);

/* They run the loop. */
void http_kit_wait_until_over(http_pair *pair, http_peer *peer);
void http_kit_wait_to_hear(http_pair *pair, http_peer *peer, const char *awaited);
void http_kit_ask(http_pair *pair, const char *request, http_peer *ret_peer); /* until it is over */

#endif
