/*
 * Who was shown out: see daemon_peers.h.
 */
#include "common/net/daemon/daemon_peers.h"

#include <inttypes.h>

static void watch_refused(aq_daemon_peers *watch, int64_t now_ns)
{
    const aq_net_peers *told = &watch->told;
    aq_net_peers now = aq_net_peer_counters();
    uint64_t refused = now.refused_connections - told->refused_connections;
    uint64_t slow = now.cut_slow - told->cut_slow;
    uint64_t full = now.cut_full - told->cut_full;

    if (refused + slow + full > 0 && aq_log_allowed(&watch->limit, now_ns)) {
        aq_log(AQ_LOG_WARN, "peers_refused",
               "connections beyond the most were refused, or were cut as they took too long or too "
               "much",
               "refused=%" PRIu64 " slow=%" PRIu64 " full=%" PRIu64 " connections=%" PRIu64,
               refused, slow, full, now.connections);
        watch->told = now;
    }
}

static void watch_foreign(aq_daemon_peers *watch, uint64_t foreign, int64_t now_ns)
{
    if (foreign > watch->told_foreign && /* 0: it cannot be told now */
        aq_log_allowed(&watch->foreign_limit, now_ns)) {
        aq_log(AQ_LOG_WARN, "foreign_peer",
               "a connection spoke something else than this protocol and was closed",
               "count=%" PRIu64, foreign - watch->told_foreign);
        watch->told_foreign = foreign;
    }
}

void aq_daemon_peers_watch(aq_daemon_peers *watch, const aq_rpc_server *server, int64_t now_ns)
{
    watch_refused(watch, now_ns);
    watch_foreign(watch, aq_rpc_server_foreign_peers(server), now_ns);
}
