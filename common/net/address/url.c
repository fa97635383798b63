/*
 * URLs of sockets: a small strict grammar, checked before NNG sees the text, so that a mistake in a
 * configuration is answered with what is allowed and not with "address invalid".
 *
 *   tcp://host:port   host: a name, an IPv4 address, an [IPv6 address], or * to listen everywhere
 *   ipc:///path       an absolute path that fits a socket address
 *   inproc://name
 *
 * NNG's further spellings (tcp4, a source address before ";", user names, queries) are refused.
 * Any thread; no state.
 */
#define _DEFAULT_SOURCE /* inet_aton */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/net/address/peer_network.h"
#include "common/net/address/url.h"

enum scheme { SCHEME_TCP, SCHEME_IPC, SCHEME_INPROC };

enum { IPC_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };

/* Views into the url's text. */
typedef struct url_parts {
    enum scheme scheme;
    const char *host; /* tcp: with the brackets of an IPv6 address; else the path or the name */
    size_t host_size;
    uint32_t port; /* tcp */
} url_parts;

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool host_is(const url_parts *parts, const char *host)
{
    return parts->host_size == strlen(host) && memcmp(parts->host, host, parts->host_size) == 0;
}

/* A host of numbers, however they are written ("0" is "0.0.0.0"), as IPv6 writes it. */
static bool host_address(const url_parts *parts, struct in6_addr *ret_address)
{
    char host[INET6_ADDRSTRLEN];
    struct in_addr v4;
    const bool is_v6 = parts->host[0] == '[';
    const size_t size = is_v6 ? parts->host_size - 2 : parts->host_size;

    if (size >= sizeof(host)) {
        return false;
    }
    memcpy(host, parts->host + is_v6, size);
    host[size] = '\0';
    if (is_v6) {
        return inet_pton(AF_INET6, host, ret_address) == 1;
    }
    if (inet_aton(host, &v4) == 0) {
        return false;
    }
    memset(ret_address, 0, 10);
    memset(&ret_address->s6_addr[10], 0xff, 2);
    memcpy(&ret_address->s6_addr[12], &v4, sizeof(v4));
    return true;
}

static bool host_is_every_ip4(const url_parts *parts)
{
    static const uint8_t every[16] = {[10] = 0xff, [11] = 0xff};
    struct in6_addr address;

    return host_address(parts, &address) && memcmp(&address, every, sizeof(every)) == 0;
}

static bool host_is_wildcard(const url_parts *parts)
{
    struct in6_addr address;

    return host_is(parts, "*") || host_is_every_ip4(parts) ||
           (host_address(parts, &address) && IN6_IS_ADDR_UNSPECIFIED(&address));
}

static bool host_is_loopback(const url_parts *parts)
{
    static const char name[] = "localhost";
    struct in6_addr address;

    if (host_address(parts, &address)) {
        return IN6_IS_ADDR_LOOPBACK(&address) ||
               (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127);
    }
    return parts->host_size == strlen(name) && strncasecmp(parts->host, name, strlen(name)) == 0;
}

/* Printable ASCII without blanks: what is left can be printed, logged and pasted. */
static bool is_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            return false;
        }
    }
    return true;
}

static bool is_host(const char *host, size_t size)
{
    static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-._";

    if (size == 1 && host[0] == '*') {
        return true;
    }
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        struct in6_addr address;
        return host_address(&(url_parts){.host = host, .host_size = size}, &address);
    }
    return size > 0 && strspn(host, name_letters) >= size;
}

/* "host:port" up to the end of the text; NULL, or what is wrong with it. */
static const char *split_authority(const char *text, url_parts *parts)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;

    if (colon == NULL || strchr(colon, ']') != NULL) {
        return "it has no port (tcp://host:port)";
    }
    if (!is_host(text, (size_t)(colon - text))) {
        return "its host is not a name, an address, an [IPv6 address] or * (tcp://host:port)";
    }
    if (aq_parse_u64(colon + 1, &port) < 0 || port > UINT16_MAX) {
        return "its port is not a number from 0 to 65535";
    }
    *parts = (url_parts){.scheme = SCHEME_TCP,
                         .host = text,
                         .host_size = (size_t)(colon - text),
                         .port = (uint32_t)port};
    return NULL;
}

static const char *split_path(enum scheme scheme, const char *path, url_parts *parts)
{
    size_t size = strlen(path);

    if (scheme == SCHEME_IPC && path[0] != '/') {
        return "its path is not absolute (ipc:///path)";
    }
    if (scheme == SCHEME_IPC && size > IPC_PATH_MAX) {
        return "its path is longer than a socket address can hold (107 bytes)";
    }
    if (size == 0) {
        return "it has no name (inproc://name)";
    }
    *parts = (url_parts){.scheme = scheme, .host = path, .host_size = size};
    return NULL;
}

/* fe80::/10, or any with a zone. NNG dials one with a zone, but members tell each other where they
 * are without, and the interfaces of another host have other names. */
static bool is_link_local(const char *url)
{
    static const char start[] = "tcp://[";
    const char *host = url + strlen(start);
    return starts_with(url, start) &&
           (strchr(host, '%') != NULL ||
            (strncasecmp(host, "fe", 2) == 0 && strspn(host + 2, "89abAB") > 0 &&
             strspn(host, "0123456789abcdefABCDEF") == 4));
}

/* NULL, or what is wrong with the url. */
static const char *split(const char *url, url_parts *parts)
{
    if (strlen(url) >= AQ_URL_MAX) {
        return "it is longer than 255 bytes";
    }
    if (!is_plain(url)) {
        return "it holds blanks or characters that cannot be printed";
    }
    if (is_link_local(url)) {
        return "a link-local address, or one with a zone, says something on one host alone; take "
               "another address of that host, such as one of fd00::/8, or its name";
    }
    if (starts_with(url, "tcp://")) {
        return split_authority(url + strlen("tcp://"), parts);
    }
    if (starts_with(url, "ipc://")) {
        return split_path(SCHEME_IPC, url + strlen("ipc://"), parts);
    }
    if (starts_with(url, "inproc://")) {
        return split_path(SCHEME_INPROC, url + strlen("inproc://"), parts);
    }
    return "allowed are tcp://host:port, ipc:///path and inproc://name";
}

int aq_url_validate(const char *url, aq_error *error)
{
    url_parts parts;
    const char *fault = split(url, &parts);

    if (fault != NULL) {
        return aq_fail(error, AQ_E_INVALID, "bad url '%.*s': %s", AQ_URL_MAX, url, fault);
    }
    return 0;
}

int aq_url_take(void *member, const char *value, aq_error *error)
{
    *(const char **)member = value;
    return aq_url_validate(value, error);
}

static int refuse_to_call(const char *url, aq_error *error)
{
    return aq_fail(error, AQ_E_INVALID, "%s is an address to listen at, not one to call", url);
}

int aq_url_take_advertised(void *member, const char *value, aq_error *error)
{
    int rc = aq_url_take(member, value, error);
    return rc == 0 && aq_url_is_wildcard(value) ? refuse_to_call(value, error) : rc;
}

int aq_url_take_callable(void *member, const char *value, aq_error *error)
{
    int rc = aq_url_take_advertised(member, value, error);
    return rc == 0 && aq_url_has_port_0(value) ? refuse_to_call(value, error) : rc;
}

/* A finished url must fit the caller's array, and be one itself: a path may have grown too long. */
static int deliver(const char *url, char *ret_url, size_t size)
{
    url_parts parts;

    if (strlen(url) >= size || split(url, &parts) != NULL) {
        return AQ_E_TOO_BIG;
    }
    return aq_text_set(ret_url, size, url);
}

int aq_url_sibling(const char *url, const char *suffix, char *ret_url, size_t size)
{
    char text[AQ_URL_MAX];
    url_parts parts;
    int rc;

    if (split(url, &parts) != NULL) {
        return AQ_E_INVALID;
    }
    if (parts.scheme != SCHEME_TCP) {
        rc = aq_text_format(text, sizeof(text), "%s.%s", url, suffix);
    } else if (parts.port == UINT16_MAX) {
        rc = AQ_E_INVALID;
    } else {
        rc = aq_text_format(text, sizeof(text), "tcp://%.*s:%u", (int)parts.host_size, parts.host,
                            parts.port == 0 ? 0 : parts.port + 1);
    }
    return rc < 0 ? rc : deliver(text, ret_url, size);
}

/* The host of a url or an address; false when it has none, since its owner is on this host. */
static bool host_seen(const char *seen_from, url_parts *parts)
{
    static const char start[] = "tcp://";
    const char *address = starts_with(seen_from, start) ? seen_from + strlen(start) : seen_from;
    if (split_authority(address, parts) == NULL) {
        return true;
    }
    *parts = (url_parts){.host = seen_from, .host_size = strlen(seen_from)};
    return strcmp(seen_from, "ipc") != 0 && strcmp(seen_from, "inproc") != 0 &&
           is_host(parts->host, parts->host_size);
}

int aq_url_reachable(const char *url, const char *seen_from, char *ret_url, size_t size)
{
    static const url_parts here = {.host = "127.0.0.1", .host_size = sizeof("127.0.0.1") - 1};
    url_parts parts, seen;
    bool replace = false;
    char text[AQ_URL_MAX];

    if (split(url, &parts) != NULL) {
        return AQ_E_INVALID;
    }
    if (parts.scheme != SCHEME_TCP) {
        return deliver(url, ret_url, size);
    }
    if (!host_seen(seen_from, &seen) || host_is_wildcard(&seen) ||
        (host_is_every_ip4(&parts) && host_is_loopback(&seen))) {
        seen = here;
    }
    replace = host_is_wildcard(&parts) || (host_is_loopback(&parts) && !host_is_loopback(&seen));
    if (!replace) {
        return deliver(url, ret_url, size);
    }
    int rc = aq_text_format(text, sizeof(text), "tcp://%.*s:%u", (int)seen.host_size, seen.host,
                            parts.port);
    return rc < 0 ? rc : is_link_local(text) ? AQ_E_INVALID : deliver(text, ret_url, size);
}

bool aq_url_network(const char *seen_from, struct in6_addr *ret_network)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    url_parts seen;

    return host_seen(seen_from, &seen) && host_address(&seen, &address.sin6_addr) &&
           aq_peer_network((const struct sockaddr *)&address, ret_network);
}

bool aq_url_is_local(const char *url)
{
    url_parts parts;

    return split(url, &parts) == NULL && (parts.scheme != SCHEME_TCP || host_is_loopback(&parts));
}

bool aq_url_is_wildcard(const char *url)
{
    url_parts parts;

    return split(url, &parts) == NULL && parts.scheme == SCHEME_TCP && host_is_wildcard(&parts);
}

bool aq_url_has_port_0(const char *url)
{
    url_parts parts;

    return split(url, &parts) == NULL && parts.scheme == SCHEME_TCP && parts.port == 0;
}

const char *aq_url_everywhere(void)
{
    int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (descriptor < 0) {
        return "0.0.0.0";
    }
    (void)close(descriptor);
    return "[::]";
}
