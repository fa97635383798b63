/*
 * What every daemon says of those who came and were shown out: the counters of its connections, and
 * of its server those that spoke something else than this protocol. Part of the programs rather
 * than of the library: it logs. Loop thread only.
 */
#ifndef AQ_COMMON_NET_DAEMON_DAEMON_PEERS_H
#define AQ_COMMON_NET_DAEMON_DAEMON_PEERS_H

#include <stdint.h>

#include "common/net/nng_mend/net_peers.h"
#include "common/net/rpc/rpc_server.h"
#include "common/sys/log.h"

/* Zero-initialised. */
typedef struct aq_daemon_peers {
    aq_net_peers told;
    uint64_t told_foreign;
    aq_log_limit limit, foreign_limit;
} aq_daemon_peers;

/* Logs what has grown (peers_refused, foreign_peer), a line of each a second at most. For once a
 * second: NNG collects its whole tree of statistics for it. */
void aq_daemon_peers_watch(aq_daemon_peers *watch, const aq_rpc_server *server, int64_t now_ns);

#endif
