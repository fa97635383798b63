/*
 * Fetch line: a connection to the learner of its own, for answers that are large.
 *
 * A policy of many megabytes takes longer on a slow network than a call may, and whatever shares
 * its connection waits behind it: heartbeats would fail, and the connection be given up for silent.
 * So what is fetched comes this way, and may take its time. The connection is made at the first
 * call and closed when it was not needed for a while; mostly the broadcast is all that is needed.
 *
 * Loop thread only.
 */
#ifndef AQ_ACTOR_DAEMON_FETCH_LINE_H
#define AQ_ACTOR_DAEMON_FETCH_LINE_H

#include <uv.h>

#include "common/net/rpc/rpc.h"
#include "common/net/sockets/net.h"

typedef struct aq_fetch_line aq_fetch_line;

/* `url` outlives it. AQ_E_NOMEM. */
int aq_fetch_line_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         aq_fetch_line **ret_line) AQ_MUST_USE;

/* Calls in flight are answered with AQ_E_CLOSED first. The memory goes when the loop has run its
 * close callbacks. NULL is fine. */
void aq_fetch_line_close(aq_fetch_line *line);

/* Calls on it have two minutes at least, whatever they say themselves; a learner that is silent is
 * noticed all the same, and asked again when it is back. */
aq_rpc_channel *aq_fetch_line_channel(aq_fetch_line *line);

#endif
