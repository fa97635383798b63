/*
 * What every daemon says of those who came and were shown out: the counters of net.h, in its log.
 * Part of the programs rather than of the library: it logs. Loop thread only.
 */
#ifndef AQ_COMMON_NET_DAEMON_DAEMON_PEERS_H
#define AQ_COMMON_NET_DAEMON_DAEMON_PEERS_H

#include <stdint.h>

#include "common/net/nng_mend/net_peers.h"
#include "common/sys/log.h"

/* Zero-initialised. */
typedef struct aq_daemon_peers {
    aq_net_peers told;
    aq_log_limit limit;
} aq_daemon_peers;

/* Logs what has grown (peers_refused), a line a second at most. */
void aq_daemon_peers_watch(aq_daemon_peers *watch, int64_t now_ns);

#endif
