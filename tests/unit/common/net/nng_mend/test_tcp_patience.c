/*
 * What TCP is told of how long to wait: read back from the sockets of this process. That a line
 * which heals is found again is tested where lines can be cut, in tests/hosts.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/net/nng_mend/nng_mend.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tcp_patience.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { DESCRIPTORS = 256 };

static int number_of(int descriptor, int option)
{
    int value = -1;
    socklen_t size = sizeof(value);
    assert_int_equal(getsockopt(descriptor, IPPROTO_TCP, option, &value, &size), 0);
    return value;
}

/* The ports of a TCP connection; false when the descriptor is no such thing. */
static bool ports_of(int descriptor, uint16_t *ret_own, uint16_t *ret_peer)
{
    struct sockaddr_in own, peer;
    socklen_t own_size = sizeof(own);
    socklen_t peer_size = sizeof(peer);
    if (getsockname(descriptor, (struct sockaddr *)&own, &own_size) != 0 ||
        getpeername(descriptor, (struct sockaddr *)&peer, &peer_size) != 0 ||
        own.sin_family != AF_INET) {
        return false;
    }
    *ret_own = ntohs(own.sin_port);
    *ret_peer = ntohs(peer.sin_port);
    return true;
}

TEST(both_ends_of_a_connection_give_up_a_silent_peer)
{
    unsigned ends = 0;
    net_pair *pair = net_pair_open("tcp", NET_KIT_PATIENCE_MS);
    net_pair_wait(pair, net_pair_fetch(pair, 10));
    const int port = atoi(strrchr(pair->url, ':') + 1);
    for (int i = 0; i < DESCRIPTORS; i++) {
        uint16_t own, peer;
        if (ports_of(i, &own, &peer) && (own == port || peer == port)) {
            assert_int_equal(number_of(i, TCP_USER_TIMEOUT), AQ_TCP_SILENCE_MS);
            assert_in_range(number_of(i, TCP_KEEPIDLE), 1, AQ_TCP_SILENCE_MS / 2000);
            assert_in_range(number_of(i, TCP_KEEPINTVL), 1, AQ_TCP_SILENCE_MS / 2000);
            ends++;
        }
    }
    assert_int_equal(ends, 2);
}

/* Nobody listens there. */
static int try_to_connect(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(1)};
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_true(descriptor >= 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)connect(descriptor, (struct sockaddr *)&address, sizeof(address));
    return descriptor;
}

TEST(an_attempt_to_connect_ends_before_the_system_would_end_it)
{
    aq_mend_for_all(true);
    const int descriptor = try_to_connect();
    aq_mend_for_all(false);
    assert_int_equal(number_of(descriptor, TCP_USER_TIMEOUT), AQ_TCP_DIAL_MS);
    close(descriptor);
}

TEST(sockets_of_others_are_as_patient_as_they_were)
{
    const int on = 1;
    aq_nng_mend();
    const int descriptor = try_to_connect();
    assert_int_equal(number_of(descriptor, TCP_USER_TIMEOUT), 0);
    const int idle_s = number_of(descriptor, TCP_KEEPIDLE);
    assert_int_equal(setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)), 0);
    assert_int_equal(number_of(descriptor, TCP_USER_TIMEOUT), 0);
    assert_int_equal(number_of(descriptor, TCP_KEEPIDLE), idle_s);
    close(descriptor);
}

TEST(other_sockets_connect_as_they_did)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/nowhere/at/all"};
    const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(descriptor >= 0);
    assert_int_equal(connect(descriptor, (struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(connect(descriptor, NULL, 0), -1);
    close(descriptor);
}
