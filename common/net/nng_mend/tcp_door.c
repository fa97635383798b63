/*
 * The connections that came in, by descriptor, under one lock: NNG reads on several threads, but a
 * descriptor on one at a time. The lock is held for some additions; once a second somebody who
 * reads or accepts looks through all of them.
 */
#define _DEFAULT_SOURCE /* syscall */

#include "common/net/nng_mend/tcp_door.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/net/nng_mend/net_peers.h"

#define STAND_IN __attribute__((visibility("default")))

enum {
    DESCRIPTORS_MAX = 65536,
    CONNECTIONS_MAX = 32768,
    GREETING_BYTES = 8, /* of SP: zero, 'S', 'P', zero, the pattern, zero */
    LENGTH_BYTES = 8,   /* before each message, big-endian */
    MESSAGE_MS = 10000,
    BYTES_PER_S = 65536,
    UNFINISHED_BYTES_MAX = 256 << 20,
};

enum phase {
    PHASE_GREETING,
    PHASE_LENGTH,
    PHASE_BODY,
    PHASE_HANDSHAKE, /* of TLS */
    PHASE_TLS,
    PHASE_STRANGE
};

/* Of TLS: the first byte of a connection, and of a record that only who has shaken hands sends;
 * what is before the content of a record. */
enum { TLS_HANDSHAKE = 22, TLS_DATA = 23, TLS_HEADER_BYTES = 5, TLS_LENGTH_AT = 3 };

typedef struct guest {
    _Atomic bool here; /* first; written under the lock */
    bool cut;
    uint8_t phase;
    uint8_t have;     /* bytes of the greeting or the length */
    uint8_t record;   /* of TLS: its kind */
    uint64_t length;  /* of the message, as far as it has been said */
    uint64_t came;    /* of it */
    int64_t begun_ns; /* greeting or message; 0: between two of them */
    struct in6_addr address;
} guest;

/* Process-wide: descriptors are. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aq_tcp_limits limits;
static guest guests[DESCRIPTORS_MAX];
static int highest = -1; /* descriptor ever seen */
static uint64_t unfinished_bytes;
static int64_t looked_ns;
static aq_net_peers counters;

/* NULL until it is given, while there is one thread only. */
static int (*_Atomic real_close)(int descriptor);

/* ---- limits --------------------------------------------------------------------------------- */

/* Half of the descriptors are for files, for NNG's own and for connections that we make. */
static void find_limits(void)
{
    struct rlimit descriptors = {.rlim_cur = 1024};

    (void)getrlimit(RLIMIT_NOFILE, &descriptors);
    limits = (aq_tcp_limits){.connections_max = CONNECTIONS_MAX,
                             .message_ms = MESSAGE_MS,
                             .message_bytes_per_s = BYTES_PER_S,
                             .unfinished_bytes_max = UNFINISHED_BYTES_MAX};
    if (descriptors.rlim_cur / 2 < limits.connections_max) {
        limits.connections_max = (size_t)descriptors.rlim_cur / 2;
    }
    limits.connections_per_address_max = limits.connections_max / 2;
}

void aq_tcp_door(void)
{
    int rc = pthread_once(&once, find_limits);

    AQ_ASSERT(rc == 0);
}

void aq_tcp_door_closes_with(int (*real)(int descriptor))
{
    atomic_store(&real_close, real);
}

static void take_lock(void)
{
    int rc = pthread_mutex_lock(&lock);

    AQ_ASSERT(rc == 0);
}

static void give_lock(void)
{
    int rc = pthread_mutex_unlock(&lock);

    AQ_ASSERT(rc == 0);
}

void aq_tcp_door_set(const aq_tcp_limits *wanted)
{
    aq_tcp_door();
    take_lock();
    limits = *wanted;
    give_lock();
}

aq_net_peers aq_net_peer_counters(void)
{
    take_lock();
    aq_net_peers copy = counters;
    give_lock();
    return copy;
}

/* ---- under the lock ------------------------------------------------------------------------- */

static guest *guest_at(int descriptor)
{
    return descriptor >= 0 && descriptor < DESCRIPTORS_MAX ? &guests[descriptor] : NULL;
}

/* The descriptor stays NNG's, which reads the end of the connection from it and closes it. */
static void cut(int descriptor, uint64_t *counter)
{
    guests[descriptor].cut = true;
    (*counter)++;
    (void)shutdown(descriptor, SHUT_RDWR);
}

static bool is_slow(const guest *peer, int64_t now_ns)
{
    int64_t ms = limits.message_ms + (int64_t)(peer->came * 1000 / limits.message_bytes_per_s);

    return peer->begun_ns != 0 && !peer->cut && now_ns - peer->begun_ns > ms * AQ_NS_PER_MS;
}

static void look_through(int64_t now_ns)
{
    if (now_ns - looked_ns < AQ_NS_PER_S) {
        return;
    }
    looked_ns = now_ns;
    for (int i = 0; i <= highest; i++) {
        if (guests[i].here && is_slow(&guests[i], now_ns)) {
            cut(i, &counters.cut_slow);
        }
    }
}

static void forget_message(guest *peer)
{
    if (peer->phase == PHASE_BODY) {
        unfinished_bytes -= peer->came;
    }
    peer->length = 0;
    peer->came = 0;
    peer->have = 0;
    peer->begun_ns = 0;
}

/* A handshake is followed from record to record, up to the first that only a member can send. It
 * has the time of a greeting, which NNG itself does not limit under TLS. */
static void take_handshake(guest *peer, uint8_t byte)
{
    if (peer->have == 0) {
        peer->record = byte;
    }
    if (peer->have == TLS_HEADER_BYTES) {
        peer->came++;
    } else if (peer->have++ >= TLS_LENGTH_AT) {
        peer->length = peer->length << 8 | byte;
    }
    if (peer->have < TLS_HEADER_BYTES || peer->came < peer->length) {
        return;
    }
    if (peer->record == TLS_DATA) { /* whole: who has not shaken hands is found out */
        forget_message(peer);
        peer->phase = PHASE_TLS;
    } else {
        peer->have = 0;
        peer->length = 0;
        peer->came = 0;
    }
}

/* One byte of the greeting or of a length. */
static void take_byte(guest *peer, uint8_t byte, int64_t now_ns)
{
    static const uint8_t greeting[4] = {0, 'S', 'P', 0};

    if (peer->begun_ns == 0) {
        peer->begun_ns = now_ns;
    }
    if (peer->phase == PHASE_GREETING && peer->have < sizeof(greeting) &&
        byte != greeting[peer->have]) {
        if (peer->have == 0 && byte == TLS_HANDSHAKE) {
            peer->phase = PHASE_HANDSHAKE;
            take_handshake(peer, byte);
            return;
        }
        peer->phase = PHASE_STRANGE;
        forget_message(peer);
        return;
    }
    peer->length = peer->length << 8 | byte;
    peer->have++;
    if (peer->phase == PHASE_GREETING && peer->have == GREETING_BYTES) {
        forget_message(peer);
        peer->phase = PHASE_LENGTH;
    } else if (peer->phase == PHASE_LENGTH && peer->have == LENGTH_BYTES) {
        peer->phase = PHASE_BODY;
    }
}

static size_t take_body(guest *peer, size_t size)
{
    uint64_t left = peer->length - peer->came;
    size_t taken = size < left ? size : (size_t)left;

    peer->came += taken;
    unfinished_bytes += taken;
    return taken;
}

static void follow(guest *peer, const uint8_t *bytes, size_t size, int64_t now_ns)
{
    for (size_t i = 0; i < size && peer->phase <= PHASE_HANDSHAKE;) {
        if (peer->phase == PHASE_HANDSHAKE) {
            take_handshake(peer, bytes[i++]);
        } else if (peer->phase == PHASE_BODY) {
            i += take_body(peer, size - i);
        } else {
            take_byte(peer, bytes[i++], now_ns);
        }
        if (peer->phase == PHASE_BODY && peer->came == peer->length) {
            forget_message(peer);
            peer->phase = PHASE_LENGTH;
        }
    }
}

static void leave(guest *peer)
{
    if (peer->here) {
        forget_message(peer);
        peer->here = false;
        counters.connections--;
        counters.strangers += peer->phase == PHASE_GREETING || peer->phase == PHASE_HANDSHAKE ||
                              peer->phase == PHASE_STRANGE;
    }
}

/* ---- coming in ------------------------------------------------------------------------------ */

/* Whoever listens at [::] listens at every IPv4 address too, whatever the host's default is. */
STAND_IN int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    const int alone = 0;

    if (address != NULL && address->sa_family == AF_INET6 &&
        IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
        (void)syscall(SYS_setsockopt, descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &alone, sizeof(alone));
    }
    return (int)syscall(SYS_bind, descriptor, address, size);
}

static bool address_of(int descriptor, struct in6_addr *ret_address)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer = {0};
    socklen_t size = sizeof(peer);

    if (getpeername(descriptor, &peer.any, &size) != 0) {
        return false;
    }
    memset(ret_address, 0, sizeof(*ret_address));
    if (peer.any.sa_family == AF_INET6) {
        *ret_address = peer.v6.sin6_addr;
    } else if (peer.any.sa_family == AF_INET) { /* as IPv6 writes it */
        memset(&ret_address->s6_addr[10], 0xff, 2);
        memcpy(&ret_address->s6_addr[12], &peer.v4.sin_addr, sizeof(peer.v4.sin_addr));
    } else {
        return false;
    }
    return true;
}

static size_t count_from(const struct in6_addr *address)
{
    size_t count = 0;

    for (int i = 0; i <= highest; i++) {
        count += guests[i].here && memcmp(&guests[i].address, address, sizeof(*address)) == 0;
    }
    return count;
}

/* Under the lock: whether it may stay. */
static bool let_in(int descriptor, const struct in6_addr *address, int64_t now_ns)
{
    guest *peer = guest_at(descriptor);

    look_through(now_ns);
    if (peer == NULL || counters.connections >= limits.connections_max ||
        count_from(address) >= limits.connections_per_address_max) {
        counters.refused_connections++;
        return false;
    }
    leave(peer); /* its number is another's now */
    /* All but the first, which is read without the lock. */
    memset((char *)peer + offsetof(guest, cut), 0, sizeof(*peer) - offsetof(guest, cut));
    peer->address = *address;
    peer->begun_ns = now_ns;
    peer->here = true;
    highest = descriptor > highest ? descriptor : highest;
    counters.connections++;
    counters.accepted++;
    return true;
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

STAND_IN int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict size)
{
    int descriptor = (int)syscall(SYS_accept4, listener, address, size, 0);
    struct in6_addr from;

    if (descriptor < 0 || !address_of(descriptor, &from)) {
        return descriptor; /* of this host */
    }
    aq_tcp_door();
    take_lock();
    bool stays = let_in(descriptor, &from, aq_clock_monotonic_ns());
    give_lock();
    return stays ? descriptor : turn_away(descriptor);
}

/* ---- saying something ----------------------------------------------------------------------- */

static void follow_all(int descriptor, const struct iovec *parts, int count, size_t size)
{
    guest *peer = guest_at(descriptor);
    int64_t now_ns = aq_clock_monotonic_ns();

    take_lock();
    for (int i = 0; i < count && size > 0 && peer->here; i++) {
        size_t part = parts[i].iov_len < size ? parts[i].iov_len : size;

        follow(peer, parts[i].iov_base, part, now_ns);
        size -= part;
    }
    if (unfinished_bytes > limits.unfinished_bytes_max && peer->phase == PHASE_BODY &&
        peer->came > 0 && !peer->cut) {
        cut(descriptor, &counters.cut_full);
    }
    look_through(now_ns);
    give_lock();
}

STAND_IN ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
    ssize_t size = syscall(SYS_readv, descriptor, parts, count);
    const guest *peer = guest_at(descriptor);

    if (size > 0 && peer != NULL && peer->here) {
        follow_all(descriptor, parts, count, (size_t)size);
    }
    return size;
}

/* ---- leaving -------------------------------------------------------------------------------- */

STAND_IN int close(int descriptor)
{
    int (*real)(int) = atomic_load(&real_close);
    guest *peer = guest_at(descriptor);

    if (peer != NULL && peer->here) {
        take_lock();
        leave(peer);
        give_lock();
    }
    return real != NULL ? real(descriptor) : (int)syscall(SYS_close, descriptor);
}
