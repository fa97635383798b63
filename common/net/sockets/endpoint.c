/*
 * Listening and dialling with NNG 1.5.
 *
 * RECVMAXSZ is unlimited unless set and keep-alive is off; both are set on every endpoint here, so
 * that no socket can be opened without them.
 */
#include "common/net/sockets/endpoint.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/net/address/dial_tries.h"
#include "common/net/nng_mend/name_turns.h"
#include "common/net/nng_mend/nng_counts.h"
#include "common/net/nng_mend/nng_mend.h"
#include "common/net/nng_mend/tcp_door.h"
#include "common/net/security/nng_error.h"
#include "common/net/security/security_tls.h"

enum { NNG_URL_MAX = AQ_URL_MAX + sizeof("tls+") };

static bool is_tcp(const char *url)
{
    return strncmp(url, "tcp://", 6) == 0;
}

/* NULL: this url is spoken in plain. */
static const aq_tls *tls_for(const char *url, const aq_net_limits *limits)
{
    return is_tcp(url) ? aq_security_tls(limits->security) : NULL;
}

/* What NNG calls a validated url. */
static void url_for_nng(const char *url, const aq_tls *tls, char ret_url[NNG_URL_MAX])
{
    snprintf(ret_url, NNG_URL_MAX, "%s%s", tls != NULL ? "tls+" : "", url);
}

static size_t receive_bytes_max(const aq_net_limits *limits, size_t header_bytes)
{
    AQ_ASSERT(limits->message_bytes_max > 0);
    AQ_ASSERT(limits->message_bytes_max < SIZE_MAX / 2);
    return limits->message_bytes_max + header_bytes;
}

/* ---- listening ----------------------------------------------------------------------------- */

static int set_listener_options(nng_listener listener, const char *url, const aq_net_limits *limits,
                                size_t header_bytes)
{
    const aq_tls *tls = tls_for(url, limits);
    int rc =
        nng_listener_set_size(listener, NNG_OPT_RECVMAXSZ, receive_bytes_max(limits, header_bytes));

    aq_tcp_door_expects(limits->message_bytes_max);
    if (rc == 0 && tls != NULL) {
        AQ_ASSERT(tls->server != NULL); /* loaded to listen */
        aq_tcp_door_expects_handshakes();
        rc = nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, tls->server);
    }
    if (rc == 0 && is_tcp(url)) {
        rc = nng_listener_set_bool(listener, NNG_OPT_TCP_KEEPALIVE, true);
    }
    if (rc == 0 && is_tcp(url)) {
        rc = nng_listener_set_bool(listener, NNG_OPT_TCP_NODELAY, true);
    }
    return rc;
}

void aq_endpoint_allow(nng_listener listener, size_t message_bytes_max, size_t header_bytes)
{
    int rc = nng_listener_set_size(listener, NNG_OPT_RECVMAXSZ, message_bytes_max + header_bytes);

    AQ_ASSERT(rc == 0);
    aq_tcp_door_expects(message_bytes_max);
}

/* The url with the port that was bound. */
static int bound_url(nng_listener listener, const char *url, char *ret_url)
{
    const char *colon = strrchr(url, ':');
    nng_sockaddr address;

    if (!is_tcp(url)) {
        return aq_text_set(ret_url, AQ_URL_MAX, url);
    }
    int rc = nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address);
    if (rc != 0) {
        return aq_error_from_nng(rc);
    }
    uint16_t port = address.s_family == NNG_AF_INET6 ? address.s_in6.sa_port : address.s_in.sa_port;
    return aq_text_format(ret_url, AQ_URL_MAX, "%.*s:%u", (int)(colon - url), url, ntohs(port));
}

/* NNG takes whatever nobody listens at for the socket of a dead process, and removes it. */
static bool is_plain_file(const char *url)
{
    struct stat info;

    return strncmp(url, "ipc://", 6) == 0 && lstat(url + 6, &info) == 0 && !S_ISSOCK(info.st_mode);
}

/* NNG takes "*" for every IPv4 address, and for no other. */
static const char *url_to_bind(const char *url, char room[AQ_URL_MAX])
{
    static const char everywhere[] = "tcp://*:";

    if (strncmp(url, everywhere, strlen(everywhere)) != 0) {
        return url;
    }
    (void)snprintf(room, AQ_URL_MAX, "tcp://%s:%s", aq_url_everywhere(), url + strlen(everywhere));
    return room;
}

int aq_endpoint_listen(nng_socket socket, const char *url, const aq_net_limits *limits,
                       size_t header_bytes, nng_listener *ret_listener, char *ret_url,
                       aq_error *error)
{
    char room[AQ_URL_MAX];
    char real_url[NNG_URL_MAX];
    const char *bind_url = url_to_bind(url, room);
    nng_listener listener;
    int rc = aq_url_validate(url, error);

    if (rc < 0) {
        return rc;
    }
    aq_nng_mend();
    if (is_plain_file(url)) {
        return aq_fail(error, AQ_E_EXISTS, "cannot listen at %s: there is a file, not a socket",
                       url);
    }
    url_for_nng(bind_url, tls_for(url, limits), real_url);
    rc = nng_listener_create(&listener, socket, real_url);
    if (rc == 0) {
        rc = set_listener_options(listener, url, limits, header_bytes);
    }
    if (rc == 0) {
        rc = nng_listener_start(listener, 0);
    }
    if (rc == NNG_EADDRINUSE) {
        return aq_fail(error, AQ_E_IN_USE, "cannot listen at %s: the address is in use", url);
    }
    if (rc == NNG_ENOENT) {
        return aq_fail(error, AQ_E_NOT_FOUND, "cannot listen at %s: there is no such folder", url);
    }
    if (rc != 0) {
        return aq_fail(error, aq_error_from_nng(rc), "cannot listen at %s: %s", url,
                       nng_strerror(rc));
    }
    rc = bound_url(listener, bind_url, ret_url);
    if (rc < 0) {
        return aq_fail(error, rc, "cannot tell which port was bound for %s", url);
    }
    *ret_listener = listener;
    return 0;
}

/* ---- dialling ------------------------------------------------------------------------------ */

/* A peer on this host may be there in a moment, so a run that starts here does not wait for a
 * back-off meant for networks. But each try costs a millisecond of a processor, half of NNG's
 * pauses are none at all (a remainder of what may be a negative number), and all actors of a host
 * may be waiting: who waits for long is to try rarely. */
enum { LOCAL_RECONNECT_MIN_MS = 10, LOCAL_RECONNECT_MAX_MS = 1000, EAGER_RECONNECT_MAX_MS = 40 };

/* NNG doubles it in an int. */
enum { RECONNECT_NEVER_MS = 7 * 24 * 60 * 60 * 1000 };

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

aq_net_limits aq_endpoint_near(const char *url, const aq_net_limits *limits)
{
    aq_net_limits near = *limits;

    if (aq_url_is_local(url)) {
        near.reconnect_min_ms = least_of(near.reconnect_min_ms, LOCAL_RECONNECT_MIN_MS);
        near.reconnect_max_ms = least_of(near.reconnect_max_ms, LOCAL_RECONNECT_MAX_MS);
    }
    return near;
}

static int set_dialer_options(nng_dialer dialer, const char *url, const aq_net_limits *limits,
                              size_t header_bytes)
{
    const aq_tls *tls = tls_for(url, limits);
    int rc =
        nng_dialer_set_size(dialer, NNG_OPT_RECVMAXSZ, receive_bytes_max(limits, header_bytes));

    if (rc == 0 && tls != NULL) {
        rc = nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, tls->client);
    }
    if (rc == 0) {
        rc = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMINT, (nng_duration)limits->reconnect_min_ms);
    }
    if (rc == 0) {
        rc = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMAXT, (nng_duration)limits->reconnect_max_ms);
    }
    if (rc == 0 && is_tcp(url)) {
        rc = nng_dialer_set_bool(dialer, NNG_OPT_TCP_KEEPALIVE, true);
    }
    if (rc == 0 && is_tcp(url)) {
        rc = nng_dialer_set_bool(dialer, NNG_OPT_TCP_NODELAY, true);
    }
    return rc;
}

int aq_endpoint_dial(nng_socket socket, const char *url, const aq_net_limits *limits,
                     size_t header_bytes, nng_dialer *ret_dialer, aq_error *error)
{
    char real_url[NNG_URL_MAX];
    nng_dialer dialer;
    int rc = aq_url_validate(url, error);

    if (rc < 0) {
        return rc;
    }
    aq_nng_mend();
    AQ_ASSERT(limits->reconnect_min_ms > 0);
    AQ_ASSERT(limits->reconnect_max_ms >= limits->reconnect_min_ms);
    AQ_ASSERT(limits->reconnect_max_ms <= INT32_MAX);
    url_for_nng(url, tls_for(url, limits), real_url);
    rc = nng_dialer_create(&dialer, socket, real_url);
    if (rc == 0) {
        aq_net_limits near = aq_endpoint_near(url, limits);
        rc = set_dialer_options(dialer, url, &near, header_bytes);
    }
    if (rc == 0) {
        rc = nng_dialer_start(dialer, NNG_FLAG_NONBLOCK);
    }
    if (rc != 0) {
        return aq_fail(error, aq_error_from_nng(rc), "cannot connect to %s: %s", url,
                       nng_strerror(rc));
    }
    *ret_dialer = dialer;
    return 0;
}

static void set_pause(nng_dialer dialer, const char *option, uint32_t pause_ms)
{
    int rc = nng_dialer_set_ms(dialer, option, (nng_duration)pause_ms);
    AQ_ASSERT(rc == 0 || rc == NNG_ENOENT); /* it may be closed already */
}

void aq_endpoint_set_eager(nng_dialer dialer, const char *url, const aq_net_limits *limits,
                           bool is_eager)
{
    const uint32_t patient_ms = aq_endpoint_near(url, limits).reconnect_max_ms;
    set_pause(dialer, NNG_OPT_RECONNMAXT,
              is_eager && aq_url_is_local(url) ? least_of(patient_ms, EAGER_RECONNECT_MAX_MS)
                                               : patient_ms);
}

void aq_endpoint_stop_dialling(nng_dialer dialer)
{
    set_pause(dialer, NNG_OPT_RECONNMAXT, RECONNECT_NEVER_MS);
    set_pause(dialer, NNG_OPT_RECONNMINT, RECONNECT_NEVER_MS);
}

/* The old dialer is not closed: NNG may touch what it frees. */
void aq_endpoint_redial(nng_socket socket, const char *url, const aq_net_limits *limits,
                        size_t header_bytes, nng_dialer *dialer)
{
    aq_endpoint_stop_dialling(*dialer);
    int rc = aq_endpoint_dial(socket, url, limits, header_bytes, dialer, NULL);
    (void)rc;
}

/* ---- peers --------------------------------------------------------------------------------- */

static int peer_address(nng_pipe pipe, nng_sockaddr *ret_address)
{
    return nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, ret_address) == 0 ? 0 : AQ_E_CLOSED;
}

void aq_endpoint_met(nng_pipe pipe, nng_pipe_ev event, void *unused)
{
    nng_sockaddr address;
    aq_ip_address ip = {.any.sa_family = AF_UNSPEC};

    (void)event;
    (void)unused;
    if (peer_address(pipe, &address) < 0) {
        return;
    }
    if (address.s_family == NNG_AF_INET) {
        ip.v4 = (struct sockaddr_in){.sin_family = AF_INET,
                                     .sin_port = address.s_in.sa_port,
                                     .sin_addr.s_addr = address.s_in.sa_addr};
    } else if (address.s_family == NNG_AF_INET6) {
        ip.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = address.s_in6.sa_port};
        memcpy(&ip.v6.sin6_addr, address.s_in6.sa_addr, sizeof(ip.v6.sin6_addr));
    }
    aq_name_turns_met(&ip.any);
}

/* Who listens at both families sees an IPv4 peer as IPv6 writes it, which nobody can dial. */
static int ip6_text(const nng_sockaddr_in6 *address, char *ret_text)
{
    char host[INET6_ADDRSTRLEN];
    struct in6_addr ip;
    const unsigned port = ntohs(address->sa_port);

    memcpy(&ip, address->sa_addr, sizeof(ip));
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
        inet_ntop(AF_INET, &ip.s6_addr[12], host, sizeof(host));
        return aq_text_format(ret_text, AQ_PEER_TEXT_MAX, "tcp://%s:%u", host, port);
    }
    inet_ntop(AF_INET6, &ip, host, sizeof(host));
    return aq_text_format(ret_text, AQ_PEER_TEXT_MAX, "tcp://[%s]:%u", host, port);
}

int aq_endpoint_peer(nng_pipe pipe, char *ret_text)
{
    char host[INET_ADDRSTRLEN];
    nng_sockaddr address;
    int rc = peer_address(pipe, &address);

    if (rc < 0) {
        return rc;
    }
    switch (address.s_family) {
    case NNG_AF_INET:
        inet_ntop(AF_INET, &address.s_in.sa_addr, host, sizeof(host));
        return aq_text_format(ret_text, AQ_PEER_TEXT_MAX, "tcp://%s:%u", host,
                              ntohs(address.s_in.sa_port));
    case NNG_AF_INET6:
        return ip6_text(&address.s_in6, ret_text);
    case NNG_AF_INPROC:
        return aq_text_set(ret_text, AQ_PEER_TEXT_MAX, "inproc");
    default:
        return aq_text_set(ret_text, AQ_PEER_TEXT_MAX, "ipc");
    }
}

/* "proto": what came did not begin as an NNG peer begins; "reject": an NNG peer of another pattern;
 * "auth": one that does not speak TLS, or has no certificate of ours. */
uint64_t aq_endpoint_refused(nng_listener listener)
{
    static const char *const names[] = {"proto", "reject", "auth", NULL};

    return aq_nng_counts("listener", "id", (uint64_t)nng_listener_id(listener), names);
}
