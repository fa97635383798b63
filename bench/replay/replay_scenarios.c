/*
 * See replay_scenarios.h.
 */
#include "bench/replay/replay_scenarios.h"

#include <stdlib.h>

#include "bench/median.h"
#include "bench/replay/raw_messages.h"
#include "bench/replay/replay_drawer.h"
#include "bench/replay/replay_local.h"
#include "bench/replay/replay_stage.h"
#include "bench/replay/row_copies.h"
#include "common/base/clock.h"
#include "common/sys/machine.h"

typedef struct scenario {
    uv_loop_t *loop;
    const aq_replay_bench_plan *plan;
    const char *folder;
    void (*progress)(const char *what);
    aq_replay_figures *figures;
    aq_replay_load small, large;
} scenario;

static double median(double *values)
{
    return aq_median(values, AQ_REPLAY_SLICES);
}

/* ---- inserting ------------------------------------------------------------------------------- */

static int open_stage(const scenario *all, const char *name, const aq_replay_load *load,
                      const aq_run_settings *settings, aq_replay_stage *ret_stage, aq_error *error)
{
    all->progress(name);
    return aq_replay_stage_open(all->loop, all->folder, name, all->plan->over_tcp, load, settings,
                                ret_stage, error);
}

/* Nothing that was sent may have been refused or sent in vain. */
static int check_stage(aq_replay_stage *at, aq_error *error)
{
    aq_rig_status status;
    int rc = aq_replay_rig_status(at->rig, &status, error);
    if (rc == 0 && status.rejected > 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "the shard refused %d messages", (int)status.rejected);
    }
    return rc;
}

typedef struct insert_rates {
    double steps_per_s, bytes_per_s, message_bytes;
} insert_rates;

/* After a warm-up, in which the store becomes full and old steps begin to leave. */
static int measure_insert(const scenario *all, aq_replay_stage *at, insert_rates *ret_rates,
                          aq_error *error)
{
    double steps[AQ_REPLAY_SLICES], bytes[AQ_REPLAY_SLICES];
    const aq_replay_feeder *feeder = at->feeder;
    int rc = aq_replay_stage_flood(at, all->plan->slice_ns, error);
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        const int64_t start_ns = aq_clock_monotonic_ns();
        const uint64_t steps_before = aq_replay_feeder_acknowledged(feeder);
        const uint64_t bytes_before = aq_replay_feeder_bytes(feeder);
        rc = aq_replay_stage_flood(at, all->plan->slice_ns, error);
        const double seconds = aq_ns_to_s(aq_clock_monotonic_ns() - start_ns);
        steps[i] = (double)(aq_replay_feeder_acknowledged(feeder) - steps_before) / seconds;
        bytes[i] = (double)(aq_replay_feeder_bytes(feeder) - bytes_before) / seconds;
    }
    if (rc != 0) {
        return rc;
    }
    *ret_rates = (insert_rates){
        .steps_per_s = median(steps),
        .bytes_per_s = median(bytes),
        .message_bytes =
            (double)aq_replay_feeder_bytes(feeder) / (double)aq_replay_feeder_messages(feeder),
    };
    return check_stage(at, error);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static int measure_draws(scenario *all, aq_replay_stage *at, bool prioritizes,
                         double *ret_batches_per_s, aq_error *error)
{
    const aq_drawer_config config = {.batch_rows = AQ_REPLAY_BATCH_ROWS,
                                     .batches = AQ_REPLAY_BATCHES,
                                     .calls = AQ_REPLAY_CALLS,
                                     .discount = AQ_REPLAY_DISCOUNT,
                                     .prioritizes = prioritizes};
    double rates[AQ_REPLAY_SLICES], warm_up;
    aq_replay_drawer *drawer;
    int rc = aq_replay_drawer_create(all->loop, at->rig, &all->small, &config, &drawer, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_drawer_run(drawer, at->rig, all->plan->slice_ns / 2, &warm_up, error);
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        rc = aq_replay_drawer_run(drawer, at->rig, all->plan->slice_ns, &rates[i], error);
    }
    if (rc == 0) {
        *ret_batches_per_s = median(rates);
        all->figures->answers.size = (double)aq_replay_drawer_answer_bytes(drawer);
    }
    aq_replay_drawer_destroy(drawer);
    return rc;
}

static int measure_latency(scenario *all, aq_replay_stage *at, aq_error *error)
{
    const aq_drawer_config config = {.batch_rows = AQ_REPLAY_BATCH_ROWS,
                                     .batches = 1,
                                     .calls = 1,
                                     .discount = AQ_REPLAY_DISCOUNT};
    aq_replay_figures *figures = all->figures;
    aq_rig_status before, after;
    double rate;
    aq_replay_drawer *drawer;
    int rc = aq_replay_drawer_create(all->loop, at->rig, &all->small, &config, &drawer, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_stage_flood(at, all->plan->slice_ns, error);
    if (rc == 0) {
        rc = aq_replay_rig_status(at->rig, &before, error);
    }
    const int64_t start_ns = aq_clock_monotonic_ns();
    const uint64_t steps = aq_replay_feeder_acknowledged(at->feeder);
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        rc = aq_replay_drawer_run(drawer, at->rig, all->plan->slice_ns, &rate, error);
    }
    const double seconds = aq_ns_to_s(aq_clock_monotonic_ns() - start_ns);
    if (rc == 0) {
        rc = aq_replay_rig_status(at->rig, &after, error);
    }
    if (rc == 0) {
        figures->sample_p50_ms = aq_replay_drawer_latency_ms(drawer, 0.5);
        figures->sample_p99_ms = aq_replay_drawer_latency_ms(drawer, 0.99);
        figures->busy_snapshots = after.snapshots - before.snapshots;
        figures->busy_insert_steps_per_s =
            (double)(aq_replay_feeder_acknowledged(at->feeder) - steps) / seconds;
    }
    aq_replay_drawer_destroy(drawer);
    return rc;
}

/* ---- the scenarios --------------------------------------------------------------------------- */

/* What the process has grown by for each step that it holds. */
static int measure_memory(const scenario *all, aq_replay_stage *at, aq_error *error)
{
    aq_rig_status empty, full;
    int rc = aq_replay_rig_status(at->rig, &empty, error);
    if (rc == 0) {
        rc = aq_replay_stage_fill(at, all->plan->transitions, error);
    }
    if (rc == 0) {
        rc = aq_replay_rig_status(at->rig, &full, error);
    }
    if (rc == 0) {
        all->figures->bytes_per_step =
            (double)(full.resident_bytes - empty.resident_bytes) / (double)full.stored;
    }
    return rc;
}

static int run_uniform(scenario *all, aq_error *error)
{
    /* Room for a message more, so that nothing leaves before it is full. */
    const aq_run_settings settings =
        aq_replay_bench_settings(&all->small, AQ_SELECTOR_UNIFORM,
                                 all->plan->transitions + all->plan->transitions / 20, true);
    aq_replay_figures *figures = all->figures;
    insert_rates rates;
    aq_replay_stage at;
    int rc = open_stage(all, "uniform", &all->small, &settings, &at, error);
    if (rc != 0) {
        return rc;
    }
    rc = measure_memory(all, &at, error);
    if (rc == 0) {
        rc = measure_draws(all, &at, false, &figures->sample_batches_per_s, error);
    }
    if (rc == 0) {
        rc = measure_insert(all, &at, &rates, error);
    }
    if (rc == 0) {
        figures->insert_steps_per_s = rates.steps_per_s;
        figures->small_messages.size = rates.message_bytes;
        figures->small_messages.bytes_per_s = rates.bytes_per_s;
        figures->answers.bytes_per_s =
            figures->sample_batches_per_s / AQ_REPLAY_BATCHES * figures->answers.size;
    }
    aq_replay_stage_close(&at);
    return rc;
}

static int run_prioritized(scenario *all, aq_error *error)
{
    const aq_run_settings settings = aq_replay_bench_settings(&all->small, AQ_SELECTOR_PRIORITIZED,
                                                              all->plan->transitions, true);
    aq_replay_stage at;
    int rc = open_stage(all, "prioritized", &all->small, &settings, &at, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_stage_fill(&at, all->plan->transitions, error);
    if (rc == 0) {
        rc = measure_draws(all, &at, true, &all->figures->prioritized_batches_per_s, error);
    }
    if (rc == 0) {
        rc = measure_latency(all, &at, error);
    }
    aq_replay_stage_close(&at);
    return rc;
}

static int run_large(const scenario *all, aq_error *error)
{
    const aq_run_settings settings = aq_replay_bench_settings(&all->large, AQ_SELECTOR_UNIFORM,
                                                              all->plan->large_transitions, false);
    aq_replay_figures *figures = all->figures;
    insert_rates rates;
    aq_replay_stage at;
    int rc = open_stage(all, "large", &all->large, &settings, &at, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_stage_fill(&at, all->plan->large_transitions, error);
    if (rc == 0) {
        rc = measure_insert(all, &at, &rates, error);
    }
    if (rc == 0) {
        figures->insert_bytes_per_s = rates.steps_per_s * aq_replay_load_step_bytes(&all->large);
        figures->large_messages.size = rates.message_bytes;
        figures->large_messages.bytes_per_s = rates.bytes_per_s;
    }
    aq_replay_stage_close(&at);
    return rc;
}

static int measure_local(scenario *all, uint32_t selector, double *ret_batches_per_s,
                         aq_error *error)
{
    const aq_run_settings settings =
        aq_replay_bench_settings(&all->small, selector, all->plan->local_transitions, false);
    const bool prioritizes = selector == AQ_SELECTOR_PRIORITIZED;
    double rates[AQ_REPLAY_SLICES], warm_up;
    aq_replay_local *local;
    int rc =
        aq_replay_local_create(&settings, &all->small, all->plan->local_transitions, &local, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_local_run(local, AQ_REPLAY_BATCH_ROWS, AQ_REPLAY_DISCOUNT, prioritizes,
                             all->plan->slice_ns / 2, &warm_up, error);
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        rc = aq_replay_local_run(local, AQ_REPLAY_BATCH_ROWS, AQ_REPLAY_DISCOUNT, prioritizes,
                                 all->plan->slice_ns / 2, &rates[i], error);
    }
    if (rc == 0) {
        *ret_batches_per_s = median(rates);
    }
    aq_replay_local_destroy(local);
    return rc;
}

static int run_local(scenario *all, aq_error *error)
{
    aq_replay_figures *figures = all->figures;
    double rates[AQ_REPLAY_SLICES];
    all->progress("in process");
    int rc = measure_local(all, AQ_SELECTOR_UNIFORM, &figures->inprocess_batches_per_s, error);
    if (rc == 0) {
        rc = measure_local(all, AQ_SELECTOR_PRIORITIZED,
                           &figures->inprocess_prioritized_batches_per_s, error);
    }
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        rc = aq_row_copies_measure(&all->small.layout, all->plan->local_transitions,
                                   AQ_REPLAY_BATCH_ROWS, all->plan->slice_ns / 4, &rates[i]);
        rc = rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
    }
    if (rc == 0) {
        figures->row_copy_batches_per_s = median(rates);
    }
    return rc;
}

static int measure_raw(const scenario *all, aq_raw_messages *raw, struct aq_raw_figure *figure,
                       aq_error *error)
{
    double rates[AQ_REPLAY_SLICES], warm_up;
    int rc =
        aq_raw_messages_run(raw, (size_t)figure->size, all->plan->slice_ns / 4, &warm_up, error);
    for (int i = 0; rc == 0 && i < AQ_REPLAY_SLICES; i++) {
        rc = aq_raw_messages_run(raw, (size_t)figure->size, all->plan->slice_ns / 2, &rates[i],
                                 error);
    }
    if (rc == 0) {
        figure->raw_bytes_per_s = median(rates);
    }
    return rc;
}

static int run_raw(const scenario *all, aq_error *error)
{
    aq_replay_figures *figures = all->figures;
    aq_raw_messages *raw;
    all->progress("raw messages");
    int rc = aq_raw_messages_open(all->loop, all->folder, all->plan->over_tcp, &raw, error);
    if (rc != 0) {
        return rc;
    }
    rc = measure_raw(all, raw, &figures->small_messages, error);
    if (rc == 0) {
        rc = measure_raw(all, raw, &figures->large_messages, error);
    }
    if (rc == 0) {
        rc = measure_raw(all, raw, &figures->answers, error);
    }
    aq_raw_messages_close(raw);
    return rc;
}

static int run_all(scenario *all, aq_error *error)
{
    int rc = run_uniform(all, error);
    if (rc == 0) {
        rc = run_prioritized(all, error);
    }
    if (rc == 0) {
        rc = run_large(all, error);
    }
    if (rc == 0) {
        rc = run_raw(all, error);
    }
    return rc != 0 ? rc : run_local(all, error);
}

int aq_replay_scenarios_run(uv_loop_t *loop, const aq_replay_bench_plan *plan, const char *folder,
                            void (*progress)(const char *what), aq_replay_figures *ret_figures,
                            aq_error *error)
{
    const aq_load_shape small = aq_replay_bench_small(), large = aq_replay_bench_large();
    aq_replay_figures figures = {.load = {aq_machine_load()}};
    scenario all = {
        .loop = loop, .plan = plan, .folder = folder, .progress = progress, .figures = &figures};
    int rc = aq_replay_load_init(&small, &all.small, error);
    if (rc == 0) {
        rc = aq_replay_load_init(&large, &all.large, error);
    }
    if (rc == 0) {
        figures.step_bytes = aq_replay_load_step_bytes(&all.small);
        rc = run_all(&all, error);
    }
    aq_replay_load_fini(&all.small);
    aq_replay_load_fini(&all.large);
    figures.load[1] = aq_machine_load();
    if (rc == 0) {
        *ret_figures = figures;
    }
    return rc;
}
