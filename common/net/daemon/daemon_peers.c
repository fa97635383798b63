/*
 * Who was shown out: see daemon_peers.h.
 */
#include "common/net/daemon/daemon_peers.h"

#include <inttypes.h>

void aq_daemon_peers_watch(aq_daemon_peers *watch, int64_t now_ns)
{
    const aq_net_peers *told = &watch->told;
    aq_net_peers now = aq_net_peer_counters();
    uint64_t refused = now.refused_connections - told->refused_connections;
    uint64_t slow = now.cut_slow - told->cut_slow;
    uint64_t full = now.cut_full - told->cut_full;
    uint64_t suppressed;

    if (refused + slow + full > 0 && aq_log_allowed(&watch->limit, now_ns, &suppressed)) {
        aq_log(AQ_LOG_WARN, "peers_refused",
               "connections beyond the most were refused, or were cut as they took too long or too "
               "much",
               "refused=%" PRIu64 " slow=%" PRIu64 " full=%" PRIu64 " connections=%" PRIu64,
               refused, slow, full, now.connections);
        watch->told = now;
    }
}
