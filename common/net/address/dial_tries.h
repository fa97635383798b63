/*
 * Dial tries: the addresses that a host name stands for, and what came of connecting to each, in
 * words for the person who waits. No state; any thread.
 */
#ifndef AQ_COMMON_NET_ADDRESS_DIAL_TRIES_H
#define AQ_COMMON_NET_ADDRESS_DIAL_TRIES_H

#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/net/address/url.h"

enum { AQ_DIAL_TRIES_MAX = 8, AQ_DIAL_WORDS_MAX = 384, AQ_DIAL_LOOKING_UP = 1 };

/* What came of the last try that ended: one of these, or the errno that ended it. EINPROGRESS: one
 * goes on, and none before it says why it may fail. */
enum { AQ_DIAL_NOT_TRIED = 0, AQ_DIAL_CONNECTED = -1, AQ_DIAL_ANSWERED = -2 };

typedef union aq_ip_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} aq_ip_address;

typedef struct aq_dial_try {
    aq_ip_address address;
    int outcome;
} aq_dial_try;

typedef struct aq_dial_tries {
    char host[AQ_URL_MAX]; /* without brackets */
    int lookup;            /* what getaddrinfo said; AQ_DIAL_LOOKING_UP: nothing yet */
    size_t count;
    aq_dial_try tries[AQ_DIAL_TRIES_MAX];
} aq_dial_tries;

/* What looking up the host of "host:port" gave: nothing is tried yet. What goes beyond
 * AQ_DIAL_TRIES_MAX is left out. `found` may be NULL. */
void aq_dial_tries_set(aq_dial_tries *tries, const char *place, int lookup,
                       const struct addrinfo *found);

/* Whether family, address and port are the same. */
bool aq_ip_address_equal(const aq_ip_address *one, const struct sockaddr *other);

/* "localhost is ::1, 127.0.0.1; ::1: refused; 127.0.0.1: refused". AQ_DIAL_WORDS_MAX bytes are
 * enough for any name with some addresses; more of them are cut. */
void aq_dial_tries_write(const aq_dial_tries *tries, char *ret_text, size_t size);

#endif
