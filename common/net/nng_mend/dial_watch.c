/*
 * See dial_watch.h.
 */
#include "common/net/nng_mend/dial_watch.h"

#include <stdatomic.h>

#include "common/base/clock.h"
#include "common/net/nng_mend/nng_counts.h"

enum { PATIENCE_MS = 60000 };

static _Atomic int64_t patience_ms = PATIENCE_MS;

void aq_dial_watch_patience(int64_t wanted_ms)
{
    atomic_store(&patience_ms, wanted_ms);
}

bool aq_dial_watch_gave_up(aq_dial_watch *watch, nng_socket socket, uint32_t pause_ms,
                           int64_t now_ns)
{
    static const char *const connections[] = {"pipes", NULL};
    static const char *const ends[] = {"connect", "refused", "disconnect", "canceled",
                                       "other",   "timeout", "proto",      "auth",
                                       "oom",     "reject",  NULL};
    const int64_t quiet_ns = (atomic_load(&patience_ms) + pause_ms) * AQ_NS_PER_MS;
    const uint64_t id = (uint64_t)nng_socket_id(socket);

    if (watch->since_ns != 0 && now_ns - watch->looked_ns < AQ_NS_PER_S) {
        return false;
    }
    watch->looked_ns = now_ns;
    const uint64_t ended = aq_nng_counts("dialer", "socket", id, ends);
    const bool is_quiet = watch->since_ns != 0 && ended == watch->ended &&
                          aq_nng_counts("dialer", "socket", id, connections) == 0;
    const bool gave_up = is_quiet && now_ns - watch->since_ns >= quiet_ns;
    watch->ended = ended;
    if (!is_quiet || gave_up) {
        watch->since_ns = now_ns;
    }
    return gave_up;
}
