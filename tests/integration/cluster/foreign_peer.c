/*
 * Blocking sockets with a time limit.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "tests/support/test.h"

#include "tests/integration/cluster/foreign_peer.h"

enum { ANSWER_S_MAX = 120, HANDSHAKE_BYTES = 8 };

int foreign_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    const struct timeval patience = {.tv_sec = ANSWER_S_MAX};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(peer >= 0);
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&address, sizeof(address)), 0);
    return peer;
}

void foreign_send(int peer, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size > 0) {
        ssize_t sent = send(peer, at, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        at += sent;
        size -= (size_t)sent;
    }
}

void foreign_expect_close(int peer)
{
    uint8_t bytes[256];
    ssize_t size;
    do {
        size = recv(peer, bytes, sizeof(bytes), 0);
    } while (size > 0);
    /* 0, or -1 for a reset; but a timeout, too, is -1. */
    assert_true(size == 0 || errno == ECONNRESET);
}

void foreign_shake_hands(int peer, uint16_t protocol)
{
    const uint8_t ours[HANDSHAKE_BYTES] = {
        0, 'S', 'P', 0, (uint8_t)(protocol >> 8), (uint8_t)protocol, 0, 0};
    uint8_t theirs[HANDSHAKE_BYTES];
    foreign_send(peer, ours, sizeof(ours));
    (void)recv(peer, theirs, sizeof(theirs), MSG_WAITALL);
}

void foreign_announce(int peer, uint64_t size)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(size >> (56 - 8 * i));
    }
    foreign_send(peer, bytes, sizeof(bytes));
}
