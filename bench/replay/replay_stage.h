/*
 * Stage: a shard (replay_rig.h) and its actor (replay_feeder.h), as each measurement begins.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_STAGE_H
#define AQ_BENCH_REPLAY_REPLAY_STAGE_H

#include <uv.h>

#include "bench/replay/replay_feeder.h"
#include "bench/replay/replay_load.h"
#include "bench/replay/replay_rig.h"

typedef struct aq_replay_stage {
    aq_replay_rig *rig;
    aq_replay_feeder *feeder;
    uint64_t goal;
} aq_replay_stage;

/* Makes the folder `name` in `folder` for it. */
int aq_replay_stage_open(uv_loop_t *loop, const char *folder, const char *name, bool over_tcp,
                         const aq_replay_load *load, const aq_run_settings *settings,
                         aq_replay_stage *ret_stage, aq_error *error) AQ_MUST_USE;
void aq_replay_stage_close(aq_replay_stage *stage); /* a zeroed one is fine */

/* Returns when so many transitions, in all, are acknowledged; none is on its way then. */
int aq_replay_stage_fill(aq_replay_stage *stage, uint64_t transitions, aq_error *error) AQ_MUST_USE;

/* Sends at full rate for so long, or until a step is acknowledged, and on after that. */
int aq_replay_stage_flood(aq_replay_stage *stage, int64_t time_ns, aq_error *error) AQ_MUST_USE;

#endif
