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
    bool is_closed;
} http_pair;

/* Until the test is over. */
http_pair *http_kit_open(void);
http_pair *http_kit_open_at(const char *listen);

/* Before that; fails unless every handle of the loop gets closed. */
void http_kit_close(http_pair *pair);

typedef struct http_peer {
    int socket;
    bool over; /* the server has closed */
    size_t size;
    char *answer; /* terminated */
    const char *awaited;
} http_peer;

/* Until the test is over, or it has ended. */
http_peer *http_peer_connect(const http_pair *pair);
void http_peer_end(http_peer *peer);
void http_peer_tell(http_peer *peer, const char *text);
void http_peer_hear(http_peer *peer); /* what is there */

/* They run the loop. What was heard until the awaited is forgotten then. */
void http_kit_wait_to_hear(http_pair *pair, http_peer *peer, const char *awaited);
void http_kit_wait_until_over(http_pair *pair, http_peer *peer);
http_peer *http_kit_ask(http_pair *pair, const char *request); /* until it is over */
http_peer *http_kit_ask_much(http_pair *pair);                 /* until it is answered */
bool http_kit_is_empty(void *pair);                            /* nobody is connected */
void http_kit_wait_connected(http_pair *pair, unsigned count); /* so many are */

#endif
