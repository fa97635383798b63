/*
 * Foreign peer: somebody who connects to a daemon's port over plain TCP and says what they like, up
 * to and including the handshake of the SP protocols that NNG speaks.
 *
 * Sending never fails the test: a daemon may hang up at any moment.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_FOREIGN_PEER_H
#define AQ_TESTS_INTEGRATION_CLUSTER_FOREIGN_PEER_H

#include <stddef.h>
#include <stdint.h>

/* The numbers that SP gives to its protocols. */
enum { SP_SUB = 0x21, SP_REQ = 0x30, SP_PUSH = 0x50 };

/* A connection to this host's port; close() it. */
int foreign_connect(uint16_t port);

void foreign_send(int peer, const void *bytes, size_t size);

/* Waits until the daemon has closed its end; fails the test when it does not. */
void foreign_expect_close(int peer);

/* Introduces itself as a socket of that protocol and waits for the daemon to do the same. */
void foreign_shake_hands(int peer, uint16_t protocol);

/* The eight bytes before a message, which announce its size. */
void foreign_announce(int peer, uint64_t size);

#endif
