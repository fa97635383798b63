/*
 * See replay_stage.h.
 */
#include "bench/replay/replay_stage.h"

#include <limits.h>

#include "common/base/clock.h"
#include "common/sys/file.h"

#define PATIENCE_NS (60 * AQ_NS_PER_S)

int aq_replay_stage_open(uv_loop_t *loop, const char *folder, const char *name, bool over_tcp,
                         const aq_replay_load *load, const aq_run_settings *settings,
                         aq_replay_stage *ret_stage, aq_error *error)
{
    char own_folder[PATH_MAX];
    const aq_rig_config config = {
        .folder = own_folder, .over_tcp = over_tcp, .settings = *settings};
    aq_replay_stage stage = {.rig = NULL};
    int rc = aq_path_in(own_folder, sizeof(own_folder), folder, name, error);
    if (rc == 0) {
        rc = aq_dir_create(own_folder, error);
    }
    if (rc == 0) {
        rc = aq_replay_rig_open(loop, &config, &stage.rig, error);
    }
    if (rc == 0) {
        rc = aq_replay_feeder_create(stage.rig, load, &stage.feeder, error);
    }
    if (rc != 0) {
        aq_replay_stage_close(&stage);
        return rc;
    }
    *ret_stage = stage;
    return 0;
}

void aq_replay_stage_close(aq_replay_stage *stage)
{
    aq_replay_feeder_destroy(stage->feeder);
    aq_replay_rig_close(stage->rig);
    *stage = (aq_replay_stage){.rig = NULL};
}

static bool has_come(void *user)
{
    const aq_replay_stage *stage = user;
    return aq_replay_feeder_acknowledged(stage->feeder) >= stage->goal;
}

int aq_replay_stage_fill(aq_replay_stage *stage, uint64_t transitions, aq_error *error)
{
    stage->goal = transitions;
    aq_replay_feeder_send_until(stage->feeder, transitions);
    return aq_replay_rig_run(stage->rig, has_come, stage, PATIENCE_NS, error);
}

int aq_replay_stage_flood(aq_replay_stage *stage, int64_t time_ns, aq_error *error)
{
    stage->goal = aq_replay_feeder_acknowledged(stage->feeder) + 1;
    aq_replay_feeder_send_until(stage->feeder, UINT64_MAX);
    int rc = aq_replay_rig_run(stage->rig, NULL, NULL, time_ns, error);
    return rc != 0 ? rc : aq_replay_rig_run(stage->rig, has_come, stage, PATIENCE_NS, error);
}
