/*
 * The checks that every call of a run begins with.
 */
#include "replay/shard/replay_host.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "common/net/rpc/rpc.h"

bool aq_replay_host_has_run(const aq_replay_host *host, void *closure_data)
{
    if (host->core == NULL) {
        aq_rpc_fail(closure_data, AQ_RPC_UNAVAILABLE, "this shard has not joined a run yet");
    }
    return host->core != NULL;
}

bool aq_replay_host_accepts(const aq_replay_host *host, uint64_t run_id, uint32_t wait_ms,
                            void *closure_data)
{
    if (!aq_replay_host_has_run(host, closure_data)) {
        return false;
    }
    uint64_t own_run_id = aq_replay_core_run_id(host->core);
    if (run_id != own_run_id) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION,
                    "this shard is in run %016" PRIx64 ", not in %016" PRIx64, own_run_id, run_id);
        return false;
    }
    if (wait_ms > AQ_REPLAY_WAIT_MS_MAX) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT,
                    "wait_ms is %" PRIu32 "; 0 to %d are possible", wait_ms, AQ_REPLAY_WAIT_MS_MAX);
        return false;
    }
    return true;
}

int64_t aq_replay_host_until_ns(const aq_replay_host *host, uint32_t wait_ms,
                                const void *closure_data)
{
    /* An eighth of the caller's time is left for the way back. */
    uint32_t timeout_ms = aq_rpc_call_timeout_ms(closure_data);
    uint32_t hold_ms = timeout_ms - timeout_ms / 8;
    return host->now_ns + (int64_t)(wait_ms < hold_ms ? wait_ms : hold_ms) * AQ_NS_PER_MS;
}
