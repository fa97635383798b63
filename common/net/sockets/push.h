/*
 * The guarded PUSH: the sending half of E1.
 *
 * NNG's PUSH touches freed memory when it is used after its peer's pipe went (docs/decisions).
 * Here one PUSH socket lives for one connection: the pipe's removal marks it dead under a lock that
 * the sender also takes, nobody sends on it again, it never reconnects by itself, and the loop
 * opens a new one with our own back-off. A peer that takes nothing for half a minute is given up
 * like one that went; over TCP sooner (tcp_patience.h). A message that was sent may still be lost:
 * acknowledgement and resending are the caller's (actor/core/outbox).
 *
 * Loop thread only.
 */
#ifndef AQ_COMMON_NET_SOCKETS_PUSH_H
#define AQ_COMMON_NET_SOCKETS_PUSH_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/net/sockets/net.h"

typedef struct aq_push aq_push;

/* `connected` after each new connection (send again what is unacknowledged), `writable` when a send
 * that was refused with AQ_E_AGAIN may be tried again. */
typedef struct aq_push_events {
    void (*connected)(void *user);
    void (*disconnected)(void *user);
    void (*writable)(void *user);
    void *user;
} aq_push_events;

int aq_push_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                   const aq_push_events *events, aq_push **ret_push, aq_error *error) AQ_MUST_USE;

/* Copies the bytes into a message of its own, and seals it where there is a token (seal.h).
 * AQ_E_AGAIN: not connected, or the peer is slow; the `writable` or `connected` event follows.
 * AQ_E_TOO_BIG past the limit: never sent. */
int aq_push_send(aq_push *push, const void *bytes, size_t size) AQ_MUST_USE;

bool aq_push_connected(const aq_push *push);

/* NULL is fine. The memory goes when the loop has run its close callbacks. */
void aq_push_close(aq_push *push);

#endif
