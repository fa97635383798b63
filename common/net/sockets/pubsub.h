/*
 * PUB and SUB: the policy broadcast, E4. Lossy by design: a subscriber keeps the newest
 * AQ_SUBSCRIBER_WAITING messages, a slow one skips older ones, a new one waits for the next or
 * fetches.
 */
#ifndef AQ_COMMON_NET_SOCKETS_PUBSUB_H
#define AQ_COMMON_NET_SOCKETS_PUBSUB_H

#include "common/base/error.h"
#include "common/net/sockets/net.h"

/* Messages that may wait at either end: a short chain of deltas, so that a pause of the receiver
 * does not break it. */
enum { AQ_SUBSCRIBER_WAITING = 16 };

typedef struct aq_publisher aq_publisher;
typedef struct aq_subscriber aq_subscriber;

int aq_publisher_create(const char *url, const aq_net_limits *limits, aq_publisher **ret_publisher,
                        aq_error *error) AQ_MUST_USE;

/* Any thread. Copies the bytes into a message; never waits. AQ_E_TOO_BIG past the limit. */
int aq_publisher_send(aq_publisher *publisher, const void *bytes, size_t size) AQ_MUST_USE;
const char *aq_publisher_url(const aq_publisher *publisher); /* with the port really bound */
void aq_publisher_close(aq_publisher *publisher);            /* NULL is fine */

int aq_subscriber_create(const char *url, const aq_net_limits *limits,
                         aq_subscriber **ret_subscriber, aq_error *error) AQ_MUST_USE;

/* Any one thread: waits up to timeout_ms for a message and appends it to `out` (cleared first).
 * AQ_E_TIMEOUT, AQ_E_CLOSED. */
struct aq_buffer;
int aq_subscriber_receive(aq_subscriber *subscriber, int timeout_ms,
                          struct aq_buffer *out) AQ_MUST_USE;

/* The receiver, or the next one, waits no longer: without a message it gets AQ_E_TIMEOUT. Any
 * thread. */
void aq_subscriber_wake(aq_subscriber *subscriber);

/* Wakes the receiver, which gets AQ_E_CLOSED from now on; any thread. */
void aq_subscriber_stop(aq_subscriber *subscriber);

/* After the receiver has left. NULL is fine. */
void aq_subscriber_destroy(aq_subscriber *subscriber);

#endif
