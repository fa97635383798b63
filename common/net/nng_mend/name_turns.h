/*
 * Names with several addresses: each of them has its turn.
 *
 * NNG 1.5 looks a name up each time it dials, on threads of its own, and then takes the first
 * address only. Where /etc/hosts says both ::1 and 127.0.0.1 for localhost it never finds a learner
 * that listens at 127.0.0.1. So these stand in for the functions of the C library with which NNG
 * looks up and connects, as nng_mend.c does: the address whose last try failed longest ago comes
 * first, one that has not failed before it. NNG's own pauses between two tries stay. What came of
 * each address is kept for words. Private to net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_NAME_TURNS_H
#define AQ_COMMON_NET_NNG_MEND_NAME_TURNS_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

/* What came of dialling the url lately, as dial_tries.h puts it, into ret_text[size]: "" when
 * nothing is known, as for urls other than tcp. Any thread. */
void aq_name_turns_words(const char *url, char *ret_text, size_t size);

/* Somebody answered at that address as he should: it is the first from now on. Any thread. */
void aq_name_turns_met(const struct sockaddr *address);

/* For connect(): a try begins; false when nobody knows another address for the same name. */
bool aq_name_turns_begin(int descriptor, const struct sockaddr *address);

/* For connect(): what came of it, 0 or an errno; EINPROGRESS: getsockopt() will hear of it. */
void aq_name_turns_end(int descriptor, int problem);

/* Does the lookups: the C library's getaddrinfo, or for tests another; NULL: the C library's. */
typedef int (*aq_resolve_fn)(const char *name, const char *service, const struct addrinfo *hints,
                             struct addrinfo **ret_found);
void aq_name_turns_resolve_with(aq_resolve_fn resolve);

#endif
