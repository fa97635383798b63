/*
 * Recovery: what a log finds of an earlier life (replay_log.h), on its way into a core. Records are
 * frames as they came over the network, and are believed no more than those.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_RECOVERY_H
#define AQ_REPLAY_SHARD_REPLAY_RECOVERY_H

#include <stdint.h>

#include "replay/disk/replay_log.h"
#include "replay/shard/replay_core.h"

typedef struct aq_replay_recovery {
    aq_replay_core *core;
    int64_t now_ns;
    /* Something was left out; for a log line. */
    void (*damaged)(void *user, const char *what);
    void *user;
    /* Another record was read, of what may take minutes. NULL: nobody asks. */
    void (*advanced)(void *user);
} aq_replay_recovery;

/* The callbacks, which point at `recovery`. */
aq_replay_log_recovery aq_replay_recovery_calls(aq_replay_recovery *recovery);

#endif
