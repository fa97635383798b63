/*
 * The head of an HTTP/1 request, read strictly (RFC 9112): what is ambiguous is refused, since
 * those who read it differently could be played against each other. No state, no memory; any
 * thread.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_REQUEST_H
#define AQ_COMMON_NET_HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum aq_http_method { AQ_HTTP_GET, AQ_HTTP_HEAD, AQ_HTTP_OTHER };

/* Views into the bytes that were read. */
typedef struct aq_http_request {
    enum aq_http_method method;
    const char *path; /* without the query; not terminated */
    size_t path_size;
    const char *host; /* as the peer calls this server, with the port; not terminated */
    size_t host_size; /* 0: an older version, in which it need not */
    bool has_body;    /* one is announced, and follows */
    bool keep_alive;  /* the peer would send another request */
    size_t size;      /* of the head, with the empty line that ends it */
} aq_http_request;

/* Reads the head at the start of `bytes`. AQ_E_AGAIN: it has not arrived whole; AQ_E_VERSION:
 * another version of HTTP; AQ_E_FOREIGN: no HTTP, or malformed. `ret_request` is untouched then. */
int aq_http_request_read(const char *bytes, size_t size, aq_http_request *ret_request) AQ_MUST_USE;

/* Whether a page that was asked for at `host` is ours to give. A browser asks for what is in the
 * page that it shows, also at a name of a stranger's that has just been made to mean this host (DNS
 * rebinding). So a name has to be known: an address in numbers, a name without a dot, localhost, or
 * one of `names`, which are separated by commas (NULL: none). */
bool aq_http_host_is_known(const char *host, size_t size, const char *names);

#endif
