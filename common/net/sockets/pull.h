/*
 * PULL: the receiving half of E1. Messages arrive on the loop's thread, in order per connection;
 * while the loop is behind, nothing more is taken from the socket, so TCP holds the senders back.
 */
#ifndef AQ_COMMON_NET_SOCKETS_PULL_H
#define AQ_COMMON_NET_SOCKETS_PULL_H

#include <uv.h>

#include "common/base/lease.h"
#include "common/net/sockets/net.h"

typedef struct aq_pull aq_pull;

/* `message` is lent; who keeps it takes a reference. */
typedef void (*aq_pull_fn)(void *user, aq_lease *message, const char *peer);

int aq_pull_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                   aq_pull_fn receive, void *user, aq_pull **ret_pull, aq_error *error) AQ_MUST_USE;
/* Messages of up to so many bytes are taken from now on. */
void aq_pull_allow(aq_pull *pull, size_t message_bytes_max);

const char *aq_pull_url(const aq_pull *pull); /* with the port really bound */
void aq_pull_close(aq_pull *pull);            /* NULL is fine */

#endif
