/*
 * Any bytes on a connection that came in are followed only as far as their lengths, in whatever
 * pieces they are read, and nothing is left of them when the connection is closed. The first byte
 * of the input says how many are read at once.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tcp_door.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

enum { BYTES_MAX = 1 << 14, PIECE_MIN = 1 };

static const aq_tcp_limits wide = {.connections_max = 100,
                                   .connections_per_address_max = 100,
                                   .message_ms = 3600 * 1000,
                                   .message_bytes_per_s = 1000,
                                   .held_bytes_max = 1 << 13,
                                   .held_bytes_per_address_max = 1 << 13};

static int listener = -1;
static struct sockaddr_in place;

static void listen_here(void)
{
    socklen_t size = sizeof(place);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    AQ_ASSERT(listener >= 0);
    place = (struct sockaddr_in){.sin_family = AF_INET};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(bind(listener, (struct sockaddr *)&place, sizeof(place)));
    must(listen(listener, 4));
    must(getsockname(listener, (struct sockaddr *)&place, &size));
    aq_tcp_door_set(&wide);
    aq_mend_for_all(true); /* accepts below are NNG's */
}

/*
 * A connection that was cut keeps its pair of addresses for a minute, and one address has 28,000
 * numbers: so each peer comes from another address of this host than the one before.
 */
static int call_from_elsewhere(void)
{
    static uint32_t callers;
    const int number_later = 1;
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + callers++ % 60000);
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    AQ_ASSERT(peer >= 0);
    must(setsockopt(peer, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &number_later, sizeof(number_later)));
    must(bind(peer, (struct sockaddr *)&from, sizeof(from)));
    int rc = connect(peer, (struct sockaddr *)&place, sizeof(place));
    if (rc != 0 && errno == EINTR) { /* by libFuzzer's own clock: the kernel goes on connecting */
        struct pollfd until = {.fd = peer, .events = POLLOUT};
        while (poll(&until, 1, -1) < 0 && errno == EINTR) {
        }
        rc = until.revents == POLLOUT ? 0 : -1;
    }
    if (rc != 0) { /* the kernel's word, as in running out of ports: nothing that was tested */
        perror("fuzz_door: connect");
    }
    AQ_ASSERT(rc == 0);
    return peer;
}

/* Until the end, which comes by itself, or earlier when the connection was cut. */
static void read_all(int guest, size_t piece)
{
    static uint8_t first[256], second[256];
    const struct iovec parts[2] = {{.iov_base = first, .iov_len = piece},
                                   {.iov_base = second, .iov_len = piece}};
    while (readv(guest, parts, 2) > 0) {
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (listener < 0) {
        listen_here();
    }
    if (size < 2 || size > BYTES_MAX) {
        return 0;
    }
    const aq_net_peers before = aq_net_peer_counters();
    const struct linger at_once = {.l_onoff = 1};
    int peer = call_from_elsewhere();
    int guest = accept(listener, NULL, NULL);
    AQ_ASSERT(guest >= 0);
    ssize_t sent = send(peer, data + 1, size - 1, MSG_NOSIGNAL);
    AQ_ASSERT(sent == (ssize_t)size - 1);
    must(shutdown(peer, SHUT_WR));
    read_all(guest, PIECE_MIN + data[0] % 255);
    /* Nobody has to wait for this connection's number to be free again. */
    must(setsockopt(guest, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)));
    close(guest);
    close(peer);
    const aq_net_peers after = aq_net_peer_counters();
    AQ_ASSERT(after.connections == before.connections);
    AQ_ASSERT(after.accepted == before.accepted + 1);
    AQ_ASSERT(after.cut_full <= before.cut_full + 1);
    return 0;
}
