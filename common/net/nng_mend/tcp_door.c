/*
 * The connections that came in, by descriptor, under one lock: NNG reads on several threads, but a
 * descriptor on one at a time. The lock is held for some additions; once a second somebody who
 * reads or accepts looks through all of them.
 */
#define _DEFAULT_SOURCE /* syscall */

#include "common/net/nng_mend/tcp_door.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/net/address/peer_network.h"
#include "common/net/nng_mend/stand_in.h"

enum {
    MESSAGE_MS = 10000,
    BYTES_PER_S = 65536,
    HELD_BYTES_MAX = 48 << 20,
    HANDSHAKES_MAX = 256, /* of one neighbour; each takes some 70 kB */
    WASTED_BYTES_PER_S = 16 << 20,
    TICKET_TURN_AT = 16, /* above the descriptor */
};

static void end_connection(int descriptor);
static bool has_more(int descriptor);

/* Process-wide: descriptors are. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aq_inflow inflow;

/* NULL until it is given, while there is one thread only. */
static int (*_Atomic real_close)(int descriptor);

static _Thread_local uintptr_t *noted; /* see aq_tcp_door_note */

/* ---- limits --------------------------------------------------------------------------------- */

/* Half of the descriptors are for files, for NNG's own and for connections that we make. How many
 * there are is looked up when somebody listens, and no sooner: when libraries make their threads,
 * before main, the limit is not raised yet (aq_process_allow_descriptors). */
static void open_door(void)
{
    struct rlimit descriptors = {.rlim_cur = 1024};
    aq_tcp_limits *limits = &inflow.limits;

    (void)getrlimit(RLIMIT_NOFILE, &descriptors);
    inflow.cut = end_connection;
    inflow.has_more = has_more;
    *limits = (aq_tcp_limits){.connections_max = AQ_INFLOW_CONNECTIONS_MAX,
                              .message_ms = MESSAGE_MS,
                              .message_bytes_per_s = BYTES_PER_S,
                              .held_bytes_max = HELD_BYTES_MAX,
                              .held_bytes_per_address_max = HELD_BYTES_MAX / 2,
                              .wasted_bytes_per_s = WASTED_BYTES_PER_S,
                              .barred_ms = MESSAGE_MS};
    if (descriptors.rlim_cur / 2 < limits->connections_max) {
        limits->connections_max = (size_t)descriptors.rlim_cur / 2;
    }
    limits->connections_per_address_max = limits->connections_max / 2;
}

static void open_once(void)
{
    int rc = pthread_once(&once, open_door);

    AQ_ASSERT(rc == 0);
}

void aq_tcp_door_closes_with(int (*real)(int descriptor))
{
    atomic_store(&real_close, real);
}

void aq_tcp_door_expects(size_t message_bytes_max)
{
    aq_tcp_limits *limits = &inflow.limits;

    open_once();
    aq_mutex_lock(&lock);
    if (limits->held_bytes_per_address_max < message_bytes_max) {
        limits->held_bytes_per_address_max = message_bytes_max;
    }
    if (limits->held_bytes_max < 2 * message_bytes_max) {
        limits->held_bytes_max = 2 * message_bytes_max;
    }
    aq_mutex_unlock(&lock);
}

void aq_tcp_door_expects_handshakes(void)
{
    open_once();
    aq_mutex_lock(&lock);
    inflow.limits.handshakes_per_address_max = HANDSHAKES_MAX;
    aq_mutex_unlock(&lock);
}

void aq_tcp_door_set(const aq_tcp_limits *wanted)
{
    open_once();
    aq_mutex_lock(&lock);
    inflow.limits = *wanted;
    aq_mutex_unlock(&lock);
}

aq_net_peers aq_net_peer_counters(void)
{
    aq_mutex_lock(&lock);
    aq_net_peers copy = inflow.counters;
    aq_mutex_unlock(&lock);
    return copy;
}

void aq_net_peers_cut_full(void)
{
    aq_mutex_lock(&lock);
    inflow.counters.cut_full++;
    aq_mutex_unlock(&lock);
}

/* ---- coming in ------------------------------------------------------------------------------ */

/* Whoever listens at [::] listens at every IPv4 address too, whatever the host's default is. */
AQ_STAND_IN int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    const int alone = 0;

    if (AQ_NNG_CALLS() && address != NULL && address->sa_family == AF_INET6 &&
        IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
        (void)syscall(SYS_setsockopt, descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &alone, sizeof(alone));
    }
    return (int)syscall(SYS_bind, descriptor, address, size);
}

static bool network_of(int descriptor, struct in6_addr *ret_network)
{
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof(peer);

    return getpeername(descriptor, (struct sockaddr *)&peer, &size) == 0 &&
           aq_peer_network((const struct sockaddr *)&peer, ret_network);
}

/* NNG passes over a connection that was aborted before it was accepted, and takes the next. */
static int turn_away(int descriptor)
{
    const struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    (void)syscall(SYS_close, descriptor);
    errno = ECONNABORTED;
    return -1;
}

AQ_STAND_IN int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict size)
{
    int descriptor = (int)syscall(SYS_accept4, listener, address, size, 0);
    struct in6_addr from;

    if (descriptor < 0 || !AQ_NNG_CALLS() || !network_of(descriptor, &from)) {
        return descriptor; /* another's, or of this host */
    }
    open_once();
    const int64_t now_ns = aq_clock_monotonic_ns();
    aq_mutex_lock(&lock);
    aq_inflow_look(&inflow, now_ns);
    bool stays = aq_inflow_enters(&inflow, descriptor, &from, now_ns);
    aq_mutex_unlock(&lock);
    return stays ? descriptor : turn_away(descriptor);
}

/* ---- saying something ----------------------------------------------------------------------- */

/* The descriptor stays NNG's, which reads the end of the connection from it and closes it. */
static void end_connection(int descriptor)
{
    (void)shutdown(descriptor, SHUT_RDWR);
}

static bool has_more(int descriptor)
{
    int unread = 0;

    return ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0;
}

/* Under the lock. False: the connection was cut. */
static bool hear(int descriptor, const uint8_t *bytes, size_t size)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    const bool stays = aq_inflow_hears(&inflow, descriptor, bytes, size, now_ns);

    aq_inflow_look(&inflow, now_ns);
    return stays;
}

static uintptr_t ticket_of(int descriptor, const aq_inflow_guest *guest)
{
    return (uintptr_t)guest->turn << TICKET_TURN_AT | (uintptr_t)descriptor;
}

/* Before it is read from; true: what is read is to be followed here. */
static bool goes_on(int descriptor)
{
    aq_mutex_lock(&lock);
    aq_inflow_guest *guest = aq_inflow_guest_of(&inflow, descriptor);
    const bool is_plain = guest != NULL && !guest->in_tls;

    if (guest != NULL && noted != NULL) {
        *noted = ticket_of(descriptor, guest);
    }
    if (is_plain) {
        aq_inflow_goes_on(&inflow, guest);
    }
    aq_mutex_unlock(&lock);
    return is_plain;
}

static bool hear_parts(int descriptor, const struct iovec *parts, int count, size_t size)
{
    bool stays = true;

    aq_mutex_lock(&lock);
    for (int i = 0; i < count && size > 0 && stays; i++) {
        size_t part = parts[i].iov_len < size ? parts[i].iov_len : size;

        stays = hear(descriptor, parts[i].iov_base, part);
        size -= part;
    }
    aq_mutex_unlock(&lock);
    return stays;
}

AQ_STAND_IN ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
    const bool came_in =
        descriptor >= 0 && descriptor < AQ_INFLOW_DESCRIPTORS_MAX && inflow.here[descriptor];
    const bool is_followed = came_in && goes_on(descriptor);
    ssize_t size = syscall(SYS_readv, descriptor, parts, count);

    if (size > 0 && is_followed && !hear_parts(descriptor, parts, count, (size_t)size)) {
        errno = ECONNRESET;
        return -1;
    }
    return size;
}

/* ---- TLS ------------------------------------------------------------------------------------ */

uintptr_t *aq_tcp_door_note(uintptr_t *place)
{
    uintptr_t *before = noted;

    noted = place;
    return before;
}

/* NULL: the connection has gone, and its descriptor may be another's. Under the lock. */
static aq_inflow_guest *holder_of(uintptr_t ticket, int *ret_descriptor)
{
    const int descriptor = (int)(ticket & ((1U << TICKET_TURN_AT) - 1));
    aq_inflow_guest *guest = aq_inflow_guest_of(&inflow, descriptor);

    *ret_descriptor = descriptor;
    return guest != NULL && ticket_of(descriptor, guest) == ticket ? guest : NULL;
}

void aq_tcp_door_goes_on(uintptr_t ticket)
{
    int descriptor;

    aq_mutex_lock(&lock);
    aq_inflow_guest *guest = holder_of(ticket, &descriptor);
    if (guest != NULL && guest->in_tls) {
        aq_inflow_goes_on(&inflow, guest);
    }
    aq_mutex_unlock(&lock);
}

bool aq_tcp_door_hears(uintptr_t ticket, const void *bytes, size_t size)
{
    int descriptor;

    aq_mutex_lock(&lock);
    const bool stays = holder_of(ticket, &descriptor) == NULL || hear(descriptor, bytes, size);
    aq_mutex_unlock(&lock);
    return stays;
}

/* ---- leaving -------------------------------------------------------------------------------- */

AQ_STAND_IN int close(int descriptor)
{
    int (*real)(int) = atomic_load(&real_close);

    if (descriptor >= 0 && descriptor < AQ_INFLOW_DESCRIPTORS_MAX && inflow.here[descriptor]) {
        const int64_t now_ns = aq_clock_monotonic_ns();
        aq_mutex_lock(&lock);
        aq_inflow_leaves(&inflow, descriptor, now_ns);
        aq_mutex_unlock(&lock);
    }
    return real != NULL ? real(descriptor) : (int)syscall(SYS_close, descriptor);
}
