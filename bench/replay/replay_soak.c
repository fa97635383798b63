/*
 * See replay_soak.h.
 */
#include "bench/replay/replay_soak.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/replay/replay_stage.h"
#include "common/base/clock.h"

/* What does not depend on how much is held: messages on their way in and to the disk, and the
 * allocator's reserves. */
enum { FIXED_BYTES = 8 << 20, BOOKKEEPING_BYTES = 16 };
#define ALLOWANCE 1.15
#define LOOK_NS   (10 * AQ_NS_PER_S)

static double budget_of(const aq_replay_load *load, const aq_rig_status *empty,
                        uint64_t transitions)
{
    const double step_bytes = (double)(aq_replay_load_step_bytes(load) + BOOKKEEPING_BYTES);
    return (double)empty->resident_bytes + FIXED_BYTES +
           ALLOWANCE * step_bytes * (double)transitions;
}

static int look(aq_replay_stage *stage, int64_t start_ns, int64_t flood_ns, double budget,
                aq_error *error)
{
    const uint64_t before = aq_replay_feeder_acknowledged(stage->feeder);
    const int64_t begun_ns = aq_clock_monotonic_ns();
    aq_rig_status status;
    int rc = aq_replay_stage_flood(stage, flood_ns, error);
    if (rc == 0) {
        rc = aq_replay_rig_status(stage->rig, &status, error);
    }
    if (rc != 0) {
        return rc;
    }
    const uint64_t came = aq_replay_feeder_acknowledged(stage->feeder) - before;
    const int64_t now_ns = aq_clock_monotonic_ns();
    (void)printf("%5.0f s  %7.1f MiB of %.1f  %" PRIu64 " steps held  %.2f million steps/s\n",
                 aq_ns_to_s(now_ns - start_ns), (double)status.resident_bytes / (1 << 20),
                 budget / (1 << 20), status.stored,
                 (double)came / 1e6 / aq_ns_to_s(now_ns - begun_ns));
    (void)fflush(stdout);
    if ((double)status.resident_bytes > budget) {
        return aq_fail(error, AQ_E_TOO_BIG, "the shard takes %.1f MiB, more than %.1f",
                       (double)status.resident_bytes / (1 << 20), budget / (1 << 20));
    }
    return status.rejected > 0 ? aq_fail(error, AQ_E_CORRUPT,
                                         "the shard refused %" PRIu64 " messages", status.rejected)
                               : 0;
}

static int soak(const aq_replay_bench_plan *plan, const aq_replay_load *load,
                aq_replay_stage *stage, aq_error *error)
{
    const int64_t start_ns = aq_clock_monotonic_ns();
    aq_rig_status empty;
    int rc = aq_replay_rig_status(stage->rig, &empty, error);
    const int64_t end_ns = start_ns + (int64_t)plan->soak_s * AQ_NS_PER_S;
    int64_t left_ns = end_ns - aq_clock_monotonic_ns();
    while (rc == 0 && left_ns > 0) {
        rc = look(stage, start_ns, left_ns < LOOK_NS ? left_ns : LOOK_NS,
                  budget_of(load, &empty, plan->transitions), error);
        left_ns = end_ns - aq_clock_monotonic_ns();
    }
    return rc;
}

int aq_replay_soak_run(uv_loop_t *loop, const aq_replay_bench_plan *plan, const char *folder,
                       aq_error *error)
{
    const aq_load_shape shape = aq_replay_bench_small();
    aq_replay_load load;
    aq_replay_stage stage;
    int rc = aq_replay_load_init(&shape, &load, error);
    if (rc != 0) {
        return rc;
    }
    const aq_run_settings settings =
        aq_replay_bench_settings(&load, AQ_SELECTOR_UNIFORM, plan->transitions, true);
    rc =
        aq_replay_stage_open(loop, folder, "soak", plan->over_tcp, &load, &settings, &stage, error);
    if (rc == 0) {
        rc = soak(plan, &load, &stage, error);
        aq_replay_stage_close(&stage);
    }
    aq_replay_load_fini(&load);
    return rc;
}
