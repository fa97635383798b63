/*
 * What every socket shares: limits, security, and URLs (tcp://host:port, ipc:///path,
 * inproc://name). With certificates tcp:// is spoken over TLS, by all sockets of a process.
 */
#ifndef AQ_COMMON_NET_NET_H
#define AQ_COMMON_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_URL_MAX = 256 };

struct aq_security;

typedef struct aq_net_limits {
    size_t message_bytes_max; /* RECVMAXSZ; a larger one drops its connection */
    uint32_t reconnect_min_ms;
    uint32_t reconnect_max_ms;
    const struct aq_security *security; /* outlives the socket; NULL: plain, and no token */
} aq_net_limits;

/* AQ_E_INVALID, naming the url and what is allowed: an unknown scheme, no port, an ipc path that
 * does not fit a socket address. Port 0 is valid: it lets the system choose when listening. */
int aq_url_validate(const char *url, aq_error *error) AQ_MUST_USE;

/* The url of a second socket of the same daemon: the port after it (tcp; port 0 stays 0), or the
 * path with "." and `suffix` (ipc, inproc). AQ_E_INVALID for a bad url and after port 65535,
 * AQ_E_TOO_BIG when it does not fit; ret_url is untouched then. */
int aq_url_sibling(const char *url, const char *suffix, char *ret_url, size_t size) AQ_MUST_USE;

/* `url` with its host replaced when that host is a wildcard ("*", "0.0.0.0", "[::]") or loopback
 * while `seen_from` (the url or address through which its owner was reached) is not; else a copy.
 * An owner seen on this host ("ipc", "inproc://x") is reached at 127.0.0.1 when it listens at a
 * wildcard. Fails as aq_url_sibling does. */
int aq_url_reachable(const char *url, const char *seen_from, char *ret_url,
                     size_t size) AQ_MUST_USE;

/* 1 when the url can be reached from this host only (ipc, inproc, a loopback address). */
bool aq_url_is_local(const char *url);

/* 1 for tcp with a wildcard host. */
bool aq_url_is_wildcard(const char *url);

/* Sockets whose closing nobody waits for any more, as NNG takes seconds, and that are not closed
 * yet. Any thread. */
unsigned aq_net_unclosed(void);

/* True when there are some, and for half a minute none of them was closed. What is connected goes
 * on, but no lost connection is made anew: a daemon says so, ends and is started again. Any thread.
 */
bool aq_net_is_stuck(void);

/* Connections over TCP that came in, of the whole process; docs/protocol.md has the bounds. */
typedef struct aq_net_peers {
    uint64_t connections; /* now */
    uint64_t accepted;    /* in all */
    uint64_t strangers;   /* of them, went without a word that NNG knows, or were sent away */
    uint64_t refused_connections; /* beyond the most, in all or from one address */
    uint64_t cut_slow;            /* a message that had begun came too slowly */
    uint64_t cut_full;            /* too much of unfinished messages was held already */
} aq_net_peers;

aq_net_peers aq_net_peer_counters(void); /* any thread */

/* Ends NNG's threads; last thing in main, when every socket is closed. */
void aq_net_fini(void);

#endif
