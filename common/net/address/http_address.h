/*
 * Where an HTTP server listens: "host:port", with a name, an IPv4 address, an [IPv6 address], or *
 * for all addresses of this host.
 */
#ifndef AQ_COMMON_NET_ADDRESS_HTTP_ADDRESS_H
#define AQ_COMMON_NET_ADDRESS_HTTP_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/error.h"
#include "common/net/address/url.h"

enum { AQ_HTTP_URL_MAX = 288 };

typedef struct aq_http_address {
    struct sockaddr_storage address;
    char host[AQ_URL_MAX]; /* as it was given, or what "*" stands for; for urls */
} aq_http_address;

/* Resolves names, which may take a while. AQ_E_INVALID and AQ_E_NOT_FOUND name the text. */
int aq_http_address_read(const char *text, aq_http_address *ret_address,
                         aq_error *error) AQ_MUST_USE;

/* All addresses at which to find who listens there; who listens everywhere is on this host.
 * Resolves names; the list is freed with freeaddrinfo. Fails as aq_http_address_read does. */
int aq_http_address_to_call(const char *text, struct addrinfo **ret_found,
                            aq_error *error) AQ_MUST_USE;

/* Reached from this host only. */
bool aq_http_address_is_local(const aq_http_address *address);

/* "http://host:port" with the port of `bound`, into ret_url[AQ_HTTP_URL_MAX]. */
void aq_http_address_url(const aq_http_address *address, const struct sockaddr_storage *bound,
                         char *ret_url);

#endif
