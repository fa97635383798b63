/*
 * See http_address.h. What a host and a port are is the same as in the urls of our other sockets
 * (url.c decides), so that one spelling serves all options.
 */
#include "common/net/address/http_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/net/address/url.h"

/* Takes "host:port" apart; the brackets of an IPv6 address stay at `ret_host`. */
static int split(const char *text, char ret_host[AQ_URL_MAX], const char **ret_port,
                 aq_error *error)
{
    char url[AQ_URL_MAX];
    const char *colon = strrchr(text, ':');

    if (aq_text_format(url, sizeof(url), "tcp://%s", text) < 0 || aq_url_validate(url, NULL) < 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "bad address '%.*s': expected is host:port, with a name, an address, an "
                       "[IPv6 address] or *, and a port from 0 to 65535",
                       AQ_URL_MAX, text);
    }
    *ret_port = colon + 1;
    return aq_text_format(ret_host, AQ_URL_MAX, "%.*s", (int)(colon - text), text);
}

/* NULL for a host: the loopback addresses, unless it is to listen. */
static int look_up(const char *text, const char *host, const char *port, int flags,
                   struct addrinfo **ret_found, aq_error *error)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = flags | AI_NUMERICSERV,
    };
    char bare[AQ_URL_MAX] = "";

    if (host != NULL) {
        bool is_ip6 = host[0] == '[';
        (void)snprintf(bare, sizeof(bare), "%.*s", (int)strlen(host) - 2 * is_ip6, host + is_ip6);
    }
    int rc = getaddrinfo(host != NULL ? bare : NULL, port, &hints, ret_found);
    if (rc != 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "cannot find the address of '%s': %s", text,
                       gai_strerror(rc));
    }
    return 0;
}

int aq_http_address_read(const char *text, aq_http_address *ret_address, aq_error *error)
{
    aq_http_address address = {.host = ""};
    const char *port = NULL;
    struct addrinfo *found = NULL;
    int rc = split(text, address.host, &port, error);

    if (rc == 0 && strcmp(address.host, "*") == 0) {
        (void)snprintf(address.host, sizeof(address.host), "%s", aq_url_everywhere());
    }
    if (rc == 0) {
        rc = look_up(text, address.host, port, AI_PASSIVE, &found, error);
    }
    if (rc != 0) {
        return rc;
    }
    /* A name of both kinds is the IPv4 address, which is what people then type. */
    const struct addrinfo *chosen = found;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        if (at->ai_family == AF_INET) {
            chosen = at;
            break;
        }
    }
    memcpy(&address.address, chosen->ai_addr, chosen->ai_addrlen);
    freeaddrinfo(found);
    *ret_address = address;
    return 0;
}

int aq_http_address_to_call(const char *text, struct addrinfo **ret_found, aq_error *error)
{
    char url[AQ_URL_MAX];
    char host[AQ_URL_MAX];
    const char *port = NULL;
    int rc = split(text, host, &port, error);

    if (rc != 0) {
        return rc;
    }
    (void)snprintf(url, sizeof(url), "tcp://%s", text);
    return look_up(text, aq_url_is_wildcard(url) ? NULL : host, port, 0, ret_found, error);
}

bool aq_http_address_is_local(const aq_http_address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->address;

    if (address->address.ss_family == AF_INET) {
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

void aq_http_address_url(const aq_http_address *address, const struct sockaddr_storage *bound,
                         char *ret_url)
{
    in_port_t port = bound->ss_family == AF_INET ? ((const struct sockaddr_in *)bound)->sin_port
                                                 : ((const struct sockaddr_in6 *)bound)->sin6_port;

    (void)snprintf(ret_url, AQ_HTTP_URL_MAX, "http://%s:%u", address->host, ntohs(port));
}
