/*
 * See dial_tries.h.
 */
#include "common/net/address/dial_tries.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

void aq_dial_tries_set(aq_dial_tries *tries, const char *place, int lookup,
                       const struct addrinfo *found)
{
    const char *colon = strrchr(place, ':');
    const int is_ip6 = place[0] == '[';

    AQ_ASSERT(colon != NULL);
    *tries = (aq_dial_tries){.lookup = lookup};
    (void)snprintf(tries->host, sizeof(tries->host), "%.*s", (int)(colon - place) - 2 * is_ip6,
                   place + is_ip6);
    for (; found != NULL && tries->count < AQ_DIAL_TRIES_MAX; found = found->ai_next) {
        if (found->ai_family == AF_INET || found->ai_family == AF_INET6) {
            AQ_ASSERT(found->ai_addrlen <= sizeof(aq_ip_address));
            memcpy(&tries->tries[tries->count++].address, found->ai_addr, found->ai_addrlen);
        }
    }
}

bool aq_ip_address_equal(const aq_ip_address *one, const struct sockaddr *other)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)other;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)other;

    if (one->any.sa_family != other->sa_family) {
        return false;
    }
    if (other->sa_family == AF_INET) {
        return one->v4.sin_port == v4->sin_port && one->v4.sin_addr.s_addr == v4->sin_addr.s_addr;
    }
    return other->sa_family == AF_INET6 && one->v6.sin6_port == v6->sin6_port &&
           IN6_ARE_ADDR_EQUAL(&one->v6.sin6_addr, &v6->sin6_addr);
}

/* ---- words ---------------------------------------------------------------------------------- */

static const char *outcome_words(int outcome)
{
    switch (outcome) {
    case AQ_DIAL_NOT_TRIED:
        return "not tried yet";
    case AQ_DIAL_CONNECTED:
        return "connected, but what is there does not answer as ActorQ (another program, other "
               "certificates, or --certs on one side alone)";
    case AQ_DIAL_ANSWERED:
        return "answered until now";
    case EINPROGRESS:
        return "no answer yet";
    case ECONNREFUSED:
        return "refused";
    case ETIMEDOUT:
        return "no answer";
    case ENETUNREACH:
    case EHOSTUNREACH:
        return "no route to it";
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
        return "this host has no address of that kind";
    default:
        return strerror(outcome);
    }
}

static const char *address_text(const aq_ip_address *address, char ret_text[INET6_ADDRSTRLEN])
{
    const void *bytes = address->any.sa_family == AF_INET ? (const void *)&address->v4.sin_addr
                                                          : (const void *)&address->v6.sin6_addr;

    return inet_ntop(address->any.sa_family, bytes, ret_text, INET6_ADDRSTRLEN);
}

void aq_dial_tries_write(const aq_dial_tries *tries, char *ret_text, size_t size)
{
    char text[INET6_ADDRSTRLEN];

    ret_text[0] = '\0';
    if (tries->count == 0) {
        aq_text_append(ret_text, size, "%s: %s", tries->host,
                       tries->lookup == AQ_DIAL_LOOKING_UP ? "the name is being looked up"
                       : tries->lookup == 0                ? "the name has no address"
                                                           : gai_strerror(tries->lookup));
        return;
    }
    const char *first = address_text(&tries->tries[0].address, text);
    if (tries->count == 1 && strcmp(first, tries->host) == 0) { /* a number, which is known */
        aq_text_append(ret_text, size, "%s", outcome_words(tries->tries[0].outcome));
        return;
    }
    aq_text_append(ret_text, size, "%s is %s", tries->host, first);
    if (tries->count == 1) {
        aq_text_append(ret_text, size, ": %s", outcome_words(tries->tries[0].outcome));
        return;
    }
    for (size_t i = 1; i < tries->count; i++) {
        aq_text_append(ret_text, size, ", %s", address_text(&tries->tries[i].address, text));
    }
    for (size_t i = 0; i < tries->count; i++) {
        aq_text_append(ret_text, size, "; %s: %s", address_text(&tries->tries[i].address, text),
                       outcome_words(tries->tries[i].outcome));
    }
}
