/*
 * See name_turns.h. One table for the process, under one lock, which is never held during a lookup.
 */
#define _DEFAULT_SOURCE /* syscall */

#include "common/net/nng_mend/name_turns.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/parse.h"
#include "common/net/address/dial_tries.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tls_mend.h"

/* A learner's two ports and those of 64 shards, and some that moved. */
enum { NAMES_MAX = 256 };

typedef struct turn {
    int64_t failed_ns; /* begun, and nobody has answered as he should since; 0: none such */
    int descriptor;    /* while the try goes on, else -1 */
} turn;

typedef struct known_name {
    char place[AQ_URL_MAX]; /* host:port, as in a url; "": free */
    int64_t asked_ns;
    aq_dial_tries known;
    turn turns[AQ_DIAL_TRIES_MAX];
} known_name;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_name names[NAMES_MAX];
static _Atomic aq_resolve_fn resolver; /* NULL: the C library's */

/* ---- under the lock ------------------------------------------------------------------------- */

/* Its row, or NULL. NNG writes names in small letters. */
static known_name *find_name(const char *place)
{
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (strcasecmp(names[i].place, place) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

/* Its row; a new one takes the place of the one that was asked for longest ago. */
static known_name *row_for(const char *place)
{
    known_name *row = find_name(place);

    if (row == NULL) {
        row = &names[0];
        for (size_t i = 1; i < NAMES_MAX; i++) {
            row = names[i].asked_ns < row->asked_ns ? &names[i] : row;
        }
        *row = (known_name){.place = ""};
        (void)snprintf(row->place, sizeof(row->place), "%s", place);
        aq_dial_tries_set(&row->known, place, AQ_DIAL_LOOKING_UP, NULL);
    }
    row->asked_ns = aq_clock_monotonic_ns();
    return row;
}

/* What is known of addresses that are still there stays. */
static void take_lookup(known_name *row, int lookup, const struct addrinfo *found)
{
    const known_name before = *row;

    aq_dial_tries_set(&row->known, before.place, lookup, found);
    for (size_t i = 0; i < AQ_DIAL_TRIES_MAX; i++) {
        row->turns[i] = (turn){.descriptor = -1};
        for (size_t j = 0; i < row->known.count && j < before.known.count; j++) {
            if (aq_ip_address_equal(&before.known.tries[j].address,
                                    &row->known.tries[i].address.any)) {
                row->known.tries[i].outcome = before.known.tries[j].outcome;
                row->turns[i] = before.turns[j];
            }
        }
    }
}

/* When the address failed last; 0: it did not. One beyond the table is the last: nothing would say
 * that it failed. */
static int64_t failed_ns(const known_name *row, const struct sockaddr *address)
{
    for (size_t i = 0; i < row->known.count; i++) {
        if (aq_ip_address_equal(&row->known.tries[i].address, address)) {
            return row->turns[i].failed_ns;
        }
    }
    return INT64_MAX;
}

/* Puts first whose turn it is. Only what the list's nodes say changes places: the nodes stay in
 * their order, so that the list can be freed as it came. */
static void put_first(const known_name *row, struct addrinfo *found)
{
    struct addrinfo *next = found;

    for (struct addrinfo *at = found->ai_next; at != NULL; at = at->ai_next) {
        if (failed_ns(row, at->ai_addr) < failed_ns(row, next->ai_addr)) {
            next = at;
        }
    }
    const struct addrinfo first = *found;
    found->ai_family = next->ai_family;
    found->ai_addrlen = next->ai_addrlen;
    found->ai_addr = next->ai_addr;
    next->ai_family = first.ai_family;
    next->ai_addrlen = first.ai_addrlen;
    next->ai_addr = first.ai_addr;
}

/* ---- looking up ----------------------------------------------------------------------------- */

void aq_name_turns_resolve_with(aq_resolve_fn resolve)
{
    atomic_store(&resolver, resolve);
}

static aq_resolve_fn resolver_now(void)
{
    aq_resolve_fn function = atomic_load(&resolver);

    if (function == NULL) {
        aq_find_theirs("getaddrinfo", &function);
    }
    return function;
}

/* NNG asks for what AI_ADDRCONFIG lets pass, which is no [::1] where a host has no other address of
 * that kind. Here every address is tried anyhow. */
AQ_STAND_IN int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                            struct addrinfo **ret_found)
{
    struct addrinfo wanted = hints != NULL ? *hints : (struct addrinfo){.ai_family = AF_UNSPEC};
    char place[AQ_URL_MAX] = "";
    const bool is_ip6 = name != NULL && strchr(name, ':') != NULL;

    if (!AQ_NNG_CALLS()) {
        return resolver_now()(name, service, hints, ret_found);
    }
    wanted.ai_flags &= ~AI_ADDRCONFIG;
    if (name == NULL || service == NULL || (wanted.ai_flags & AI_PASSIVE) != 0) {
        return resolver_now()(name, service, &wanted, ret_found); /* to listen */
    }
    if (aq_text_format(place, sizeof(place), is_ip6 ? "[%s]:%s" : "%s:%s", name, service) != 0) {
        return resolver_now()(name, service, &wanted, ret_found); /* longer than any URL of ours */
    }
    aq_mutex_lock(&lock);
    (void)row_for(place);
    aq_mutex_unlock(&lock);
    int rc = resolver_now()(name, service, &wanted, ret_found);
    aq_mutex_lock(&lock);
    known_name *row = row_for(place);
    take_lookup(row, rc, rc == 0 ? *ret_found : NULL);
    if (rc == 0) {
        put_first(row, *ret_found);
    }
    aq_mutex_unlock(&lock);
    return rc;
}

/* ---- connecting ----------------------------------------------------------------------------- */

bool aq_name_turns_begin(int descriptor, const struct sockaddr *address)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    bool has_others = false;

    aq_mutex_lock(&lock);
    for (size_t i = 0; i < NAMES_MAX; i++) {
        known_name *row = &names[i];
        for (size_t j = 0; j < row->known.count; j++) {
            turn *one = &row->turns[j];
            one->descriptor = one->descriptor == descriptor ? -1 : one->descriptor;
            if (aq_ip_address_equal(&row->known.tries[j].address, address)) {
                *one = (turn){.failed_ns = now_ns, .descriptor = descriptor};
                if (row->known.tries[j].outcome <= 0) { /* else the last failure is worth more */
                    row->known.tries[j].outcome = EINPROGRESS;
                }
                has_others = has_others || row->known.count > 1;
            }
        }
    }
    aq_mutex_unlock(&lock);
    return has_others;
}

void aq_name_turns_end(int descriptor, int problem)
{
    aq_mutex_lock(&lock);
    for (size_t i = 0; i < NAMES_MAX && problem != EINPROGRESS; i++) {
        known_name *row = &names[i];
        for (size_t j = 0; j < row->known.count; j++) {
            if (row->turns[j].descriptor == descriptor) {
                row->turns[j].descriptor = -1;
                row->known.tries[j].outcome = problem == 0 ? AQ_DIAL_CONNECTED : problem;
            }
        }
    }
    aq_mutex_unlock(&lock);
}

/* With this NNG asks what came of a connect() that was not done at once. */
AQ_STAND_IN int getsockopt(int descriptor, int level, int option, void *value, socklen_t *size)
{
    int rc = (int)syscall(SYS_getsockopt, descriptor, level, option, value, size);

    if (rc == 0 && level == SOL_SOCKET && option == SO_ERROR && AQ_NNG_CALLS()) {
        aq_name_turns_end(descriptor, *(const int *)value);
    }
    return rc;
}

void aq_name_turns_met(const struct sockaddr *address)
{
    aq_mutex_lock(&lock);
    for (size_t i = 0; i < NAMES_MAX; i++) {
        for (size_t j = 0; j < names[i].known.count; j++) {
            if (aq_ip_address_equal(&names[i].known.tries[j].address, address)) {
                names[i].turns[j].failed_ns = 0;
                names[i].known.tries[j].outcome = AQ_DIAL_ANSWERED;
            }
        }
    }
    aq_mutex_unlock(&lock);
}

/* The last one is nearly always that of the one address that somebody waits for. */
static void write_refusal(const aq_dial_tries *tries, char *text, size_t size)
{
    const char *why = aq_tls_refusal();
    bool is_met = false;

    for (size_t i = 0; i < tries->count; i++) {
        is_met = is_met || tries->tries[i].outcome == AQ_DIAL_CONNECTED;
    }
    if (is_met && why != NULL) {
        aq_text_append(text, size, "; TLS: %s", why);
    }
}

void aq_name_turns_words(const char *url, char *ret_text, size_t size)
{
    static const char tcp[] = "tcp://";
    const known_name *row = NULL;

    ret_text[0] = '\0';
    aq_mutex_lock(&lock);
    if (strncmp(url, tcp, strlen(tcp)) == 0) {
        row = find_name(url + strlen(tcp));
    }
    if (row != NULL) {
        aq_dial_tries_write(&row->known, ret_text, size);
        write_refusal(&row->known, ret_text, size);
    }
    aq_mutex_unlock(&lock);
}
