/*
 * Replay host: what the shard's services share: the core of the run it is in, and the time. Private
 * to the replay service's files.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_HOST_H
#define AQ_REPLAY_SHARD_REPLAY_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/shard/replay_core.h"

/* The longest time for which a caller may ask to be held. */
enum { AQ_REPLAY_WAIT_MS_MAX = 10000 };

typedef struct aq_replay_host {
    aq_replay_core *core; /* NULL: not in a run */
    uint64_t process;     /* by which the learner asks for it, whatever start the core is of */
    const char *folder;   /* of its log, for people; "" without one */
    int64_t now_ns;       /* of the latest tick or message */
    int64_t started_ns;
    double insert_per_s;
    double sample_per_s;
} aq_replay_host;

/* False when the call was answered: the shard is in no run (UNAVAILABLE). */
bool aq_replay_host_has_run(const aq_replay_host *host, void *closure_data);

/* The same, also when it is in another run (FAILED_PRECONDITION), or `wait_ms` is too long
 * (INVALID_ARGUMENT). */
bool aq_replay_host_accepts(const aq_replay_host *host, uint64_t run_id, uint32_t wait_ms,
                            void *closure_data);

/* When a call that may be held for `wait_ms` has to be answered: before its own deadline, too. */
int64_t aq_replay_host_until_ns(const aq_replay_host *host, uint32_t wait_ms,
                                const void *closure_data);

#endif
