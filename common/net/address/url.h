/*
 * URLs: where a socket listens or dials, as text. tcp://host:port, ipc:///path, inproc://name.
 * Any thread; no state.
 */
#ifndef AQ_COMMON_NET_ADDRESS_URL_H
#define AQ_COMMON_NET_ADDRESS_URL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum { AQ_URL_MAX = 256 };

/* AQ_E_INVALID, naming the url and what is allowed: an unknown scheme, no port, an ipc path that
 * does not fit a socket address. Port 0 is valid: it lets the system choose when listening. */
int aq_url_validate(const char *url, aq_error *error) AQ_MUST_USE;

/* For AQ_TO of an option: a valid url, into a const char *; one whose host others can call, which
 * no wildcard is; and one that they can call as it is, which port 0 is not either. */
int aq_url_take(void *member, const char *value, aq_error *error) AQ_MUST_USE;
int aq_url_take_advertised(void *member, const char *value, aq_error *error) AQ_MUST_USE;
int aq_url_take_callable(void *member, const char *value, aq_error *error) AQ_MUST_USE;

/* The url of a second socket of the same daemon: the port after it (tcp; port 0 stays 0), or the
 * path with "." and `suffix` (ipc, inproc). AQ_E_INVALID for a bad url and after port 65535,
 * AQ_E_TOO_BIG when it does not fit; ret_url is untouched then. */
int aq_url_sibling(const char *url, const char *suffix, char *ret_url, size_t size) AQ_MUST_USE;

/* `url` with its host replaced when that host is a wildcard ("*", "0.0.0.0", "[::]") or loopback
 * while `seen_from` (the url or address through which its owner was reached) is not; else a copy.
 * An owner seen on this host ("ipc", "inproc://x") is reached at 127.0.0.1 when it listens at a
 * wildcard, and so is one that listens at IPv4 alone ("0.0.0.0") and is seen from any loopback
 * address. Fails as aq_url_sibling does. */
int aq_url_reachable(const char *url, const char *seen_from, char *ret_url,
                     size_t size) AQ_MUST_USE;

/* Whose the address is from which somebody is seen (peer_network.h). False: nobody's, as that of a
 * socket of this host, or of a name. */
bool aq_url_network(const char *seen_from, struct in6_addr *ret_network);

/* Whether the url can be reached from this host only (ipc, inproc, a loopback address). */
bool aq_url_is_local(const char *url);

/* Whether it is tcp with a wildcard host. */
bool aq_url_is_wildcard(const char *url);

/* Whether it is tcp with a port that the system chooses. */
bool aq_url_has_port_0(const char *url);

/* What "*" listens at on this host: "[::]", which is every address of both families; "0.0.0.0"
 * where the system knows no IPv6. */
const char *aq_url_everywhere(void);

#endif
